/* See loader.h. */
#include "plugin/loader.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"

/* uWSGI's names for what one of our plugins does. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"python2", "python"},   {"python27", "python"},  {"python3", "python"},
    {"python34", "python"},  {"python35", "python"},  {"python36", "python"},
    {"python37", "python"},  {"python38", "python"},  {"python39", "python"},
    {"python310", "python"}, {"python311", "python"}, {"python312", "python"},
    {"python313", "python"},
};

/* uWSGI's plugins for what the host does by itself. */
static const char *const needless[] = {"corerouter", "http_plugin", "logfile", "logsocket",
                                       "stats"};

static const char *own_name(const char *name)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strcmp(name, synonyms[i].theirs) == 0)
            return synonyms[i].ours;
    return name;
}

bool cc_plugins_needless(const char *name)
{
    for (size_t i = 0; i < sizeof needless / sizeof needless[0]; i++)
        if (strcmp(name, needless[i]) == 0)
            return true;
    return false;
}

/* The executable's folder; "" when it cannot be told. The caller frees it. */
static char *executable_folder(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

    if (len <= 0)
        return cc_strdup("");
    path[len] = '\0';
    return cc_strdup(dirname(path));
}

/* Tries one folder; notes the path in tried (and dlopen's reason when the file is there). */
static void *open_in(const char *folder, const char *below, const char *name, struct cc_buf *tried)
{
    char *path = cc_format("%s%s/%s.so", folder, below, name);
    void *handle = NULL;

    if (access(path, F_OK) != 0)
        cc_buf_printf(tried, "\n  %s: no such file", path);
    else if ((handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL)
        cc_buf_printf(tried, "\n  %s", dlerror());
    free(path);
    return handle;
}

static void *search(const char *name, const struct cc_texts *folders, struct cc_buf *tried)
{
    char *own = executable_folder();
    void *handle = NULL;

    for (size_t i = 0; handle == NULL && folders != NULL && i < folders->count; i++)
        handle = open_in(folders->items[i].text, "", name, tried);
    /* In a build tree the executable is ./ccontainer or ./.libs/ccontainer. */
    const char *below[] = {"", "/.libs", "/../lib/ccontainer"};
    for (size_t i = 0; handle == NULL && i < sizeof below / sizeof below[0]; i++)
        handle = open_in(own, below[i], name, tried);
    if (handle == NULL)
        handle = open_in(CC_PLUGIN_FOLDER, "", name, tried);
    free(own);
    return handle;
}

static const struct cc_plugin *checked(void *handle, const char *name, struct cc_err *err)
{
    const struct cc_plugin *plugin = dlsym(handle, "cc_plugin");

    if (plugin == NULL) {
        cc_fail(err, "\"%s\" is no ccontainer plugin: it has no symbol cc_plugin", name);
        return NULL;
    }
    if (plugin->abi >> 16 != CC_ABI_MAJOR || plugin->size < sizeof *plugin) {
        cc_fail(err,
                "the plugin \"%s\" was built for ABI %u.%u (%u bytes), this ccontainer has %u.%u "
                "(%zu bytes): rebuild the plugin",
                name, plugin->abi >> 16, plugin->abi & 0xffff, plugin->size, CC_ABI_MAJOR,
                CC_ABI_MINOR, sizeof *plugin);
        return NULL;
    }
    return plugin;
}

static bool is_open(const struct cc_plugins *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (strcmp(plugins->items[i].plugin->name, name) == 0)
            return true;
    return false;
}

bool cc_plugins_open(struct cc_plugins *plugins, const char *name, const struct cc_texts *folders,
                     struct cc_err *err)
{
    struct cc_buf tried = {0};

    name = own_name(name);
    if (is_open(plugins, name))
        return true;
    void *handle = search(name, folders, &tried);
    if (handle == NULL) {
        cc_fail(err, "cannot open the plugin \"%s\"; tried:%s", name, cc_buf_text(&tried));
        cc_buf_clear(&tried);
        return false;
    }
    cc_buf_clear(&tried);
    const struct cc_plugin *plugin = checked(handle, name, err);
    if (plugin == NULL) {
        dlclose(handle);
        return false;
    }
    void *settings = NULL;
    if (plugin->options != NULL)
        settings = cc_alloc_zeroed(1, plugin->options->target_size);
    plugins->items = cc_realloc(plugins->items, (plugins->count + 1) * sizeof *plugins->items);
    plugins->items[plugins->count++] = (struct cc_loaded){handle, plugin, settings};
    return true;
}

const struct cc_loaded *cc_plugins_protocol(const struct cc_plugins *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (plugins->items[i].plugin->kind == CC_PLUGIN_PROTOCOL &&
            strcmp(plugins->items[i].plugin->name, name) == 0)
            return &plugins->items[i];
    return NULL;
}

const struct cc_loaded *cc_plugins_app(const struct cc_plugins *plugins)
{
    for (size_t i = plugins->count; i > 0; i--)
        if (plugins->items[i - 1].plugin->kind == CC_PLUGIN_APP)
            return &plugins->items[i - 1];
    return NULL;
}

void cc_plugins_close(struct cc_plugins *plugins)
{
    for (size_t i = 0; i < plugins->count; i++) {
        free(plugins->items[i].settings);
        /* An app's threads may still run its plugin's code, and handlers of signals point to it. */
        if (plugins->items[i].plugin->kind != CC_PLUGIN_APP)
            dlclose(plugins->items[i].handle);
    }
    free(plugins->items);
    *plugins = (struct cc_plugins){0};
}
