/* From the command line to open sockets: one reading of the configuration, at the start or for a
 * reload. */
#ifndef CC_CLI_START_H
#define CC_CLI_START_H

#include "cli/arguments.h"
#include "cli/invocation.h"
#include "config/problems.h"
#include "config/settings.h"
#include "plugin/loader.h"
#include "process/process.h"
#include "server/listener.h"

/* Everything that one reading makes. Nothing in it outlives it. */
struct cc_start {
    const struct cc_invocation *invocation; /* lent */
    char **argv;                            /* a copy, which the reading cuts up */
    bool again;                             /* read for a reload: nothing may wait or be printed */
    struct cc_arguments arguments;
    struct cc_entries entries;
    struct cc_problems problems;
    struct cc_settings settings;
    struct cc_plugins plugins;
    struct cc_targets targets;
    struct cc_listeners listeners;
    char *file;              /* the first ini, absolute; NULL: none */
    int folder;              /* that it works in, chdir or where it was started; -1: none */
    struct cc_launch launch; /* what the processes see of it */
};

/* What main() does next. */
#define CC_START_GO_ON (-1)

/* Of the invocation, which it must not outlive. */
struct cc_start *cc_start_new(const struct cc_invocation *invocation, bool again);
/* Reads command line, environment and files, opens the plugins and fills the settings. Returns
 * CC_START_GO_ON or the exit code: help was printed, or the command line is wrong (said). What is
 * wrong with the configuration is in problems. */
int cc_start_read(struct cc_start *start);
/* Enters chdir and opens the sockets, but for those that before has (NULL: none). What goes wrong
 * is in problems; start->launch is filled. */
void cc_start_enter(struct cc_start *start, struct cc_listeners *before);
/* The same at the first start: prints the problems. CC_START_GO_ON or the exit code, with what it
 * has opened closed and removed again. */
int cc_start_open(struct cc_start *start);
/* Absolute path of the first ini that was read, or NULL; the caller frees it. */
char *cc_start_first_file(const struct cc_start *start);
/* Says in the log where the server listens, a line a socket. */
void cc_start_announce(const struct cc_listeners *listeners);
/* NULL is fine. Closes the sockets and leaves their files. */
void cc_start_free(struct cc_start *start);

#endif
