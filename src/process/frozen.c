/* See frozen.h. */
#include "process/frozen.h"

#include <stdbool.h>
#include <sys/wait.h>

#include "base/clock.h"

static bool is_stopped(pid_t child)
{
    siginfo_t info = {.si_pid = 0};

    /* WNOWAIT: it is told each time, for as long as it lasts. */
    return waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

enum cc_frozen cc_frozen_look(pid_t child, int64_t *since_ns, int64_t now)
{
    bool was = *since_ns != 0;

    if (!is_stopped(child)) {
        *since_ns = 0;
        return was ? CC_FROZEN_OVER : CC_FROZEN_NOT;
    }
    if (!was) {
        *since_ns = now;
        return CC_FROZEN_SEEN;
    }
    return now - *since_ns >= CC_FROZEN_PATIENCE_S * CC_SECOND_NS ? CC_FROZEN_LONG : CC_FROZEN_NOT;
}
