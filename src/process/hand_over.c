/* See hand_over.h. */
#include "process/hand_over.h"

#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "process/control.h"
#include "process/fifo.h"
#include "process/master_state.h"
#include "process/upgrade.h"
#include "system/notify.h"

#define OF(at) CC_CONTAINER(at, struct cc_generation, link)

static char *copy(const char *text)
{
    return text == NULL ? NULL : cc_strdup(text);
}

static void fill_pidfile(struct cc_handed_file *file, const struct cc_pidfile *pidfile)
{
    file->fd = pidfile->fd;
    file->text = pidfile->fd < 0 ? NULL : copy(pidfile->path);
}

static void fill_listeners(struct cc_handover *handover, const struct cc_listeners *listeners)
{
    handover->listeners = cc_alloc_zeroed(listeners->count + 1, sizeof *handover->listeners);
    handover->n_listeners = listeners->count;
    for (size_t i = 0; i < listeners->count; i++) {
        const struct cc_listener *listener = &listeners->items[i];
        handover->listeners[i] = (struct cc_handed_listener){
            listener->fd,         listener->passed,      copy(listener->setting->address),
            copy(listener->file), listener->file_device, listener->file_number};
    }
}

static void fill_generation(struct cc_handed_generation *to, const struct cc_generation *from)
{
    *to = (struct cc_handed_generation){.number = from->number,
                                        .state = (int)from->state,
                                        .pid = (int)from->pid,
                                        .loaded = from->loaded,
                                        .may_idle_out = from->may_idle_out,
                                        .channel = from->channel,
                                        .board = from->board->file,
                                        .rows = from->n_workers,
                                        .threads = from->n_threads,
                                        .started_ns = from->started_ns,
                                        .deadline_ns = from->deadline_ns};
    to->workers = cc_alloc_zeroed((size_t)from->n_workers, sizeof *to->workers);
    for (int i = 0; i < from->n_workers; i++)
        to->workers[i] = (int)from->workers[i];
}

static void fill_generations(struct cc_handover *handover, const struct cc_generations *all)
{
    size_t count = 0;

    for (struct cc_link *link = all->list.next; link != &all->list; link = link->next)
        count++;
    handover->generations = cc_alloc_zeroed(count + 1, sizeof *handover->generations);
    for (struct cc_link *link = all->list.next; link != &all->list; link = link->next)
        fill_generation(&handover->generations[handover->n_generations++], OF(link));
    handover->started = all->started;
}

/* Those that wait for the outcome of this. */
static void fill_clients(struct cc_handover *handover, const struct cc_control *control)
{
    handover->control = control->io.fd;
    handover->clients = cc_alloc_zeroed(CC_CONTROL_CLIENTS, sizeof *handover->clients);
    for (int i = 0; i < CC_CONTROL_CLIENTS; i++)
        if (control->clients[i].io.fd >= 0 && control->clients[i].upgrade != 0)
            handover->clients[handover->n_clients++] = control->clients[i].io.fd;
}

bool cc_hand_over_fill(struct cc_hand_over *given, const struct cc_upgrade *upgrade,
                       const struct cc_master *master, bool trial, struct cc_err *err)
{
    const struct cc_source *source = master->launch->source;
    struct cc_handover *handover = &given->handover;

    cc_handover_init(handover);
    if (source == NULL)
        return cc_fail(err, "this server knows no command line to start the new binary with");
    source->hand_over(master->launch, handover, &given->argv);
    given->folder = handover->folder.fd;
    if (given->folder < 0) {
        cc_handover_clear(handover);
        return cc_fail(err, "the folder of the start is out of reach");
    }
    handover->trial = trial;
    handover->master = (int)getpid();
    handover->from = cc_strdup(PACKAGE_STRING);
    handover->layout = cc_upgrade_layout();
    fill_pidfile(&handover->pidfile, upgrade->pidfile);
    fill_pidfile(&handover->pidfile2, upgrade->pidfile2);
    if (upgrade->fifo->io.fd >= 0) {
        handover->fifo.fd = upgrade->fifo->io.fd;
        handover->fifo.text = copy(upgrade->fifo->paths[upgrade->fifo->slot]);
    }
    handover->notify = cc_notify_fd();
    handover->started_ns = master->started_ns;
    handover->paused = master->paused;
    fill_listeners(handover, master->launch->listeners);
    fill_generations(handover, &master->generations);
    fill_clients(handover, upgrade->control);
    return true;
}

void cc_hand_over_clear(struct cc_hand_over *given)
{
    cc_handover_clear(&given->handover);
}
