/* The command line and the UWSGI_... variables to configuration entries. */
#ifndef CC_CLI_ARGUMENTS_H
#define CC_CLI_ARGUMENTS_H

#include "base/err.h"
#include "config/load.h"
#include "config/targets.h"

enum cc_command {
    CC_RUN,
    CC_HELP,
    CC_VERSION,
    CC_PRINT_MAN,     /* --print-man: the man page, for make docs */
    CC_PRINT_OPTIONS, /* --print-options-md: docs/options.md, for make docs */
};

/* All zero is valid. */
struct cc_arguments {
    enum cc_command command;
    const char *word; /* of --help WORD; lent by argv, or NULL */
    bool show_config; /* --show-config was given here, not in a file */
    bool any;         /* there was an argument at all */
    /* Options that neither the core nor uWSGI has: a plugin may, once it is open. Lent by argv. */
    const char **pending;
    size_t n_pending;
};

/* Environment first, then options in their order (--ini reads its file there and then), then the
 * files named without an option: what comes later wins, as in uWSGI. false: err says what is wrong
 * with the command line. core: the core's table. */
bool cc_arguments_read(struct cc_arguments *arguments, char **argv, struct cc_loader *loader,
                       const struct cc_targets *core, struct cc_err *err);
/* With all tables there: false when a pending option is in none of them. */
bool cc_arguments_settle(const struct cc_arguments *arguments, const struct cc_targets *targets,
                         struct cc_err *err);
void cc_arguments_clear(struct cc_arguments *arguments);

#endif
