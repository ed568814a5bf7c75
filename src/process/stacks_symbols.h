/* What code an address is in, from a signal handler. */
#ifndef CC_PROCESS_STACKS_SYMBOLS_H
#define CC_PROCESS_STACKS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "process/stacks_text.h"

/* Appends "function+0x12 (/path/of.so+0x1234)", or what of it is known. is_return: the address is
 * one that a call returns to, so the call itself is just before it. */
void cc_stacks_put_symbol(struct cc_stacks_text *text, uintptr_t address, bool is_return);
/* Finds the executable's own path. Not from a handler; before the first of the above. */
void cc_stacks_symbols_prepare(void);

#endif
