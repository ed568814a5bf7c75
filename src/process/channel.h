/* Messages between a parent and its child: fixed small structs over a socket pair that keeps their
 * boundaries. The parent holds one end, the child the other; when one of them is gone, the other
 * end says so. One thread at a time and end. */
#ifndef CC_PROCESS_CHANNEL_H
#define CC_PROCESS_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

enum cc_message_kind {
    CC_MESSAGE_STOP = 1,   /* downwards: stop accepting, finish, end; status: enum cc_successor */
    CC_MESSAGE_LOADED,     /* generation to master: from here on workers are forked */
    CC_MESSAGE_READY,      /* upwards: a worker serves; from a generation: all of its workers do */
    CC_MESSAGE_STARTED,    /* generation to master: a worker was forked; status: its number */
    CC_MESSAGE_ENDED,      /* generation to master: a worker was reaped */
    CC_MESSAGE_RELOAD,     /* upwards: the app asks for a reload of everything */
    CC_MESSAGE_REPLACE,    /* worker to generation: replace me; status: an enum cc_app_ask, or
                            * CC_WORN_OUT */
    CC_MESSAGE_LEAVING,    /* worker to generation: I finish my requests and end */
    CC_MESSAGE_RECYCLE,    /* downwards: replace all workers now, each by one started beside it */
    CC_MESSAGE_CHAIN,      /* downwards: the same, one worker after another */
    CC_MESSAGE_STOP_NOW,   /* downwards: kill the workers and end */
    CC_MESSAGE_MORE,       /* downwards: one worker more */
    CC_MESSAGE_FEWER,      /* downwards: one worker less */
    CC_MESSAGE_CHEAP,      /* downwards: no worker until a client comes */
    CC_MESSAGE_PAUSE,      /* downwards, and on to the workers: accept nobody */
    CC_MESSAGE_RESUME,     /* the end of that */
    CC_MESSAGE_IDLE,       /* generation to master: idle for so long that die-on-idle ends it all */
    CC_MESSAGE_LOG_REOPEN, /* downwards, and on to the workers: open logto again */
};

/* As the status of REPLACE: the worker has answered max-requests. */
#define CC_WORN_OUT 1000

struct cc_message {
    int32_t kind;   /* enum cc_message_kind */
    int32_t worker; /* its row of the board, from 1; 0: about the generation itself */
    int32_t pid;
    int32_t status;  /* ENDED: of waitpid(); STOP, REPLACE: see there */
    int32_t seconds; /* STOP to a generation: what its requests get to finish; 0:
                      * worker-reload-mercy */
};

enum cc_received {
    CC_RECEIVED,          /* *message is filled */
    CC_RECEIVED_NONE,     /* nothing there now */
    CC_RECEIVED_NONSENSE, /* something that is no message: the other end is not what it should be */
    CC_RECEIVED_GONE,     /* the other end is closed: that process is dead or about to be */
};

/* Both ends non-blocking and close-on-exec. false with errno set. */
bool cc_channel_open(int ends[2]);
/* false: the other end is gone, or has not read for so long that its buffer is full (which a
 * living process never lets happen: there are a few messages a fork). */
bool cc_channel_send(int fd, struct cc_message message);
/* What is read is of the right size and nothing more: what it says is the sender's word. */
enum cc_received cc_channel_receive(int fd, struct cc_message *message);

#endif
