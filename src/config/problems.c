/* See problems.h. */
#include "config/problems.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"

void cc_problems_add(struct cc_problems *problems, enum cc_severity severity, struct cc_place place,
                     const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    problems->items = cc_realloc(problems->items, (problems->count + 1) * sizeof *problems->items);
    problems->items[problems->count++] = (struct cc_problem){severity, place, text};
    if (severity == CC_ERROR)
        problems->errors++;
}

void cc_problems_print(const struct cc_problems *problems, enum cc_severity least, FILE *to)
{
    static const char *const word[] = {"hint: ", "warning: ", ""};

    for (size_t i = 0; i < problems->count; i++) {
        const struct cc_problem *problem = &problems->items[i];
        if (problem->severity < least)
            continue;
        if (problem->place.file == NULL)
            fprintf(to, "command line: %s%s\n", word[problem->severity], problem->text);
        else if (problem->place.line == 0)
            fprintf(to, "%s: %s%s\n", problem->place.file, word[problem->severity], problem->text);
        else
            fprintf(to, "%s:%d: %s%s\n", problem->place.file, problem->place.line,
                    word[problem->severity], problem->text);
    }
}

void cc_problems_clear(struct cc_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        free(problems->items[i].text);
    free(problems->items);
    *problems = (struct cc_problems){0};
}
