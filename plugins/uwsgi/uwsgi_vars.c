/* See uwsgi_vars.h. */
#include "uwsgi/uwsgi_vars.h"

static const struct {
    uint8_t modifier;
    const char *what;
} others[] = {
    {1, "an administration command"},
    {2, "a reload command"},
    {3, "a CGI request"},
    {5, "a Perl request (PSGI)"},
    {6, "a Lua request (WSAPI)"},
    {7, "a Ruby request (Rack)"},
    {8, "a JVM request"},
    {9, "a CGI request"},
    {11, "a Go request"},
    {14, "a PHP request"},
    {15, "a Mono request"},
    {17, "a spooler task"},
    {18, "a symbolic call"},
    {19, "an SSI request"},
    {22, "a Python shell"},
    {31, "a message"},
    {48, "a raw request"},
    {73, "a WebDAV request"},
    {101, "an echo request"},
    {109, "a legion message"},
    {110, "a signal"},
    {111, "a cache request"},
    {117, "a mule message"},
    {123, "a core event"},
    {173, "a remote procedure call"},
    {224, "a subscription"},
};

static const char *name_of(uint8_t modifier)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].modifier == modifier)
            return others[i].what;
    return "a request of a kind without a name";
}

/* Ports get scanned, and proxy_pass is easily written for uwsgi_pass: say what it was instead of
 * "a block of 21573 bytes is too large". */
static bool is_http(const char *bytes)
{
    static const char *const begins[] = {"GET ", "HEAD", "POST", "PUT ", "DELE",
                                         "OPTI", "PATC", "CONN", "TRAC", "PRI "};

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (memcmp(bytes, begins[i], CC_UWSGI_HEADER_LEN) == 0)
            return true;
    return false;
}

bool cc_uwsgi_header_parse(struct cc_uwsgi_header *header, const char *bytes,
                           const struct cc_uwsgi_settings *settings, struct cc_err *err)
{
    unsigned char low = (unsigned char)bytes[1], high = (unsigned char)bytes[2];

    *header = (struct cc_uwsgi_header){
        .modifier1 = (uint8_t)bytes[0],
        .size = (uint16_t)(high << 8 | low),
        .modifier2 = (uint8_t)bytes[3],
    };
    if (is_http(bytes))
        return cc_fail_status(err, 400,
                              "HTTP request on a uwsgi socket: use uwsgi_pass instead of "
                              "proxy_pass in nginx, or listen with http = instead of socket =");
    /* A TLS record with a ClientHello: 0x16, then version 3.x (RFC 8446 5.1). */
    if (header->modifier1 == 0x16 && low == 3 && high <= 4)
        return cc_fail(err, "TLS handshake on a uwsgi socket: it speaks the uwsgi protocol, "
                            "without TLS, to a web server such as nginx");
    if (header->modifier1 != 0 && header->modifier1 != CC_UWSGI_PING)
        return cc_fail_status(err, 501,
                              "uwsgi packet with modifier1 = %u (%s): only 0 (WSGI) and 100 (ping) "
                              "are served; check uwsgi_modifier1 in nginx",
                              header->modifier1, name_of(header->modifier1));
    if (header->size > settings->packet_limit)
        return cc_fail_status(err, 431,
                              "invalid request block size: %u (max %lld): raise buffer-size",
                              header->size, (long long)settings->packet_limit);
    return true;
}

/* The run through one packet; on the stack of cc_uwsgi_vars_parse(). */
struct reader {
    struct cc_request *request;
    struct cc_span rest; /* of the variables */
    /* What PEP 3333 wants; at NULL: not seen yet. */
    struct cc_span script_name, path_info, query, server_name, server_port, length;
};

/* length (u16, little endian), then as many bytes. */
static bool take(struct cc_span *rest, struct cc_span *text)
{
    if (rest->len < 2)
        return false;
    size_t len = (size_t)((unsigned char)rest->at[1] << 8 | (unsigned char)rest->at[0]);
    if (rest->len - 2 < len)
        return false;
    *text = (struct cc_span){rest->at + 2, len};
    *rest = (struct cc_span){rest->at + 2 + len, rest->len - 2 - len};
    return true;
}

