/* Requests through tests/unit/apps/unit_app.py in one plugin that stays loaded. */
#ifndef UNIT_APP_H
#define UNIT_APP_H

#include "app_host.h"

extern struct app_host host;
extern struct answer answer; /* of the last request; gone_after and slow count for the next one */

/* One request; path names a function of unit_app.py. */
void ask_with(const char *path, const char *query, struct ask ask);
void ask(const char *path, const char *query);
/* Fails the test unless text is in buf. */
void assert_holds(struct cc_buf *buf, const char *text);
/* The app failed before anything was sent: no head, so that the host answers 500. */
void assert_failed(const char *why);

#define assert_body(text)   assert_string_equal(cc_buf_text(&answer.body), text)
#define assert_events(text) assert_string_equal(cc_buf_text(&answer.events), text)

/* Of the group of tests: load and unload. */
int unit_app_start(void **state);
int unit_app_stop(void **state);

#endif
