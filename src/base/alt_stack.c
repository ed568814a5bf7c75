/* See alt_stack.h. */
#include "base/alt_stack.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

/* Room for several handlers within each other, each with the registers of a machine with AMX (11
 * KiB); only what is used becomes memory. Below it a page that nothing may touch. */
#define STACK_BYTES ((size_t)128 * 1024)
#define GUARD_BYTES ((size_t)4096)

void cc_alt_stack_set(struct cc_alt_stack *stack)
{
    void *at = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    stack->at = NULL;
    if (at == MAP_FAILED)
        return;
    stack_t new = {.ss_sp = (char *)at + GUARD_BYTES, .ss_size = STACK_BYTES};
    if (mprotect(new.ss_sp, new.ss_size, PROT_READ | PROT_WRITE) != 0 ||
        sigaltstack(&new, NULL) != 0)
        munmap(at, GUARD_BYTES + STACK_BYTES);
    else
        stack->at = at;
}

void cc_alt_stack_drop(struct cc_alt_stack *stack)
{
    stack_t none = {.ss_flags = SS_DISABLE}, now;

    if (stack->at == NULL)
        return;
    /* Somebody else's may be set by now. */
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == (char *)stack->at + GUARD_BYTES)
        sigaltstack(&none, NULL);
    munmap(stack->at, GUARD_BYTES + STACK_BYTES);
    stack->at = NULL;
}
