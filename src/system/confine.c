/* See confine.h. */
#include "system/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB     (INT64_C(1) << 20)
#define MOST_FD 4096 /* at the start few are open */

void cc_confine_umask(const char *mode)
{
    if (mode != NULL)
        umask((mode_t)strtol(mode, NULL, 8));
}

static bool limit(const char *option, __rlimit_resource_t resource, int64_t value,
                  struct cc_err *err)
{
    struct rlimit wanted = {(rlim_t)value, (rlim_t)value}, now;

    if (value == 0 || setrlimit(resource, &wanted) == 0)
        return true;
    int saved = errno;
    if (getrlimit(resource, &now) != 0)
        now.rlim_max = 0;
    return cc_fail(err,
                   "%s: %lld is not possible: %s; the hard limit is %llu, and only root may raise "
                   "it",
                   option, (long long)value, strerror(saved), (unsigned long long)now.rlim_max);
}

bool cc_confine_limits(const struct cc_service_settings *settings, struct cc_err *err)
{
    return limit("max-fd", RLIMIT_NOFILE, settings->max_fd, err) &&
           limit("limit-nproc", RLIMIT_NPROC, settings->limit_nproc, err) &&
           limit("limit-as", RLIMIT_AS, settings->limit_as * MIB, err);
}

/* A folder outside that is open would be a way out (fchdir); whoever keeps it gets the new root. */
static bool bring_inside(void)
{
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat info;

    for (int fd = STDERR_FILENO + 1; root >= 0 && fd < MOST_FD; fd++)
        if (fd != root && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) &&
            dup3(root, fd, O_CLOEXEC) < 0)
            return false;
    if (root >= 0)
        close(root);
    return root >= 0;
}

bool cc_confine_chroot(const char *folder, struct cc_err *err)
{
    if (folder == NULL)
        return true;
    /* chdir last: a working folder outside would be a way out. */
    if (chroot(folder) != 0 || chdir("/") != 0 || !bring_inside())
        return cc_fail(err, "chroot: %s cannot become the root folder: %s", folder,
                       errno == EPERM ? "only root may do that" : strerror(errno));
    return true;
}

bool cc_confine_privileges(struct cc_err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        return true;
    return cc_fail(err, "no-new-privs: %s", strerror(errno));
}
