/* What an app answers through: cc_reply of plugin/app.h over a connection. */
#ifndef CC_SERVER_REPLY_H
#define CC_SERVER_REPLY_H

#include "server/exchange.h"

/* Makes the exchange ready for an app to answer. */
void cc_reply_init(struct cc_exchange *exchange);

#endif
