/* See compare.h. */
#include "config/compare.h"

#include <string.h>

static const struct cc_target *find_target(const struct cc_targets *targets,
                                           const struct cc_option_table *table)
{
    for (size_t i = 0; i < targets->count; i++)
        if (targets->items[i].table == table)
            return &targets->items[i];
    return NULL;
}

static bool is_same_text(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static bool is_same_list(const struct cc_texts *one, const struct cc_texts *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (!is_same_text(one->items[i].text, other->items[i].text))
            return false;
    return true;
}

static bool is_same(const struct cc_option *row, const void *one, const void *other)
{
    const char *a = (const char *)one + row->offset, *b = (const char *)other + row->offset;

    switch (row->kind) {
    case CC_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case CC_TEXT:
    case CC_PATH:
        return is_same_text(*(char *const *)(const void *)a, *(char *const *)(const void *)b);
    case CC_LIST:
        return is_same_list((const void *)a, (const void *)b);
    case CC_COMMAND:
        return true;
    default:
        return *(const int64_t *)(const void *)a == *(const int64_t *)(const void *)b;
    }
}

void cc_compare_restart(const struct cc_targets *before, const struct cc_targets *now,
                        struct cc_problems *problems)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct cc_target *target = &now->items[i];
        const struct cc_target *old = find_target(before, target->table);
        for (size_t at = 0; old != NULL && at < target->table->count; at++) {
            const struct cc_option *row = &target->table->rows[at];
            if (row->restart && row->support == CC_SUPPORTED &&
                !is_same(row, old->settings, target->settings))
                cc_problems_add(problems, CC_WARNING, target->origins[at].place,
                                "%s: only a restart changes it; it stays as it was", row->name);
        }
    }
}
