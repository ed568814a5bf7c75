/* What one binary leaves to the next when the master executes it in its own place (`ccontainer
 * upgrade`): the numbers of the descriptors that stay open, and what is known of each. It travels
 * as JSON in a sealed memory file, whose number is in the environment. Master's thread. */
#ifndef CC_HANDOVER_HANDOVER_H
#define CC_HANDOVER_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/compare.h"

/* The form of the text. A reader refuses every other. */
#define CC_HANDOVER_VERSION 1
/* Holds the number of the memory file. */
#define CC_HANDOVER_VARIABLE "CCONTAINER_HANDOVER"

/* A descriptor and what it is: a path, a name. */
struct cc_handed_file {
    int fd;     /* -1: there is none */
    char *text; /* owned; NULL: nothing to say */
};

struct cc_handed_listener {
    int fd;
    int passed;              /* the number that whoever started the server gave it; 0: not passed */
    char *address;           /* as it was configured; owned */
    char *file;              /* of a unix socket; owned; NULL: none */
    uint64_t device, number; /* of the file */
};

struct cc_handed_generation {
    int number, state; /* enum cc_generation_state */
    int pid;           /* 0: it has ended, some of its workers have not */
    bool loaded, may_idle_out;
    int channel; /* -1: closed */
    int board, rows, threads;
    int64_t started_ns, deadline_ns; /* CLOCK_MONOTONIC */
    int *workers;                    /* rows of them; owned */
};

struct cc_handover {
    bool trial;   /* only to find out whether the new binary and the configuration would do */
    int master;   /* pid */
    char *from;   /* name and version of the old binary; owned */
    char *layout; /* of what processes of both versions share; owned */
    struct cc_handed_file folder; /* that the server was started in */
    struct cc_handed_file pidfile, pidfile2, fifo;
    int control, notify; /* -1: none */
    int started;         /* generations so far */
    int64_t started_ns;
    bool paused;
    struct cc_handed_file *passed; /* by socket activation; text: the name */
    struct cc_handed_listener *listeners;
    struct cc_handed_generation *generations; /* oldest first */
    struct cc_option_value *options;          /* that only a restart changes */
    int *clients; /* of the control socket, which wait for the outcome */
    size_t n_passed, n_listeners, n_generations, n_options, n_clients;
};

/* Nothing in it, every descriptor -1. */
void cc_handover_init(struct cc_handover *handover);
/* Frees the memory; descriptors are left alone. */
void cc_handover_clear(struct cc_handover *handover);

/* As text; the caller frees it. */
char *cc_handover_write(const struct cc_handover *handover);
/* The other direction. Takes nothing on trust: false, and err says what is wrong; *handover is
 * clear then. */
bool cc_handover_read(struct cc_handover *handover, const char *text, size_t len,
                      struct cc_err *err);

/* A memory file with that text, which nobody can change any more; close-on-exec. -1 with errno. */
int cc_handover_seal(const char *text);
/* Was this process started to take over? */
bool cc_handover_wanted(void);
/* Reads what CC_HANDOVER_VARIABLE names, takes that out of the environment and closes the memory
 * file. false: err. */
bool cc_handover_take(struct cc_handover *handover, struct cc_err *err);
/* Every descriptor in it stays open over an execve(), or not. false: one is not open. */
bool cc_handover_keep_open(const struct cc_handover *handover, bool open);

#endif
