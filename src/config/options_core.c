/* The host's options of configuration, sockets, requests, logging and plugins. */
#include "config/options_core.h"

#include "config/settings.h"
#include "config/targets.h"

#define S        struct cc_settings
#define SINCE    .since = "0.1"
#define IN(part) .section = part, SINCE

static const struct cc_option rows[] = {
    /* Configuration */
    {CC_COMMAND_ROW("ini"), IN("Configuration"), .value = "file[:section]",
     .help = "Reads another ini at this place; its section is uwsgi unless one is named."},
    {CC_COMMAND_ROW("include"), IN("Configuration"), .aliases = "inherit",
     .value = "file[:section]", .help = "Reads another ini at this place, as ini does."},
    {CC_COMMAND_ROW("set-placeholder"), IN("Configuration"), .aliases = "set-ph",
     .value = "key=value", .help = "Sets a name that %(key) can use."},
    {CC_COMMAND_ROW("set"), IN("Configuration"), .letter = 'S', .value = "key=value",
     .help = "Sets an option or a placeholder."},
    {CC_COMMAND_ROW("for"), IN("Configuration"), .aliases = "for-times for-glob for-readline",
     .value = "items",
     .help = "Takes each line down to endfor once an item, with the item for %(_): a word, a "
             "number from 1 on, a path that fits the pattern, a line of the file."},
    {CC_COMMAND_ROW("if-env"), IN("Configuration"), .aliases = "if-not-env ifenv",
     .value = "NAME[=value]",
     .help = "Takes the lines down to endif (or else) only if the environment variable is set, or "
             "has this value; %(_) is what it holds."},
    {CC_COMMAND_ROW("if-opt"), IN("Configuration"), .aliases = "if-not-opt",
     .value = "name[=value]", .help = "The same for an option or placeholder that stands above."},
    {CC_COMMAND_ROW("if-exists"), IN("Configuration"),
     .aliases = "if-not-exists ifexists if-file if-not-file if-dir if-not-dir ifdir if-directory",
     .value = "path",
     .help = "The same for a path that exists, is a file, or is a folder; %(_) is the path."},
    {CC_COMMAND_ROW("if-hostname"), IN("Configuration"),
     .aliases = "if-not-hostname if-hostname-match if-not-hostname-match", .value = "name",
     .help = "The same for this machine's name, or a regular expression that fits it."},
    {CC_COMMAND_ROW("if-plugin"), IN("Configuration"), .aliases = "if-not-plugin ifplugin",
     .value = "name",
     .help = "The same for a plugin that is there: python, http, uwsgi, and those "
             "named above."},
    {CC_COMMAND_ROW("if-reload"), IN("Configuration"), .aliases = "if-not-reload", .bare = "true",
     .help = "The same for a reload that reads the file again."},
    {CC_COMMAND_ROW("else"), IN("Configuration"), .bare = "",
     .help = "Turns the condition of an if-... block around; uWSGI 2.0 does not know it."},
    {CC_COMMAND_ROW("end"), IN("Configuration"), .aliases = "endif end-if endfor end-for",
     .bare = "", .help = "Ends the block. Blocks do not nest."},
    {CC_BOOL_ROW("strict", S, strict), IN("Configuration"),
     .help = "Refuses to start when a name is no option of ccontainer's and no %(key) uses it."},
    {CC_BOOL_ROW("show-config", S, show_config), IN("Configuration"),
     .help = "Prints the resolved options to standard error; on the command line it then exits, in "
             "a file the start goes on."},
    {CC_LIST_ROW("env", S, process.env), IN("Configuration"), .value = "NAME=value",
     .help = "Sets an environment variable for the app."},
    {CC_PATH_ROW("chdir", S, process.chdir), IN("Configuration"), .value = "folder",
     .help = "Changes to this folder before sockets are bound and the app is loaded; relative "
             "pidfile and logto still count from where ccontainer was started."},

    /* Sockets */
    {CC_LIST_ROW("socket", S, server.socket), IN("Sockets"), .letter = 's', .value = "address",
     .help = "Listens on host:port, :port, [v6]:port, a unix socket's path, @abstract, fd://3 or "
             "fd://name (of systemd), with the protocol that the option protocol names."},
    {CC_LIST_ROW("uwsgi-socket", S, server.uwsgi_socket), IN("Sockets"), .value = "address",
     .help = "Listens with the uwsgi protocol (nginx: uwsgi_pass)."},
    {CC_LIST_ROW("http", S, server.http), IN("Sockets"), .value = "address",
     .help = "Listens with HTTP/1.1. uWSGI puts a router process of its own in front for this; "
             "here every worker speaks HTTP itself."},
    {CC_LIST_ROW("http-socket", S, server.http_socket), IN("Sockets"), .value = "address",
     .help = "Listens with HTTP/1.1; the same as http."},
    {CC_LIST_ROW("http11-socket", S, server.http11_socket), IN("Sockets"), .value = "address",
     .help = "Listens with HTTP/1.1; the same as http."},
    {CC_TEXT_ROW("protocol", S, server.protocol), IN("Sockets"), .aliases = "socket-protocol",
     .fallback = "uwsgi", .value = "name",
     .help = "The protocol of the option socket: uwsgi or http."},
    {CC_INT_ROW("listen", S, server.listen), IN("Sockets"), .letter = 'l', .fallback = "100",
     .min = 1, .max = 65535,
     .help = "Length of each socket's listen queue; the kernel caps it at net.core.somaxconn."},
    {CC_TEXT_ROW("chmod-socket", S, server.chmod_socket), IN("Sockets"), .aliases = "chmod",
     .letter = 'C', .value = "mode", .bare = "666", .restart = true,
     .help = "Octal mode of the unix sockets; without a value 666."},
    {CC_TEXT_ROW("chown-socket", S, server.chown_socket), IN("Sockets"), .value = "user[:group]",
     .restart = true, .help = "Owner of the unix sockets."},
    {CC_INT_ROW("max-connections", S, server.max_connections), IN("Sockets"), .fallback = "8192",
     .min = 1, .max = 1000000,
     .help = "Connections that one worker holds at the same time; further ones wait in the listen "
             "queue. Only ccontainer has it."},

    /* Requests */
    {CC_SIZE_ROW("post-buffering", S, server.post_buffering), IN("Requests"), .fallback = "65536",
     .help = "Bytes of a request body that are kept in memory; what is longer goes to a temporary "
             "file. Bodies are always read whole before the app runs."},
    {CC_SIZE_ROW("limit-post", S, server.body_limit), IN("Requests"), .fallback = "1073741824",
     .help = "Largest request body; a larger one is answered 413. 0: no limit, as in uWSGI."},
    {CC_SECONDS_ROW("http-headers-timeout", S, server.head_timeout), IN("Requests"),
     .aliases = "http-header-timeout", .fallback = "30", .min = 1, .max = 86400,
     .help = "Time that a client gets for the whole head of a request, with any protocol."},
    {CC_SECONDS_ROW("http-body-timeout", S, server.body_timeout), IN("Requests"), .fallback = "30",
     .min = 1, .max = 86400,
     .help = "Time that may pass between two pieces of a request body, with any protocol. Only "
             "ccontainer has it."},
    {CC_SECONDS_ROW("http-keepalive", S, server.keepalive_timeout), IN("Requests"),
     .fallback = "60", .bare = "60", .max = 86400,
     .help = "Time that an idle connection is kept open for its next request; 0: it is closed "
             "after the response."},
    {CC_SECONDS_ROW("http-timeout", S, server.send_timeout), IN("Requests"), .fallback = "60",
     .min = 1, .max = 86400,
     .help =
         "Time that a slow client may take for the next piece of a response, with any protocol, "
         "where the app has given all of it and has gone on."},
    {CC_SECONDS_ROW("socket-timeout", S, server.stream_timeout), IN("Requests"), .letter = 'z',
     .aliases = "so-send-timeout socket-send-timeout so-write-timeout socket-write-timeout",
     .fallback = "10", .min = 1, .max = 86400,
     .help = "Time that a slow client may take for the next piece of a response which the app is "
             "still making: its thread waits meanwhile. uWSGI has 4."},
    {CC_SECONDS_ROW("harakiri", S, process.harakiri), IN("Requests"), .letter = 't',
     .fallback = "0", .max = 86400 * 365,
     .help = "Time that a request may take in the app. After it the log has the stacks of the "
             "worker's threads, another worker takes its place, its other requests may finish, and "
             "it is killed. 0: any time. Implies master."},
    {CC_BOOL_ROW("harakiri-verbose", S, process.harakiri_verbose), IN("Requests"),
     .help = "Adds to harakiri's report what the kernel says of the threads, and the open files."},
    {.name = "http-auto-chunked",
     .kind = CC_BOOL,
     .support = CC_NO_EFFECT,
     IN("Requests"),
     .help = "A response without a length is always sent chunked to HTTP/1.1 clients."},
    {.name = "http-chunked-input",
     .kind = CC_BOOL,
     .support = CC_NO_EFFECT,
     IN("Requests"),
     .help = "Chunked request bodies are always read."},

    /* Logging */
    {CC_PATH_ROW("logto", S, log.logto), IN("Logging"), .value = "file", .restart = true,
     .help = "Appends the log, and what the app prints, to this file."},
    {CC_PATH_ROW("logto2", S, service.logto2), IN("Logging"), .value = "file", .restart = true,
     .help = "The same, opened after privileges are dropped."},
    {CC_BOOL_ROW("disable-logging", S, log.disable_logging), IN("Logging"), .letter = 'L',
     .help = "Writes no line for each request; errors are still logged."},

    /* Plugins */
    {CC_LIST_ROW("plugins", S, plugin.plugins), IN("Plugins"),
     .aliases = "plugin need-plugin need-plugins", .value = "name[,name...]",
     .help = "Opens plugins. http, uwsgi and python are opened without it."},
    {CC_LIST_ROW("plugins-dir", S, plugin.plugins_dir), IN("Plugins"), .aliases = "plugin-dir",
     .value = "folder", .help = "A folder to look for plugins in first."},
};

static const struct cc_option_table table = {"core", rows, sizeof rows / sizeof rows[0],
                                             sizeof(struct cc_settings)};

/* In the order of --help. */
static const struct cc_option_table *const tables[] = {&table,
                                                       &cc_options_drain,
                                                       &cc_options_process,
                                                       &cc_options_life,
                                                       &cc_options_cheaper,
                                                       &cc_options_reload,
                                                       &cc_options_service};

void cc_options_core_add(struct cc_targets *targets, struct cc_settings *settings)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        cc_targets_add(targets, tables[i], settings);
}

const struct cc_option *cc_options_core_find(const char *name)
{
    const struct cc_option *row = NULL;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && row == NULL; i++)
        row = cc_option_find(tables[i], name);
    return row;
}
