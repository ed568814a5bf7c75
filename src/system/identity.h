/* Whom the server runs as: uid and gid, and the unix sockets' owner. Master, before any app code.
 */
#ifndef CC_SYSTEM_IDENTITY_H
#define CC_SYSTEM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "config/settings.h"

struct cc_identity {
    uid_t uid;        /* (uid_t)-1: as we are */
    gid_t gid;        /* (gid_t)-1: as we are */
    char name[256];   /* of uid in the user database: its further groups are taken too; "": none */
    uid_t socket_uid; /* -1: leave it */
    gid_t socket_gid;
    gid_t extra[64]; /* add-gid */
    size_t n_extra;
    uint64_t keep;     /* cap, a bit a capability; 0: none, as the kernel has it for this user */
    const char *wrong; /* when it could not be found: the option that is to blame */
};

/* Looks names and numbers up. A uid without a gid takes the user's own group (uWSGI would keep
 * root's). false: err names the option, what was found, and what to do. */
bool cc_identity_find(struct cc_identity *identity, const struct cc_settings *settings,
                      struct cc_err *err);
/* Becomes it, for good: further groups, group, user, capabilities. Nothing to do is no error.
 * false: err says why, and the process must not go on. */
bool cc_identity_take(const struct cc_identity *identity, struct cc_err *err);

#endif
