/* See targets.h. */
#include "config/targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "config/nearest.h"
#include "config/uwsgi_names.h"

void cc_targets_add(struct cc_targets *targets, const struct cc_option_table *table, void *settings)
{
    if (table == NULL)
        return;
    targets->items = cc_realloc(targets->items, (targets->count + 1) * sizeof *targets->items);
    targets->items[targets->count++] = (struct cc_target){
        table, settings, cc_alloc_zeroed(table->count, sizeof(struct cc_origin))};
}

static void clear_field(const struct cc_option *row, void *settings)
{
    char *field = (char *)settings + row->offset;

    if (row->kind == CC_TEXT || row->kind == CC_PATH) {
        free(*(char **)(void *)field);
        *(char **)(void *)field = NULL;
    } else if (row->kind == CC_LIST) {
        struct cc_texts *texts = (struct cc_texts *)(void *)field;
        for (size_t i = 0; i < texts->count; i++)
            free(texts->items[i].text);
        free(texts->items);
        *texts = (struct cc_texts){0};
    }
}

void cc_targets_clear(struct cc_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_target *target = &targets->items[i];
        for (size_t row = 0; row < target->table->count; row++)
            if (target->table->rows[row].support == CC_SUPPORTED)
                clear_field(&target->table->rows[row], target->settings);
        free(target->origins);
    }
    free(targets->items);
    *targets = (struct cc_targets){0};
}

const struct cc_option *cc_option_find(const struct cc_option_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0 ||
            cc_span_is_word(table->rows[i].aliases, " ", name))
            return &table->rows[i];
    return NULL;
}

const struct cc_option *cc_targets_find(const struct cc_targets *targets, const char *name)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_option *row = cc_option_find(targets->items[i].table, name);
        if (row != NULL)
            return row;
    }
    return NULL;
}

const struct cc_option *cc_targets_letter(const struct cc_targets *targets, char letter)
{
    for (size_t i = 0; i < targets->count; i++)
        for (size_t row = 0; row < targets->items[i].table->count; row++)
            if (letter != 0 && targets->items[i].table->rows[row].letter == letter)
                return &targets->items[i].table->rows[row];
    return NULL;
}

struct cc_origin cc_targets_origin(const struct cc_targets *targets, const char *name)
{
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_target *target = &targets->items[i];
        const struct cc_option *row = cc_option_find(target->table, name);
        if (row != NULL)
            return target->origins[row - target->table->rows];
    }
    return (struct cc_origin){0};
}

static void consider_aliases(struct cc_nearest *nearest, const char *aliases)
{
    for (const char *at = aliases; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        cc_nearest_consider(nearest, (struct cc_span){at, word});
        at += word + (at[word] == ' ');
    }
}

const char *cc_targets_nearest(const struct cc_targets *targets, const char *name)
{
    struct cc_nearest nearest;

    cc_nearest_init(&nearest, name);
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_option_table *table = targets->items[i].table;
        for (size_t row = 0; row < table->count; row++) {
            cc_nearest_consider(&nearest, cc_span_of(table->rows[row].name));
            consider_aliases(&nearest, table->rows[row].aliases);
        }
    }
    for (size_t i = 0; i < cc_uwsgi_names_count; i++)
        cc_nearest_consider(&nearest, cc_span_of(cc_uwsgi_names[i].name));
    if (nearest.best.len == 0)
        return NULL;
    /* An alias stands in the middle of a text: give the whole row's name instead. */
    const struct cc_option *row = NULL;
    char *found = cc_strndup(nearest.best.at, nearest.best.len);
    row = cc_targets_find(targets, found);
    const struct cc_uwsgi_name *theirs = cc_uwsgi_name_find(found);
    free(found);
    if (theirs != NULL)
        return theirs->name;
    return row == NULL ? NULL : row->name;
}
