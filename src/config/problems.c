/* See problems.h. */
#include "config/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_known(const struct cc_problems *problems, struct cc_place place, const char *text)
{
    for (size_t i = problems->count; i > 0; i--) {
        const struct cc_problem *problem = &problems->items[i - 1];
        if (problem->place.line == place.line && problem->place.file == place.file &&
            strcmp(problem->text, text) == 0)
            return true;
    }
    return false;
}

void cc_problems_add(struct cc_problems *problems, enum cc_severity severity, struct cc_place place,
                     const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    /* An option that is in several tables is found wrong by each of them. */
    if (is_known(problems, place, text)) {
        free(text);
        return;
    }
    problems->items = cc_realloc(problems->items, (problems->count + 1) * sizeof *problems->items);
    problems->items[problems->count++] = (struct cc_problem){severity, place, text};
    if (severity == CC_ERROR)
        problems->errors++;
}

/* Which of the files this is, in the order in which problems first name them; 0: none. */
static size_t file_rank(const struct cc_problems *problems, const char *file)
{
    if (file == NULL)
        return 0;
    for (size_t i = 0; i < problems->count; i++)
        if (problems->items[i].place.file != NULL &&
            strcmp(problems->items[i].place.file, file) == 0)
            return i + 1;
    return problems->count + 1;
}

/* A problem with what it is sorted by. */
struct sorted {
    const struct cc_problem *problem;
    size_t rank, index;
};

static int compare(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;

    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->problem->place.line != right->problem->place.line)
        return left->problem->place.line < right->problem->place.line ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static void print_one(const struct cc_problem *problem, FILE *to)
{
    static const char *const word[] = {"hint: ", "warning: ", ""};
    const char *severity = word[problem->severity];

    if (problem->place.file == NULL)
        fprintf(to, "command line: %s%s\n", severity, problem->text);
    else if (problem->place.line == 0)
        fprintf(to, "%s: %s%s\n", problem->place.file, severity, problem->text);
    else
        fprintf(to, "%s:%d: %s%s\n", problem->place.file, problem->place.line, severity,
                problem->text);
}

void cc_problems_print(const struct cc_problems *problems, enum cc_severity least, FILE *to)
{
    struct sorted *sorted = cc_alloc_zeroed(problems->count + 1, sizeof *sorted);

    for (size_t i = 0; i < problems->count; i++)
        sorted[i] = (struct sorted){&problems->items[i],
                                    file_rank(problems, problems->items[i].place.file), i};
    qsort(sorted, problems->count, sizeof *sorted, compare);
    for (size_t i = 0; i < problems->count; i++)
        if (sorted[i].problem->severity >= least)
            print_one(sorted[i].problem, to);
    free(sorted);
}

void cc_problems_clear(struct cc_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        free(problems->items[i].text);
    free(problems->items);
    *problems = (struct cc_problems){0};
}
