/* The pidfile: a lock on it tells a running server from a file that was left behind. */
#ifndef CC_SYSTEM_PIDFILE_H
#define CC_SYSTEM_PIDFILE_H

#include <stdbool.h>

#include "base/err.h"

struct cc_pidfile {
    int fd;     /* locked while the server runs; -1: none */
    char *path; /* absolute; owned */
};

/* Looks whether it could be written, for a start to say so early; changes nothing. option: its
 * name, for messages. */
bool cc_pidfile_try(const char *option, const char *path, struct cc_err *err);
/* Writes this process's pid. A file that another running ccontainer holds, or that holds something
 * else than a number, is left alone: false, err says which. path is made absolute, so that a later
 * chdir does no harm. */
bool cc_pidfile_write(struct cc_pidfile *pidfile, const char *option, const char *path,
                      struct cc_err *err);
/* In a forked child: lets go of it and leaves the file as it is. */
void cc_pidfile_forget(struct cc_pidfile *pidfile);
/* Lets go; remove: and unlinks the file unless another server has replaced it meanwhile. false:
 * err says why it could not be removed. */
bool cc_pidfile_close(struct cc_pidfile *pidfile, bool remove, struct cc_err *err);

#endif
