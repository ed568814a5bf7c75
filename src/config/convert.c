/* See convert.h. */
#include "config/convert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/span.h"

/* What a conversion works on. */
struct value {
    const struct cc_option *row;
    const char *name;
    const char *text; /* never NULL */
    void *field;
    struct cc_place place;
    struct cc_problems *problems;
};

/* Where a note (" ; so many" or " # so many") begins behind the first word; NULL: no note. */
static const char *note_of(const char *text)
{
    const char *end = text + strcspn(text, " \t;#");

    if (end == text || *end == '\0')
        return NULL;
    const char *note = end + strspn(end, " \t");
    return *note == ';' || *note == '#' ? note : NULL;
}

static bool is_word(struct cc_span word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (cc_span_equal_nocase(word, cc_span_of(*words)))
            return true;
    return false;
}

/* uWSGI takes "false", "no", "off" and "0" for off and everything else, notes too, for on. */
static void to_bool(const struct value *value)
{
    static const char *const on[] = {"true", "on", "yes", "1", NULL};
    static const char *const off[] = {"false", "off", "no", "0", NULL};
    struct cc_span word = {value->text, strcspn(value->text, " \t;#")};
    const char *note = note_of(value->text);
    bool known = word.len == strlen(value->text) || note != NULL;
    bool is_off = known && is_word(word, off);

    *(bool *)value->field = !is_off;
    if (value->text[0] == '\0')
        return;
    if (!is_off && !(known && is_word(word, on)))
        cc_problems_add(value->problems, CC_WARNING, value->place,
                        "%s: \"%s\" is neither true nor false; it counts as true, as in uWSGI",
                        value->name, value->text);
    else if (is_off && note != NULL)
        cc_problems_add(value->problems, CC_WARNING, value->place,
                        "%s: taken as false; uWSGI takes the note \"%s\" for part of the value and "
                        "so for true: give the note a line of its own",
                        value->name, note);
    else if (note != NULL)
        cc_problems_add(value->problems, CC_HINT, value->place,
                        "%s: the note \"%s\" is left out; a comment needs a line of its own",
                        value->name, note);
}

/* "a whole number from 1 to 1024" for messages; the caller frees it. */
static char *bounds_text(const struct cc_option *row)
{
    const char *unit = row->kind == CC_SECONDS ? " of seconds"
                       : row->kind == CC_SIZE  ? " of bytes"
                                               : "";

    struct cc_buf words = {0};
    char *text;

    for (size_t i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
        cc_buf_printf(&words, " or %s", row->choices[i]);
    if (row->max == 0)
        text = cc_format("a whole number%s, %" PRId64 " or more%s", unit, row->min,
                         cc_buf_text(&words));
    else
        text = cc_format("a whole number%s from %" PRId64 " to %" PRId64 "%s", unit, row->min,
                         row->max, cc_buf_text(&words));
    cc_buf_clear(&words);
    return text;
}

/* A decimal number and nothing else. */
static bool parse_number(struct cc_span word, int64_t *number)
{
    char digits[32];
    char *end;

    if (word.len == 0 || word.len >= sizeof digits)
        return false;
    memcpy(digits, word.at, word.len);
    digits[word.len] = '\0';
    if (digits[strspn(digits, "+-0123456789")] != '\0')
        return false;
    errno = 0;
    *number = strtoll(digits, &end, 10);
    return errno == 0 && *end == '\0' && end != digits;
}

/* A word in a number's place. */
static bool is_number_word(const struct cc_option *row, struct cc_span word, int64_t *number)
{
    for (int64_t i = 0; row->choices != NULL && row->choices[i] != NULL; i++)
        if (cc_span_equal_nocase(word, cc_span_of(row->choices[i]))) {
            *number = -i;
            return true;
        }
    return false;
}

static void to_number(const struct value *value)
{
    const struct cc_option *row = value->row;
    const char *note = note_of(value->text);
    struct cc_span word = cc_span_of(value->text);
    int64_t number;

    if (note != NULL)
        word.len = strcspn(value->text, " \t;#");
    if (!is_number_word(row, word, &number) && (!parse_number(word, &number) || number < row->min ||
                                                (row->max != 0 && number > row->max))) {
        char *bounds = bounds_text(row);
        cc_problems_add(value->problems, CC_ERROR, value->place, "%s: expected %s, got \"%s\"",
                        value->name, bounds, value->text);
        free(bounds);
        return;
    }
    *(int64_t *)value->field = number;
    if (note != NULL)
        cc_problems_add(value->problems, CC_HINT, value->place,
                        "%s: the note \"%s\" is left out; a comment needs a line of its own",
                        value->name, note);
}

static void to_choice(const struct value *value)
{
    const char *const *choices = value->row->choices;
    struct cc_buf all = {0};

    for (int64_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], value->text) == 0) {
            *(int64_t *)value->field = i;
            cc_buf_clear(&all);
            return;
        }
        cc_buf_printf(&all, "%s%s", i == 0 ? "" : ", ", choices[i]);
    }
    cc_problems_add(value->problems, CC_ERROR, value->place, "%s: expected one of %s, got \"%s\"",
                    value->name, cc_buf_text(&all), value->text);
    cc_buf_clear(&all);
}

