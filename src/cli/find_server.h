/* Which running server is meant by an ini or a pidfile. A pid that a file names proves nothing: the
 * process with that pid must answer as a master, and say that the file is its own. */
#ifndef CC_CLI_FIND_SERVER_H
#define CC_CLI_FIND_SERVER_H

#include <sys/types.h>

#include "base/err.h"

enum cc_found {
    CC_FOUND,
    CC_FOUND_NOT,       /* nobody runs with it */
    CC_FOUND_NO_ANSWER, /* somebody may, but does not answer or may not be asked */
    CC_FOUND_MANY,      /* several run with this ini: only a pidfile tells them apart */
};

/* *pid: the master. err: what to say where there is none. */
enum cc_found cc_find_server(const char *file, pid_t *pid, struct cc_err *err);
/* Connects to the master with that pid: a descriptor on which it has proved to be that process, or
 * -1 with errno set (ECONNREFUSED: there is none). */
int cc_find_connect(pid_t pid);
/* Sends a word and waits for the reply, for so many milliseconds (-1: for ever). *code: its exit
 * code. text: what follows it, size bytes. false: errno, or 0 where the server ended without a
 * reply. */
bool cc_find_ask(int fd, const char *word, int *code, char *text, size_t size, int timeout_ms);

#endif
