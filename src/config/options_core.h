/* The host's own option table; it fills struct cc_settings. */
#ifndef CC_CONFIG_OPTIONS_CORE_H
#define CC_CONFIG_OPTIONS_CORE_H

#include "config/option.h"

extern const struct cc_option_table cc_options_core;

#endif
