/* The master-fifo: whoever may write to it gives orders by letters, as with uWSGI. Master's thread.
 */
#ifndef CC_PROCESS_FIFO_H
#define CC_PROCESS_FIFO_H

#include <ev.h>

#include "base/err.h"
#include "config/option.h"

/* The FIFO that is read is one of those in the list; a digit switches to another. */
struct cc_fifo {
    struct ev_loop *loop;
    ev_io io;     /* its data: this; fd -1: none */
    char **paths; /* owned */
    size_t count;
    size_t slot; /* which one is open */
};

/* loop: its user data is the master. Nothing is read yet. */
void cc_fifo_begin(struct cc_fifo *fifo, struct ev_loop *loop);
/* One that the old binary of an upgrade has open at that path: what was written to it meanwhile is
 * obeyed. */
void cc_fifo_adopt(struct cc_fifo *fifo, int fd, const char *path);
/* Reads the first of these from now on; the same list again changes nothing. Makes the FIFO anew,
 * for this user alone. false: err says why it cannot be had, and the one before goes on. */
bool cc_fifo_follow(struct cc_fifo *fifo, const struct cc_texts *paths, struct cc_err *err);
/* Closes it. remove: and removes its file. */
void cc_fifo_end(struct cc_fifo *fifo, bool remove);

#endif
