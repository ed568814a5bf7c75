/* reload-on-exception and its kin: a worker whose app raised an exception is replaced. */
#ifndef CC_PYTHON_RELOAD_ON_H
#define CC_PYTHON_RELOAD_ON_H

#include "python/python.h"

/* Looks at the current exception, which stays, and asks for another worker if the options say so;
 * once a worker. With the GIL. */
void cc_reload_on_exception(struct cc_python *python);

#endif
