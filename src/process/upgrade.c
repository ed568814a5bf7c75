/* See upgrade.h. Until execve() succeeds nothing is changed that a failure could not change back.
 */
#include "process/upgrade.h"

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"
#include "handover/handover.h"
#include "log/log.h"
#include "process/channel.h"
#include "process/control.h"
#include "process/fifo.h"
#include "process/hand_over.h"
#include "process/master_state.h"
#include "process/service.h"
#include "process/spawn.h"
#include "system/capabilities.h"
#include "system/notify.h"

#define TRIAL_S   60.0
#define SAID_MOST 4096

char *cc_upgrade_layout(void)
{
    return cc_format("message %zu slot %zu board %zu", sizeof(struct cc_message),
                     sizeof(struct cc_slot), sizeof(struct cc_board_shared));
}

static void failed(struct cc_upgrade *upgrade, struct cc_master *master, const char *why)
{
    cc_log(CC_LOG_ERROR, "upgrade failed, nothing has changed: %s", why);
    snprintf(master->upgrade_result, sizeof master->upgrade_result, "%s", why);
    master->upgrades_ended = master->upgrades_begun;
    upgrade->passed = false;
}

static void forget_trial(struct cc_upgrade *upgrade)
{
    ev_timer_stop(upgrade->loop, &upgrade->limit);
    if (upgrade->said >= 0)
        close(upgrade->said);
    upgrade->said = -1;
    upgrade->trial = 0;
}

/* What the new binary is given in its environment: ours, and where the handover is. */
static char **environment(const char *variable)
{
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    char **copy = cc_alloc_zeroed(count + 2, sizeof *copy);
    memcpy(copy, environ, count * sizeof *copy);
    copy[count] = (char *)(uintptr_t)variable;
    return copy;
}

/* -- The trial -- */

static int spawn_trial(struct cc_upgrade *upgrade, const struct cc_hand_over *given, int sealed)
{
    const struct cc_handover *handover = &given->handover;
    char *variable = cc_format(CC_HANDOVER_VARIABLE "=%d", sealed);
    char **env = environment(variable);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, upgrade->said, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, upgrade->said, STDERR_FILENO);
    /* A descriptor on itself: not closed by the exec. */
    posix_spawn_file_actions_adddup2(&files, sealed, sealed);
    for (size_t i = 0; i < handover->n_listeners; i++)
        posix_spawn_file_actions_adddup2(&files, handover->listeners[i].fd,
                                         handover->listeners[i].fd);
    for (size_t i = 0; i < handover->n_passed; i++)
        posix_spawn_file_actions_adddup2(&files, handover->passed[i].fd, handover->passed[i].fd);
    posix_spawn_file_actions_addfchdir_np(&files, given->folder);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error =
        posix_spawnp(&upgrade->trial, given->argv[0], &files, &attributes, given->argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(env);
    free(variable);
    return error;
}

static bool begin_trial(struct cc_upgrade *upgrade, struct cc_master *master, struct cc_err *err)
{
    struct cc_hand_over given;

    if (!cc_hand_over_fill(&given, upgrade, master, true, err))
        return false;
    char *text = cc_handover_write(&given.handover);
    int sealed = cc_handover_seal(text);
    free(text);
    upgrade->said = memfd_create("cc-upgrade", MFD_CLOEXEC);
    int error = sealed < 0 || upgrade->said < 0 ? errno : spawn_trial(upgrade, &given, sealed);
    if (error != 0) {
        cc_fail(err, "%s cannot be started: %s", given.argv[0], strerror(error));
        forget_trial(upgrade);
    } else {
        cc_log(CC_LOG_INFO, "upgrade: trying %s", given.argv[0]);
        ev_timer_set(&upgrade->limit, TRIAL_S, 0);
        ev_timer_start(upgrade->loop, &upgrade->limit);
    }
    if (sealed >= 0)
        close(sealed);
    cc_hand_over_clear(&given);
    return error == 0;
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct cc_upgrade *upgrade = timer->data;

    (void)loop;
    (void)events;
    kill(upgrade->trial, SIGKILL); /* its end says the rest */
}

/* The last of what it printed, without newlines at its end. */
static size_t read_said(int fd, char *text, size_t size)
{
    off_t length = lseek(fd, 0, SEEK_END);
    off_t from = length > (off_t)size - 1 ? length - ((off_t)size - 1) : 0;
    ssize_t got = pread(fd, text, size - 1, from);

    text[got < 0 ? 0 : got] = '\0';
    return got < 0 ? 0 : (size_t)got;
}

