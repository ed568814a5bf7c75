/* Runs the server's processes: master, generation and workers, or one process without a master. */
#ifndef CC_PROCESS_PROCESS_H
#define CC_PROCESS_PROCESS_H

#include "config/settings.h"
#include "plugin/loader.h"
#include "server/listener.h"

/* Exit codes; docs and man page list them. */
enum cc_exit {
    CC_EXIT_OK = 0,
    CC_EXIT_CONFIG = 1,  /* the configuration or an address is wrong */
    CC_EXIT_USAGE = 2,   /* the command line is wrong */
    CC_EXIT_SYSTEM = 3,  /* the system refused something (fork, setuid, pidfile) */
    CC_EXIT_NO_APP = 22, /* need-app, and the app did not load (uWSGI's code) */
};

/* Lent for the life of the program. */
struct cc_launch {
    const struct cc_settings *settings;
    const struct cc_plugins *plugins;
    struct cc_listeners *listeners; /* open */
};

/* Keeps signals that stop or reload waiting until cc_process_run() can do as they say: before a
 * socket is opened, so that a stop that comes early leaves nothing behind. */
void cc_process_hold_signals(void);
/* Serves until a signal says stop. Returns the exit code in the master and in every process that it
 * forked (they return through here too, so that all memory is freed the same way). */
int cc_process_run(const struct cc_launch *launch);

#endif
