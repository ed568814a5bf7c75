/* See identity.h. */
#include "system/identity.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/span.h"

#define NOBODY_ID ((uid_t)-1)
#define NOGROUP   ((gid_t)-1)

/* Any user or group id but the last, which means "as it is" to the system calls. */
static bool number(const char *text, uint64_t *id)
{
    return cc_span_to_number(cc_span_of(text), UINT32_MAX - 1, id);
}

static bool find_user(const char *option, const char *text, struct cc_identity *identity,
                      struct cc_err *err)
{
    uint64_t id;
    /* One thread, before any other exists. */
    const struct passwd *user = number(text, &id) ? getpwuid((uid_t)id) : getpwnam(text);

    if (user != NULL) {
        identity->uid = user->pw_uid;
        identity->gid = user->pw_gid;
        snprintf(identity->name, sizeof identity->name, "%s", user->pw_name);
        return true;
    }
    if (!number(text, &id))
        return cc_fail(err, "%s: there is no user \"%s\" on this system", option, text);
    identity->uid = (uid_t)id;
    return true;
}

static bool find_group(const char *option, const char *text, gid_t *gid, struct cc_err *err)
{
    uint64_t id;

    if (number(text, &id)) {
        *gid = (gid_t)id;
        return true;
    }
    const struct group *group = getgrnam(text);
    if (group == NULL)
        return cc_fail(err, "%s: there is no group \"%s\" on this system", option, text);
    *gid = group->gr_gid;
    return true;
}

/* "user", "user:group", ":group"; uWSGI takes a blank for the colon too. */
static bool find_socket_owner(struct cc_identity *identity, const char *text, struct cc_err *err)
{
    struct cc_identity owner = {.uid = NOBODY_ID, .gid = NOGROUP};
    char *user = cc_strdup(text);
    char *group = user + strcspn(user, ": ");
    bool fine = true;

    if (*group != '\0')
        *group++ = '\0';
    if (*user != '\0')
        fine = find_user("chown-socket", user, &owner, err);
    owner.gid = NOGROUP;
    if (fine && *group != '\0')
        fine = find_group("chown-socket", group, &owner.gid, err);
    identity->socket_uid = owner.uid;
    identity->socket_gid = owner.gid;
    free(user);
    return fine;
}

bool cc_identity_find(struct cc_identity *identity, const struct cc_settings *settings,
                      struct cc_err *err)
{
    const struct cc_process_settings *process = &settings->process;

    *identity = (struct cc_identity){.uid = NOBODY_ID, .gid = NOGROUP};
    if (process->uid != NULL && !find_user("uid", process->uid, identity, err))
        return false;
    if (identity->uid == geteuid() && identity->uid != 0)
        identity->gid = NOGROUP; /* nobody asked for another group */
    if (process->gid != NULL && !find_group("gid", process->gid, &identity->gid, err))
        return false;
    if (identity->uid != NOBODY_ID && identity->uid != geteuid() && identity->gid == NOGROUP)
        return cc_fail(err,
                       "uid: user %s is not in the user database, so its group is unknown; "
                       "set gid as well",
                       process->uid);
    identity->socket_uid = identity->uid;
    identity->socket_gid = identity->gid;
    if (settings->server.chown_socket != NULL)
        return find_socket_owner(identity, settings->server.chown_socket, err);
    return true;
}

static bool take_groups(const struct cc_identity *identity, struct cc_err *err)
{
    gid_t gid = identity->gid;

    if (gid == NOGROUP)
        return true;
    if (setresgid(gid, gid, gid) != 0)
        return cc_fail(err, "gid: cannot become group %u: %s", (unsigned)gid, strerror(errno));
    /* root's further groups must not stay. */
    int status = identity->name[0] != '\0' ? initgroups(identity->name, gid) : setgroups(1, &gid);
    if (status != 0)
        return cc_fail(err, "gid: cannot set the further groups: %s", strerror(errno));
    return true;
}

bool cc_identity_take(const struct cc_identity *identity, struct cc_err *err)
{
    bool same_user = identity->uid == NOBODY_ID || identity->uid == geteuid();
    bool same_group = identity->gid == NOGROUP || identity->gid == getegid();

    if (geteuid() != 0) {
        if (same_user && same_group)
            return true;
        return cc_fail(err,
                       "%s: only root can become %s, and this is user %u; start as root, or take "
                       "the option out",
                       same_user ? "gid" : "uid", same_user ? "another group" : "another user",
                       (unsigned)geteuid());
    }
    if (!take_groups(identity, err))
        return false;
    if (identity->uid == NOBODY_ID || identity->uid == 0)
        return true;
    if (setresuid(identity->uid, identity->uid, identity->uid) != 0)
        return cc_fail(err, "uid: cannot become user %u: %s", (unsigned)identity->uid,
                       strerror(errno));
    if (setuid(0) == 0)
        return cc_fail(err, "uid: the way back to root is still open; not going on");
    return true;
}
