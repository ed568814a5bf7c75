/* See document.h. */
#include "cli/document.h"

#include <config.h>
#include <inttypes.h>
#include <string.h>

#include "cli/help.h"

/* Roff takes a dash for a hyphen and a dot or quote at a line's start for a request. */
static void put_roff(FILE *to, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", to);
    for (; *text != '\0'; text++) {
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
    }
}

static void man_section(void *context, const char *section)
{
    fprintf(context, ".SS %s\n", section);
}

static void man_names(FILE *to, const struct cc_option *option)
{
    const char *value = cc_help_value(option);

    fputs(".TP\n", to);
    if (option->letter != 0)
        fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", to);
    put_roff(to, option->name);
    fputs("\\fR", to);
    for (const char *at = option->aliases; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)word, at);
        fputs(", \\fB\\-\\-", to);
        put_roff(to, name);
        fputs("\\fR", to);
        at += word + (at[word] == ' ');
    }
    if (value != NULL) {
        fputs(option->bare != NULL ? " [\\fI" : " \\fI", to);
        put_roff(to, value);
        fputs(option->bare != NULL ? "\\fR]" : "\\fR", to);
    }
    fputc('\n', to);
}

static void man_option(void *context, const struct cc_option *option)
{
    FILE *to = context;

    man_names(to, option);
    if (option->support == CC_NO_EFFECT)
        fputs("Accepted, no effect here. ", to);
    put_roff(to, option->help);
    if (option->fallback != NULL)
        fprintf(to, " Default: %s.", option->fallback);
    fputc('\n', to);
}

static const char man_head[] =
    ".SH NAME\n"
    "ccontainer \\- application container for WSGI apps, configured like uWSGI\n"
    ".SH SYNOPSIS\n"
    ".B ccontainer\n"
    "[\\fIoption\\fR...] \\fIapp.ini\\fR[:\\fIsection\\fR]\n"
    ".br\n"
    ".B ccontainer\n"
    "reload|upgrade|stop|status \\fIapp.ini\\fR|\\fIpidfile\\fR\n"
    ".SH DESCRIPTION\n"
    "Runs a Python WSGI app in worker processes with threads, and serves it over HTTP/1.1 and "
    "over\n"
    "the uwsgi protocol. Its configuration is a uwsgi.ini: each option below is a line\n"
    "\\fIname\\fR = \\fIvalue\\fR of the section [uwsgi], an argument \\-\\-\\fIname value\\fR, or "
    "an\n"
    "environment variable UWSGI_\\fINAME\\fR=\\fIvalue\\fR. What comes later wins: environment, "
    "then\n"
    "options, then the files named without an option.\n"
    ".PP\n"
    "\\fB\\-\\-help\\fR [\\fIword\\fR] lists the options, \\fB\\-\\-version\\fR prints the "
    "version.\n"
    ".SH COMMANDS\n"
    "They speak to a server that runs, named by its ini or its pidfile, and wait for the outcome.\n"
    ".TP\n.B reload\nRead the configuration again and replace all workers without losing a "
    "request.\n"
    ".TP\n.B upgrade\nThe same by the binary that is installed now, which takes over the sockets.\n"
    ".TP\n.B stop\nAs SIGTERM; returns when the server is gone.\n"
    ".TP\n.B status\nPrint generations, workers and their requests.\n"
    ".SH OPTIONS\n";

static const char man_tail[] =
    ".SH SIGNALS\n"
    ".TP\n.B SIGTERM, SIGINT\nStop: running requests may finish, within worker\\-reload\\-mercy.\n"
    ".TP\n.B SIGQUIT\nStop at once.\n"
    ".TP\n.B SIGHUP\nLoad the app again and replace the workers.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nStopped by a signal, or did what was asked.\n"
    ".TP\n.B 1\nThe configuration or an address is wrong; every error was printed.\n"
    ".TP\n.B 2\nThe command line is wrong.\n"
    ".TP\n.B 3\nThe system refused something.\n"
    ".PP\nOf the commands:\n"
    ".TP\n.B 0\nDone: the new generation serves, the server is gone, the status was printed.\n"
    ".TP\n.B 1\nNot done, and the server goes on as before.\n"
    ".TP\n.B 3\nNo such server runs.\n"
    ".TP\n.B 4\nIt may run, but cannot be asked.\n"
    ".PP\nOf a server also:\n"
    ".TP\n.B 22\nneed\\-app is set and the app could not be loaded.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "ccontainer app.ini\n"
    "ccontainer \\-\\-http 127.0.0.1:8000 \\-\\-module hello:app \\-\\-processes 2 \\-\\-threads "
    "4\n"
    "ccontainer \\-\\-show\\-config app.ini:production\n"
    ".fi\n";

void cc_document_man(const struct cc_targets *targets, FILE *to)
{
    struct cc_help_visitor visitor = {to, man_section, man_option};

    fputs(".\\\" Made by `make docs` from the option tables; do not edit.\n", to);
    fprintf(to, ".TH CCONTAINER 1 \"\" \"%s\" \"User Commands\"\n", PACKAGE_STRING);
    fputs(man_head, to);
    cc_help_walk(targets, &visitor);
    fputs(man_tail, to);
}

static void markdown_section(void *context, const char *section)
{
    fprintf(context, "\n## %s\n", section);
}

static void markdown_facts(FILE *to, const struct cc_option *option)
{
    const char *value = cc_help_value(option);

    if (value != NULL)
        fprintf(to, "- value: %s%s%s\n", value, option->bare == NULL ? "" : "; without one: ",
                option->bare == NULL ? "" : option->bare);
    else if (option->kind == CC_BOOL)
        fputs("- value: a flag\n", to);
    if (option->fallback != NULL)
        fprintf(to, "- default: %s\n", option->fallback);
    if (option->max != 0)
        fprintf(to, "- from %" PRId64 " to %" PRId64 "\n", option->min, option->max);
    if (option->kind == CC_LIST)
        fputs("- may come several times\n", to);
    if (option->letter != 0)
        fprintf(to, "- on the command line also `-%c`\n", option->letter);
    if (option->aliases != NULL)
        fprintf(to, "- also called %s\n", option->aliases);
    if (option->restart)
        fprintf(to, "- a reload does not change it, a restart does\n");
    fprintf(to, "- since %s\n", option->since);
}

static void markdown_option(void *context, const struct cc_option *option)
{
    FILE *to = context;

    fprintf(to, "\n### %s\n%s%s\n\n", option->name,
            option->support == CC_NO_EFFECT ? "Accepted, no effect here. "
            : option->support == CC_REFUSED ? "Not done. "
                                            : "",
            option->help);
    markdown_facts(to, option);
}

void cc_document_markdown(const struct cc_targets *targets, FILE *to)
{
    struct cc_help_visitor visitor = {to, markdown_section, markdown_option};

    fputs("# Options\n"
          "Made by `make docs` from the option tables; do not edit. How a file is read, and what "
          "differs from uWSGI: [configuration.md](configuration.md).\n",
          to);
    cc_help_walk(targets, &visitor);
}
