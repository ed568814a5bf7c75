/* One process of a generation: from its fork until it is reaped. See workers.h. */
#ifndef CC_PROCESS_WORKER_ENTRY_H
#define CC_PROCESS_WORKER_ENTRY_H

#include "process/channel.h"
#include "process/workers.h"

enum cc_forked {
    CC_FORKED_PARENT,
    CC_FORKED_CHILD,
    CC_FORKED_NOT, /* errno says why */
};

void cc_entry_init(struct cc_worker_entry *entry, struct cc_workers *workers, int row);
/* Closes its descriptors without touching the process. */
void cc_entry_clear(struct cc_worker_entry *entry);
/* Forks a process for the seat, with the app's hooks around it. In the child *born is filled. */
enum cc_forked cc_entry_fork(struct cc_worker_entry *entry, struct cc_seat *seat,
                             const struct cc_app_held *held, struct cc_worker_birth *born);
/* Tells it to finish; once worker-reload-mercy is over it is killed. Nothing where it knows. */
void cc_entry_stop(struct cc_worker_entry *entry);
/* It finishes by itself: mercy begins. */
void cc_entry_leaves(struct cc_worker_entry *entry);
/* SIGKILL. The log has said why. */
void cc_entry_kill(struct cc_worker_entry *entry);
void cc_entry_send(const struct cc_worker_entry *entry, enum cc_message_kind kind);
/* Kills it when its mercy is over. */
void cc_entry_check(struct cc_worker_entry *entry, int64_t now);
/* When that has to be looked at; INT64_MAX: never. */
int64_t cc_entry_wake(const struct cc_worker_entry *entry);
/* Each second or two: reaps it where no pidfd would say that it died, and has it replaced where a
 * signal has stopped it. */
void cc_entry_look(struct cc_worker_entry *entry, int64_t now);

#endif
