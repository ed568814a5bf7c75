/* Text of any bytes in JSON, which has only valid UTF-8: paths need not be that. */
#ifndef CC_HANDOVER_HANDOVER_TEXT_H
#define CC_HANDOVER_HANDOVER_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/* null for NULL. A new reference. */
json_t *cc_handover_text(const char *text);
/* *text: NULL for null; the caller frees it. false: it is no text of ours. */
bool cc_handover_untext(const json_t *value, char **text);

#endif
