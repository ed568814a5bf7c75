/* The program on one screen: read the command line and the configuration, open plugins and sockets,
 * then run. */
#include "base/fd.h"
#include "cli/command.h"
#include "cli/start.h"
#include "cli/takeover.h"
#include "handover/handover.h"
#include "process/process.h"
#include "system/procname.h"

int main(int argc, char **argv)
{
    struct cc_invocation invocation;

    (void)argc;
    if (!cc_fd_fill_standard())
        return CC_EXIT_SYSTEM;
    cc_fd_cloexec_rest();
    if (cc_command_is(argv))
        return cc_command_run(argv);
    if (cc_handover_wanted())
        return cc_takeover_run(argv);
    cc_invocation_init(&invocation, argv);
    struct cc_start *start = cc_start_new(&invocation, false);
    int code = cc_start_read(start);
    if (code == CC_START_GO_ON) {
        cc_process_hold_signals();
        code = cc_start_open(start);
    }
    if (code == CC_START_GO_ON) {
        cc_procname_begin(&start->settings.names, argv);
        cc_start_announce(&start->listeners);
        /* It is the processes' now: a reload replaces it. */
        code = cc_process_run(&start->launch);
        start = NULL;
    }
    cc_start_free(start);
    cc_invocation_clear(&invocation);
    return code;
}
