/* See scoreboard.h. */
#include "stats/scoreboard.h"

#include <sys/mman.h>

#define HEADER_BYTES ((size_t)64)

_Static_assert(sizeof(struct cc_scoreboard) <= HEADER_BYTES, "the header outgrew its room");

struct cc_scoreboard *cc_scoreboard_new(int workers, int threads)
{
    size_t bytes = HEADER_BYTES + (size_t)workers * (size_t)threads * sizeof(struct cc_slot);
    struct cc_scoreboard *board =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (board == MAP_FAILED)
        return NULL;
    board->workers = workers;
    board->threads = threads;
    board->bytes = bytes;
    return board;
}

void cc_scoreboard_free(struct cc_scoreboard *board)
{
    if (board != NULL)
        munmap(board, board->bytes);
}

struct cc_slot *cc_scoreboard_slot(const struct cc_scoreboard *board, int worker, int thread)
{
    struct cc_slot *slots = (struct cc_slot *)((char *)(uintptr_t)board + HEADER_BYTES);
    return &slots[(worker - 1) * board->threads + thread];
}

uint64_t cc_scoreboard_requests(const struct cc_scoreboard *board, int worker)
{
    uint64_t sum = 0;
    int from = worker == 0 ? 1 : worker, to = worker == 0 ? board->workers : worker;

    for (int w = from; w <= to; w++)
        for (int t = 0; t < board->threads; t++)
            sum += atomic_load_explicit(&cc_scoreboard_slot(board, w, t)->requests,
                                        memory_order_relaxed);
    return sum;
}

void cc_scoreboard_reset_worker(struct cc_scoreboard *board, int worker)
{
    for (int t = 0; t < board->threads; t++)
        atomic_store_explicit(&cc_scoreboard_slot(board, worker, t)->started_ns, 0,
                              memory_order_relaxed);
}
