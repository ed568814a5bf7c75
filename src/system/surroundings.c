/* See surroundings.h. */
#include "system/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* -1: err says why. O_NONBLOCK for the open only: a FIFO without a reader must not hang the start.
 */
static int open_log(const char *option, const char *path, struct cc_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);

    if (fd < 0)
        cc_fail(err, "%s: %s cannot be opened: %s", option, path, strerror(errno));
    return fd;
}

bool cc_surroundings_try_log(const char *option, const char *path, struct cc_err *err)
{
    int fd = path == NULL ? -1 : open_log(option, path, err);

    if (fd >= 0)
        close(fd);
    return path == NULL || fd >= 0;
}

bool cc_surroundings_logto(const char *option, const char *path, struct cc_err *err)
{
    if (path == NULL)
        return true;
    int fd = open_log(option, path, err);
    if (fd < 0)
        return false;
    int flags = fcntl(fd, F_GETFL);
    bool fine = flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 &&
                dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    if (!fine)
        cc_fail(err, "%s: %s cannot be used: %s", option, path, strerror(errno));
    if (fd > STDERR_FILENO)
        close(fd);
    return fine;
}

const char *cc_surroundings_log_path(const struct cc_settings *settings, const char **option)
{
    const struct cc_service_settings *service = &settings->service;
    const struct {
        const char *option, *path;
    } names[] = {
        {"logto2", service->logto2}, /* the last that was opened */
        {"daemonize", service->daemonize},
        {"daemonize2", service->daemonize2},
        {"logto", settings->log.logto},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].path != NULL) {
            *option = names[i].option;
            return names[i].path;
        }
    *option = "logto";
    return NULL;
}

bool cc_surroundings_reopen_log(const struct cc_settings *settings, struct cc_err *err)
{
    const char *option, *path = cc_surroundings_log_path(settings, &option);

    return cc_surroundings_logto(option, path, err);
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
