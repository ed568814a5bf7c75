/* Runs the server's processes: master, generation and workers, or one process without a master. */
#ifndef CC_PROCESS_PROCESS_H
#define CC_PROCESS_PROCESS_H

#include "config/entries.h"
#include "config/settings.h"
#include "handover/handover.h"
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

/* One reading of the configuration, with its sockets open: what generations are started from. A
 * process keeps no pointer into it beyond its life. */
struct cc_launch {
    const struct cc_settings *settings;
    const struct cc_plugins *plugins;
    struct cc_listeners *listeners;
    const char *file;                 /* the first ini, absolute; NULL: none */
    const struct cc_entries *entries; /* what settings came from, for the app to see; NULL: not */
    const struct cc_source *source;   /* NULL: it cannot be read again, and reloads go on with it */
};

/* Where launches come from: whoever read the configuration (src/cli). Called by the master, and
 * release() by every process for its own copy. */
struct cc_source {
    /* The next launch, which keeps the sockets of now that it also has. NULL: the log has said what
     * is wrong, and nothing has changed. */
    struct cc_launch *(*read)(const struct cc_launch *now);
    /* It is not used after all: what it opened is closed and removed, and now counts as before. */
    void (*take_back)(struct cc_launch *launch, const struct cc_launch *now);
    /* Frees it and closes its descriptors; the sockets' files stay. */
    void (*release)(struct cc_launch *launch);
    /* For an upgrade: fills the folder of the start, the sockets that were passed to it, and the
     * options that only a restart changes. *argv: the command line; lent. */
    void (*hand_over)(const struct cc_launch *now, struct cc_handover *handover, char ***argv);
};

/* Keeps signals that stop or reload waiting until cc_process_run() can do as they say: before a
 * socket is opened, so that a stop that comes early leaves nothing behind. */
void cc_process_hold_signals(void);
/* Serves until a signal says stop. Takes the launch over and releases it. Returns the exit code in
 * the master and in every process that it forked (they return through here too, so that all memory
 * is freed the same way). */
int cc_process_run(struct cc_launch *launch);
/* The same in the place of the binary that left that handover: its processes go on, and the first
 * thing is a reload. handed: its sockets, of cc_adopt_listeners(); taken over. */
int cc_process_adopt(struct cc_launch *launch, const struct cc_handover *handover,
                     struct cc_listeners *handed);
/* Of a launch that can be read again. */
void cc_process_release(struct cc_launch *launch);

#endif
