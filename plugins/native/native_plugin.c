/* The native plugin: an app in C, without an interpreter. It shows that the ABI is not shaped for
 * Python, is the server's own cost in benchmarks, and is what ThreadSanitizer watches.
 *   /              "Hello World!"
 *   /echo          the request's body
 *   /stream?n=N    N lines, each its own piece, of a length that is not announced
 *   /sleep?ms=N    waits, then says so
 * No state but the log function: handle() may run on any number of threads at once. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "plugin/abi.h"
#include "plugin/app.h"

#define MOST_LINES 1000000
#define MOST_MS    600000
#define ECHO_BLOCK ((size_t)65536)

static const struct cc_pair text_plain[] = {
    {{"Content-Type", 12}, {"text/plain", 10}},
};

struct native {
    struct cc_app_context context; /* a copy */
};

static void *load(const void *settings, const struct cc_app_context *context, struct cc_err *err)
{
    struct native *native = cc_alloc(sizeof *native);
    (void)settings;
    (void)err;

    native->context = *context;
    return native;
}

static void unload(void *app)
{
    free(app);
}

static void send_head(struct cc_reply *reply, int status, struct cc_span reason, int64_t length)
{
    struct cc_response response = {
        .status = status,
        .reason = reason,
        .headers = text_plain,
        .n_headers = 1,
        .length = length,
    };

    reply->head(reply, &response);
}

static void send_text(struct cc_reply *reply, int status, struct cc_span reason,
                      struct cc_span text)
{
    send_head(reply, status, reason, (int64_t)text.len);
    reply->body(reply, text.at, text.len, true);
    reply->end(reply, true);
}

/* Sends a piece and waits for a slow client. False: the client is gone. */
static bool send_piece(struct cc_reply *reply, const char *bytes, size_t len)
{
    enum cc_sent sent = reply->body(reply, bytes, len, false);

    return sent == CC_SENT_PENDING ? reply->drain(reply) : sent == CC_SENT;
}

/* The number after "name=" in the query, at most max; otherwise when there is none. */
static uint64_t query_number(const struct cc_request *request, const char *name, uint64_t otherwise,
                             uint64_t max)
{
    const struct cc_span *query = cc_request_var(request, CC_SPAN("QUERY_STRING"));
    struct cc_span key = cc_span_of(name), value;
    uint64_t number;

    if (query == NULL || query->len <= key.len || memcmp(query->at, key.at, key.len) != 0)
        return otherwise;
    value = (struct cc_span){query->at + key.len, query->len - key.len};
    return cc_span_to_number(value, max, &number) ? number : otherwise;
}

static void echo(struct native *native, struct cc_request *request, struct cc_reply *reply)
{
    char *block = cc_alloc(ECHO_BLOCK);
    ssize_t got;
    bool there = true;

    send_head(reply, 200, CC_SPAN("OK"), request->body.length);
    while (there && (got = cc_body_read(&request->body, block, ECHO_BLOCK)) > 0)
        there = send_piece(reply, block, (size_t)got);
    if (there && got < 0)
        native->context.log(CC_APP_LOG_ERROR, "native: the request's body cannot be read");
    free(block);
    reply->end(reply, there && got == 0);
}

static void stream(struct cc_request *request, struct cc_reply *reply)
{
    uint64_t count = query_number(request, "n=", 10, MOST_LINES);
    bool there = true;

    send_head(reply, 200, CC_SPAN("OK"), -1);
    for (uint64_t i = 1; there && i <= count; i++) {
        char line[64];
        int len = snprintf(line, sizeof line, "line %llu of %llu\n", (unsigned long long)i,
                           (unsigned long long)count);
        there = send_piece(reply, line, (size_t)len);
    }
    reply->end(reply, there);
}

static void wait_a_while(struct cc_request *request, struct cc_reply *reply)
{
    uint64_t ms = query_number(request, "ms=", 1000, MOST_MS);
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    char text[64];

    while (nanosleep(&time, &time) != 0)
        ;
    int len = snprintf(text, sizeof text, "slept %llu ms\n", (unsigned long long)ms);
    send_text(reply, 200, CC_SPAN("OK"), (struct cc_span){text, (size_t)len});
}

static void handle(void *app, void *thread, struct cc_request *request, struct cc_reply *reply)
{
    const struct cc_span *path = cc_request_var(request, CC_SPAN("PATH_INFO"));
    (void)thread;

    if (path == NULL || path->len == 0 || cc_span_equal(*path, CC_SPAN("/")))
        send_text(reply, 200, CC_SPAN("OK"), CC_SPAN("Hello World!"));
    else if (cc_span_equal(*path, CC_SPAN("/echo")))
        echo(app, request, reply);
    else if (cc_span_equal(*path, CC_SPAN("/stream")))
        stream(request, reply);
    else if (cc_span_equal(*path, CC_SPAN("/sleep")))
        wait_a_while(request, reply);
    else
        send_text(reply, 404, CC_SPAN("Not Found"), CC_SPAN("/, /echo, /stream?n=, /sleep?ms=\n"));
}

static const struct cc_app operations = {
    .load = load,
    .handle = handle,
    .unload = unload,
};

CC_EXPORT extern const struct cc_plugin cc_plugin;
const struct cc_plugin cc_plugin = {
    .abi = CC_ABI,
    .size = sizeof(struct cc_plugin),
    .kind = CC_PLUGIN_APP,
    .name = "native",
    .version = PACKAGE_VERSION,
    .ops.app = &operations,
};
