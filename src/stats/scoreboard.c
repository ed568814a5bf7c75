/* See scoreboard.h. */
#include "stats/scoreboard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static size_t bytes_of(int rows, int threads)
{
    return sizeof(struct cc_board_shared) + (size_t)rows * (size_t)threads * sizeof(struct cc_slot);
}

/* NULL with errno set; the file is the caller's then. */
static struct cc_scoreboard *map(int file, int rows, int threads)
{
    size_t bytes = bytes_of(rows, threads);
    struct cc_board_shared *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (shared == MAP_FAILED)
        return NULL;
    struct cc_scoreboard *board = cc_alloc_zeroed(1, sizeof *board);
    *board = (struct cc_scoreboard){rows, threads, bytes, file, shared};
    return board;
}

struct cc_scoreboard *cc_scoreboard_new(int rows, int threads)
{
    int file = memfd_create("cc-scoreboard", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (file < 0)
        return NULL;
    /* Sealed: nobody can cut it short below those who read it. */
    if (ftruncate(file, (off_t)bytes_of(rows, threads)) == 0 &&
        fcntl(file, F_ADD_SEALS, SIZE_SEALS) == 0) {
        struct cc_scoreboard *board = map(file, rows, threads);
        if (board != NULL) {
            atomic_store(&board->shared->used, rows);
            return board;
        }
    }
    int saved = errno;
    close(file);
    errno = saved;
    return NULL;
}

struct cc_scoreboard *cc_scoreboard_adopt(int file, int rows, int threads)
{
    struct stat info;

    if (fstat(file, &info) != 0)
        return NULL;
    if ((size_t)info.st_size < bytes_of(rows, threads) ||
        (fcntl(file, F_GET_SEALS) & SIZE_SEALS) != SIZE_SEALS) {
        errno = EINVAL;
        return NULL;
    }
    return map(file, rows, threads);
}

void cc_scoreboard_close_file(struct cc_scoreboard *board)
{
    if (board->file >= 0)
        close(board->file);
    board->file = -1;
}

void cc_scoreboard_free(struct cc_scoreboard *board)
{
    if (board == NULL)
        return;
    munmap(board->shared, board->bytes);
    cc_scoreboard_close_file(board);
    free(board);
}

struct cc_slot *cc_scoreboard_slot(const struct cc_scoreboard *board, int row, int thread)
{
    return &board->shared->slots[(row - 1) * board->threads + thread];
}

int64_t cc_slot_started_ns(const struct cc_slot *slot)
{
    int64_t since = atomic_load_explicit(&slot->started_ns, memory_order_acquire);

    return since < 0 ? 0 : since;
}

static uint64_t requests_of(const struct cc_scoreboard *board, int row)
{
    uint64_t sum = 0;

    for (int t = 0; t < board->threads; t++)
        sum += atomic_load_explicit(&cc_scoreboard_slot(board, row, t)->requests,
                                    memory_order_relaxed);
    return sum;
}

uint64_t cc_scoreboard_requests(const struct cc_scoreboard *board, int row)
{
    if (row != 0)
        return requests_of(board, row);
    int used = atomic_load_explicit(&board->shared->used, memory_order_relaxed);
    uint64_t sum = atomic_load_explicit(&board->shared->old_requests, memory_order_relaxed);

    /* Any process can write there. */
    for (row = 1; row <= used && row <= board->rows; row++)
        sum += requests_of(board, row);
    return sum;
}

void cc_scoreboard_reset_row(struct cc_scoreboard *board, int row, int worker)
{
    atomic_fetch_add_explicit(&board->shared->old_requests, requests_of(board, row),
                              memory_order_relaxed);
    for (int t = 0; t < board->threads; t++) {
        struct cc_slot *slot = cc_scoreboard_slot(board, row, t);
        atomic_store_explicit(&slot->started_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->requests, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->busy_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->worker, worker, memory_order_relaxed);
    }
}
