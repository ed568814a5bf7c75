/* See generations.h. */
#include "process/generations.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/generation.h"
#include "process/spawn.h"

/* More than the socket's buffer holds, so that all of what a dead one said is read; whoever goes on
 * sending has to wait for the next turn like everybody else. */
#define MESSAGES_A_TURN 1024

#define OF(at) CC_CONTAINER(at, struct cc_generation, link)

void cc_generations_init(struct cc_generations *all, struct ev_loop *loop)
{
    *all = (struct cc_generations){.loop = loop};
    cc_link_init(&all->list);
}

static void let_go(struct cc_generation *generation)
{
    ev_io_stop(generation->all->loop, &generation->messages);
    if (generation->channel >= 0)
        close(generation->channel);
    generation->channel = -1;
}

static void forget(struct cc_generation *generation, const struct cc_scoreboard *kept)
{
    let_go(generation);
    cc_link_remove(&generation->link);
    if (generation->board != kept)
        cc_scoreboard_free(generation->board);
    free(generation->workers);
    free(generation);
}

void cc_generations_clear(struct cc_generations *all, const struct cc_scoreboard *kept)
{
    while (!cc_link_alone(&all->list))
        forget(OF(all->list.next), kept);
}

/* Could it be a worker's? Never ourselves, a group of processes (0, negative), process 1 or another
 * generation. That it is our child is looked at before it is ever used. */
static bool may_be_worker(const struct cc_generation *generation, pid_t pid)
{
    return pid > 1 && pid != getpid() && cc_generations_of(generation->all, pid) == NULL;
}

static void note(struct cc_generation *generation, const struct cc_message *message)
{
    int at = message->worker < 1 ? -1 : message->worker - 1;

    if (message->kind == CC_MESSAGE_LOADED)
        generation->loaded = true;
    if (message->kind == CC_MESSAGE_READY && generation->state == CC_GENERATION_STARTING)
        generation->state = CC_GENERATION_SERVING;
    if (message->kind == CC_MESSAGE_RELOAD && generation->state == CC_GENERATION_SERVING)
        generation->all->reload_asked = true;
    /* die-on-idle: as if somebody stopped us. */
    if (message->kind == CC_MESSAGE_IDLE && generation->state == CC_GENERATION_SERVING &&
        generation->may_idle_out)
        raise(SIGTERM);
    if (at < 0 || at >= generation->n_workers)
        return;
    if (message->kind == CC_MESSAGE_STARTED)
        generation->workers[at] = may_be_worker(generation, message->pid) ? (pid_t)message->pid : 0;
    else if (message->kind == CC_MESSAGE_ENDED)
        generation->workers[at] = 0;
}

void cc_generation_listen(struct cc_generation *generation)
{
    struct cc_message message;
    enum cc_received got = CC_RECEIVED;

    for (int i = 0; i < MESSAGES_A_TURN && got == CC_RECEIVED; i++) {
        got = cc_channel_receive(generation->channel, &message);
        if (got == CC_RECEIVED)
            note(generation, &message);
    }
    if (got == CC_RECEIVED_GONE || got == CC_RECEIVED_NONSENSE)
        ev_io_stop(generation->all->loop, &generation->messages); /* SIGCHLD will say the rest */
    if (got != CC_RECEIVED_NONSENSE || generation->pid == 0)
        return;
    cc_log(CC_LOG_ERROR, "generation %d (pid %d) is killed: it sends what is no message of ours",
           generation->number, (int)generation->pid);
    cc_generation_kill(generation);
}

static void on_message(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    cc_generation_listen(watcher->data);
}

static struct cc_generation *add(struct cc_generations *all, struct cc_scoreboard *board,
                                 int channel)
{
    struct cc_generation *generation = cc_alloc_zeroed(1, sizeof *generation);

    generation->all = all;
    generation->number = ++all->started;
    generation->channel = channel;
    generation->board = board;
    generation->n_workers = board->rows;
    generation->n_threads = board->threads;
    generation->workers = cc_alloc_zeroed((size_t)board->rows, sizeof *generation->workers);
    generation->started_ns = cc_clock_ns();
    ev_io_init(&generation->messages, on_message, channel, EV_READ);
    generation->messages.data = generation;
    cc_link_add(&all->list, &generation->link);
    return generation;
}

void cc_generations_adopt(struct cc_generations *all, const struct cc_handed_generation *handed,
                          struct cc_scoreboard *board)
{
    struct cc_generation *generation = add(all, board, handed->channel);

