/* Opens plugins by name and keeps them. Master, before the first fork; constant afterwards. */
#ifndef CC_PLUGIN_LOADER_H
#define CC_PLUGIN_LOADER_H

#include "base/err.h"
#include "config/option.h"
#include "plugin/abi.h"

struct cc_loaded {
    void *handle; /* of dlopen; owned */
    const struct cc_plugin *plugin;
    void *settings; /* plugin->options->target_size bytes, or NULL; owned */
};

/* All zero is a valid empty set. */
struct cc_plugins {
    struct cc_loaded *items;
    size_t count;
};

/* Opens the plugin (once; a second time is no error). Looks in folders, then beside the executable
 * of a build tree, then in ../lib/ccontainer of the executable, then where it was installed. Names
 * of uWSGI's own plugins that mean one of ours (python3, http...) are translated. false: err says
 * what was searched. *loaded (may be NULL) is the index. */
bool cc_plugins_open(struct cc_plugins *plugins, const char *name, const struct cc_texts *folders,
                     struct cc_err *err);
/* True for a name of uWSGI's that needs no plugin here because the host does it itself. */
bool cc_plugins_needless(const char *name);
/* NULL: not loaded. Valid until the next open. */
const struct cc_loaded *cc_plugins_protocol(const struct cc_plugins *plugins, const char *name);
/* The app plugin loaded last, or NULL. */
const struct cc_loaded *cc_plugins_app(const struct cc_plugins *plugins);
/* Frees all; the code of app plugins stays in the process. */
void cc_plugins_close(struct cc_plugins *plugins);

#endif
