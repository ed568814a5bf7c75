/* See home.h. Looks before the interpreter starts: what it says itself about a home that does not
 * fit ("No module named 'encodings'") helps nobody. */
#include "python/home.h"

#include <config.h>

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/span.h"

#define STRING(text)   #text
#define NUMBER(macro)  STRING(macro)
#define PYTHON_VERSION NUMBER(PY_MAJOR_VERSION) "." NUMBER(PY_MINOR_VERSION)
#define LARGEST_CFG    65536

/* "/srv/venv" from "venv" and the working directory. The caller frees it. */
static char *absolute(const char *path)
{
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    char *text = here == NULL ? cc_strdup(path) : cc_format("%s/%s", here, path);

    free(here);
    return text;
}

static bool has(const char *folder, const char *below)
{
    char *path = cc_format("%s/%s", folder, below);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

/* The value of "version" (venv) or "version_info" (virtualenv) in the text of a pyvenv.cfg. */
static struct cc_span find_version(const char *text)
{
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        const char *equals = memchr(text, '=', len);
        if (equals != NULL) {
            struct cc_span key = cc_span_trim((struct cc_span){text, (size_t)(equals - text)});
            if (cc_span_equal_nocase(key, CC_SPAN("version")) ||
                cc_span_equal_nocase(key, CC_SPAN("version_info")))
                return cc_span_trim(
                    (struct cc_span){equals + 1, (size_t)(text + len - equals - 1)});
        }
        text += len + (text[len] == '\n');
    }
    return (struct cc_span){NULL, 0};
}

static bool is_our_version(struct cc_span version)
{
    size_t len = strlen(PYTHON_VERSION);

    return version.len >= len && memcmp(version.at, PYTHON_VERSION, len) == 0 &&
           (version.len == len || version.at[len] == '.');
}

static bool check_virtualenv(const char *home, const char *cfg, struct cc_err *err)
{
    size_t len;
    char *text = cc_fd_read_file(cfg, LARGEST_CFG, &len);

    if (text == NULL)
        return cc_fail(err, "home: cannot read %s: %s", cfg, strerror(errno));
    struct cc_span version = find_version(text);
    bool ok = version.len > 0 ? is_our_version(version) : has(home, "lib/python" PYTHON_VERSION);
    if (!ok)
        cc_fail(err,
                "home: %s is a virtualenv of Python %.*s, but this ccontainer runs Python %s (%s): "
                "make it anew with \"%s -m venv %s\", or build ccontainer --with-python= that "
                "virtualenv's python",
                home, version.len > 0 ? (int)version.len : 15,
                version.len > 0 ? version.at : "another version", PY_VERSION, CC_PYTHON, CC_PYTHON,
                home);
    free(text);
    return ok;
}

static bool look_into(const char *home, struct cc_home *found, struct cc_err *err)
{
    struct stat info;

    if (stat(home, &info) != 0)
        return cc_fail(err,
                       "home: %s: %s; expected the folder of a virtualenv, as \"%s -m venv %s\" "
                       "makes it",
                       home, strerror(errno), CC_PYTHON, home);
    if (!S_ISDIR(info.st_mode))
        return cc_fail(err, "home: %s is not a folder; expected the folder of a virtualenv", home);
    if (has(home, "pyvenv.cfg")) {
        char *cfg = cc_format("%s/pyvenv.cfg", home);
        bool ok = check_virtualenv(home, cfg, err);
        free(cfg);
        return ok;
    }
    if (has(home, "lib/python" PYTHON_VERSION "/os.py")) {
        found->prefix = cc_strdup(home);
        return true;
    }
    return cc_fail(err,
                   "home: %s is no virtualenv: expected a file pyvenv.cfg in it (\"%s -m venv %s\" "
                   "makes one) or a whole Python %s in its lib/python%s",
                   home, CC_PYTHON, home, PYTHON_VERSION, PYTHON_VERSION);
}

bool cc_home_find(const char *home, struct cc_home *found, struct cc_err *err)
{
    *found = (struct cc_home){NULL, NULL};
    if (home == NULL || *home == '\0') {
        found->program = cc_strdup(CC_PYTHON);
        return true;
    }
    char *folder = absolute(home);
    bool ok = look_into(folder, found, err);
    if (ok)
        found->program = cc_format("%s/bin/python", folder);
    free(folder);
    return ok;
}

void cc_home_clear(struct cc_home *home)
{
    free(home->program);
    free(home->prefix);
    *home = (struct cc_home){NULL, NULL};
}