/* In uWSGI too, " ; note" is part of a text: say so, since it is hardly meant. */
static void hint_at_note(const struct value *value)
{
    if (strstr(value->text, " ; ") != NULL || strstr(value->text, " # ") != NULL)
        cc_problems_add(value->problems, CC_WARNING, value->place,
                        "%s: what looks like a note is part of the value \"%s\": a comment needs "
                        "a line of its own",
                        value->name, value->text);
}

static void to_text(const struct value *value)
{
    char **field = value->field;

    hint_at_note(value);
    free(*field);
    *field = cc_strdup(value->text);
}

static void to_list(const struct value *value)
{
    struct cc_texts *texts = value->field;

    hint_at_note(value);
    texts->items = cc_realloc(texts->items, (texts->count + 1) * sizeof *texts->items);
    texts->items[texts->count++] = (struct cc_text){cc_strdup(value->text), value->place};
}

const char *cc_convert_value_name(const struct cc_option *row)
{
    static const char *const by_kind[] = {
        [CC_INT] = "number", [CC_SIZE] = "bytes",    [CC_SECONDS] = "seconds", [CC_TEXT] = "text",
        [CC_PATH] = "path",  [CC_CHOICE] = "choice", [CC_LIST] = "text",       [CC_COMMAND] = NULL};

    if (row->value != NULL || row->kind == CC_BOOL)
        return row->value;
    return by_kind[row->kind];
}

void cc_convert(const struct cc_option *row, const char *name, const char *text, void *settings,
                struct cc_place place, struct cc_problems *problems)
{
    static void (*const by_kind[])(const struct value *) = {
        [CC_BOOL] = to_bool,      [CC_INT] = to_number, [CC_SIZE] = to_number,
        [CC_SECONDS] = to_number, [CC_TEXT] = to_text,  [CC_PATH] = to_text,
        [CC_CHOICE] = to_choice,  [CC_LIST] = to_list,
    };
    struct value value = {row,   name,    text == NULL ? "" : text, (char *)settings + row->offset,
                          place, problems};

    if (row->kind == CC_COMMAND)
        return;
    if (value.text[0] == '\0' && row->kind != CC_BOOL) {
        if (row->bare == NULL) {
            cc_problems_add(problems, CC_ERROR, place, "%s: needs a value (%s)", name,
                            cc_convert_value_name(row));
            return;
        }
        value.text = row->bare;
    } else if (row->bare != NULL && row->kind != CC_BOOL &&
               (strcasecmp(value.text, "true") == 0 || strcasecmp(value.text, "on") == 0)) {
        value.text = row->bare;
    }
    by_kind[row->kind](&value);
}
