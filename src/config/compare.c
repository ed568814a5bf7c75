/* See compare.h. */
#include "config/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static bool is_of_a_start(const struct cc_option *row)
{
    return row->restart && row->support == CC_SUPPORTED && row->kind != CC_COMMAND;
}

/* Each item with its length, so that two of them are not taken for one. */
static char *list_text(const struct cc_texts *list)
{
    struct cc_buf text = {0};

    for (size_t i = 0; i < list->count; i++)
        cc_buf_printf(&text, "%zu:%s,", strlen(list->items[i].text), list->items[i].text);
    char *whole = cc_strdup(cc_buf_text(&text));
    cc_buf_clear(&text);
    return whole;
}

/* NULL: it has none. The caller frees it. */
static char *value_text(const struct cc_option *row, const void *settings)
{
    const char *at = (const char *)settings + row->offset;
    const char *text;

    switch (row->kind) {
    case CC_BOOL:
        return cc_strdup(*(const bool *)at ? "true" : "false");
    case CC_TEXT:
    case CC_PATH:
        text = *(char *const *)(const void *)at;
        return text == NULL ? NULL : cc_strdup(text);
    case CC_LIST:
        return list_text((const void *)at);
    default:
        return cc_format("%" PRId64, *(const int64_t *)(const void *)at);
    }
}

size_t cc_compare_note(const struct cc_targets *targets, struct cc_option_value **values)
{
    size_t count = 0;

    *values = NULL;
    for (size_t i = 0; i < targets->count; i++) {
        const struct cc_target *target = &targets->items[i];
        for (size_t at = 0; at < target->table->count; at++) {
            const struct cc_option *row = &target->table->rows[at];
            if (!is_of_a_start(row))
                continue;
            *values = cc_realloc(*values, (count + 1) * sizeof **values);
            (*values)[count++] =
                (struct cc_option_value){cc_strdup(row->name), value_text(row, target->settings)};
        }
    }
    return count;
}

void cc_compare_free(struct cc_option_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(values[i].name);
        free(values[i].value);
    }
    free(values);
}

static const struct cc_option_value *find(const struct cc_option_value *values, size_t count,
                                          const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            return &values[i];
    return NULL;
}

static bool is_same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static void compare_row(const struct cc_option_value *before, const struct cc_target *target,
                        size_t at, struct cc_problems *problems)
{
    char *value = value_text(&target->table->rows[at], target->settings);

    if (!is_same(before->value, value))
        cc_problems_add(problems, CC_WARNING, target->origins[at].place,
                        "%s: only a restart changes it; it stays as it was",
                        target->table->rows[at].name);
    free(value);
}

void cc_compare_noted(const struct cc_option_value *values, size_t count,
                      const struct cc_targets *now, struct cc_problems *problems)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct cc_target *target = &now->items[i];
        for (size_t at = 0; at < target->table->count; at++) {
            const struct cc_option *row = &target->table->rows[at];
            /* One that was not there before is a new plugin's, or a new version's. */
            const struct cc_option_value *before =
                is_of_a_start(row) ? find(values, count, row->name) : NULL;
            if (before != NULL)
                compare_row(before, target, at, problems);
        }
    }
}

void cc_compare_restart(const struct cc_targets *before, const struct cc_targets *now,
                        struct cc_problems *problems)
{
    struct cc_option_value *values;
    size_t count = cc_compare_note(before, &values);

    cc_compare_noted(values, count, now, problems);
    cc_compare_free(values, count);
}
