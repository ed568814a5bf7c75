/* See arguments.h. Our own reading of argv instead of getopt_long: the option tables are not all
 * known yet, and uWSGI's names must be told apart from misspelt ones. */
#include "cli/arguments.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "config/uwsgi_names.h"

/* The reading's state. */
struct reading {
    struct cc_arguments *arguments;
    char **argv;
    size_t next; /* index of the argument to read */
    struct cc_loader *loader;
    const struct cc_targets *core;
    struct cc_err *err;
    const char **files; /* named without an option; owned, the texts are argv's */
    size_t n_files;
};

static const struct cc_place command_line = {NULL, 0};

static bool is_file_name(const char *word)
{
    const char *ini = strstr(word, ".ini");
    return ini != NULL && (ini[4] == '\0' || ini[4] == ':');
}

/* What the option takes; false: nobody here knows the name. */
static bool find_arity(const struct reading *reading, const char *name, enum cc_argument *arity)
{
    const struct cc_option *row = cc_targets_find(reading->core, name);
    const struct cc_uwsgi_name *theirs = cc_uwsgi_name_find(name);

    if (row != NULL && row->support != CC_NO_EFFECT) {
        bool flag = row->kind == CC_BOOL || strcmp(row->name, "show-config") == 0;
        *arity = flag                ? CC_ARGUMENT_NONE
                 : row->bare != NULL ? CC_ARGUMENT_OPTIONAL
                                     : CC_ARGUMENT_REQUIRED;
        return true;
    }
    if (theirs == NULL)
        return false;
    *arity = theirs->argument;
    return true;
}

static void load(const struct reading *reading, const char *name, const char *value)
{
    if (strcmp(name, "show-config") == 0)
        reading->arguments->show_config = true;
    cc_load_entry(reading->loader, name, value, command_line);
}

static void keep_pending(struct cc_arguments *arguments, const char *name)
{
    arguments->pending =
        cc_realloc(arguments->pending, (arguments->n_pending + 1) * sizeof *arguments->pending);
    arguments->pending[arguments->n_pending++] = name;
}

/* The value of an option that needs one: what stands behind "=" or the letter, or the next word. */
static bool take_value(struct reading *reading, const char *shown, const char *attached,
                       const char **value)
{
    *value = attached;
    if (attached != NULL)
        return true;
    *value = reading->argv[reading->next];
    if (*value == NULL)
        return cc_fail(reading->err, "%s needs a value", shown);
    reading->next++;
    return true;
}

/* --name, --name=value, --name value. word: without the dashes; cut at its "=". */
static bool read_long(struct reading *reading, char *word)
{
    char *equals = strchr(word, '=');
    const char *value = equals == NULL ? NULL : equals + 1;
    enum cc_argument arity;
    char *shown;

    if (equals != NULL)
        *equals = '\0';
    if (!find_arity(reading, word, &arity)) {
        /* A plugin's option, or a misspelt one. A word that is neither an option nor a file is
         * taken for its value, since nobody knows yet whether it has one. */
        const char *follows = reading->argv[reading->next];
        if (value == NULL && follows != NULL && follows[0] != '-' && !is_file_name(follows)) {
            value = follows;
            reading->next++;
        }
        keep_pending(reading->arguments, word);
        load(reading, word, value);
        return true;
    }
    shown = cc_format("--%s", word);
    bool fine = arity != CC_ARGUMENT_REQUIRED || take_value(reading, shown, value, &value);
    free(shown);
    if (fine)
        load(reading, word, value);
    return fine;
}

/* The long name of a letter, and what it takes; NULL: nobody has this letter. */
static const char *find_letter(const struct reading *reading, char letter, enum cc_argument *arity)
{
    const struct cc_option *row = cc_targets_letter(reading->core, letter);
    const struct cc_uwsgi_name *theirs = cc_uwsgi_letter_find(letter);
    const char *name = row != NULL ? row->name : theirs != NULL ? theirs->name : NULL;

    if (name != NULL && !find_arity(reading, name, arity))
        *arity = CC_ARGUMENT_NONE;
    return name;
}

