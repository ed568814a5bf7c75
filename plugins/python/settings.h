/* What the options of the Python plugin fill; constant once the app is loaded. */
#ifndef CC_PYTHON_SETTINGS_H
#define CC_PYTHON_SETTINGS_H

#include "config/option.h"

struct cc_python_settings {
    char *module;               /* pkg.mod or pkg.mod:callable */
    char *wsgi_file;            /* path of a Python file; module goes before it */
    char *callable;             /* name in the module: a dotted path, with () it is called */
    char *home;                 /* virtualenv, or prefix of an installation */
    struct cc_texts pythonpath; /* folders (patterns too) for sys.path; the last one comes first */
    char *pyargv;               /* words of sys.argv after the first */
    int64_t optimize;           /* as python -O */
    bool disable_file_wrapper;  /* leaves wsgi.file_wrapper out of environ */
    int64_t autoreload;         /* seconds between two looks; 0: off */
    struct cc_texts autoreload_ignore; /* names of modules */
    bool reload_on_exception;
    struct cc_texts reload_on_exception_type, reload_on_exception_value, reload_on_exception_repr;
    bool call_osafterfork;   /* no effect: always */
    bool single_interpreter; /* no effect: there is only one */
    bool enable_threads;     /* no effect: threads always work */
};

extern const struct cc_option_table cc_python_options;

#endif
