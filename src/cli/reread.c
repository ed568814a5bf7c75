/* See reread.h. All of it happens in the master, which must go on whatever the files are: what is
 * wrong is said in the log, and nothing changes. */
#include "cli/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "cli/start.h"
#include "config/compare.h"
#include "log/log.h"
#include "server/kept.h"

#define OF(at) CC_CONTAINER(at, struct cc_start, launch)

/* Relative paths count from the folder of the start. */
static void enter_start_folder(const struct cc_invocation *invocation)
{
    if (invocation->fd >= 0 && fchdir(invocation->fd) == 0)
        return;
    cc_log(CC_LOG_WARN,
           "reload: the folder of the start, %s, cannot be entered by user %u (%s): relative paths "
           "of the command line do not work",
           invocation->folder == NULL ? "?" : invocation->folder, (unsigned)geteuid(),
           strerror(errno));
    if (chdir("/") != 0)
        cc_log(CC_LOG_WARN, "reload: cannot enter /: %s", strerror(errno));
}

void cc_reread_say(const char *what, const struct cc_problems *problems)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);

    if (memory == NULL)
        return;
    cc_problems_print(problems, CC_WARNING, memory);
    fclose(memory);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    if (problems->errors > 0)
        cc_log(CC_LOG_ERROR, "%s: the configuration has %zu error%s, so nothing changes:\n%s", what,
               problems->errors, problems->errors == 1 ? "" : "s", text);
    else if (len > 0)
        cc_log(CC_LOG_WARN, "%s: the configuration was read again:\n%s", what, text);
    free(text);
}

static struct cc_start *read_again(const struct cc_start *before, struct cc_listeners *listeners)
{
    struct cc_start *start = cc_start_new(before->invocation, true);

    if (cc_start_read(start) != CC_START_GO_ON) {
        cc_log(CC_LOG_ERROR, "reload: the command line does not lead to a server any more");
        cc_start_free(start);
        return NULL;
    }
    /* Sockets cost something to the world outside: not for a configuration that is wrong. */
    if (start->problems.errors == 0)
        cc_start_enter(start, listeners);
    if (start->problems.errors == 0) {
        cc_compare_restart(&before->targets, &start->targets, &start->problems);
        cc_reread_say("reload", &start->problems);
        return start;
    }
    cc_reread_say("reload", &start->problems);
    cc_kept_abandon(&start->listeners);
    cc_start_free(start);
    return NULL;
}

static void enter_again(const struct cc_start *start)
{
    if (start->folder >= 0 && fchdir(start->folder) != 0)
        cc_log(CC_LOG_WARN, "reload: the way back to the working folder is lost: %s",
               strerror(errno));
}

static struct cc_launch *read_launch(const struct cc_launch *now)
{
    const struct cc_start *before = OF(now);

    enter_start_folder(before->invocation);
    struct cc_start *start = read_again(before, now->listeners);
    if (start == NULL)
        enter_again(before);
    return start == NULL ? NULL : &start->launch;
}

static void take_back(struct cc_launch *launch, const struct cc_launch *now)
{
    cc_kept_abandon(launch->listeners);
    cc_start_free(OF(launch));
    enter_again(OF(now));
}

/* -- For an upgrade -- */

static void note_passed(struct cc_handover *handover, const struct cc_activation *activation)
{
    handover->passed = cc_alloc_zeroed(activation->count + 1, sizeof *handover->passed);
    handover->n_passed = activation->count;
    for (size_t i = 0; i < activation->count; i++)
        handover->passed[i] =
            (struct cc_handed_file){activation->items[i].fd, cc_strdup(activation->items[i].name)};
}

static void hand_over(const struct cc_launch *now, struct cc_handover *handover, char ***argv)
{
    const struct cc_start *start = OF(now);
    const struct cc_invocation *invocation = start->invocation;

    handover->folder.fd = invocation->fd;
    if (invocation->folder != NULL)
        handover->folder.text = cc_strdup(invocation->folder);
    note_passed(handover, &invocation->activation);
    handover->n_options = cc_compare_note(&start->targets, &handover->options);
    *argv = invocation->argv;
}

static void release(struct cc_launch *launch)
{
    cc_start_free(OF(launch));
}

const struct cc_source cc_reread_source = {read_launch, take_back, release, hand_over};
