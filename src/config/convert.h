/* One value: text to the field that a row points at. */
#ifndef CC_CONFIG_CONVERT_H
#define CC_CONFIG_CONVERT_H

#include "config/option.h"
#include "config/problems.h"

/* Stores the value (a list gets one item more). name: as it was written, for messages. text NULL
 * or "": the option without a value. A value that does not fit is an error in problems and leaves
 * the field as it was; what only looks odd is a hint or a warning. */
void cc_convert(const struct cc_option *row, const char *name, const char *text, void *settings,
                struct cc_place place, struct cc_problems *problems);
/* What --help calls the value: "number", "path"...; NULL: it takes none. */
const char *cc_convert_value_name(const struct cc_option *row);

#endif
