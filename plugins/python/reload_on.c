/* See reload_on.h. */
#include "python/reload_on.h"

#include <stdio.h>
#include <string.h>

/* What an option's value is compared with; owned. Any may be NULL. */
struct description {
    PyObject *type, *full_type, *value, *repr, *line;
};

static bool is_one_of(const struct cc_texts *list, PyObject *text)
{
    for (size_t i = 0; text != NULL && i < list->count; i++) {
        const char *utf8 = PyUnicode_AsUTF8(text);
        if (utf8 != NULL && strcmp(utf8, list->items[i].text) == 0)
            return true;
        PyErr_Clear();
    }
    return false;
}

static void describe(struct description *made, PyObject *type, PyObject *value)
{
    PyObject *module = PyObject_GetAttrString(type, "__module__");

    PyErr_Clear();
    made->type = PyObject_GetAttrString(type, "__name__");
    PyErr_Clear();
    if (module != NULL && made->type != NULL)
        made->full_type = PyUnicode_FromFormat("%S.%S", module, made->type);
    PyErr_Clear();
    made->value = PyObject_Str(value);
    PyErr_Clear();
    made->repr = PyObject_Repr(value);
    PyErr_Clear();
    if (made->type != NULL && made->value != NULL)
        made->line = PyUnicode_FromFormat("%U: %U", made->type, made->value);
    PyErr_Clear();
    Py_XDECREF(module);
}

static void clear(struct description *made)
{
    Py_XDECREF(made->type);
    Py_XDECREF(made->full_type);
    Py_XDECREF(made->value);
    Py_XDECREF(made->repr);
    Py_XDECREF(made->line);
}

/* uWSGI's words for repr are "Type: value"; Python's own are taken as well. */
static const char *matching(const struct cc_python_settings *settings,
                            const struct description *found)
{
    if (settings->reload_on_exception)
        return "reload-on-exception";
    if (is_one_of(&settings->reload_on_exception_type, found->type) ||
        is_one_of(&settings->reload_on_exception_type, found->full_type))
        return "reload-on-exception-type";
    if (is_one_of(&settings->reload_on_exception_value, found->value))
        return "reload-on-exception-value";
    if (is_one_of(&settings->reload_on_exception_repr, found->repr) ||
        is_one_of(&settings->reload_on_exception_repr, found->line))
        return "reload-on-exception-repr";
    return NULL;
}

static void ask(struct cc_python *python, const char *option, const struct description *found)
{
    const char *line = found->line == NULL ? NULL : PyUnicode_AsUTF8(found->line);
    char why[256];

    PyErr_Clear();
    snprintf(why, sizeof why, "%s (%s)", option, line == NULL ? "?" : line);
    /* Not for the log to be forged by what an exception says. */
    for (char *at = why; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' ';
    python->asked_replacement = true;
    python->context.ask(CC_APP_ASK_REPLACE, why);
}

void cc_reload_on_exception(struct cc_python *python)
{
    const struct cc_python_settings *settings = python->settings;
    struct description found = {0};
    PyObject *type, *value, *trace;

    if (python->asked_replacement ||
        (!settings->reload_on_exception && settings->reload_on_exception_type.count == 0 &&
         settings->reload_on_exception_value.count == 0 &&
         settings->reload_on_exception_repr.count == 0))
        return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (type != NULL && value != NULL) {
        describe(&found, type, value);
        const char *option = matching(settings, &found);
        if (option != NULL)
            ask(python, option, &found);
        clear(&found);
    }
    PyErr_Restore(type, value, trace);
}
