/* From the command line to open sockets: the steps before the first process is forked. */
#ifndef CC_CLI_START_H
#define CC_CLI_START_H

#include "cli/arguments.h"
#include "config/problems.h"
#include "config/settings.h"
#include "plugin/loader.h"
#include "server/listener.h"
#include "system/activation.h"

/* Everything that lives as long as the program. All zero is valid. */
struct cc_start {
    struct cc_arguments arguments;
    struct cc_entries entries;
    struct cc_problems problems;
    struct cc_settings settings;
    struct cc_plugins plugins;
    struct cc_targets targets;
    struct cc_activation activation;
    struct cc_listeners listeners;
};

/* What main() does next. */
#define CC_START_GO_ON (-1)

/* Reads command line, environment and files, opens the plugins and fills the settings. Returns
 * CC_START_GO_ON or the exit code: help was printed, or the command line is wrong (said). What is
 * wrong with the configuration is in problems. */
int cc_start_read(struct cc_start *start, char **argv);
/* Enters chdir, opens the sockets, and prints the problems. CC_START_GO_ON or the exit code. */
int cc_start_open(struct cc_start *start);
/* Says in the log where the server listens, a line a socket. */
void cc_start_announce(const struct cc_listeners *listeners);
void cc_start_clear(struct cc_start *start);

#endif
