/* The one symbol that a plugin exports is
 *     const struct cc_plugin cc_plugin
 * and this struct is all that the loader looks at. A plugin calls the host only through tables that
 * it is given, so that it can be tested and fuzzed without it. */
#ifndef CC_PLUGIN_ABI_H
#define CC_PLUGIN_ABI_H

#include <stdint.h>

#include "base/attributes.h"
#include "config/option.h"

/* Major: the layout changed; minor: members were added at the end. */
#define CC_ABI_MAJOR 1
#define CC_ABI_MINOR 0
#define CC_ABI       ((uint32_t)(CC_ABI_MAJOR << 16 | CC_ABI_MINOR))

enum cc_plugin_kind { CC_PLUGIN_PROTOCOL = 1, CC_PLUGIN_APP = 2 };

/* Its own shared libraries' symbols must be visible to libraries that it opens later (Python's
 * extension modules do not link libpython). */
enum cc_plugin_flag { CC_PLUGIN_GLOBAL_SYMBOLS = 1 };

struct cc_protocol;
struct cc_app;

struct cc_plugin {
    uint32_t abi, size; /* CC_ABI and sizeof(struct cc_plugin), as the plugin was compiled */
    enum cc_plugin_kind kind;
    unsigned flags;
    const char *name, *version;
    /* Parsed, helped and documented like the host's own; NULL: none. The host allocates
     * options->target_size zeroed bytes, fills them, and passes them to open() or load(). */
    const struct cc_option_table *options;
    union {
        const struct cc_protocol *protocol;
        const struct cc_app *app;
    } ops;
};

#endif
