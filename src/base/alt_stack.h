/* A stack for signal handlers, so that they can run when a thread's own has overflowed. */
#ifndef CC_BASE_ALT_STACK_H
#define CC_BASE_ALT_STACK_H

/* One a thread; kept by it. All zero is none. */
struct cc_alt_stack {
    void *at;
};

/* Gives the calling thread one, in place of a smaller one that it may have (Python's faulthandler
 * sets one). Without memory for it the thread goes without. */
void cc_alt_stack_set(struct cc_alt_stack *stack);
/* The calling thread, at its end. */
void cc_alt_stack_drop(struct cc_alt_stack *stack);

#endif
