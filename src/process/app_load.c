/* See app_load.h. */
#include "process/app_load.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "log/log.h"
#include "process/asking.h"

static void CC_PRINTF(2, 3) app_log(enum cc_app_log level, const char *format, ...)
{
    static const enum cc_log_level levels[] = {
        [CC_APP_LOG_ERROR] = CC_LOG_ERROR,
        [CC_APP_LOG_WARN] = CC_LOG_WARN,
        [CC_APP_LOG_INFO] = CC_LOG_INFO,
    };
    va_list arguments;

    va_start(arguments, format);
    cc_log_list(levels[level], format, arguments);
    va_end(arguments);
}

/* The entries as pairs, in their order; owned by the caller, their texts are the entries'. */
static struct cc_pair *options_of(const struct cc_entries *entries, size_t *count)
{
    struct cc_pair *pairs = cc_alloc_zeroed(entries->count + 1, sizeof *pairs);

    *count = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct cc_entry *entry = &entries->items[i];
        if (entry->placeholder)
            continue;
        struct cc_pair *pair = &pairs[(*count)++];
        pair->name = cc_span_of(entry->key);
        if (entry->value != NULL)
            pair->value = cc_span_of(entry->value);
    }
    return pairs;
}

static void load(struct cc_app_held *held, const struct cc_launch *launch, const void *settings,
                 struct cc_app_context *context)
{
    struct cc_err err = {.text = ""};
    struct cc_pair *options = NULL;

    if (launch->entries != NULL)
        options = options_of(launch->entries, &context->n_options);
    context->options = options;
    held->state = held->app->load(settings, context, &err);
    free(options);
    if (held->state == NULL)
        cc_log(CC_LOG_ERROR, "%s", err.text[0] == '\0' ? "the app cannot be loaded" : err.text);
}

bool cc_app_load(struct cc_app_held *held, const struct cc_launch *launch,
                 struct cc_app_place place)
{
    const struct cc_process_settings *process = &launch->settings->process;
    const struct cc_loaded *loaded = cc_plugins_app(launch->plugins);
    struct cc_app_context context = {
        .processes = (int)process->processes,
        .threads = (int)launch->settings->server.threads,
        .lazy = process->lazy_apps,
        .need_app = place.must,
        .worker = place.worker,
        .master = place.master,
        .log = app_log,
        .ask = cc_asking_ask,
    };

    *held = (struct cc_app_held){0};
    if (loaded == NULL) {
        cc_log(CC_LOG_ERROR, "no app plugin is loaded: there is nothing to serve");
        return false;
    }
    held->app = loaded->plugin->ops.app;
    load(held, launch, loaded->settings, &context);
    return held->state != NULL;
}

void cc_app_unload(struct cc_app_held *held)
{
    void *state = held->state;

    held->state = NULL; /* first: a report on the process's stacks may look at any time */
    if (state != NULL && held->app->unload != NULL)
        held->app->unload(state);
}
