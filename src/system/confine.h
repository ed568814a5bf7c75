/* Walls around the app that hold whoever it runs as: root folder, resource limits, no new
 * privileges. One thread, before any app code. */
#ifndef CC_SYSTEM_CONFINE_H
#define CC_SYSTEM_CONFINE_H

#include <stdbool.h>

#include "base/err.h"
#include "config/settings.h"

/* The file mode mask for all that is made from now on; NULL: as it is. mode: octal, checked. */
void cc_confine_umask(const char *mode);
/* limit-as, limit-nproc, max-fd: soft and hard alike, so that the app cannot raise them. As root a
 * limit may be higher than the one inherited. false: err names the option. */
bool cc_confine_limits(const struct cc_service_settings *settings, struct cc_err *err);
/* Makes the folder the root. NULL: does nothing. Root only. */
bool cc_confine_chroot(const char *folder, struct cc_err *err);
/* No program that is executed gets more than this process has (setuid, setgid, file capabilities).
 * For good. */
bool cc_confine_privileges(struct cc_err *err);

#endif
