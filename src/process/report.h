/* A child's report on its threads' stacks (stacks.h), as its parent collects it from a pipe. The
 * child is not trusted: what is kept has an end, and nothing in it can forge a line of the log or
 * reach a terminal as more than text. */
#ifndef CC_PROCESS_REPORT_H
#define CC_PROCESS_REPORT_H

#include <ev.h>
#include <stdbool.h>

#include "base/buf.h"

#define CC_REPORT_MAX ((size_t)256 * 1024)

/* Owned by the thread that runs the loop. It must not move while it is open. */
struct cc_report {
    struct ev_loop *loop;
    ev_io readable; /* data: the struct's; fd -1: not open */
    struct cc_buf text;
    bool ended;  /* the line that ends a report has come */
    bool failed; /* the pipe is at its end */
};

/* Opens the pipe and starts to collect. *child_fd, close-on-exec, is the child's end: after the
 * fork the child gives it to cc_stacks_arm() and the parent closes it. false with errno set. */
bool cc_report_open(struct cc_report *report, struct ev_loop *loop, int *child_fd);
/* Reads what is there without waiting: before the text of a child that has died is used. */
void cc_report_read(struct cc_report *report);
/* A report is whole: nothing more needs to be waited for. */
bool cc_report_done(const struct cc_report *report);
/* What has come, without the line that ends it; "" when there is nothing. Valid until the next
 * call. */
const char *cc_report_text(struct cc_report *report);
/* Forgets the text, so that the next report can be told apart. */
void cc_report_reset(struct cc_report *report);
/* Closes and frees. Harmless on one that is not open and on one that is all zero. */
void cc_report_close(struct cc_report *report);

#endif
