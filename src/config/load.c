/* See load.h. */
#include "config/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/path.h"
#include "config/ini_reader.h"

#define MAX_FILE_BYTES ((size_t)16 << 20)
#define MAX_DEPTH      16 /* files that include each other */
#define MAX_ENTRIES    10000
#define MAX_FILES      256 /* in all: sixteen levels of two includes each would be 65535 */
#define STRAYS_SAID    3   /* a file that is no ini at all has hundreds */

/* One file being read. Lives on the stack of read_section(). */
struct cc_load_frame {
    struct cc_load_frame *outer;
    struct cc_loader *loader;
    const char *path;    /* real path */
    const char *name;    /* as messages call it */
    const char *section; /* the one asked for */
    bool found;          /* the section has begun */
    struct cc_buf seen;  /* the other sections' names */
    size_t strays;       /* lines before the first section */
};

/* errno says why. */
static bool cannot_read(struct cc_err *err)
{
    if (errno == EFBIG)
        return cc_fail(err, "the file is larger than %zu MiB", MAX_FILE_BYTES >> 20);
    return cc_fail(err, "cannot read the file: %s", strerror(errno));
}

bool cc_load_read_file(const char *path, char **text, size_t *len, struct cc_err *err)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return cc_fail(err, "this is a directory, expected a file");
    *text = cc_fd_read_file(path, MAX_FILE_BYTES, len);
    return *text != NULL || cannot_read(err);
}

bool cc_load_read_regular(const char *path, char **text, size_t *len, struct cc_err *err)
{
    *text = cc_fd_read_regular(path, MAX_FILE_BYTES, len);
    if (*text == NULL && errno == ENOTSUP)
        return cc_fail(err, "this is no regular file, which a reload needs: it can be read again");
    return *text != NULL || cannot_read(err);
}

void cc_loader_init(struct cc_loader *loader, struct cc_entries *entries,
                    struct cc_problems *problems)
{
    *loader = (struct cc_loader){
        .entries = entries, .problems = problems, .read_file = cc_load_read_file};
    cc_words_init(&loader->words);
}

void cc_loader_clear(struct cc_loader *loader)
{
    cc_words_clear(&loader->words);
    free(loader->last_file);
    free(loader->logic.argument);
    *loader = (struct cc_loader){0};
}

/* Events of the reader. */

static const struct cc_words *words_now(void *context)
{
    const struct cc_load_frame *frame = context;
    return &frame->loader->words;
}

static void on_section(void *context, const char *section)
{
    struct cc_load_frame *frame = context;

    if (strcmp(section, frame->section) == 0)
        frame->found = true;
    else if (frame->seen.len < 200)
        cc_buf_printf(&frame->seen, "%s[%s]", frame->seen.len == 0 ? "" : " ", section);
}

static void on_line(void *context, const struct cc_ini_line *line)
{
    struct cc_load_frame *frame = context;
    struct cc_place place = {frame->name, line->number};

    if (strcmp(line->section, frame->section) == 0)
        cc_load_entry(frame->loader, line->key, line->value, place);
    else if (line->section[0] == '\0' && frame->strays++ < STRAYS_SAID)
        cc_problems_add(frame->loader->problems, CC_WARNING, place,
                        "%s: ignored, since it stands before the first [section]%s", line->key,
                        frame->strays == STRAYS_SAID ? ", and so are further lines there" : "");
}

static void read_section(struct cc_load_frame *frame, struct cc_span text)
{
    struct cc_problems *problems = frame->loader->problems;
    struct cc_ini_events events = {
        .context = frame, .line = on_line, .section = on_section, .words = words_now};
    struct cc_place place = {frame->name, 0};

    if (!cc_ini_read(text, frame->name, &events, problems) || frame->found)
        return;
    if (text.len == 0)
        cc_problems_add(problems, CC_ERROR, place, "the file is empty, expected a section [%s]",
                        frame->section);
    else if (frame->seen.len == 0)
        cc_problems_add(problems, CC_ERROR, place,
                        "the file has no section [%s], nor any other: begin with a line \"[%s]\"",
                        frame->section, frame->section);
    else
        cc_problems_add(problems, CC_ERROR, place,
                        "the file has no section [%s]; it has %s (app.ini:name reads the section "
                        "[name])",
                        frame->section, cc_buf_text(&frame->seen));
}

