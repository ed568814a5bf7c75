/* See identity.h. */
#include "system/identity.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/span.h"
#include "system/capabilities.h"

#define NOBODY_ID  ((uid_t)-1)
#define NOGROUP    ((gid_t)-1)
#define MOST_EXTRA (sizeof(((struct cc_identity *)0)->extra) / sizeof(gid_t))

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

static bool find_extra_groups(struct cc_identity *identity, const struct cc_texts *groups,
                              struct cc_err *err)
{
    if (groups->count > MOST_EXTRA)
        return cc_fail(err, "add-gid: %zu groups are too many; %zu are possible", groups->count,
                       MOST_EXTRA);
    for (size_t i = 0; i < groups->count; i++)
        if (!find_group("add-gid", groups->items[i].text, &identity->extra[identity->n_extra++],
                        err))
            return false;
    return true;
}

/* Who the server's user and group are. */
static bool find_self(struct cc_identity *identity, const struct cc_process_settings *process,
                      struct cc_err *err)
{
    identity->wrong = "uid";
    if (process->uid != NULL && !find_user("uid", process->uid, identity, err))
        return false;
    if (identity->uid == geteuid() && identity->uid != 0)
        identity->gid = NOGROUP; /* nobody asked for another group */
    identity->wrong = "gid";
    if (process->gid != NULL && !find_group("gid", process->gid, &identity->gid, err))
        return false;
    identity->wrong = "uid";
    if (identity->uid != NOBODY_ID && identity->uid != geteuid() && identity->gid == NOGROUP)
        return cc_fail(err,
                       "uid: user %s is not in the user database, so its group is unknown; "
                       "set gid as well",
                       process->uid);
    return true;
}

bool cc_identity_find(struct cc_identity *identity, const struct cc_settings *settings,
                      struct cc_err *err)
{
    *identity = (struct cc_identity){.uid = NOBODY_ID, .gid = NOGROUP};
    if (!find_self(identity, &settings->process, err))
        return false;
    identity->socket_uid = identity->uid;
    identity->socket_gid = identity->gid;
    identity->wrong = "chown-socket";
    if (settings->server.chown_socket != NULL &&
        !find_socket_owner(identity, settings->server.chown_socket, err))
        return false;
    identity->wrong = "add-gid";
    if (!find_extra_groups(identity, &settings->service.add_gid, err))
        return false;
    identity->wrong = "cap";
    if (!cc_capabilities_find(&settings->service.cap, &identity->keep, err))
        return false;
    identity->wrong = NULL;
    return true;
}

/* The user's groups by the database, or those that we have; room for the extra ones is left. NULL:
 * errno says why not. The caller frees it. */
static gid_t *base_groups(const struct cc_identity *identity, int *count)
{
    int room = 64;

    if (identity->gid == NOGROUP) {
        *count = getgroups(0, NULL);
        gid_t *groups = cc_alloc_zeroed((size_t)*count + MOST_EXTRA, sizeof *groups);
        *count = getgroups(*count, groups);
        return groups;
    }
    gid_t *groups = cc_alloc_zeroed((size_t)room + MOST_EXTRA, sizeof *groups);
    groups[0] = identity->gid;
    *count = 1;
    if (identity->name[0] == '\0')
        return groups;
    *count = room;
    while (getgrouplist(identity->name, identity->gid, groups, count) < 0) {
        room = *count > room ? *count : room * 2;
        groups = cc_realloc(groups, ((size_t)room + MOST_EXTRA) * sizeof *groups);
        *count = room;
    }
    return groups;
}

/* root's further groups must not stay. */
static bool take_groups(const struct cc_identity *identity, struct cc_err *err)
{
    gid_t gid = identity->gid;
    int count = 0;

    if (gid == NOGROUP && identity->n_extra == 0)
        return true;
    if (gid != NOGROUP && setresgid(gid, gid, gid) != 0)
        return cc_fail(err, "gid: cannot become group %u: %s", (unsigned)gid, strerror(errno));
    gid_t *groups = base_groups(identity, &count);
    for (size_t i = 0; i < identity->n_extra; i++)
        groups[count++] = identity->extra[i];
    int status = setgroups((size_t)count, groups);
    free(groups);
    if (status != 0)
        return cc_fail(err, "%s: cannot set the further groups: %s",
                       identity->n_extra > 0 ? "add-gid" : "gid", strerror(errno));
    return true;
}

/* Not root: what is asked for must be so already. */
static bool be_as_we_are(const struct cc_identity *identity, struct cc_err *err)
{
    bool same_user = identity->uid == NOBODY_ID || identity->uid == geteuid();
    bool same_group = identity->gid == NOGROUP || identity->gid == getegid();
    bool same_groups = true;

    for (size_t i = 0; i < identity->n_extra; i++)
        same_groups =
            same_groups && (group_member(identity->extra[i]) || identity->extra[i] == getegid());
    if (same_user && same_group && same_groups)
        return identity->keep == 0 || cc_capabilities_take(identity->keep, err);
    return cc_fail(err,
                   "%s: only root can %s, and this is user %u; start as root, or take the option "
                   "out",
                   !same_user    ? "uid"
                   : !same_group ? "gid"
                                 : "add-gid",
                   !same_user    ? "become another user"
                   : !same_group ? "become another group"
                                 : "join a group",
                   (unsigned)geteuid());
}

static bool take_user(const struct cc_identity *identity, struct cc_err *err)
{
    uid_t uid = identity->uid;

    if (uid == NOBODY_ID || uid == 0)
        return true;
    if (setresuid(uid, uid, uid) != 0)
        return cc_fail(err, "uid: cannot become user %u: %s", (unsigned)uid, strerror(errno));
    return true;
}

bool cc_identity_take(const struct cc_identity *identity, struct cc_err *err)
{
    if (geteuid() != 0)
        return be_as_we_are(identity, err);
    /* Groups need root, so they come first; capabilities can only be cut down when nothing needs
     * the others any more, so they come last. */
    if ((identity->keep != 0 && !cc_capabilities_keep(identity->keep, err)) ||
        !take_groups(identity, err) || !take_user(identity, err) ||
        (identity->keep != 0 && !cc_capabilities_take(identity->keep, err)))
        return false;
    if (geteuid() == 0)
        return true;
    bool may_change = (identity->keep >> CAP_SETUID & 1) != 0; /* as was asked for */
    if (!may_change && setuid(0) == 0)
        return cc_fail(err, "uid: the way back to root is still open; not going on");
    /* The change made /proc/self root's: the app may look at itself, and a crash leave a core. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return true;
}