/* -M, -p 4, -p4, -Mp4. */
static bool read_letters(struct reading *reading, const char *letters)
{
    for (const char *at = letters; *at != '\0'; at++) {
        enum cc_argument arity;
        const char *value = NULL;
        char shown[] = {'-', *at, '\0'};
        const char *name = find_letter(reading, *at, &arity);
        if (name == NULL)
            return cc_fail(reading->err, "there is no option -%c; --help lists them", *at);
        if (arity == CC_ARGUMENT_NONE) {
            load(reading, name, NULL);
            continue;
        }
        const char *attached = at[1] == '\0' ? NULL : at + 1;
        value = attached;
        if (arity == CC_ARGUMENT_REQUIRED && !take_value(reading, shown, attached, &value))
            return false;
        load(reading, name, value);
        return true;
    }
    return true;
}

static bool read_word(struct reading *reading, char *word)
{
    static const struct {
        const char *text;
        enum cc_command command;
    } commands[] = {{"--help", CC_HELP},           {"-h", CC_HELP},
                    {"--usage", CC_HELP},          {"--version", CC_VERSION},
                    {"--print-man", CC_PRINT_MAN}, {"--print-options-md", CC_PRINT_OPTIONS}};

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(word, commands[i].text) == 0) {
            reading->arguments->command = commands[i].command;
            reading->arguments->word = reading->argv[reading->next];
            return true;
        }
    if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
        return read_long(reading, word + 2);
    if (word[0] == '-' && word[1] != '\0')
        return read_letters(reading, word + 1);
    if (!is_file_name(word) && access(word, F_OK) != 0)
        return cc_fail(reading->err, "\"%s\" is neither an option nor an ini file", word);
    reading->files = cc_realloc(reading->files, (reading->n_files + 1) * sizeof *reading->files);
    reading->files[reading->n_files++] = word;
    return true;
}

/* UWSGI_PROCESSES=4 sets processes. */
static void read_environment(struct cc_loader *loader)
{
    static const char prefix[] = "UWSGI_";

    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        const char *equals = strchr(*variable, '=');
        size_t len = strlen(prefix);
        if (equals == NULL || strncmp(*variable, prefix, len) != 0 || equals == *variable + len)
            continue;
        char *name = cc_strndup(*variable, (size_t)(equals - *variable));
        char *place = cc_format("environment, %s", name);
        for (char *at = name; *at != '\0'; at++)
            *at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
        struct cc_place where = {cc_entries_name(loader->entries, place), 0};
        cc_load_entry(loader, name + len, equals + 1, where);
        free(place);
        free(name);
    }
}

bool cc_arguments_read(struct cc_arguments *arguments, char **argv, struct cc_loader *loader,
                       const struct cc_targets *core, struct cc_err *err)
{
    struct reading reading = {arguments, argv, 1, loader, core, err, NULL, 0};
    bool fine = true;

    read_environment(loader);
    while (fine && arguments->command == CC_RUN && argv[0] != NULL && argv[reading.next] != NULL) {
        arguments->any = true;
        fine = read_word(&reading, argv[reading.next++]);
    }
    for (size_t i = 0; fine && arguments->command == CC_RUN && i < reading.n_files; i++)
        cc_load_file(loader, reading.files[i], command_line);
    free(reading.files);
    return fine;
}

bool cc_arguments_settle(const struct cc_arguments *arguments, const struct cc_targets *targets,
                         struct cc_err *err)
{
    for (size_t i = 0; i < arguments->n_pending; i++) {
        const char *name = arguments->pending[i];
        char *dashed = cc_strdup(name);
        for (char *at = dashed; *at != '\0'; at++)
            if (*at == '_')
                *at = '-';
        bool known = cc_targets_find(targets, dashed) != NULL;
        free(dashed);
        if (known)
            continue;
        const char *nearest = cc_targets_nearest(targets, name);
        return nearest != NULL
                   ? cc_fail(err, "there is no option --%s; did you mean --%s?", name, nearest)
                   : cc_fail(err, "there is no option --%s; --help lists them", name);
    }
    return true;
}

void cc_arguments_clear(struct cc_arguments *arguments)
{
    free(arguments->pending);
    *arguments = (struct cc_arguments){0};
}