bool cc_upgrade_reaped(struct cc_upgrade *upgrade, struct cc_master *master, pid_t pid, int status)
{
    char said[SAID_MOST], fate[64], why[SAID_MOST + 128];

    if (pid != upgrade->trial || pid == 0)
        return false;
    size_t len = read_said(upgrade->said, said, sizeof said);
    size_t token = strlen(CC_UPGRADE_TRIED);
    bool understood = len >= token && strcmp(said + len - token, CC_UPGRADE_TRIED) == 0;
    forget_trial(upgrade);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK && understood) {
        upgrade->passed = true;
        return true;
    }
    while (len > 0 && said[len - 1] == '\n')
        said[--len] = '\0';
    if (WIFEXITED(status) && WEXITSTATUS(status) == CC_EXIT_OK)
        snprintf(why, sizeof why, "the program is no ccontainer that can take over");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        snprintf(why, sizeof why, "the new binary's trial was killed (it has %d s)%s%s",
                 (int)TRIAL_S, len > 0 ? ":\n" : "", said);
    else
        snprintf(why, sizeof why, "the new binary's trial %s%s%s",
                 cc_spawn_fate(status, fate, sizeof fate), len > 0 ? ":\n" : "", said);
    failed(upgrade, master, why);
    return true;
}

/* -- The exec -- */

/* Returns only where it fails, with everything as it was. */
static void execute(struct cc_upgrade *upgrade, struct cc_master *master, struct cc_err *err)
{
    struct cc_hand_over given;
    sigset_t all, before;

    if (!cc_hand_over_fill(&given, upgrade, master, false, err))
        return;
    char *text = cc_handover_write(&given.handover);
    int sealed = cc_handover_seal(text);
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *variable = cc_format(CC_HANDOVER_VARIABLE "=%d", sealed);
    cc_log(CC_LOG_INFO, "upgrade: %s takes over", given.argv[0]);
    fflush(NULL);
    /* What comes meanwhile waits for the new one. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cc_notify_hand_on();
    char **env = environment(variable);
    cc_capabilities_over_exec(true);
    if (sealed >= 0 && cc_fd_cloexec(sealed, false) &&
        cc_handover_keep_open(&given.handover, true) && fchdir(given.folder) == 0)
        execvpe(given.argv[0], given.argv, env);
    cc_fail(err, "%s cannot be executed: %s", given.argv[0], strerror(errno));
    cc_handover_keep_open(&given.handover, false);
    cc_capabilities_over_exec(false);
    cc_notify_take_back();
    if (here < 0 || fchdir(here) != 0)
        cc_log(CC_LOG_WARN, "upgrade: the way back to the working folder is lost: %m");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (sealed >= 0)
        close(sealed);
    if (here >= 0)
        close(here);
    free(env);
    free(variable);
    free(text);
    cc_hand_over_clear(&given);
}

static bool reload_runs(const struct cc_master *master)
{
    return master->reload || master->in_turn || master->reloads_ended != master->reloads_begun ||
           cc_generations_find(&master->generations, CC_GENERATION_STARTING) != NULL;
}

void cc_upgrade_begin(struct cc_upgrade *upgrade, struct ev_loop *loop)
{
    upgrade->loop = loop;
    upgrade->trial = 0;
    upgrade->said = -1;
    upgrade->passed = false;
    ev_timer_init(&upgrade->limit, on_limit, 0, 0);
    upgrade->limit.data = upgrade;
}

void cc_upgrade_turn(struct cc_upgrade *upgrade, struct cc_master *master)
{
    struct cc_err err;
    bool asked = master->upgrade_asked;

    master->upgrade_asked = false;
    if (master->stopping) {
        if (upgrade->trial != 0)
            kill(upgrade->trial, SIGKILL);
        upgrade->passed = false;
        return;
    }
    if (asked && upgrade->trial == 0 && !upgrade->passed) {
        master->upgrades_begun++;
        if (!begin_trial(upgrade, master, &err))
            failed(upgrade, master, err.text);
    }
    if (!upgrade->passed || reload_runs(master))
        return;
    upgrade->passed = false;
    master->upgrading = true;
    cc_service_update(upgrade->service, master);
    execute(upgrade, master, &err);
    master->upgrading = false;
    failed(upgrade, master, err.text);
}

void cc_upgrade_end(struct cc_upgrade *upgrade, bool in_child)
{
    if (upgrade->trial != 0 && !in_child)
        kill(upgrade->trial, SIGKILL);
    forget_trial(upgrade);
}
