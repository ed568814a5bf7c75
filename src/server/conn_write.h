/* Sending: non-blocking, what does not fit is kept. For the connection's owner, loop or app. */
#ifndef CC_SERVER_CONN_WRITE_H
#define CC_SERVER_CONN_WRITE_H

#include <sys/uio.h>

#include "server/conn.h"

/* Sends the pieces (after what is already waiting), and keeps in output what the socket does not
 * take. Sets conn->gone when the peer is. */
void cc_conn_send(struct cc_conn *conn, struct iovec *pieces, size_t count);
/* Sends on what is kept: output, file, tail. */
void cc_conn_flush(struct cc_conn *conn);
/* Is anything kept? */
bool cc_conn_pending(const struct cc_conn *conn);
/* Waits until nothing is kept, up to seconds for each piece that the peer takes. false: it is gone
 * or too slow. App threads only. */
bool cc_conn_drain(struct cc_conn *conn, int64_t seconds);

#endif
