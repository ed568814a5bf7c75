/* Text to a descriptor from a signal handler: no stdio, no memory, no locks. */
#ifndef CC_PROCESS_STACKS_TEXT_H
#define CC_PROCESS_STACKS_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* On the writer's stack. All zero but for fd is an empty one. */
struct cc_stacks_text {
    int fd;
    size_t len;
    char bytes[512];
};

/* Each appends; a full buffer is written out. Errors lose text: there is nowhere to say it. */
void cc_stacks_put(struct cc_stacks_text *text, const char *string);
void cc_stacks_put_bytes(struct cc_stacks_text *text, const char *bytes, size_t len);
void cc_stacks_put_number(struct cc_stacks_text *text, uint64_t number);
/* "0x...", with zeros in front up to so many digits. */
void cc_stacks_put_hex(struct cc_stacks_text *text, uint64_t number, int digits);
/* Writes out what is there, going on after signals. */
void cc_stacks_flush(struct cc_stacks_text *text);

/* Reads a file of /proc/self/task/TID into bytes, with a NUL after it; 0 and "" when it cannot. */
size_t cc_stacks_read_task(int tid, const char *file, char *bytes, size_t size);

#endif
