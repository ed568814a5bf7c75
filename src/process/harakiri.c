/* See harakiri.h. */
#include "process/harakiri.h"

#include <string.h>

struct cc_running cc_harakiri_oldest(const struct cc_scoreboard *board, int worker)
{
    struct cc_running oldest = {0};

    for (int thread = 0; thread < board->threads; thread++) {
        struct cc_slot *slot = cc_scoreboard_slot(board, worker, thread);
        int64_t since = atomic_load_explicit(&slot->started_ns, memory_order_acquire);
        if (since == 0 || (oldest.since_ns != 0 && since >= oldest.since_ns))
            continue;
        oldest.since_ns = since;
        memcpy(oldest.what, slot->method_uri, sizeof oldest.what);
        oldest.what[sizeof oldest.what - 1] = '\0';
    }
    /* A peer chose these bytes. */
    for (char *at = oldest.what; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
    return oldest;
}