/* Splits "file:section" at the last colon; section is "" without one. Both are the caller's. */
static void split_name(const char *name, char **file, char **section)
{
    const char *colon = strrchr(name, ':');

    *file = colon == NULL ? cc_strdup(name) : cc_strndup(name, (size_t)(colon - name));
    *section = cc_strdup(colon == NULL ? "" : colon + 1);
}

static bool may_enter(const struct cc_load_frame *frame, struct cc_place place)
{
    struct cc_problems *problems = frame->loader->problems;
    unsigned depth = 0;

    for (const struct cc_load_frame *outer = frame->outer; outer != NULL; outer = outer->outer) {
        depth++;
        if (strcmp(outer->path, frame->path) == 0 && strcmp(outer->section, frame->section) == 0) {
            cc_problems_add(problems, CC_ERROR, place,
                            "%s, section [%s], includes itself: the inclusion goes round in a "
                            "circle",
                            frame->name, frame->section);
            return false;
        }
    }
    if (depth < MAX_DEPTH && frame->loader->n_files < MAX_FILES)
        return true;
    cc_problems_add(problems, CC_ERROR, place,
                    "%s: too many included files: at most %d in all, %d inside each other",
                    frame->name, MAX_FILES, MAX_DEPTH);
    return false;
}

static void read_file(struct cc_load_frame *frame, const char *argument, struct cc_place place)
{
    struct cc_loader *loader = frame->loader;
    struct cc_words outer;
    struct cc_err err;
    char *text;
    size_t len;

    if (!loader->read_file(frame->path, &text, &len, &err)) {
        bool relative = frame->outer != NULL && frame->name[0] != '/';
        cc_problems_add(loader->problems, CC_ERROR,
                        frame->outer == NULL ? (struct cc_place){frame->name, 0} : place,
                        "%s%s%s%s", frame->outer == NULL ? "" : frame->name,
                        frame->outer == NULL ? "" : ": ", err.text,
                        relative ? " (a relative path counts from the working directory; \"%d\" "
                                   "is the folder of the file it stands in)"
                                 : "");
        return;
    }
    const char *colon = strrchr(argument, ':');
    char *given =
        cc_strndup(argument, colon == NULL ? strlen(argument) : (size_t)(colon - argument));
    cc_words_copy(&outer, &loader->words);
    cc_words_enter(&loader->words, given, frame->path, colon == NULL ? "" : frame->section);
    free(given);
    if (loader->n_files++ == 0)
        cc_words_keep_first(&loader->words);
    /* The words of the first file stay for the files that the command line names next to it. */
    for (const char *first = "DNSPCEXOIJ"; *first != '\0'; first++) {
        unsigned char letter = (unsigned char)*first;
        free(outer.of[letter]);
        outer.of[letter] =
            loader->words.of[letter] == NULL ? NULL : cc_strdup(loader->words.of[letter]);
    }
    loader->frame = frame;
    read_section(frame, (struct cc_span){text, len});
    loader->frame = frame->outer;
    cc_words_clear(&loader->words);
    loader->words = outer;
    cc_buf_clear(&frame->seen);
    free(text);
}

/* The whole path. As in uWSGI a link is not followed: the words of apps-enabled/site.ini are its
 * own, wherever it leads. The caller frees it; NULL: there is no such file. */
static char *find_path(const char *file)
{
    struct stat status;

    if (lstat(file, &status) != 0 || !S_ISLNK(status.st_mode))
        return realpath(file, NULL);
    return cc_path_absolute(file);
}

