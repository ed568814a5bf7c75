/* The module uwsgi, which apps written for uWSGI import: what of it makes sense here. What is not
 * there raises an AttributeError that says why. Main thread, with the GIL. */
#ifndef CC_PYTHON_UWSGI_MODULE_H
#define CC_PYTHON_UWSGI_MODULE_H

#include "python/python.h"

/* Puts it into sys.modules, before the app is imported. False with an exception. */
bool cc_uwsgi_module_make(struct cc_python *python);
/* This process is that worker from now on. */
void cc_uwsgi_module_worker(int worker);
/* Calls uwsgi.post_fork_hook or uwsgi.atexit, should the app have set it; an exception is logged.
 */
void cc_uwsgi_module_hook(struct cc_python *python, const char *name);

#endif
