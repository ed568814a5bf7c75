/* See help.h. */
#include "cli/help.h"

#include <config.h>
#include <string.h>
#include <strings.h>

#include "config/convert.h"

static const char *section_of(const struct cc_option *option)
{
    return option->section == NULL ? "Other" : option->section;
}

/* Whether an earlier row already opened this section. */
static bool section_was_seen(const struct cc_targets *targets, size_t table, size_t row)
{
    const char *section = section_of(&targets->items[table].table->rows[row]);

    for (size_t i = 0; i <= table; i++) {
        size_t end = i == table ? row : targets->items[i].table->count;
        for (size_t j = 0; j < end; j++)
            if (strcmp(section_of(&targets->items[i].table->rows[j]), section) == 0)
                return true;
    }
    return false;
}

static void walk_section(const struct cc_targets *targets, const char *section,
                         const struct cc_help_visitor *visitor)
{
    visitor->section(visitor->context, section);
    for (size_t i = 0; i < targets->count; i++)
        for (size_t j = 0; j < targets->items[i].table->count; j++) {
            const struct cc_option *option = &targets->items[i].table->rows[j];
            if (strcmp(section_of(option), section) == 0)
                visitor->option(visitor->context, option);
        }
}

void cc_help_walk(const struct cc_targets *targets, const struct cc_help_visitor *visitor)
{
    for (size_t i = 0; i < targets->count; i++)
        for (size_t j = 0; j < targets->items[i].table->count; j++)
            if (!section_was_seen(targets, i, j))
                walk_section(targets, section_of(&targets->items[i].table->rows[j]), visitor);
}

const char *cc_help_value(const struct cc_option *option)
{
    return cc_convert_value_name(option);
}

/* The printing's state. */
struct printing {
    FILE *to;
    const char *word;    /* NULL: all */
    const char *section; /* begun, but printed only with its first option */
    const char *printed; /* the section printed last */
    bool any;
};

static bool matches(const struct printing *printing, const struct cc_option *option)
{
    const char *word = printing->word;

    return word == NULL || strcasestr(option->name, word) != NULL ||
           (option->aliases != NULL && strcasestr(option->aliases, word) != NULL) ||
           strcasestr(option->help, word) != NULL || strcasestr(printing->section, word) != NULL;
}

/* Text in lines of at most 80 columns, each indented. */
static void print_wrapped(FILE *to, const char *text)
{
    const size_t indent = 8, width = 80;
    size_t column = 0;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > width) {
            fputc('\n', to);
            column = 0;
        }
        if (column == 0) {
            fprintf(to, "%*s", (int)indent, "");
            column = indent;
        } else {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, word, to);
        column += word;
        text += word + (text[word] == ' ');
    }
    fputc('\n', to);
}

static void print_names(FILE *to, const struct cc_option *option)
{
    const char *value = cc_help_value(option);

    fputs("  ", to);
    if (option->letter != 0)
        fprintf(to, "-%c, ", option->letter);
    fprintf(to, "--%s", option->name);
    for (const char *at = option->aliases; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        fprintf(to, ", --%.*s", (int)word, at);
        at += word + (at[word] == ' ');
    }
    if (value != NULL)
        fprintf(to, option->bare != NULL ? " [%s]" : " %s", value);
    if (option->fallback != NULL)
        fprintf(to, "  (default: %s)", option->fallback);
    fputc('\n', to);
}

static void on_section(void *context, const char *section)
{
    struct printing *printing = context;
    printing->section = section;
}

static void on_option(void *context, const struct cc_option *option)
{
    struct printing *printing = context;

    if (!matches(printing, option))
        return;
    if (printing->printed != printing->section)
        fprintf(printing->to, "\n%s:\n", printing->section);
    printing->printed = printing->section;
    printing->any = true;
    print_names(printing->to, option);
    if (option->support == CC_NO_EFFECT)
        print_wrapped(printing->to, "Accepted, no effect here:");
    print_wrapped(printing->to, option->help);
}

void cc_help_usage(FILE *to)
{
    fputs("usage: ccontainer [option...] app.ini[:section]\n"
          "       ccontainer --http 127.0.0.1:8000 --module package.module:app\n"
          "       ccontainer reload|upgrade|stop|status app.ini|pidfile\n"
          "       ccontainer --help [word]     lists the options (with that word)\n",
          to);
}

bool cc_help_print(const struct cc_targets *targets, const char *word, FILE *to)
{
    struct printing printing = {.to = to, .word = word};
    struct cc_help_visitor visitor = {&printing, on_section, on_option};

    if (word == NULL) {
        fputs(PACKAGE_STRING ", an application container for WSGI apps\n", to);
        cc_help_usage(to);
        fputs("Each option is a line \"name = value\" of the ini's section [uwsgi], an argument\n"
              "--name value (--name for a flag), or a variable UWSGI_NAME=value.\n",
              to);
    }
    cc_help_walk(targets, &visitor);
    if (!printing.any)
        fprintf(to, "no option has \"%s\" in its name or help\n", word);
    return printing.any;
}
