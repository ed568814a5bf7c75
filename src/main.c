/* The program on one screen: read the command line and the configuration, open plugins and sockets,
 * then run. */
#include "base/fd.h"
#include "cli/start.h"
#include "process/process.h"

int main(int argc, char **argv)
{
    struct cc_start start = {0};

    (void)argc;
    if (!cc_fd_fill_standard())
        return CC_EXIT_SYSTEM;
    int code = cc_start_read(&start, argv);
    if (code == CC_START_GO_ON) {
        cc_process_hold_signals();
        code = cc_start_open(&start);
    }
    if (code == CC_START_GO_ON) {
        struct cc_launch launch = {&start.settings, &start.plugins, &start.listeners};
        cc_start_announce(&start.listeners);
        code = cc_process_run(&launch);
    }
    cc_start_clear(&start);
    return code;
}
