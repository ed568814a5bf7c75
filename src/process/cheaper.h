/* The number of workers follows the load: once a second figures are taken and an algorithm asked.
 * cheaper.c takes the figures and does what the algorithm says; the algorithms (cheaper_algos.c,
 * cheaper_busyness.c) see nothing but figures and settings. */
#ifndef CC_PROCESS_CHEAPER_H
#define CC_PROCESS_CHEAPER_H

#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"

struct cc_workers;

/* As options_cheaper.c orders its choices. */
enum cc_cheaper_algorithm {
    CC_CHEAPER_SPARE,
    CC_CHEAPER_SPARE2,
    CC_CHEAPER_BACKLOG,
    CC_CHEAPER_BUSYNESS,
    CC_CHEAPER_MANUAL,
};

/* The second that has just passed. */
struct cc_cheaper_figures {
    int64_t second;  /* counts up */
    int workers;     /* that serve */
    int least, most; /* allowed */
    int threads;     /* of each worker */
    double busy;     /* threads that ran the app, on average */
    int backlog;     /* clients that wait in the listen queues */
};

struct cc_busyness {
    double busy, room;    /* thread-seconds in this window: spent in the app, and there */
    int seconds;          /* of this window so far */
    int64_t multiplier;   /* of now */
    int64_t next_cheap;   /* the second before which none is ended */
    int64_t last_cheaped; /* the second when one was ended; 0: never */
    bool last_was_cheap;  /* what was done last */
    int tolerated;        /* windows in a row between the limits */
    int emergency;        /* workers that were started because of the backlog */
    int64_t waiting;      /* seconds in a row that somebody waited */
};

/* Part of struct cc_workers. */
struct cc_cheaper {
    int64_t *busy_ns; /* a row: spent in the app until the last look */
    int64_t looked_ns;
    int64_t seconds;         /* looks so far */
    int64_t overload, spare; /* seconds in a row that it was so; spare and spare2 */
    struct cc_busyness busyness;
    bool said_limit; /* the log has said that memory keeps the number down */
};

/* What to change: workers to start (positive), or -1: one to end. *why: for the log. */
int cc_cheaper_spare(struct cc_cheaper *cheaper, const struct cc_cheaper_settings *settings,
                     const struct cc_cheaper_figures *figures, const char **why);
int cc_cheaper_spare2(struct cc_cheaper *cheaper, const struct cc_cheaper_settings *settings,
                      const struct cc_cheaper_figures *figures, const char **why);
int cc_cheaper_backlog(const struct cc_cheaper_settings *settings,
                       const struct cc_cheaper_figures *figures, const char **why);
int cc_cheaper_busyness(struct cc_busyness *busyness, const struct cc_cheaper_settings *settings,
                        const struct cc_cheaper_figures *figures, const char **why);

/* Each second: changes how many workers are wanted. */
void cc_cheaper_look(struct cc_workers *workers, int64_t now);
/* One more or less, by hand: by is 1 or -1. */
void cc_cheaper_by_hand(struct cc_workers *workers, int by);
void cc_cheaper_clear(struct cc_cheaper *cheaper);

#endif
