/* The option table: one row an option, from which the parser, --help, --show-config, the man page
 * and docs/options.md are made. A plugin brings a table of its own. */
#ifndef CC_CONFIG_OPTION_H
#define CC_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a value was written. file: the path as opened, or NULL: the command line (line 0), or the
 * default. Lives as long as the process. */
struct cc_place {
    const char *file;
    int line;
};

/* A list option's values, in order. */
struct cc_text {
    char *text;
    struct cc_place place;
};
struct cc_texts {
    struct cc_text *items;
    size_t count;
};

enum cc_kind {
    CC_BOOL,    /* bool */
    CC_INT,     /* int64_t */
    CC_SIZE,    /* int64_t, bytes */
    CC_SECONDS, /* int64_t, seconds */
    CC_TEXT,    /* char *, NULL when not set */
    CC_PATH,    /* char *, NULL when not set */
    CC_CHOICE,  /* int64_t, index into choices */
    CC_LIST,    /* struct cc_texts */
    CC_COMMAND, /* nothing is stored: the reader or the command line acts on it (ini, show-config)
                 */
};

enum cc_support {
    CC_SUPPORTED,
    CC_NO_EFFECT, /* accepted; help says why nothing happens here */
    CC_REFUSED,   /* known and not done; help says why and what to do instead */
};

struct cc_option {
    const char *name;    /* as most files spell it */
    const char *aliases; /* further spellings, a blank between two; NULL: none */
    char letter;         /* -p and its like; 0: none */
    enum cc_kind kind;
    enum cc_support support;
    const char *fallback; /* the default as text: it goes through the same parser; NULL: unset */
    size_t offset;        /* into the settings struct of the table */
    int64_t min, max;     /* CC_INT, CC_SIZE, CC_SECONDS; both 0: no bounds but "not negative" */
    /* CC_CHOICE: the words; CC_INT: words that stand for 0, -1 and so on, outside of the bounds.
     * Ends with NULL. */
    const char *const *choices;
    const char *value;   /* what --help calls the value ("address"); NULL: by kind */
    const char *section; /* of the docs: "Processes", "Sockets"... */
    const char *help;    /* one sentence or two */
    const char *since;   /* the release that first had it */
    const char *bare; /* what the option without a value means; NULL: it needs one (a flag is on) */
    bool restart;     /* a reload cannot change it (it is done once, at the start) */
};

struct cc_option_table {
    const char *owner; /* "core", "http", "python" */
    const struct cc_option *rows;
    size_t count;
    size_t target_size; /* of the settings struct that the rows fill */
};

/* Do not compile where the field's type is not the one that the kind parses into. */
#define CC_FIELD(T, f, type)    (offsetof(T, f) + 0 * sizeof(_Generic(((T *)0)->f, type : 0)))
#define CC_BOOL_ROW(n, T, f)    .name = (n), .kind = CC_BOOL, .offset = CC_FIELD(T, f, bool)
#define CC_INT_ROW(n, T, f)     .name = (n), .kind = CC_INT, .offset = CC_FIELD(T, f, int64_t)
#define CC_SIZE_ROW(n, T, f)    .name = (n), .kind = CC_SIZE, .offset = CC_FIELD(T, f, int64_t)
#define CC_SECONDS_ROW(n, T, f) .name = (n), .kind = CC_SECONDS, .offset = CC_FIELD(T, f, int64_t)
#define CC_TEXT_ROW(n, T, f)    .name = (n), .kind = CC_TEXT, .offset = CC_FIELD(T, f, char *)
#define CC_PATH_ROW(n, T, f)    .name = (n), .kind = CC_PATH, .offset = CC_FIELD(T, f, char *)
#define CC_CHOICE_ROW(n, T, f)  .name = (n), .kind = CC_CHOICE, .offset = CC_FIELD(T, f, int64_t)
#define CC_LIST_ROW(n, T, f)    .name = (n), .kind = CC_LIST, .offset = CC_FIELD(T, f, struct cc_texts)
#define CC_COMMAND_ROW(n)       .name = (n), .kind = CC_COMMAND

#endif
