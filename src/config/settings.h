/* The host's settings, a struct a room; filled from the option table (options_core.c) before any
 * process is forked, and constant from then on: any process and thread may read them. */
#ifndef CC_CONFIG_SETTINGS_H
#define CC_CONFIG_SETTINGS_H

#include "config/option.h"

/* src/process: master, generations, workers. */
struct cc_process_settings {
    bool master;
    int64_t processes;
    bool processes_auto; /* so many by what this machine or container has (check.c) */
    bool lazy_apps;
    bool need_app;
    bool vacuum; /* remove unix sockets and the pidfile at the end */
    char *pidfile;
    char *uid, *gid; /* names or numbers */
    char *chdir;
    struct cc_texts env; /* KEY=VALUE */
    int64_t harakiri;    /* seconds a request may take; 0: any time */
    bool harakiri_verbose;
    int64_t worker_mercy; /* seconds that a stopping worker gets to finish its requests */
};

/* src/process: how long a worker lives. 0 is "never", or no limit. */
struct cc_life_settings {
    int64_t max_requests, max_requests_delta;
    int64_t min_lifetime, max_lifetime, max_lifetime_delta; /* seconds */
    int64_t rss_mb, as_mb, evil_rss_mb, evil_as_mb;
    int64_t mercy; /* seconds that a replaced worker gets to finish; made by check.c */
    bool cheap, die_on_idle;
    int64_t idle; /* seconds */
};

/* src/process: reloads and what asks for them. */
struct cc_reload_settings {
    int64_t mercy; /* seconds that an old generation gets to finish its requests */
    bool overlap;  /* the new generation starts beside the old one, not after it */
    struct cc_texts touch_reload, touch_chain, touch_workers, touch_logreopen;
    struct cc_texts master_fifo;
};

/* src/process: a number of workers that follows the load. */
struct cc_cheaper_settings {
    int64_t least; /* workers; 0: their number does not change */
    int64_t initial, step;
    int64_t algorithm; /* enum cc_cheaper_algorithm */
    int64_t overload, idle;
    int64_t rss_soft, rss_hard;         /* bytes */
    int64_t busyness_max, busyness_min; /* percent */
    int64_t multiplier, penalty;
    bool verbose;
    int64_t backlog_alert, backlog_multiplier, backlog_step, backlog_nonzero;
};

/* One socket to listen on: made from the options socket, http and so on by check.c. */
struct cc_socket_setting {
    char *address;        /* as written */
    const char *protocol; /* name of the protocol plugin */
    const char *option;   /* the option's name, for messages */
    struct cc_place place;
    int fd; /* of an open socket that it is (system/activation.h), 0: open it; -1: it cannot be had,
               which was said */
};

/* src/server: sockets and connections. */
struct cc_server_settings {
    struct cc_texts socket, uwsgi_socket, http, http_socket, http11_socket;
    char *protocol; /* of the option socket: uwsgi or http */
    struct cc_socket_setting *sockets;
    size_t n_sockets;
    int64_t listen;               /* backlog */
    char *chmod_socket;           /* octal mode */
    char *chown_socket;           /* user:group */
    bool owner_known;             /* the unix sockets get this owner; found by system/identity.h */
    int64_t owner_uid, owner_gid; /* -1: as they are */
    int64_t threads;              /* app threads a worker */
    int64_t post_buffering;       /* bytes of a body that stay in memory; the rest goes to a file */
    int64_t body_limit;           /* limit-post: bytes of a body; 0: no limit */
    int64_t head_timeout;         /* seconds for a whole head */
    int64_t body_timeout;         /* seconds between two pieces of a body */
    int64_t keepalive_timeout;    /* seconds that a connection may be idle */
    int64_t send_timeout;         /* seconds between two pieces that a slow reader takes */
    int64_t stream_timeout;       /* the same while it holds an app thread */
    int64_t max_connections;      /* a worker */
    char *health_path;            /* answered by the loop; NULL: none */
    int64_t stop_delay;           /* seconds from the signal to the stop */
};

/* src/system: running as a service. */
struct cc_service_settings {
    char *daemonize, *daemonize2; /* log files; NULL: in the foreground */
    char *pidfile2, *logto2;      /* after privileges are dropped */
    struct cc_texts add_gid;      /* names or numbers */
    struct cc_texts cap;          /* names, each item may hold several with commas */
    char *chroot;
    bool no_new_privs;
    char *umask;                           /* octal mode */
    int64_t limit_as, limit_nproc, max_fd; /* MiB, processes, descriptors; 0: as inherited */
};

/* src/system: what ps shows; NULL: not given. */
struct cc_name_settings {
    bool automatic; /* auto-procname */
    char *all, *master;
    char *prefix, *prefix_spaced, *append;
};

/* src/log: where lines go. */
struct cc_log_settings {
    char *logto;
    bool disable_logging; /* no access log */
};

/* src/plugin: what to open. */
struct cc_plugin_settings {
    struct cc_texts plugins;     /* names, each item may hold several with commas */
    struct cc_texts plugins_dir; /* folders to look in first */
};

struct cc_settings {
    struct cc_process_settings process;
    struct cc_life_settings life;
    struct cc_cheaper_settings cheaper;
    struct cc_reload_settings reload;
    struct cc_server_settings server;
    struct cc_log_settings log;
    struct cc_service_settings service;
    struct cc_name_settings names;
    struct cc_plugin_settings plugin;
    bool strict;
    bool show_config;
};

#endif
