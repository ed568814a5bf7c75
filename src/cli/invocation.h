/* How the program was called: what a reload has to read again. */
#ifndef CC_CLI_INVOCATION_H
#define CC_CLI_INVOCATION_H

#include "system/activation.h"

/* Constant from the start on; owned by main(). */
struct cc_invocation {
    char **argv;                     /* as it was, NULL at its end; owned */
    char *folder;                    /* the working folder's path; NULL: unknown; owned */
    int fd;                          /* the working folder; -1: out of reach */
    struct cc_activation activation; /* the sockets that we were given */
};

/* Takes what the environment says of sockets for us out of it. */
void cc_invocation_init(struct cc_invocation *invocation, char **argv);
void cc_invocation_clear(struct cc_invocation *invocation);
/* A copy of an argv; free it with the other. */
char **cc_invocation_copy(char **argv);
void cc_invocation_free_copy(char **argv);

#endif
