/* The health path: requests that the loop answers by itself, without the app and without one of its
 * threads, so that they are answered while all of these are stuck. Loop. */
#ifndef CC_SERVER_HEALTH_H
#define CC_SERVER_HEALTH_H

#include "server/exchange.h"

/* Is it a request for the health path? */
bool cc_health_asked(const struct cc_server *server, const struct cc_request *request);
/* Takes a whole request for it. It is answered at cc_health_answer(), since here its protocol is
 * still inside feed(). */
void cc_health_take(struct cc_server *server, struct cc_exchange *exchange);
/* Answers those that were taken: 200, or 503 when the load balancer shall send nobody here. Other
 * requests may be ready after it. */
void cc_health_answer(struct cc_server *server);

#endif