void cc_load_file(struct cc_loader *loader, const char *name, struct cc_place place)
{
    char *file, *section;

    if (loader->read_file == NULL)
        return;
    split_name(name, &file, &section);
    if (file[0] == '\0' && loader->last_file != NULL) {
        free(file);
        file = cc_strdup(loader->frame != NULL ? loader->frame->name : loader->last_file);
    }
    if (file[0] == '\0') {
        cc_problems_add(loader->problems, CC_ERROR, place,
                        "\"%s\" names a section of the file before it, and there is none", name);
    } else {
        char *real = find_path(file);
        struct cc_load_frame frame = {.outer = loader->frame,
                                      .loader = loader,
                                      .path = real == NULL ? file : real,
                                      .name = cc_entries_name(loader->entries, file),
                                      .section = section[0] == '\0' ? "uwsgi" : section};
        free(loader->last_file);
        loader->last_file = cc_strdup(file);
        if (may_enter(&frame, place))
            read_file(&frame, name, place);
        free(real);
    }
    free(file);
    free(section);
}

void cc_load_text(struct cc_loader *loader, struct cc_span text, const char *name)
{
    struct cc_load_frame frame = {.loader = loader,
                                  .path = name,
                                  .name = cc_entries_name(loader->entries, name),
                                  .section = "uwsgi"};

    loader->frame = &frame;
    read_section(&frame, text);
    loader->frame = NULL;
    cc_buf_clear(&frame.seen);
}

struct cc_entry *cc_load_add(struct cc_loader *loader, const char *key, const char *value,
                             struct cc_place place)
{
    if (loader->entries->count < MAX_ENTRIES)
        return cc_entries_add(loader->entries, key, value, place);
    if (!loader->full_said)
        cc_problems_add(loader->problems, CC_ERROR, place,
                        "more than %d options in all: this is no configuration", MAX_ENTRIES);
    loader->full_said = true;
    return NULL;
}

/* set-placeholder and set: "key=value"; an empty key or no "=" is an error, as in uWSGI. */
static void set_key(struct cc_loader *loader, const char *option, const char *text,
                    struct cc_place place)
{
    const char *equals = text == NULL ? NULL : strchr(text, '=');

    if (equals == NULL) {
        cc_problems_add(loader->problems, CC_ERROR, place, "%s: expected key=value, got \"%s\"",
                        option, text == NULL ? "" : text);
        return;
    }
    char *key = cc_strndup(text, (size_t)(equals - text));
    if (strcmp(option, "set") == 0) {
        cc_load_entry(loader, key, equals + 1, place);
    } else {
        struct cc_entry *entry = cc_load_add(loader, key, equals + 1, place);
        if (entry != NULL)
            entry->raw = entry->placeholder = true;
    }
    free(key);
}

static bool is_one_of(const char *key, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

/* Options that uWSGI acts on while it reads, so that nothing in their value is replaced later. */
static const char *const immediate[] = {
    "ini",
    "include",
    "inherit",
    "config",
    "xml",
    "xmlconfig",
    "yaml",
    "yml",
    "json",
    "js",
    "set",
    "set-ph",
    "set-placeholder",
    "strict",
    "plugin",
    "plugins",
    "need-plugin",
    "need-plugins",
    "plugin-dir",
    "plugins-dir",
    "autoload",
    "declare-option",
    NULL,
};

void cc_load_entry(struct cc_loader *loader, const char *key, const char *value,
                   struct cc_place place)
{
    static const char *const files[] = {"ini", "include", "inherit", NULL};
    static const char *const setters[] = {"set", "set-ph", "set-placeholder", NULL};

    if (cc_logic_take(loader, key, value, place))
        return;
    struct cc_entry *entry = cc_load_add(loader, key, value, place);
    if (entry == NULL)
        return;
    entry->raw = is_one_of(key, immediate);
    if (is_one_of(key, setters)) {
        set_key(loader, key, value, place);
    } else if (is_one_of(key, files) && value != NULL && value[0] != '\0') {
        cc_load_file(loader, value, place);
    }
}
