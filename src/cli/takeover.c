/* See takeover.h. */
#include "cli/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/reread.h"
#include "cli/start.h"
#include "config/compare.h"
#include "handover/handover.h"
#include "log/log.h"
#include "process/adopt.h"
#include "process/upgrade.h"
#include "server/kept.h"
#include "system/procname.h"

#define RETRY_S 1

/* The call that started the old binary, which is ours to read again. */
static void fill_invocation(struct cc_invocation *invocation, char **argv,
                            const struct cc_handover *handover)
{
    struct cc_activation *activation = &invocation->activation;
    const char *folder = handover->folder.text;

    *invocation = (struct cc_invocation){.argv = cc_invocation_copy(argv),
                                         .folder = folder == NULL ? NULL : cc_strdup(folder)};
    invocation->fd =
        handover->trial ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : handover->folder.fd;
    activation->items = cc_alloc_zeroed(handover->n_passed + 1, sizeof *activation->items);
    for (size_t i = 0; i < handover->n_passed; i++) {
        const struct cc_handed_file *passed = &handover->passed[i];
        activation->items[activation->count++] =
            (struct cc_passed){passed->fd, cc_strdup(passed->text == NULL ? "" : passed->text),
                               cc_format("fd://%d", passed->fd)};
    }
}

/* Reads everything and opens the sockets that the old binary does not have. What is wrong is in the
 * start's problems. NULL: the command line leads to no server, which was said. */
static struct cc_start *read_all(const struct cc_invocation *invocation,
                                 struct cc_listeners *handed)
{
    struct cc_start *start = cc_start_new(invocation, true);

    if (cc_start_read(start) != CC_START_GO_ON) {
        cc_start_free(start);
        return NULL;
    }
    if (start->problems.errors == 0)
        cc_start_enter(start, handed);
    return start;
}

static void abandon(struct cc_start *start)
{
    cc_kept_abandon(&start->listeners);
    cc_start_free(start);
}

/* Beside the old binary, which reads what we print. */
static int try_it(const struct cc_invocation *invocation, struct cc_listeners *handed)
{
    struct cc_start *start = read_all(invocation, handed);
    bool fine = start != NULL && start->problems.errors == 0;

    if (start != NULL) {
        cc_problems_print(&start->problems, CC_ERROR, stderr);
        abandon(start);
    }
    cc_adopt_free_listeners(handed);
    if (!fine)
        return CC_EXIT_CONFIG;
    printf("%s", CC_UPGRADE_TRIED);
    return fflush(stdout) == 0 ? CC_EXIT_OK : CC_EXIT_SYSTEM;
}

/* The configuration was fine when it was tried, and is broken now. What the old binary started goes
 * on serving, so somebody may mend it. false: a signal said that it is over. */
static bool wait_for_better(void)
{
    struct timespec pause = {.tv_sec = RETRY_S};
    sigset_t over;

    sigemptyset(&over);
    sigaddset(&over, SIGTERM);
    sigaddset(&over, SIGINT);
    sigaddset(&over, SIGQUIT);
    return sigtimedwait(&over, NULL, &pause) < 0;
}

/* As if the old binary had ended: its generations finish what they have. */
static void stop_generations(const struct cc_handover *handover)
{
    for (size_t i = 0; i < handover->n_generations; i++)
        if (handover->generations[i].pid > 1)
            kill(handover->generations[i].pid, SIGTERM);
}

/* In the old binary's place, from which there is no way back. NULL: it was told to stop. */
static struct cc_start *read_until_fine(const struct cc_invocation *invocation,
                                        const struct cc_handover *handover,
                                        struct cc_listeners *handed)
{
    bool said = false;

    for (;;) {
        struct cc_start *start = read_all(invocation, handed);
        if (start != NULL && start->problems.errors == 0) {
            cc_compare_noted(handover->options, handover->n_options, &start->targets,
                             &start->problems);
            cc_reread_say("upgrade", &start->problems);
            return start;
        }
        if (!said && start != NULL)
            cc_reread_say("upgrade", &start->problems);
        if (!said)
            cc_log(CC_LOG_ERROR, "upgrade: what the old binary started goes on serving; the "
                                 "configuration is read again every second until it is right");
        said = true;
        if (start != NULL)
            abandon(start);
        if (!wait_for_better())
            return NULL;
        if (fchdir(invocation->fd) != 0)
            cc_log(CC_LOG_WARN, "upgrade: the folder of the start cannot be entered: %s",
                   strerror(errno));
    }
}

static int take_over(char **argv, const struct cc_invocation *invocation,
                     const struct cc_handover *handover, struct cc_listeners *handed)
{
    cc_log_find_journal();
    struct cc_start *start = read_until_fine(invocation, handover, handed);
    if (start == NULL) {
        stop_generations(handover);
        cc_adopt_free_listeners(handed);
        return CC_EXIT_CONFIG;
    }
    cc_procname_begin(&start->settings.names, argv);
    cc_start_announce(&start->listeners);
    return cc_process_adopt(&start->launch, handover, handed);
}

int cc_takeover_run(char **argv)
{
    struct cc_handover handover;
    struct cc_invocation invocation;
    struct cc_err err;

    cc_process_hold_signals();
    if (!cc_handover_take(&handover, &err)) {
        fprintf(stderr, "ccontainer: %s\n", err.text);
        return CC_EXIT_USAGE;
    }
    if (!cc_adopt_possible(&handover, &err)) {
        fprintf(stderr, "ccontainer: %s\n", err.text);
        cc_handover_clear(&handover);
        return CC_EXIT_SYSTEM;
    }
    if (!handover.trial)
        cc_handover_keep_open(&handover, false);
    fill_invocation(&invocation, argv, &handover);
    struct cc_listeners *handed = cc_adopt_listeners(&handover);
    int code = handover.trial ? try_it(&invocation, handed)
                              : take_over(argv, &invocation, &handover, handed);
    cc_handover_clear(&handover);
    cc_invocation_clear(&invocation);
    return code;
}
