/* Files whose change is an order: touch-reload and its like. They are looked at once a second, and
 * only where there are any. A change is another time of modification, another file in its place, or
 * its appearance; its removal is none. Master's thread. */
#ifndef CC_PROCESS_TOUCH_H
#define CC_PROCESS_TOUCH_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "config/settings.h"
#include "process/orders.h"

struct cc_touched_file {
    char *path; /* owned */
    const char *option;
    enum cc_order order;
    bool there;
    dev_t device;
    ino_t number;
    struct timespec modified;
};

struct cc_touch {
    struct ev_loop *loop;
    ev_timer timer; /* its data: this */
    struct cc_touched_file *files;
    size_t n_files;
};

/* loop: its user data is the master. Nothing is watched yet. */
void cc_touch_begin(struct cc_touch *touch, struct ev_loop *loop);
/* Watches these from now on. What was watched already goes on from what was seen of it last. */
void cc_touch_follow(struct cc_touch *touch, const struct cc_reload_settings *settings);
void cc_touch_end(struct cc_touch *touch);

#endif
