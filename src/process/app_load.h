/* Loads the user's app through its plugin: in the generation, in a lazy worker, or in the one
 * process that there is without a master. */
#ifndef CC_PROCESS_APP_LOAD_H
#define CC_PROCESS_APP_LOAD_H

#include <sys/types.h>

#include "plugin/app.h"
#include "process/process.h"

/* An app plugin and what it loaded. Owned by the process that loaded it; after fork by each. */
struct cc_app_held {
    const struct cc_app *app; /* of the plugin; NULL: there is no app plugin */
    void *state;              /* of load(); NULL: not loaded */
};

/* Where it is loaded. */
struct cc_app_place {
    bool must;    /* nothing will be served without the app; for the log */
    int worker;   /* counts from 1; 0: in a generation, before the fork */
    pid_t master; /* 0: there is none */
};

/* false: the log has said in full why; held may still be served with (every request gets a 500) and
 * must be unloaded. */
bool cc_app_load(struct cc_app_held *held, const struct cc_launch *launch,
                 struct cc_app_place place);
void cc_app_unload(struct cc_app_held *held);

#endif
