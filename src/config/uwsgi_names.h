/* Every option name of uWSGI's, to tell "known there, not done here yet" from a misspelt name. */
#ifndef CC_CONFIG_UWSGI_NAMES_H
#define CC_CONFIG_UWSGI_NAMES_H

#include <stddef.h>

enum cc_argument { CC_ARGUMENT_NONE, CC_ARGUMENT_OPTIONAL, CC_ARGUMENT_REQUIRED };

struct cc_uwsgi_name {
    const char *name;
    enum cc_argument argument; /* on the command line */
    char letter;               /* -d and its like; 0: none */
};

/* Made from uwsgi_names.txt by the build. */
extern const struct cc_uwsgi_name cc_uwsgi_names[];
extern const size_t cc_uwsgi_names_count;

/* NULL: uWSGI has no such option. */
const struct cc_uwsgi_name *cc_uwsgi_name_find(const char *name);
const struct cc_uwsgi_name *cc_uwsgi_letter_find(char letter);

#endif
