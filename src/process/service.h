/* What the service manager hears of the master: ready, reloading, stopping, a line of status, and
 * that it is alive. It follows from the master's state; only that a reload was asked for must be
 * said, because one that fails at once would not show. Master's thread. */
#ifndef CC_PROCESS_SERVICE_H
#define CC_PROCESS_SERVICE_H

#include <ev.h>
#include <stdbool.h>

#include "process/master_state.h"

struct cc_service {
    bool ready, reloading, stopping; /* as was said */
    bool reload_asked;
    char status[160]; /* as was said */
    ev_timer watchdog, refresh;
};

/* loop: its user data is the master. Nothing happens where no manager listens. */
void cc_service_begin(struct cc_service *service, struct ev_loop *loop);
/* The old binary of an upgrade has said that it is ready and, at last, that it reloads. */
void cc_service_adopt(struct cc_service *service);
/* A reload was asked for: it is announced, and its end too, whatever becomes of it. */
void cc_service_reload(struct cc_service *service);
/* Says what has changed; after each turn of the loop. */
void cc_service_update(struct cc_service *service, const struct cc_master *master);
void cc_service_end(struct cc_service *service, struct ev_loop *loop);

#endif
