/* See app_host.h. */
#include "cc_test.h"

#include "app_host.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cc_buf logged, lent;

static void record_log(enum cc_app_log level, const char *format, ...)
{
    static const char *const words[] = {"error: ", "warning: ", ""};
    char text[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&log_lock);
    cc_buf_printf(&logged, "%s%s\n", words[level], text);
    pthread_mutex_unlock(&log_lock);
}

const char *app_host_log(void)
{
    pthread_mutex_lock(&log_lock);
    cc_buf_clear(&lent);
    lent = logged;
    logged = (struct cc_buf){0};
    pthread_mutex_unlock(&log_lock);
    return cc_buf_text(&lent);
}

void app_host_open(struct app_host *host, const char *name)
{
    const char *build = getenv("top_builddir");
    char *path = cc_format("%s/.libs/%s.so", build == NULL ? "." : build, name);

    *host = (struct app_host){.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (host->handle == NULL)
        fail_msg("%s", dlerror());
    free(path);
    host->plugin = dlsym(host->handle, "cc_plugin");
    assert_non_null(host->plugin);
    assert_int_equal(host->plugin->kind, CC_PLUGIN_APP);
    assert_int_equal(host->plugin->abi, CC_ABI);
    assert_int_equal(host->plugin->size, sizeof(struct cc_plugin));
    assert_string_equal(host->plugin->name, name);
    host->app = host->plugin->ops.app;
    if (host->plugin->options != NULL)
        host->settings = cc_alloc_zeroed(1, host->plugin->options->target_size);
}

/* Whether name is the row's own or one of its aliases. */
static bool is_called(const struct cc_option *row, const char *name)
{
    size_t len = strlen(name);

    if (strcmp(row->name, name) == 0)
        return true;
    for (const char *at = row->aliases; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == len && strncmp(at, name, len) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

void app_host_set(struct app_host *host, const char *option, const char *value)
{
    const struct cc_option_table *table = host->plugin->options;

    for (size_t i = 0; table != NULL && i < table->count; i++) {
        const struct cc_option *row = &table->rows[i];
        void *field = (char *)host->settings + row->offset;
        struct cc_texts *list = field;
        if (!is_called(row, option))
            continue;
        switch (row->kind) {
        case CC_BOOL:
            *(bool *)field = strcmp(value, "true") == 0;
            return;
        case CC_TEXT:
        case CC_PATH:
            free(*(char **)field);
            *(char **)field = cc_strdup(value);
            return;
        case CC_LIST:
            list->items = cc_realloc(list->items, (list->count + 1) * sizeof *list->items);
            list->items[list->count++] = (struct cc_text){.text = cc_strdup(value)};
            return;
        default:
            *(int64_t *)field = strtoll(value, NULL, 10);
            return;
        }
    }
    fail_msg("the plugin has no option %s", option);
}

bool app_host_load(struct app_host *host, int processes, int threads)
{
    struct cc_app_context context = {
        .processes = processes,
        .threads = threads,
        .need_app = true,
        .log = record_log,
    };

    host->state = host->app->load(host->settings, &context, &host->err);
    if (host->state != NULL && host->app->thread_begin != NULL)
        host->thread = host->app->thread_begin(host->state, 1, 0);
    return host->state != NULL;
}

static void free_settings(struct app_host *host)
{
    const struct cc_option_table *table = host->plugin->options;

    for (size_t i = 0; table != NULL && i < table->count; i++) {
        void *field = (char *)host->settings + table->rows[i].offset;
        struct cc_texts *list = field;
        if (table->rows[i].kind == CC_TEXT || table->rows[i].kind == CC_PATH)
            free(*(char **)field);
        for (size_t k = 0; table->rows[i].kind == CC_LIST && k < list->count; k++)
            free(list->items[k].text);
        if (table->rows[i].kind == CC_LIST)
            free(list->items);
    }
    free(host->settings);
}

void app_host_close(struct app_host *host)
{
    if (host->state != NULL && host->app->thread_end != NULL)
        host->app->thread_end(host->state, host->thread);
    if (host->state != NULL && host->app->unload != NULL)
        host->app->unload(host->state);
    free_settings(host);
    dprintf(STDERR_FILENO, "%s", app_host_log()); /* what the end had to say */
    cc_buf_clear(&lent);
    *host = (struct app_host){0};
}

static void reply_head(struct cc_reply *reply, const struct cc_response *response)
{
    struct answer *answer = (struct answer *)reply;

    assert_int_equal(answer->status, 0);
    answer->status = response->status;
    snprintf(answer->reason, sizeof answer->reason, "%.*s", (int)response->reason.len,
             response->reason.at);
    for (size_t i = 0; i < response->n_headers; i++) {
        cc_buf_append_span(&answer->headers, response->headers[i].name);
        CC_BUF_LITERAL(&answer->headers, ": ");
        cc_buf_append_span(&answer->headers, response->headers[i].value);
        CC_BUF_LITERAL(&answer->headers, "\n");
    }
    answer->length = response->length;
    for (size_t i = 0; i < response->n_headers; i++)
        answer->length_is_header |=
            cc_response_header_kind(response->headers[i].name) == CC_HEADER_LENGTH;
    CC_BUF_LITERAL(&answer->events, "head ");
}

static enum cc_sent reply_body(struct cc_reply *reply, const char *bytes, size_t len, bool last)
{
    struct answer *answer = (struct answer *)reply;

    assert_true(answer->status != 0 && answer->ends == 0);
    cc_buf_printf(&answer->events, "body(%zu%s) ", len, last ? ",last" : "");
    if (answer->gone_after == 0)
        return CC_SENT_GONE;
    if (answer->gone_after > 0)
        answer->gone_after--;
    cc_buf_append(&answer->body, bytes, len);
    return answer->slow && !last ? CC_SENT_PENDING : CC_SENT;
}

static bool reply_drain(struct cc_reply *reply)
{
    struct answer *answer = (struct answer *)reply;

    CC_BUF_LITERAL(&answer->events, "drain ");
    return answer->gone_after != 0;
}

static int64_t reply_file(struct cc_reply *reply, int fd, int64_t offset, int64_t len)
{
    struct answer *answer = (struct answer *)reply;

    cc_buf_printf(&answer->events, "file(%lld) ", (long long)len);
    if (answer->gone_after == 0)
        return -1;
    char *to = cc_buf_reserve(&answer->body, (size_t)len);
    ssize_t got = pread(fd, to, (size_t)len, offset);
    assert_true(got >= 0);
    answer->body.len += (size_t)got;
    return got;
}

static void reply_end(struct cc_reply *reply, bool whole)
{
    struct answer *answer = (struct answer *)reply;

    answer->ends++;
    answer->whole = whole;
    cc_buf_printf(&answer->events, "end(%s)", whole ? "whole" : "cut");
}

void answer_init(struct answer *answer)
{
    *answer = (struct answer){
        .reply = {reply_head, reply_body, reply_drain, reply_file, reply_end},
        .length = -1,
        .gone_after = -1,
    };
}

void answer_clear(struct answer *answer)
{
    cc_buf_clear(&answer->headers);
    cc_buf_clear(&answer->body);
    cc_buf_clear(&answer->events);
    cc_buf_clear(&answer->log);
}

static void fill_request(struct cc_request *request, const struct ask *ask)
{
    struct cc_err err;

    cc_request_init(request);
    request->method = CC_SPAN("GET");
    for (size_t i = 0; ask->vars != NULL && ask->vars[i] != NULL; i++) {
        const char *equals = strchr(ask->vars[i], '=');
        struct cc_span name = {ask->vars[i], (size_t)(equals - ask->vars[i])};
        struct cc_span value = cc_span_of(equals + 1);
        cc_request_add_var(request, name, value);
        if (cc_span_equal(name, CC_SPAN("REQUEST_METHOD")))
            request->method = value;
        if (cc_span_equal(name, CC_SPAN("PATH_INFO")))
            request->uri = value;
    }
    request->body.chunked = ask->chunked;
    if (ask->body != NULL)
        assert_true(cc_body_append(&request->body, ask->body, strlen(ask->body),
                                   ask->body_in_file ? 0 : 1 << 20, &err));
    assert_int_equal(request->body.fd >= 0,
                     ask->body != NULL && *ask->body != '\0' && ask->body_in_file);
}

static void read_back(int file, struct cc_buf *to)
{
    off_t size = lseek(file, 0, SEEK_END);

    if (size > 0) {
        ssize_t got = pread(file, cc_buf_reserve(to, (size_t)size), (size_t)size, 0);
        to->len += got > 0 ? (size_t)got : 0;
    }
}

void app_host_ask(struct app_host *host, void *thread, const struct ask *ask, struct answer *answer)
{
    struct cc_request request;
    int saved = dup(STDERR_FILENO), file = memfd_create("log", MFD_CLOEXEC);

    assert_true(saved >= 0 && file >= 0);
    fill_request(&request, ask);
    dup2(file, STDERR_FILENO);
    host->app->handle(host->state, thread, &request, &answer->reply);
    dup2(saved, STDERR_FILENO);
    close(saved);
    read_back(file, &answer->log);
    close(file);
    /* The request's memory is gone now: what the app kept must not touch it. */
    cc_request_clear(&request);
    memset(&request, 0xee, sizeof request);
    assert_int_equal(answer->ends, 1);
}
