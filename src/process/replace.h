/* Who sits in which seat, and who replaces whom: one that has to go serves on until another is
 * ready in its place. See workers.h. */
#ifndef CC_PROCESS_REPLACE_H
#define CC_PROCESS_REPLACE_H

#include "process/workers.h"

/* "max-requests", "the app asked for it"... */
const char *cc_replace_text(enum cc_replace_why why);
/* The seat's holder is to be replaced, as early as this reason allows. */
void cc_replace_ask(struct cc_seat *seat, enum cc_replace_why why);
/* All of them are: at once, or one after another. */
void cc_replace_all(struct cc_workers *workers, enum cc_replace_why why);
/* A process has to be started for the seat now; *when: where not now, when (INT64_MAX: never). */
bool cc_replace_wants(const struct cc_seat *seat, int64_t now, int64_t *when);
/* It was forked for the seat. */
void cc_replace_started(struct cc_seat *seat, struct cc_worker_entry *entry);
/* Not even a process could be had: errno says why. */
void cc_replace_cannot_start(struct cc_seat *seat);
/* The process says that it serves. */
void cc_replace_ready(struct cc_worker_entry *entry);
/* Tells the master, once, when somebody serves in each seat that is wanted. */
void cc_replace_tell_served(struct cc_workers *workers);
/* The process finishes by itself (SIGTERM): its seat is free. */
void cc_replace_leaves(struct cc_worker_entry *entry);
/* Nobody is wanted there any more: who sits there finishes and ends. */
void cc_replace_vacate(struct cc_seat *seat);
/* The process was reaped, with this status of waitpid(). */
void cc_replace_ended(struct cc_worker_entry *entry, int status);

#endif
