/* Allocation that does not fail: what a peer may ask for is limited before it is allocated, so
 * running out of memory is not a peer's doing, and going on without it helps nobody. */
#ifndef CC_BASE_ALLOC_H
#define CC_BASE_ALLOC_H

#include <stddef.h>

#include "base/attributes.h"

/* Each returns memory that the caller frees with free(); all of them abort when there is none. */
void *cc_alloc(size_t size);
void *cc_alloc_zeroed(size_t count, size_t size);
void *cc_realloc(void *old, size_t size);
char *cc_strdup(const char *text);
char *cc_strndup(const char *text, size_t len);
char *cc_format(const char *format, ...) CC_PRINTF(1, 2);

#endif
