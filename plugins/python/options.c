/* The option table of the Python plugin: uWSGI's names, as existing files spell them. */
#include "python/settings.h"

#define SETTINGS struct cc_python_settings
#define ROWS     .section = "Python", .since = "0.1"

static const struct cc_option rows[] = {
    {CC_TEXT_ROW("module", SETTINGS, module), .aliases = "wsgi", .letter = 'w', ROWS,
     .value = "module:callable",
     .help = "The app: a dotted module name, then a colon and the callable's name "
             "(\"application\" where it is left out). A name that ends with () is called once and "
             "returns the app."},
    {CC_PATH_ROW("wsgi-file", SETTINGS, wsgi_file), .aliases = "file", ROWS, .value = "file.py",
     .help = "The app as a Python file, relative to the working directory. Where module is set "
             "too, module is used."},
    {CC_TEXT_ROW("callable", SETTINGS, callable), ROWS, .value = "name",
     .help = "Name of the callable in the module or file; a name after the module's colon goes "
             "before it."},
    {CC_PATH_ROW("home", SETTINGS, home), .aliases = "virtualenv venv pyhome", .letter = 'H', ROWS,
     .value = "folder", .help = "The virtualenv (or installation prefix) to run the app in."},
    {CC_LIST_ROW("pythonpath", SETTINGS, pythonpath), .aliases = "python-path pp", ROWS,
     .value = "folder",
     .help = "Adds a folder (a pattern adds all that match) to the front of sys.path; the last one "
             "that is given is searched first, as in uWSGI."},
    {CC_TEXT_ROW("pyargv", SETTINGS, pyargv), ROWS, .value = "words",
     .help = "Words, parted by blanks, that the app finds in sys.argv after \"uwsgi\"."},
    {CC_INT_ROW("optimize", SETTINGS, optimize), ROWS, .fallback = "0", .min = 0, .max = 2,
     .help = "Leaves assertions (1) and docstrings (2) out of the app's code, as python -O does."},
    {CC_BOOL_ROW("wsgi-disable-file-wrapper", SETTINGS, disable_file_wrapper), ROWS,
     .help = "Leaves wsgi.file_wrapper out of the environ, so that files go through the app."},
    {CC_SECONDS_ROW("py-autoreload", SETTINGS, autoreload),
     .aliases = "py-auto-reload python-autoreload python-auto-reload", ROWS, .fallback = "0",
     .max = 86400, .value = "seconds",
     .help =
         "For development: looks every so many seconds whether a file of an imported module has "
         "changed, and reloads the app if one has. 0: never. An edit that does not load leaves "
         "the old code serving."},
    {CC_LIST_ROW("py-auto-reload-ignore", SETTINGS, autoreload_ignore),
     .aliases = "py-autoreload-ignore python-autoreload-ignore", ROWS, .value = "module",
     .help = "A module that py-autoreload does not look at, by the name it is imported as."},
    {CC_BOOL_ROW("reload-on-exception", SETTINGS, reload_on_exception), ROWS,
     .help = "Replaces a worker when a request raised an exception: the replacement serves first, "
             "and running requests finish."},
    {CC_LIST_ROW("reload-on-exception-type", SETTINGS, reload_on_exception_type), ROWS,
     .value = "type",
     .help = "The same for exceptions of this type: MemoryError, or with its module "
             "\"sqlite3.OperationalError\"."},
    {CC_LIST_ROW("reload-on-exception-value", SETTINGS, reload_on_exception_value), ROWS,
     .value = "text", .help = "The same for exceptions with just this text."},
    {CC_LIST_ROW("reload-on-exception-repr", SETTINGS, reload_on_exception_repr), ROWS,
     .value = "text",
     .help = "The same for exceptions that are this, as \"ValueError: text\" or as Python's "
             "repr()."},
    {CC_BOOL_ROW("py-call-osafterfork", SETTINGS, call_osafterfork),
     .aliases = "py-call-uwsgi-fork-hooks", ROWS, .support = CC_NO_EFFECT,
     .help = "Nothing to do: Python's fork hooks always run here."},
    {CC_BOOL_ROW("single-interpreter", SETTINGS, single_interpreter), ROWS, .support = CC_NO_EFFECT,
     .help = "Nothing to do: a process has one interpreter and one app here."},
    {CC_BOOL_ROW("enable-threads", SETTINGS, enable_threads), .letter = 'T', ROWS,
     .support = CC_NO_EFFECT,
     .help = "Nothing to do: the app's own threads always run here, whatever threads says."},
};

const struct cc_option_table cc_python_options = {
    .owner = "python",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .target_size = sizeof(struct cc_python_settings),
};
