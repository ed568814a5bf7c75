/* See kept.h. */
#include "server/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "log/log.h"

static bool is_file_of(const struct cc_listener *listener, const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISSOCK(info.st_mode) &&
           info.st_dev == listener->file_device && info.st_ino == listener->file_number;
}

/* Two descriptors of one socket. */
static bool is_same_socket(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool is_at(const struct cc_listener *open, const struct cc_listener *wanted)
{
    const struct cc_address *have = &open->address, *want = &wanted->address;

    if (wanted->setting->fd > 0 || want->kind == CC_ADDRESS_FD)
        return open->passed == (wanted->setting->fd > 0 ? wanted->setting->fd : want->fd);
    if (have->kind != want->kind)
        return false;
    /* Not by its name: a relative one may mean another file by now, and the file may have been
     * removed, so that nobody could connect any more. */
    if (want->kind == CC_ADDRESS_UNIX)
        return is_file_of(open, want->path);
    return have->sock_len == want->sock_len &&
           memcmp(&have->sock, &want->sock, want->sock_len) == 0;
}

bool cc_kept_take(struct cc_listener *listener, struct cc_listeners *before, int64_t backlog)
{
    for (size_t i = 0; i < before->count; i++) {
        struct cc_listener *open = &before->items[i];
        /* Port 0 may be listened on many times; each time is a socket of its own. */
        if (open->claimed || !is_at(open, listener))
            continue;
        listener->fd = fcntl(open->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (listener->fd < 0)
            return false; /* to open it anew fails too, and says why */
        open->claimed = listener->kept = true;
        listener->passed = open->passed;
        if (listener->passed > 0)
            listener->address.kind = CC_ADDRESS_FD;
        listener->file = open->file == NULL ? NULL : cc_strdup(open->file);
        listener->file_device = open->file_device;
        listener->file_number = open->file_number;
        /* A queue may be made longer and shorter while it is in use. */
        listen(listener->fd, (int)backlog);
        return true;
    }
    return false;
}

void cc_kept_note_file(struct cc_listener *listener)
{
    struct stat info;

    if (listener->address.kind != CC_ADDRESS_UNIX || lstat(listener->address.path, &info) != 0)
        return;
    listener->file_device = info.st_dev;
    listener->file_number = info.st_ino;
    listener->file = cc_path_absolute(listener->address.path);
}

static void remove_file(const struct cc_listener *listener)
{
    /* Another server may have put its own there meanwhile. */
    if (listener->file == NULL || !is_file_of(listener, listener->file))
        return;
    if (unlink(listener->file) != 0)
        cc_log(CC_LOG_WARN, "the socket %s cannot be removed: %s", listener->file, strerror(errno));
}

void cc_kept_abandon(struct cc_listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (!listeners->items[i].kept)
            remove_file(&listeners->items[i]);
    cc_listeners_close(listeners, false);
}

static bool has(const struct cc_listeners *listeners, const struct cc_listener *listener)
{
    for (size_t i = 0; i < listeners->count; i++)
        if (is_same_socket(listeners->items[i].fd, listener->fd))
            return true;
    return false;
}

void cc_kept_retire(const struct cc_listeners *before, const struct cc_listeners *after,
                    bool vacuum)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct cc_listener *listener = &before->items[i];
        if (has(after, listener))
            continue;
        cc_log(CC_LOG_INFO, "reload: %s is not listened on any more", listener->setting->address);
        if (vacuum)
            remove_file(listener);
        /* Not what was handed to us: whoever did may go on with it. */
        if (listener->passed == 0)
            shutdown(listener->fd, SHUT_RDWR);
    }
}
