/* A generation: one load of the app, and the workers forked from it. */
#ifndef CC_PROCESS_GENERATION_H
#define CC_PROCESS_GENERATION_H

#include "process/process.h"
#include "stats/scoreboard.h"

struct cc_generation_setup {
    struct cc_launch *launch;
    struct cc_scoreboard *board; /* its own; the master's to free */
    int number;                  /* counts from 1 */
    int channel;                 /* to the master; owned by the generation process */
    bool must_load;              /* without the app it ends with CC_EXIT_NO_APP */
};

/* How many rows its board needs. */
int cc_generation_rows(const struct cc_settings *settings);
/* In a process that was just forked for it: loads the app (with lazy-apps the workers do), keeps
 * the workers alive until the master says stop or is gone, then ends when they have. Returns the
 * exit code, in the generation's process and in each worker's. */
int cc_generation_run(const struct cc_generation_setup *setup);

#endif
