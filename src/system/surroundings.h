/* What the app finds around it: log file, working folder, environment. */
#ifndef CC_SYSTEM_SURROUNDINGS_H
#define CC_SYSTEM_SURROUNDINGS_H

#include <stdbool.h>

#include "base/err.h"
#include "config/settings.h"

/* Points standard output and error at the file (appending), before anything is forked. NULL: leaves
 * them. false: err says why not. */
bool cc_surroundings_logto(const char *path, struct cc_err *err);
/* Changes to the folder, or only looks whether one could. NULL: stays. */
bool cc_surroundings_chdir(const char *path, bool only_try, struct cc_err *err);
/* Sets the variables, each "KEY=VALUE", in the process that will load the app. */
bool cc_surroundings_env(const struct cc_texts *env, struct cc_err *err);

#endif
