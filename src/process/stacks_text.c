/* See stacks_text.h. */
#include "process/stacks_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void cc_stacks_flush(struct cc_stacks_text *text)
{
    size_t done = 0;

    while (done < text->len) {
        ssize_t written = write(text->fd, text->bytes + done, text->len - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    text->len = 0;
}

void cc_stacks_put_bytes(struct cc_stacks_text *text, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text->len == sizeof text->bytes)
            cc_stacks_flush(text);
        text->bytes[text->len++] = bytes[i];
    }
}

void cc_stacks_put(struct cc_stacks_text *text, const char *string)
{
    cc_stacks_put_bytes(text, string, strlen(string));
}

static void put_digits(struct cc_stacks_text *text, uint64_t number, unsigned base, int digits)
{
    char bytes[24];
    size_t at = sizeof bytes;

    do {
        bytes[--at] = "0123456789abcdef"[number % base];
        number /= base;
        digits--;
    } while ((number != 0 || digits > 0) && at > 0);
    cc_stacks_put_bytes(text, bytes + at, sizeof bytes - at);
}

void cc_stacks_put_number(struct cc_stacks_text *text, uint64_t number)
{
    put_digits(text, number, 10, 1);
}

void cc_stacks_put_hex(struct cc_stacks_text *text, uint64_t number, int digits)
{
    cc_stacks_put(text, "0x");
    put_digits(text, number, 16, digits);
}

size_t cc_stacks_read_task(int tid, const char *file, char *bytes, size_t size)
{
    /* fd -1 and never full: only the buffer is used. */
    struct cc_stacks_text path = {.fd = -1};
    ssize_t got = 0;

    cc_stacks_put(&path, "/proc/self/task/");
    cc_stacks_put_number(&path, (uint64_t)tid);
    cc_stacks_put(&path, "/");
    cc_stacks_put_bytes(&path, file, strlen(file) + 1);
    int fd = open(path.bytes, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, bytes, size - 1);
        close(fd);
    }
    bytes[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}
