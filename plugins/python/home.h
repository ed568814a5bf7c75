/* The option home: a virtualenv, or the prefix of a whole installation. */
#ifndef CC_PYTHON_HOME_H
#define CC_PYTHON_HOME_H

#include "base/err.h"

/* What to start the interpreter with; both are owned. */
struct cc_home {
    char *program; /* the python that it takes itself for: it finds pyvenv.cfg beside it */
    char *prefix;  /* PYTHONHOME, or NULL: as built */
};

/* home may be NULL: the interpreter that was configured. False: err says what was expected. */
bool cc_home_find(const char *home, struct cc_home *found, struct cc_err *err);
void cc_home_clear(struct cc_home *home);

#endif
