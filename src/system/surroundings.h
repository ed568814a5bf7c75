/* What the app finds around it: log file, working folder, environment. */
#ifndef CC_SYSTEM_SURROUNDINGS_H
#define CC_SYSTEM_SURROUNDINGS_H

#include <stdbool.h>

#include "base/err.h"
#include "config/settings.h"

/* Points standard output and error at the file (appending), before anything is forked. NULL: leaves
 * them. option: its name, for messages. false: err says why not. */
bool cc_surroundings_logto(const char *option, const char *path, struct cc_err *err);
/* The file that the log goes to once the server runs (daemonize, logto, logto2); NULL: standard
 * error as it was found. *option: what named it. */
const char *cc_surroundings_log_path(const struct cc_settings *settings, const char **option);
/* Opens that file again, after somebody has moved it away. */
bool cc_surroundings_reopen_log(const struct cc_settings *settings, struct cc_err *err);
/* Looks whether that would work, and leaves the file there. */
bool cc_surroundings_try_log(const char *option, const char *path, struct cc_err *err);
/* Changes to the folder, or only looks whether one could. NULL: stays. */
bool cc_surroundings_chdir(const char *path, bool only_try, struct cc_err *err);
/* Sets the variables, each "KEY=VALUE", in the process that will load the app. */
bool cc_surroundings_env(const struct cc_texts *env, struct cc_err *err);

#endif
