/* See adopt.h. */
#include "process/adopt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "log/log.h"
#include "process/upgrade.h"

bool cc_adopt_possible(const struct cc_handover *handover, struct cc_err *err)
{
    char *layout = cc_upgrade_layout();
    bool same = strcmp(layout, handover->layout) == 0;

    if (!same)
        cc_fail(err,
                "processes of %s cannot be looked after by this version (%s there, %s here): "
                "stop the server and start it again",
                handover->from, handover->layout, layout);
    free(layout);
    return same;
}

void cc_adopt_generations(struct cc_generations *all, const struct cc_handover *handover)
{
    for (size_t i = 0; i < handover->n_generations; i++) {
        const struct cc_handed_generation *handed = &handover->generations[i];
        struct cc_scoreboard *board =
            cc_scoreboard_adopt(handed->board, handed->rows, handed->threads);
        if (board != NULL) {
            cc_generations_adopt(all, handed, board);
            continue;
        }
        cc_log(CC_LOG_ERROR, "upgrade: generation %d is killed: its scoreboard cannot be used: %s",
               handed->number, strerror(errno));
        if (handed->pid > 1)
            kill(handed->pid, SIGKILL);
    }
    all->started = handover->started;
}

static void adopt_listener(struct cc_listener *listener, const struct cc_handed_listener *handed)
{
    struct cc_socket_setting *setting = cc_alloc_zeroed(1, sizeof *setting);

    setting->address = cc_strdup(handed->address);
    listener->setting = setting;
    listener->fd = handed->fd;
    listener->passed = handed->passed;
    /* What it cannot be parsed to is never found again, and so is shut. */
    if (!cc_address_parse(handed->address, &listener->address, NULL) || handed->passed > 0)
        listener->address.kind = CC_ADDRESS_FD;
    listener->file = handed->file == NULL ? NULL : cc_strdup(handed->file);
    listener->file_device = (dev_t)handed->device;
    listener->file_number = (ino_t)handed->number;
}

struct cc_listeners *cc_adopt_listeners(const struct cc_handover *handover)
{
    struct cc_listeners *listeners = cc_alloc_zeroed(1, sizeof *listeners);

    listeners->items = cc_alloc_zeroed(handover->n_listeners + 1, sizeof *listeners->items);
    listeners->count = handover->n_listeners;
    for (size_t i = 0; i < handover->n_listeners; i++)
        adopt_listener(&listeners->items[i], &handover->listeners[i]);
    return listeners;
}

void cc_adopt_free_listeners(struct cc_listeners *listeners)
{
    if (listeners == NULL)
        return;
    for (size_t i = 0; i < listeners->count; i++) {
        struct cc_socket_setting *setting =
            (struct cc_socket_setting *)(uintptr_t)listeners->items[i].setting;
        free((char *)(uintptr_t)setting->address);
        free(setting);
    }
    cc_listeners_close(listeners, false);
    free(listeners);
}