    generation->number = handed->number;
    generation->state = (enum cc_generation_state)handed->state;
    generation->pid = handed->pid;
    generation->loaded = handed->loaded;
    generation->may_idle_out = handed->may_idle_out;
    generation->started_ns = handed->started_ns;
    generation->deadline_ns = handed->deadline_ns;
    for (int i = 0; i < handed->rows; i++)
        generation->workers[i] = handed->workers[i];
    if (generation->channel >= 0)
        ev_io_start(all->loop, &generation->messages);
}

struct cc_generation *cc_generations_start(struct cc_generations *all, struct cc_launch *launch,
                                           struct cc_generation_setup *born)
{
    const struct cc_settings *settings = launch->settings;
    struct cc_scoreboard *board =
        cc_scoreboard_new(cc_generation_rows(settings), (int)settings->server.threads);
    char name[16];
    int ends[2];

    born->number = 0;
    if (board == NULL || !cc_channel_open(ends)) {
        cc_log(CC_LOG_ERROR, "a generation cannot be started: %s", strerror(errno));
        cc_scoreboard_free(board);
        return NULL;
    }
    struct cc_generation *generation = add(all, board, ends[0]);
    snprintf(name, sizeof name, "cc-app-%d", generation->number);
    generation->pid = cc_spawn(name);
    generation->may_idle_out = settings->life.die_on_idle;
    if (generation->pid == 0) {
        born->launch = launch;
        born->board = board;
        born->number = generation->number;
        born->channel = ends[1];
        return NULL;
    }
    close(ends[1]);
    if (generation->pid < 0) {
        cc_log(CC_LOG_ERROR, "a generation cannot be started: fork: %s", strerror(errno));
        forget(generation, NULL);
        return NULL;
    }
    ev_io_start(all->loop, &generation->messages);
    return generation;
}

void cc_generation_kill(struct cc_generation *generation)
{
    /* Its workers go with it (PR_SET_PDEATHSIG); see cc_generations_reaped() for the rest. */
    if (generation->pid != 0)
        kill(generation->pid, SIGKILL);
}

void cc_generation_stop(struct cc_generation *generation, enum cc_successor successor,
                        int64_t seconds)
{
    cc_generation_listen(generation);
    if (generation->state < CC_GENERATION_STOPPING)
        generation->state = CC_GENERATION_STOPPING;
    struct cc_message stop = {
        .kind = CC_MESSAGE_STOP, .status = successor, .seconds = (int32_t)seconds};
    if (!generation->loaded || !cc_channel_send(generation->channel, stop))
        cc_generation_kill(generation);
}

struct cc_generation *cc_generations_find(const struct cc_generations *all,
                                          enum cc_generation_state state)
{
    for (struct cc_link *link = all->list.prev; link != &all->list; link = link->prev)
        if (OF(link)->state == state)
            return OF(link);
    return NULL;
}

struct cc_generation *cc_generations_of(const struct cc_generations *all, pid_t pid)
{
    for (struct cc_link *link = all->list.next; link != &all->list; link = link->next)
        if (OF(link)->pid == pid)
            return OF(link);
    return NULL;
}

/* What it left behind has become our child (we are the subreaper). A pid that is not ours was
 * reaped before its parent could say so, and may be anybody's by now. */
static bool is_our_child(pid_t pid)
{
    siginfo_t info;

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void cc_generation_bereave(struct cc_generation *generation)
{
    let_go(generation);
    generation->state = CC_GENERATION_DEAD;
    generation->pid = 0;
    for (int i = 0; i < generation->n_workers; i++)
        if (may_be_worker(generation, generation->workers[i]) &&
            is_our_child(generation->workers[i]))
            kill(generation->workers[i], SIGKILL);
        else
            generation->workers[i] = 0;
}

void cc_generations_reaped(struct cc_generations *all, pid_t pid)
{
    for (struct cc_link *link = all->list.next; link != &all->list; link = link->next) {
        struct cc_generation *generation = OF(link);
        for (int i = 0; i < generation->n_workers && generation->state == CC_GENERATION_DEAD; i++)
            if (generation->workers[i] == pid)
                generation->workers[i] = 0;
    }
}

void cc_generations_bury(struct cc_generations *all)
{
    struct cc_link *next;

    for (struct cc_link *link = all->list.next; link != &all->list; link = next) {
        struct cc_generation *generation = OF(link);
        int left = 0;
        next = link->next;
        for (int i = 0; i < generation->n_workers; i++)
            left += generation->workers[i] != 0;
        if (generation->state == CC_GENERATION_DEAD && left == 0)
            forget(generation, NULL);
    }
}
