/* See access.h. Built by hand: a line costs well under a microsecond and one write(2). */
#include "log/access.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/sink.h"

/* Room for the fixed words and twelve numbers. */
#define FIXED_MAX ((size_t)512)
/* Bytes of the line that one text of the peer's may take; a longer one ends in "...". */
#define URI_MAX  ((size_t)2048)
#define WORD_MAX ((size_t)256)
/* At most PIPE_BUF, so that lines of several processes in one pipe do not mix. */
#define LINE_MAX_BYTES ((size_t)4096)

_Static_assert(FIXED_MAX + URI_MAX + 4 * (WORD_MAX + 4) <= LINE_MAX_BYTES, "a line must fit");

/* What changes once a second or never. Of one thread. */
struct second {
    time_t at;
    pid_t pid;
    char text[32]; /* as ctime(3), without the newline */
};

static char *put_bytes(char *to, const char *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

#define PUT(to, literal) put_bytes(to, "" literal, sizeof(literal) - 1)

/* What a peer sent: control bytes and bytes beyond ASCII as \xNN, so that it can neither forge a
 * line nor talk to a terminal; a backslash doubled, so that the text can be read back. Takes at
 * most max bytes, and 3 for "...". */
static char *put_peer(char *to, struct cc_span text, size_t max)
{
    static const char hex[] = "0123456789abcdef";
    char *end = to + max;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.at[i];
        if (end - to < 4)
            return PUT(to, "...");
        if (byte < 0x20 || byte >= 0x7f) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[byte >> 4];
            *to++ = hex[byte & 15];
        } else {
            if (byte == '\\')
                *to++ = '\\';
            *to++ = (char)byte;
        }
    }
    return to;
}

static const struct second *second_of(int64_t duration_ns)
{
    static _Thread_local struct second cached;
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    /* The time at which the request came, as uWSGI has it. */
    int64_t start_ns = (int64_t)now.tv_sec * CC_SECOND_NS + now.tv_nsec - duration_ns;
    time_t at = (time_t)(start_ns / CC_SECOND_NS);
    if (at != cached.at || cached.pid == 0) {
        cached.at = at;
        cached.pid = getpid();
        strftime(cached.text, sizeof cached.text, "%a %b %e %H:%M:%S %Y", localtime_r(&at, &tm));
    }
    return &cached;
}

/* Bytes of the variables as a uwsgi packet holds them, which is what uWSGI counts for HTTP too. */
static uint64_t packet_bytes(const struct cc_request *request)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < request->n_vars; i++)
        bytes += 4 + request->vars[i].name.len + request->vars[i].value.len;
    return bytes;
}

/* "[pid: 7|app: 0|req: 1/2] 127.0.0.1 () {24 vars in 246 bytes} [Tue Dec  1 12:15:28 2026] " */
static char *put_who(char *to, const struct cc_access *access, const struct second *second)
{
    const struct cc_request *request = access->request;
    const struct cc_span *user = cc_request_var(request, CC_SPAN("REMOTE_USER"));

    to = PUT(to, "[pid: ");
    to = cc_put_number(to, (uint64_t)second->pid);
    to = PUT(to, "|app: 0|req: ");
    to = cc_put_number(to, access->worker_requests);
    to = PUT(to, "/");
    to = cc_put_number(to, access->total_requests);
    to = PUT(to, "] ");
    to = put_peer(to, request->remote_addr, WORD_MAX);
    to = PUT(to, " (");
    if (user != NULL)
        to = put_peer(to, *user, WORD_MAX);
    to = PUT(to, ") {");
    /* uWSGI counts a variable's name and its value; people compare the two logs. */
    to = cc_put_number(to, (uint64_t)request->n_vars * 2);
    to = PUT(to, " vars in ");
    to = cc_put_number(to, packet_bytes(request));
    to = PUT(to, " bytes} [");
    to = put_bytes(to, second->text, strlen(second->text));
    return PUT(to, "] ");
}

/* "GET /a?b=c => generated 12 bytes in 0 msecs (HTTP/1.1 200) 2 headers in 51 bytes (1 switches on
 * core 0)\n" */
static char *put_what(char *to, const struct cc_access *access)
{
    const struct cc_request *request = access->request;
    int64_t duration_ns = access->duration_ns < 0 ? 0 : access->duration_ns;

    to = put_peer(to, request->method, WORD_MAX);
    to = PUT(to, " ");
    to = put_peer(to, request->uri, URI_MAX);
    to = PUT(to, " => generated ");
    to = cc_put_number(to, access->body_bytes);
    to = PUT(to, " bytes in ");
    to = cc_put_number(to, (uint64_t)(duration_ns / CC_MILLISECOND_NS));
    to = PUT(to, " msecs (");
    to = put_peer(to, request->protocol, WORD_MAX);
    to = PUT(to, " ");
    to = cc_put_number(to, (uint64_t)access->status);
    to = PUT(to, ") ");
    to = cc_put_number(to, access->n_headers);
    to = PUT(to, " headers in ");
    to = cc_put_number(to, access->header_bytes);
    to = PUT(to, " bytes (1 switches on core ");
    to = cc_put_number(to, (uint64_t)access->thread);
    return PUT(to, ")\n");
}

void cc_access_log(const struct cc_access *access)
{
    char line[LINE_MAX_BYTES];
    char *end = put_who(line, access, second_of(access->duration_ns));

    end = put_what(end, access);
    cc_sink_write(line, (size_t)(end - line));
}
