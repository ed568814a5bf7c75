/* See apply.h. */
#include "config/apply.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "config/convert.h"
#include "config/uwsgi_names.h"

#define MAX_SUGGESTIONS 100 /* a file that is no configuration at all must not take minutes */

struct apply {
    struct cc_targets *targets;
    struct cc_problems *problems;
    bool strict;
    unsigned n_unknown;
    struct cc_buf not_done; /* "daemonize (app.ini:4), stats (app.ini:5)" */
    struct cc_place first_not_done;
};

void cc_apply_defaults(struct cc_targets *targets, struct cc_problems *problems)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_target *target = &targets->items[i];
        for (size_t row = 0; row < target->table->count; row++) {
            const struct cc_option *option = &target->table->rows[row];
            if (option->support == CC_SUPPORTED && option->fallback != NULL)
                cc_convert(option, option->name, option->fallback, target->settings,
                           (struct cc_place){0}, problems);
        }
    }
}

/* uWSGI takes the last of several single values without a word; a value on the command line that
 * loses to a file's is hardly meant. */
static void note_override(const struct cc_option *row, const struct cc_origin *before,
                          const struct cc_entry *entry, struct cc_problems *problems)
{
    if (row->kind != CC_LIST && before->given && before->place.file == NULL &&
        entry->place.file != NULL)
        cc_problems_add(problems, CC_WARNING, entry->place,
                        "%s: overrides the command line's value, since the file comes after it "
                        "(as in uWSGI): give --ini FILE first",
                        row->name);
}

/* Fills the row's field in one table. */
static void apply_row(const struct apply *apply, struct cc_target *target,
                      const struct cc_option *row, const struct cc_entry *entry)
{
    struct cc_origin *origin = &target->origins[row - target->table->rows];

    if (row->support == CC_REFUSED) {
        cc_problems_add(apply->problems, apply->strict ? CC_ERROR : CC_WARNING, entry->place,
                        "%s: ignored. %s", entry->key, row->help);
        return;
    }
    if (row->support == CC_NO_EFFECT) {
        cc_problems_add(apply->problems, CC_HINT, entry->place, "%s: no effect here. %s",
                        entry->key, row->help);
        return;
    }
    note_override(row, origin, entry, apply->problems);
    cc_convert(row, entry->key, entry->value, target->settings, entry->place, apply->problems);
    *origin = (struct cc_origin){true, entry->place};
}

/* Fills the option of that name in every table that has it; false: none has. */
static bool apply_name(const struct apply *apply, const char *name, const struct cc_entry *entry)
{
    bool found = false;

    for (size_t i = 0; i < apply->targets->count; i++) {
        struct cc_target *target = &apply->targets->items[i];
        const struct cc_option *row = cc_option_find(target->table, name);
        if (row == NULL)
            continue;
        apply_row(apply, target, row, entry);
        found = true;
    }
    return found;
}

/* wsgi_file for wsgi-file: lost in silence in uWSGI. false: not that. */
static bool apply_underscored(const struct apply *apply, const struct cc_entry *entry)
{
    char *name = cc_strdup(entry->key);
    bool found = false;

    for (char *at = name; *at != '\0'; at++)
        if (*at == '_')
            *at = '-';
    if (strcmp(name, entry->key) != 0 && apply_name(apply, name, entry)) {
        found = true;
        cc_problems_add(apply->problems, CC_HINT, entry->place,
                        "%s: taken for %s; uWSGI would ignore this spelling", entry->key, name);
    }
    free(name);
    return found;
}

static void note_not_done(struct apply *apply, const struct cc_entry *entry)
{
    if (apply->strict) {
        cc_problems_add(apply->problems, CC_ERROR, entry->place,
                        "%s: uWSGI has this option, ccontainer does not do it yet", entry->key);
        return;
    }
    if (apply->not_done.len == 0)
        apply->first_not_done = entry->place;
    cc_buf_printf(&apply->not_done, "%s%s", apply->not_done.len == 0 ? "" : ", ", entry->key);
    if (entry->place.file != NULL)
        cc_buf_printf(&apply->not_done, " (%s:%d)", entry->place.file, entry->place.line);
}

static void note_unknown(struct apply *apply, const struct cc_entry *entry)
{
    const char *nearest = NULL;

    if (apply->n_unknown++ < MAX_SUGGESTIONS)
        nearest = cc_targets_nearest(apply->targets, entry->key);
    if (entry->key[0] == '\0')
        cc_problems_add(apply->problems, apply->strict ? CC_ERROR : CC_WARNING, entry->place,
                        "ignored: there is no key before the \"=\"");
    else if (nearest != NULL)
        cc_problems_add(apply->problems, apply->strict ? CC_ERROR : CC_WARNING, entry->place,
                        "%s: unknown option, did you mean \"%s\"?", entry->key, nearest);
    else
        cc_problems_add(apply->problems, apply->strict ? CC_ERROR : CC_HINT, entry->place,
                        "%s: unknown option, and no %%(%s) uses it", entry->key, entry->key);
}

static void apply_entry(struct apply *apply, const struct cc_entry *entry)
{
    bool known = cc_targets_find(apply->targets, entry->key) != NULL;

    if (entry->placeholder) {
        if (known)
            cc_problems_add(apply->problems, CC_ERROR, entry->place,
                            "%s: an option's name cannot be a placeholder; \"set = %s=...\" sets "
                            "the option",
                            entry->key, entry->key);
        return;
    }
    if (known) {
        apply_name(apply, entry->key, entry);
        return;
    }
    if (cc_uwsgi_name_find(entry->key) != NULL)
        note_not_done(apply, entry);
    else if (!entry->used && !apply_underscored(apply, entry))
        note_unknown(apply, entry);
}

/* strict counts for the whole configuration, wherever it stands. */
static bool asks_for_strict(const struct cc_entries *entries, const struct cc_targets *targets)
{
    bool strict = false;
    struct cc_problems ignored = {0};

    for (size_t i = 0; i < entries->count; i++) {
        const struct cc_option *row = strcmp(entries->items[i].key, "strict") == 0
                                          ? cc_targets_find(targets, "strict")
                                          : NULL;
        struct cc_option alone;
        if (row == NULL)
            continue;
        alone = *row;
        alone.offset = 0;
        cc_convert(&alone, "strict", entries->items[i].value, &strict, (struct cc_place){0},
                   &ignored);
    }
    cc_problems_clear(&ignored);
    return strict;
}

void cc_apply(const struct cc_entries *entries, struct cc_targets *targets,
              struct cc_problems *problems)
{
    struct apply apply = {
        .targets = targets, .problems = problems, .strict = asks_for_strict(entries, targets)};

    cc_apply_defaults(targets, problems);
    for (size_t i = 0; i < entries->count; i++)
        apply_entry(&apply, &entries->items[i]);
    if (apply.not_done.len > 0)
        cc_problems_add(problems, CC_WARNING, apply.first_not_done,
                        "ignored, since uWSGI has these options and ccontainer does not do them "
                        "yet: %s",
                        cc_buf_text(&apply.not_done));
    cc_buf_clear(&apply.not_done);
}
