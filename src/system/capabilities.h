/* The few powers of root that an app may keep (capabilities(7)). One thread. */
#ifndef CC_SYSTEM_CAPABILITIES_H
#define CC_SYSTEM_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/option.h"

/* Looks the names up: "net_bind_service", "cap_net_bind_service", several with commas or blanks
 * between. *wanted gets a bit a capability. false: err names the one that this kernel does not
 * know. */
bool cc_capabilities_find(const struct cc_texts *names, uint64_t *wanted, struct cc_err *err);
/* Before the user is changed: arranges that the capabilities outlive the change, and that none but
 * these can ever be had again, by executing what belongs to root neither. */
bool cc_capabilities_keep(uint64_t wanted, struct cc_err *err);
/* After it: takes up exactly these. */
bool cc_capabilities_take(uint64_t wanted, struct cc_err *err);
/* on: what this process has outlives an execve(), for the next binary to look after the server as
 * this one could; off: no longer. false: errno; nothing is lost where it fails. */
bool cc_capabilities_over_exec(bool on);

#endif
