/* The lines of an ini, as uWSGI reads them: bytes to section, key, value and line number. Pure: no
 * file, no environment. */
#ifndef CC_CONFIG_INI_READER_H
#define CC_CONFIG_INI_READER_H

#include "base/span.h"
#include "config/entries.h"
#include "config/problems.h"
#include "config/words.h"

/* Lent for the time of the call. */
struct cc_ini_line {
    const char *section; /* "" before the first header */
    const char *key;
    const char *value; /* "" for a bare key */
    int number;        /* counts from 1 */
};

struct cc_ini_events {
    void *context;
    void (*line)(void *context, const struct cc_ini_line *line);
    void (*section)(void *context, const char *section); /* at each header; may be NULL */
    /* Called at each line, since a line may include a file with words of its own; NULL: none. */
    const struct cc_words *(*words)(void *context);
};

/* Calls events for each line. What is wrong with a line goes to problems with its place in file;
 * reading goes on after it. false: this is no text at all (a NUL byte). */
bool cc_ini_read(struct cc_span text, const char *file, const struct cc_ini_events *events,
                 struct cc_problems *problems);

#endif
