/* File descriptors. */
#ifndef CC_BASE_FD_H
#define CC_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>

/* false with errno set when fcntl fails. */
bool cc_fd_nonblock(int fd, bool on);
bool cc_fd_cloexec(int fd, bool on);
/* Opens /dev/null where standard input, output or error was closed, so that no socket gets its
 * number and then what is printed; false with errno set. */
bool cc_fd_fill_standard(void);
/* Lets no program that is executed later have any descriptor above the standard three. */
void cc_fd_cloexec_rest(void);
/* Writes all of it to a blocking descriptor, going on after signals; false with errno set. */
bool cc_fd_write_all(int fd, const void *bytes, size_t len);
/* Where files without a name go: TMPDIR, or /tmp. */
const char *cc_fd_spool_folder(void);
/* A file without a name in that folder that vanishes when it is closed; -1 with errno set. */
int cc_fd_spool(void);
/* The whole file as malloc'ed memory with a NUL after it (which *len does not count); the caller
 * frees it. NULL with errno set: cannot be read, is a directory, or is larger than max (EFBIG). */
char *cc_fd_read_file(const char *path, size_t max, size_t *len);
/* The same for a regular file only (ENOTSUP: it is none), so that it cannot wait for a writer. */
char *cc_fd_read_regular(const char *path, size_t max, size_t *len);

#endif
