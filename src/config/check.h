/* The rules between options, once all of them are read. */
#ifndef CC_CONFIG_CHECK_H
#define CC_CONFIG_CHECK_H

#include "config/problems.h"
#include "config/settings.h"
#include "config/targets.h"

/* Completes the settings (server.sockets; master where something implies it) and adds to problems
 * what does not fit together or cannot be. protocols: names of the protocols that socket may have,
 * ends with NULL. */
void cc_check(struct cc_settings *settings, const struct cc_targets *targets,
              const char *const *protocols, struct cc_problems *problems);
/* An error when no option names a socket; first: the configuration's place. Not worth saying when
 * the configuration could not be read whole. */
void cc_check_listens(const struct cc_server_settings *server, struct cc_place first,
                      struct cc_problems *problems);
/* Frees what cc_check() added. */
void cc_check_clear(struct cc_settings *settings);

#endif