/* Where the container keeps this variable for itself; NULL: nowhere. */
static struct cc_span *place_of(struct reader *reader, struct cc_span name)
{
    const struct {
        struct cc_span name;
        struct cc_span *place;
    } places[] = {
        {CC_SPAN("QUERY_STRING"), &reader->query},
        {CC_SPAN("REQUEST_METHOD"), &reader->request->method},
        {CC_SPAN("CONTENT_LENGTH"), &reader->length},
        {CC_SPAN("REQUEST_URI"), &reader->request->uri},
        {CC_SPAN("PATH_INFO"), &reader->path_info},
        {CC_SPAN("SERVER_PROTOCOL"), &reader->request->protocol},
        {CC_SPAN("REMOTE_ADDR"), &reader->request->remote_addr},
        {CC_SPAN("SERVER_PORT"), &reader->server_port},
        {CC_SPAN("SERVER_NAME"), &reader->server_name},
        {CC_SPAN("SCRIPT_NAME"), &reader->script_name},
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (cc_span_equal(name, places[i].name))
            return places[i].place;
    return NULL;
}

static bool take_var(struct reader *reader, struct cc_err *err)
{
    struct cc_span name, value;

    if (!take(&reader->rest, &name) || !take(&reader->rest, &value))
        return cc_fail_status(err, 400,
                              "broken uwsgi packet: a variable reaches beyond the packet's end");
    if (name.len == 0)
        return cc_fail_status(err, 400, "broken uwsgi packet: a variable without a name");
    cc_request_add_var(reader->request, name, value);
    if (name.at[0] == 'H' || name.at[0] == 'U')
        return true; /* HTTP_, HTTPS, UWSGI_: most of them, and none of those below */
    struct cc_span *place = place_of(reader, name);
    if (place == &reader->length && place->at != NULL)
        return cc_fail_status(err, 400, "broken uwsgi packet: CONTENT_LENGTH is given twice");
    if (place != NULL)
        *place = value;
    return true;
}

static void add_missing(struct reader *reader, const struct cc_peer *peer)
{
    const struct {
        struct cc_span name;
        const struct cc_span *given;
        struct cc_span instead;
    } needed[] = {
        {CC_SPAN("SCRIPT_NAME"), &reader->script_name, CC_SPAN("")},
        {CC_SPAN("PATH_INFO"), &reader->path_info, CC_SPAN("")},
        {CC_SPAN("QUERY_STRING"), &reader->query, CC_SPAN("")},
        {CC_SPAN("SERVER_NAME"), &reader->server_name, peer->server_name},
        {CC_SPAN("SERVER_PORT"), &reader->server_port, peer->server_port},
        /* uWSGI answers with HTTP/1.0 when it is not told. */
        {CC_SPAN("SERVER_PROTOCOL"), &reader->request->protocol, CC_SPAN("HTTP/1.0")},
    };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (needed[i].given->at == NULL)
            cc_request_add_var(reader->request, needed[i].name, needed[i].instead);
}

bool cc_uwsgi_vars_parse(struct cc_request *request, struct cc_span data,
                         const struct cc_peer *peer, uint64_t *length, struct cc_err *err)
{
    struct reader reader = {.request = request};

    reader.rest = cc_arena_copy(&request->arena, data.at, data.len);
    while (reader.rest.len > 0)
        if (!take_var(&reader, err))
            return false;
    if (request->method.len == 0)
        return cc_fail_status(err, 400,
                              "uwsgi packet without REQUEST_METHOD: is \"include uwsgi_params;\" "
                              "missing beside uwsgi_pass in nginx?");
    /* nginx sends an empty one where there is no body. */
    *length = 0;
    if (reader.length.len > 0 && !cc_span_to_number(reader.length, INT64_MAX, length))
        return cc_fail_status(err, 400,
                              "the CONTENT_LENGTH is no decimal number that fits 63 bits");
    add_missing(&reader, peer);
    if (request->protocol.at == NULL)
        request->protocol = CC_SPAN("HTTP/1.0");
    if (request->remote_addr.at == NULL)
        request->remote_addr = peer->remote_addr;
    return true;
}
