/* See expression.h. */
#include "config/expression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char *value_of(const struct cc_entries *entries, const char *key)
{
    struct cc_entry *entry = cc_entries_find(entries, key);

    if (entry == NULL)
        return NULL;
    entry->used = true;
    return entry->value;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* Wraps around instead of overflowing, which C leaves undefined. */
static int64_t compute(int64_t left, char operation, int64_t right)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;

    switch (operation) {
    case '+':
        return (int64_t)(a + b);
    case '-':
        return (int64_t)(a - b);
    case '*':
        return (int64_t)(a * b);
    default:
        if (right == 0)
            return 0;
        return right == -1 ? (int64_t)(0 - a) : left / right;
    }
}

/* Replaces *sum by "*sum operation value"; '\0' joins the texts. */
static void apply(char **sum, char operation, const char *value)
{
    char *old = *sum;
    const char *left = old == NULL ? "" : old;

    if (operation == '\0')
        *sum = cc_format("%s%s", left, value);
    else
        *sum = cc_format("%" PRId64,
                         compute(strtoll(left, NULL, 10), operation, strtoll(value, NULL, 10)));
    free(old);
}

char *cc_expression(const struct cc_entries *entries, const char *text)
{
    if (strchr(text, ' ') == NULL) {
        const char *value = value_of(entries, text);
        return value == NULL ? NULL : cc_strdup(value);
    }
    char *copy = cc_strdup(text);
    char *sum = NULL, *rest = NULL;
    char operation = '\0';

    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strlen(word) == 1 && strchr("+-*/", word[0]) != NULL) {
            operation = word[0];
            continue;
        }
        bool up = strcmp(word, "++") == 0;
        if (up || strcmp(word, "--") == 0) {
            if (sum != NULL)
                apply(&sum, up ? '+' : '-', "1");
        } else if (is_number(word)) {
            apply(&sum, operation, word);
        } else {
            const char *value = value_of(entries, word);
            apply(&sum, operation, value == NULL ? "" : value);
        }
        operation = '\0';
    }
    free(copy);
    return sum;
}
