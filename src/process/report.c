/* See report.h. */
#include "process/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "process/stacks.h"

/* What is read at one time, so that a child that writes without end does not keep the loop. */
#define TURNS 16

/* The end is looked for in what is new, and as far before it as the mark is long. */
static void look_for_end(struct cc_report *report, size_t before)
{
    static const char mark[] = CC_STACKS_END "\n";
    size_t from = before < sizeof mark ? 0 : before - sizeof mark;

    if (!report->ended)
        report->ended =
            memmem(report->text.at + from, report->text.len - from, mark, sizeof mark - 1) != NULL;
}

static void keep(struct cc_report *report, char *bytes, size_t len)
{
    size_t before = report->text.len;
    size_t room = CC_REPORT_MAX - before;

    for (size_t i = 0; i < len; i++)
        if (((unsigned char)bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\t') ||
            (unsigned char)bytes[i] >= 0x7f)
            bytes[i] = '?';
    /* Past the limit the rest is read and dropped; the end mark may be among it. */
    cc_buf_append(&report->text, bytes, len < room ? len : room);
    if (report->text.len > 0)
        look_for_end(report, before);
    if (len > room)
        report->ended = true;
}

void cc_report_read(struct cc_report *report)
{
    char bytes[4096];
    ssize_t got = 0;

    if (report->loop == NULL || report->readable.fd < 0 || report->failed)
        return;
    for (int turn = 0; turn < TURNS; turn++) {
        got = read(report->readable.fd, bytes, sizeof bytes);
        if (got > 0)
            keep(report, bytes, (size_t)got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    report->failed = true;
    ev_io_stop(report->loop, &report->readable);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    cc_report_read(watcher->data);
}

bool cc_report_open(struct cc_report *report, struct ev_loop *loop, int *child_fd)
{
    int ends[2];

    /* Only our end is non-blocking: a child that writes faster than we read has to wait. */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    *report = (struct cc_report){.loop = loop};
    ev_io_init(&report->readable, on_readable, ends[0], EV_READ);
    report->readable.data = report;
    ev_io_start(loop, &report->readable);
    *child_fd = ends[1];
    return true;
}

bool cc_report_done(const struct cc_report *report)
{
    return report->ended;
}

const char *cc_report_text(struct cc_report *report)
{
    static const char mark[] = CC_STACKS_END "\n";
    struct cc_buf *text = &report->text;
    char *end = text->len == 0 ? NULL : memmem(text->at, text->len, mark, sizeof mark - 1);

    if (end != NULL)
        text->len = (size_t)(end - text->at);
    while (text->len > 0 && text->at[text->len - 1] == '\n')
        text->len--;
    return cc_buf_text(text);
}

void cc_report_reset(struct cc_report *report)
{
    cc_buf_clear(&report->text);
    report->ended = false;
}

void cc_report_close(struct cc_report *report)
{
    if (report->loop != NULL) {
        ev_io_stop(report->loop, &report->readable);
        close(report->readable.fd);
    }
    cc_buf_clear(&report->text);
    *report = (struct cc_report){0};
}
