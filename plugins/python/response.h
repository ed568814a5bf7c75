/* Sends what the app gives: head, pieces of body, files. Every function needs the GIL, and lets go
 * of it where the client could make it wait. */
#ifndef CC_PYTHON_RESPONSE_H
#define CC_PYTHON_RESPONSE_H

#include "python/python.h"

/* Hands the head over. length: of the whole body, where the caller knows it; -1: not known. The
 * app's Content-Length goes before it. False with an exception: there was no start_response(). */
bool cc_response_head(struct cc_call *call, int64_t length);
/* Sends a piece of body, which must be bytes, and the head before the first one that is not empty
 * (PEP 3333, "Buffering and Streaming"). False with an exception: what says whose type was wrong.
 * A client that is gone is no exception: call->gone says so. */
bool cc_response_chunk(struct cc_call *call, PyObject *chunk, const char *what);
/* How much of len more bytes may still go out: all of them, or what the app's Content-Length leaves
 * (and one line in the log the first time that there is less). */
int64_t cc_response_allowance(struct cc_call *call, int64_t len);
/* Sends part of a file by sendfile(2), after cc_response_head(). */
void cc_response_file(struct cc_call *call, int fd, int64_t offset, int64_t len);
/* Waits until no other thread of the app is inside the reply. */
void cc_response_wait(struct cc_call *call);

#endif
