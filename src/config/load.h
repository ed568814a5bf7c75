/* Files and single options to entries: sections, include and ini, set-placeholder. What needs every
 * entry to be there ($(ENV), @(file), %(key)) is done afterwards by expand.h. One thread. */
#ifndef CC_CONFIG_LOAD_H
#define CC_CONFIG_LOAD_H

#include "base/err.h"
#include "config/entries.h"
#include "config/logic.h"
#include "config/problems.h"
#include "config/words.h"

/* Bytes of a value, once everything in it is replaced. */
#define CC_VALUE_MAX ((size_t)128 << 10)

struct cc_loader {
    struct cc_entries *entries;   /* lent; filled */
    struct cc_problems *problems; /* lent; filled */
    struct cc_words words;        /* of the file being read */
    char *last_file;              /* what ":section" means; owned */
    struct cc_load_frame *frame;  /* the files being read now, innermost first */
    unsigned n_files;             /* read so far */
    struct cc_logic logic;        /* the for or if-... block that is open */
    bool is_reload;               /* what if-reload means; set by whoever reads again */
    bool full_said;               /* too many options, and that has been said */
    /* Fills *text with the file's bytes; the caller frees them. NULL: files are not read (fuzz). */
    bool (*read_file)(const char *path, char **text, size_t *len, struct cc_err *err);
};

void cc_loader_init(struct cc_loader *loader, struct cc_entries *entries,
                    struct cc_problems *problems);
/* One option, from whatever place: adds the entry and acts on it where it must be acted on at once
 * (ini, include, inherit, set, set-placeholder). value NULL: a flag without a value. */
void cc_load_entry(struct cc_loader *loader, const char *key, const char *value,
                   struct cc_place place);
/* Adds the entry and does no more. Lent until the next addition; NULL: there are too many, which is
 * said once. */
struct cc_entry *cc_load_add(struct cc_loader *loader, const char *key, const char *value,
                             struct cc_place place);
/* A file: "app.ini", "app.ini:section" or ":section" (of the file before). place: who asked. */
void cc_load_file(struct cc_loader *loader, const char *name, struct cc_place place);
/* Bytes as if they were a file of that name, its section uwsgi (tests, fuzz). */
void cc_load_text(struct cc_loader *loader, struct cc_span text, const char *name);
void cc_loader_clear(struct cc_loader *loader);

/* The whole of a text file of at most 16 MiB; the default of read_file. */
bool cc_load_read_file(const char *path, char **text, size_t *len, struct cc_err *err);
/* The same for regular files only: for a process that must not wait for anybody. */
bool cc_load_read_regular(const char *path, char **text, size_t *len, struct cc_err *err);

#endif
