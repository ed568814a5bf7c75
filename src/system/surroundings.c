/* See surroundings.h. */
#include "system/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

bool cc_surroundings_logto(const char *path, struct cc_err *err)
{
    if (path == NULL)
        return true;
    /* O_NONBLOCK for the open only: a FIFO without a reader must not hang the start. */
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
    if (fd < 0)
        return cc_fail(err, "logto: %s cannot be opened: %s", path, strerror(errno));
    int flags = fcntl(fd, F_GETFL);
    bool fine = flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
                dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    if (!fine)
        cc_fail(err, "logto: %s cannot be used: %s", path, strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
    return fine;
}

bool cc_surroundings_chdir(const char *path, bool only_try, struct cc_err *err)
{
    if (path == NULL)
        return true;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder may be entered (x) without being listed (r). */
    if (fd < 0 && errno == EACCES)
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, ".", X_OK, AT_EACCESS) != 0 || (!only_try && fchdir(fd) != 0)) {
        cc_fail(err, "chdir: %s: %s (as user %u)", path, strerror(errno), (unsigned)geteuid());
        if (fd >= 0)
            close(fd);
        return false;
    }
    close(fd);
    return true;
}

bool cc_surroundings_env(const struct cc_texts *env, struct cc_err *err)
{
    for (size_t i = 0; i < env->count; i++) {
        const char *text = env->items[i].text;
        const char *equal = strchr(text, '=');
        if (equal == NULL || equal == text)
            return cc_fail(err, "env: \"%s\" is not KEY=VALUE", text);
        char *key = cc_strndup(text, (size_t)(equal - text));
        int status = setenv(key, equal + 1, 1);
        free(key);
        if (status != 0)
            return cc_fail(err, "env: %s cannot be set: %s", text, strerror(errno));
    }
    return true;
}
