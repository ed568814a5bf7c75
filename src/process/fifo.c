/* See fifo.h. */
#include "process/fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "log/log.h"
#include "process/orders.h"

#define ORDERS_MAX 32 /* at a time: the rest is a flood */

/* Letters that are orders, and those of uWSGI's that are none here, with the reason. */
static const struct {
    char letter;
    enum cc_order order;
} orders[] = {
    {'r', CC_ORDER_RELOAD},     {'R', CC_ORDER_RELOAD_BRUTAL}, {'c', CC_ORDER_CHAIN},
    {'w', CC_ORDER_RECYCLE},    {'W', CC_ORDER_KILL_WORKERS},  {'q', CC_ORDER_STOP},
    {'Q', CC_ORDER_STOP_NOW},   {'l', CC_ORDER_LOG_REOPEN},    {'p', CC_ORDER_PAUSE},
    {'C', CC_ORDER_CHEAP},      {'+', CC_ORDER_MORE},          {'-', CC_ORDER_FEWER},
    {'s', CC_ORDER_SAY_STATUS}, {'f', CC_ORDER_UPGRADE},
};
static const struct {
    char letter;
    const char *why;
} refused[] = {
    {'L', "logs are not rotated here: let logrotate do it, and write l"},
    {'P', "the pidfile is right: the master's pid never changes"},
    {'B', "there is no emperor to ask for reinforcement"},
    {'E', "there is no emperor"},
    {'S', "there are no subscriptions"},
};

static void close_it(struct cc_fifo *fifo)
{
    if (fifo->io.fd < 0)
        return;
    ev_io_stop(fifo->loop, &fifo->io);
    close(fifo->io.fd);
    ev_io_set(&fifo->io, -1, EV_READ);
}

/* A FIFO of our own in the path's place; -1: err says why not. */
static int make(const char *path, struct cc_err *err)
{
    struct stat info;

    if (lstat(path, &info) == 0) {
        if (!S_ISFIFO(info.st_mode)) {
            cc_fail(err, "master-fifo: %s is there already and is no FIFO: move it away", path);
            return -1;
        }
        int writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        if (writer >= 0) {
            close(writer);
            cc_fail(err, "master-fifo: another program reads %s", path);
            return -1;
        }
        /* Whoever holds the old one open must not be able to give orders. */
        unlink(path);
    }
    /* With a reader of our own that also counts as a writer it never comes to its end. */
    int fd = mkfifo(path, S_IRUSR | S_IWUSR) != 0
                 ? -1
                 : open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    /* In a folder that others may write to it may be another's by now. */
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && info.st_uid == geteuid())
        return fd;
    if (fd >= 0)
        close(fd);
    cc_fail(err, "master-fifo: %s cannot be made (as user %u): %s", path, (unsigned)geteuid(),
            strerror(errno));
    return -1;
}

static bool open_slot(struct cc_fifo *fifo, size_t slot, struct cc_err *err)
{
    int fd = make(fifo->paths[slot], err);

    if (fd < 0)
        return false;
    close_it(fifo);
    fifo->slot = slot;
    ev_io_set(&fifo->io, fd, EV_READ);
    ev_io_start(fifo->loop, &fifo->io);
    return true;
}

static void switch_slot(struct cc_fifo *fifo, size_t slot)
{
    struct cc_err err;

    if (slot == fifo->slot)
        return;
    if (slot >= fifo->count)
        cc_log(CC_LOG_WARN, "master-fifo: there is no number %zu: there are %zu", slot,
               fifo->count);
    else if (!open_slot(fifo, slot, &err))
        cc_log(CC_LOG_ERROR, "%s", err.text);
    else
        cc_log(CC_LOG_INFO, "master-fifo: reading %s", fifo->paths[slot]);
}

/* false: the byte is no command at all. */
static bool obey(struct cc_fifo *fifo, char letter)
{
    char who[32];

    snprintf(who, sizeof who, "master-fifo, %c", letter);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (orders[i].letter == letter) {
            cc_orders_obey(ev_userdata(fifo->loop), orders[i].order, who);
            return true;
        }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (refused[i].letter == letter) {
            cc_log(CC_LOG_WARN, "%s: %s", who, refused[i].why);
            return true;
        }
    return letter == '\n' || letter == '\r' || letter == ' ';
}

static void on_bytes(struct ev_loop *loop, ev_io *io, int events)
{
    struct cc_fifo *fifo = io->data;
    char bytes[ORDERS_MAX];
    int unknown = 0;
    char first = 0;

    (void)loop;
    (void)events;
    ssize_t got = read(io->fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] >= '0' && bytes[i] <= '9') {
            switch_slot(fifo, (size_t)(bytes[i] - '0'));
        } else if (!obey(fifo, bytes[i])) {
            first = unknown == 0 ? bytes[i] : first;
            unknown++;
        }
    }
    if (unknown > 0)
        cc_log(CC_LOG_WARN, "master-fifo: %d unknown byte%s ignored, the first is 0x%02x", unknown,
               unknown == 1 ? "" : "s", (unsigned)(unsigned char)first);
}

void cc_fifo_begin(struct cc_fifo *fifo, struct ev_loop *loop)
{
    *fifo = (struct cc_fifo){.loop = loop};
    ev_io_init(&fifo->io, on_bytes, -1, EV_READ);
    fifo->io.data = fifo;
}

void cc_fifo_adopt(struct cc_fifo *fifo, int fd, const char *path)
{
    fifo->paths = cc_alloc_zeroed(2, sizeof *fifo->paths);
    fifo->paths[0] = cc_strdup(path);
    fifo->count = 1;
    ev_io_set(&fifo->io, fd, EV_READ);
    ev_io_start(fifo->loop, &fifo->io);
}

static bool is_same(const struct cc_fifo *fifo, const struct cc_texts *paths)
{
    if (fifo->count != paths->count)
        return false;
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(fifo->paths[i], paths->items[i].text) != 0)
            return false;
    return true;
}

static void free_paths(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

bool cc_fifo_follow(struct cc_fifo *fifo, const struct cc_texts *paths, struct cc_err *err)
{
    struct cc_fifo before = *fifo;

    if (is_same(fifo, paths))
        return true;
    fifo->paths = cc_alloc_zeroed(paths->count + 1, sizeof *fifo->paths);
    fifo->count = paths->count;
    for (size_t i = 0; i < paths->count; i++)
        fifo->paths[i] = cc_strdup(paths->items[i].text);
    if (fifo->count > 0 && before.io.fd >= 0 &&
        strcmp(fifo->paths[0], before.paths[before.slot]) == 0) {
        fifo->slot = 0; /* it is open already */
    } else if (fifo->count > 0 && !open_slot(fifo, 0, err)) {
        free_paths(fifo->paths, fifo->count);
        fifo->paths = before.paths;
        fifo->count = before.count;
        return false;
    }
    if (fifo->count == 0)
        close_it(fifo);
    free_paths(before.paths, before.count);
    return true;
}

void cc_fifo_end(struct cc_fifo *fifo, bool remove)
{
    if (remove && fifo->io.fd >= 0)
        unlink(fifo->paths[fifo->slot]);
    close_it(fifo);
    free_paths(fifo->paths, fifo->count);
    fifo->paths = NULL;
    fifo->count = 0;
}
