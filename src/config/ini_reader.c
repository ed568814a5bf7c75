/* See ini_reader.h. The ini is parsed by inih, but not left to it alone: inih cuts lines at 200
 * bytes, glues an indented line to the one before, ends a value at " ;", splits at ':', refuses a
 * bare key and tells no line numbers. uWSGI's dialect has none of that. So the reader function that
 * inih calls for each line keeps key, value and number here and hands inih one safe short line. */
#include "config/ini_reader.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SAFE_KEY     100 /* bytes that inih takes whole */
#define SAFE_SECTION 40

struct reader {
    struct cc_span rest; /* what is not read yet */
    const char *file;
    const struct cc_ini_events *events;
    struct cc_problems *problems;
    struct cc_buf line; /* with its words replaced */
    char *section, *key, *value;
    int number;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* uWSGI's blanks are these three. */
static struct cc_span trim(struct cc_span span)
{
    while (span.len > 0 && is_blank(span.at[0])) {
        span.at++;
        span.len--;
    }
    while (span.len > 0 && is_blank(span.at[span.len - 1]))
        span.len--;
    return span;
}

static struct cc_span next_line(struct cc_span *rest)
{
    const char *end = memchr(rest->at, '\n', rest->len);
    struct cc_span line = {rest->at, end == NULL ? rest->len : (size_t)(end - rest->at)};
    size_t taken = line.len + (end != NULL);

    rest->at += taken;
    rest->len -= taken;
    return line;
}

static struct cc_place here(const struct reader *reader)
{
    return (struct cc_place){reader->file, reader->number};
}

/* The next line without blanks and with its words replaced. */
static struct cc_span take_line(struct reader *reader)
{
    struct cc_span line = trim(next_line(&reader->rest));
    const struct cc_words *words =
        reader->events->words == NULL ? NULL : reader->events->words(reader->events->context);

    reader->number++;
    if (words == NULL || line.len == 0 || line.at[0] == '#' || line.at[0] == ';')
        return line;
    reader->line.len = 0;
    char unknown = cc_words_replace(words, line, &reader->line);
    if (unknown != '\0')
        cc_problems_add(reader->problems, CC_WARNING, here(reader),
                        "\"%%%c\" stands for nothing and vanishes: write \"%%%%\" for a percent "
                        "sign",
                        unknown);
    if (line.at[line.len - 1] == '%' && (line.len == 1 || line.at[line.len - 2] != '%'))
        cc_problems_add(reader->problems, CC_WARNING, here(reader),
                        "uWSGI would glue the next line to a \"%%\" at a line's end: write "
                        "\"%%%%\" for a percent sign");
    return trim((struct cc_span){reader->line.at, reader->line.len});
}

static bool is_safe(struct cc_span text, size_t max)
{
    if (text.len == 0 || text.len > max)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (byte <= ' ' || byte >= 0x7f || strchr(":;#=[]", byte) != NULL)
            return false;
    }
    return true;
}

static void replace(char **old, struct cc_span text)
{
    free(*old);
    *old = cc_strndup(text.at, text.len);
}

/* Writes "[section]" for inih; false: the line is no header. */
static bool take_section(struct reader *reader, struct cc_span line, char *to, size_t size)
{
    if (line.at[line.len - 1] != ']' || line.len < 2) {
        cc_problems_add(reader->problems, CC_ERROR, here(reader),
                        "\"%.*s\" is no section header: it must end with \"]\" (a comment needs a "
                        "line of its own)",
                        (int)(line.len > 80 ? 80 : line.len), line.at);
        return false;
    }
    struct cc_span name = {line.at + 1, line.len - 2};
    replace(&reader->section, name);
    if (reader->events->section != NULL)
        reader->events->section(reader->events->context, reader->section);
    /* inih needs to know only that a section begins; the name is kept here. */
    snprintf(to, size, "[%s]\n", is_safe(name, SAFE_SECTION) ? reader->section : "other");
    return true;
}

/* Writes "key=" for inih and keeps the value. */
static void take_key(struct reader *reader, struct cc_span line, char *to, size_t size)
{
    const char *equals = memchr(line.at, '=', line.len);
    struct cc_span key = line;
    struct cc_span value = {"", 0};

    if (equals != NULL) {
        key = trim((struct cc_span){line.at, (size_t)(equals - line.at)});
        value = trim((struct cc_span){equals + 1, line.len - (size_t)(equals + 1 - line.at)});
    }
    replace(&reader->key, key);
    replace(&reader->value, value);
    snprintf(to, size, "%s=\n", is_safe(key, SAFE_KEY) ? reader->key : "key");
}

/* inih's ini_reader: writes one line of at most size - 1 bytes to to; NULL: the end. */
static char *give_line(char *to, int size, void *stream)
{
    struct reader *reader = stream;

    while (reader->rest.len > 0) {
        struct cc_span line = take_line(reader);
        if (line.len == 0 || line.at[0] == ';' || line.at[0] == '#')
            continue;
        if (line.at[0] != '[') {
            take_key(reader, line, to, (size_t)size);
            return to;
        }
        if (take_section(reader, line, to, (size_t)size))
            return to;
    }
    return NULL;
}

/* inih's ini_handler: 0 would be an error. */
static int on_key(void *user, const char *section, const char *name, const char *value)
{
    struct reader *reader = user;
    struct cc_ini_line line = {reader->section, reader->key, reader->value, reader->number};

    (void)section, (void)name, (void)value;
    reader->events->line(reader->events->context, &line);
    return 1;
}

/* A NUL byte's place, as a problem; false: there is none. */
static bool has_nul(struct cc_span text, const char *file, struct cc_problems *problems)
{
    const char *nul = text.len == 0 ? NULL : memchr(text.at, '\0', text.len);
    int number = 1;

    if (nul == NULL)
        return false;
    for (const char *at = text.at; at < nul; at++)
        number += *at == '\n';
    cc_problems_add(problems, CC_ERROR, (struct cc_place){file, number},
                    "this is no ini file: it has a NUL byte at offset %zu",
                    (size_t)(nul - text.at));
    return true;
}

bool cc_ini_read(struct cc_span text, const char *file, const struct cc_ini_events *events,
                 struct cc_problems *problems)
{
    struct reader reader = {.rest = text, .file = file, .events = events, .problems = problems};

    if (has_nul(text, file, problems))
        return false;
    if (text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0) {
        reader.rest.at += 3; /* a byte order mark */
        reader.rest.len -= 3;
    }
    reader.section = cc_strdup("");
    int failed = ini_parse_stream(give_line, &reader, on_key, &reader);
    if (failed != 0)
        cc_problems_add(problems, CC_ERROR, here(&reader), "inih cannot take this line (%d)",
                        failed);
    free(reader.section);
    free(reader.key);
    free(reader.value);
    cc_buf_clear(&reader.line);
    return true;
}
