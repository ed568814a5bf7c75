/* What a head says (see http_head.h): the request line, then a line a header, each looked at once.
 * The bytes are copied once, to where the request's variables live. */
#include "http/http_head.h"

#include "http/http_bytes.h"
#include "http/http_target.h"

#define PREFIX     "HTTP_"
#define PREFIX_LEN (sizeof PREFIX - 1)

/* The run through one head; on the stack of cc_http_head_parse(). */
struct reader {
    struct cc_request *request;
    struct cc_http_framing *framing;
    const char *at, *end; /* of the head; a CRLF stands before end */
    char *out;            /* where the next name and value go */
    size_t first_header;  /* index into request->vars */
    uint64_t names;       /* a bit for each hash of a name so far */
    bool repeated;        /* some name (probably) came twice */
};

static bool parse_version(struct reader *reader, struct cc_span text, struct cc_err *err)
{
    static const char http1[] = "HTTP/1.";

    if (text.len != 8 || memcmp(text.at, "HTTP/", 5) != 0 || text.at[6] != '.' ||
        text.at[5] < '0' || text.at[5] > '9' || text.at[7] < '0' || text.at[7] > '9')
        return cc_fail_status(err, 400, "the request line does not end with HTTP/1.1 or HTTP/1.0");
    if (memcmp(text.at, http1, sizeof http1 - 1) != 0)
        return cc_fail_status(err, 505, "the only versions known here are HTTP/1.1 and HTTP/1.0");
    reader->framing->minor = text.at[7] == '0' ? 0 : 1;
    return true;
}

static void add(struct reader *reader, struct cc_span name, struct cc_span value)
{
    cc_request_add_var(reader->request, name, value);
}

/* method SP request-target SP HTTP-version CRLF (RFC 9112 3): single blanks, nothing around. */
static bool parse_request_line(struct reader *reader, struct cc_span *authority, struct cc_err *err)
{
    struct cc_request *request = reader->request;
    const char *line_end = cc_find_control(reader->at, reader->end);
    struct cc_http_target target;

    if (line_end[0] != '\r' || line_end[1] != '\n')
        return cc_fail_status(err, 400, "there is a control byte in the request line");
    struct cc_span line =
        cc_arena_copy(&request->arena, reader->at, (size_t)(line_end - reader->at));
    const char *end = line.at + line.len;
    const char *blank = memchr(line.at, ' ', line.len);
    const char *second = blank == NULL ? NULL : memchr(blank + 1, ' ', (size_t)(end - blank) - 1);
    if (second == NULL || second == blank + 1 || memchr(line.at, '\t', line.len) != NULL)
        return cc_fail_status(err, 400,
                              "the request line is not a method, a target and HTTP/1.1 with one "
                              "blank between them");
    request->method = (struct cc_span){line.at, (size_t)(blank - line.at)};
    request->uri = (struct cc_span){blank + 1, (size_t)(second - blank) - 1};
    request->protocol = (struct cc_span){second + 1, (size_t)(end - second) - 1};
    if (!cc_http_is_token(request->method))
        return cc_fail_status(err, 400, "the method has a byte in it that no method has");
    if (!parse_version(reader, request->protocol, err) ||
        !cc_http_target_parse(&target, request->method, request->uri, &request->arena, err))
        return false;
    *authority = target.authority;
    reader->at = line_end + 2;
    add(reader, CC_SPAN("REQUEST_METHOD"), request->method);
    add(reader, CC_SPAN("REQUEST_URI"), request->uri);
    add(reader, CC_SPAN("SCRIPT_NAME"), CC_SPAN(""));
    add(reader, CC_SPAN("PATH_INFO"), target.path);
    add(reader, CC_SPAN("QUERY_STRING"), target.query);
    add(reader, CC_SPAN("SERVER_PROTOCOL"), request->protocol);
    return true;
}

static bool bad_name(const struct reader *reader, const char *at, struct cc_err *err)
{
    if (at == reader->at && (*at == ' ' || *at == '\t'))
        return cc_fail_status(err, 400,
                              "a header line begins with a blank (folded lines are "
                              "obsolete: RFC 9112 5.2)");
    if (*at == ' ' || *at == '\t')
        return cc_fail_status(err, 400, "there is a blank before a header's colon");
    if (at == reader->at && *at == ':')
        return cc_fail_status(err, 400, "a header has no name");
    if (*at == '\r')
        return cc_fail_status(err, 400, "a header line has no colon");
    return cc_fail_status(err, 400, "a header's name has a byte in it that no name has");
}

/* Notes the name in the bits of all names, and whether it may have been there before. */
static void note_name(struct reader *reader, struct cc_span name)
{
    unsigned first = (unsigned char)name.at[0], last = (unsigned char)name.at[name.len - 1];
    unsigned middle = (unsigned char)name.at[name.len / 2];
    uint64_t bit = UINT64_C(1) << ((first + 7 * last + 3 * middle + 11 * name.len) & 63);

    reader->repeated |= (reader->names & bit) != 0;
    reader->names |= bit;
}

/* field-name ":" OWS field-value OWS CRLF (RFC 9112 5). */
static bool parse_header(struct reader *reader, struct cc_err *err)
{
    const char *at = reader->at;
    char *name = reader->out + PREFIX_LEN, *out = name;
    bool underscore = false;

    for (unsigned char c; (c = cc_header_name_bytes[(unsigned char)*at]) != 0; at++) {
        underscore |= *at == '_';
        *out++ = (char)c;
    }
    if (*at != ':' || at == reader->at)
        return bad_name(reader, at, err);
    struct cc_pair field = {.name = {name, (size_t)(out - name)}};
    const char *value = at + 1, *line_end = cc_find_control(value, reader->end);
    if (line_end[0] != '\r' || line_end[1] != '\n')
        return cc_fail_status(err, 400, "there is a control byte in a header's value");
    field.value = cc_span_trim((struct cc_span){value, (size_t)(line_end - value)});
    reader->at = line_end + 2;
    /* X_Y and X-Y would be the same variable, and a proxy that sets one may not know the other. */
    if (underscore)
        return true;
    enum cc_http_fate fate = cc_http_field(reader->framing, &field, err);
    if (fate == CC_HTTP_REFUSE)
        return false;
    if (fate == CC_HTTP_DROP)
        return true;
    memcpy(out, field.value.at, field.value.len);
    field.value.at = out;
    reader->out = out + field.value.len;
    note_name(reader, field.name);
    if (fate == CC_HTTP_PASS) {
        field.name.at = memcpy(name - PREFIX_LEN, PREFIX, PREFIX_LEN);
        field.name.len += PREFIX_LEN;
    }
    add(reader, field.name, field.value);
    return true;
}

/* Joins the values of all variables from index on that have the same name as the one at index, and
 * takes the later ones out (RFC 9110 5.3; RFC 9113 8.2.3 for Cookie). */
static void join_values(struct cc_request *request, size_t index)
{
    struct cc_pair *first = &request->vars[index];
    struct cc_span between =
        cc_span_equal(first->name, CC_SPAN("HTTP_COOKIE")) ? CC_SPAN("; ") : CC_SPAN(", ");
    size_t len = first->value.len, kept = index + 1;

    for (size_t i = index + 1; i < request->n_vars; i++)
        if (cc_span_equal(request->vars[i].name, first->name))
            len += between.len + request->vars[i].value.len;
    if (len == first->value.len)
        return;
    char *joined = cc_arena_alloc(&request->arena, len);
    memcpy(joined, first->value.at, first->value.len);
    char *out = joined + first->value.len;
    for (size_t i = index + 1; i < request->n_vars; i++) {
        struct cc_pair *other = &request->vars[i];
        if (!cc_span_equal(other->name, first->name)) {
            request->vars[kept++] = *other;
            continue;
        }
        out = mempcpy(out, between.at, between.len);
        out = mempcpy(out, other->value.at, other->value.len);
    }
    request->n_vars = kept;
    first->value = (struct cc_span){joined, len};
}

/* RFC 9112 3.2.2: the authority of an absolute target takes the place of Host. */
static void set_host(struct reader *reader, struct cc_span authority)
{
    for (size_t i = reader->first_header; i < reader->request->n_vars; i++)
        if (cc_span_equal(reader->request->vars[i].name, CC_SPAN("HTTP_HOST"))) {
            reader->request->vars[i].value = authority;
            return;
        }
    add(reader, CC_SPAN("HTTP_HOST"), authority);
}

bool cc_http_head_parse(struct cc_http_framing *framing, struct cc_request *request,
                        struct cc_span text, uint32_t lines, struct cc_err *err)
{
    struct reader reader = {
        .request = request, .framing = framing, .at = text.at, .end = text.at + text.len};
    struct cc_span authority = CC_SPAN("");

    *framing = (struct cc_http_framing){0};
    if (!parse_request_line(&reader, &authority, err))
        return false;
    /* Every header takes at most its own line and the prefix. */
    size_t room = (size_t)(reader.end - reader.at) + lines * PREFIX_LEN;
    reader.out = cc_arena_alloc(&request->arena, room);
    reader.first_header = request->n_vars;
    while (reader.end - reader.at > 2)
        if (!parse_header(&reader, err))
            return false;
    if (!cc_http_framing_check(framing, err))
        return false;
    if (reader.repeated)
        for (size_t i = reader.first_header; i < request->n_vars; i++)
            join_values(request, i);
    if (authority.len > 0)
        set_host(&reader, authority);
    request->body.chunked = framing->chunked;
    return true;
}

void cc_http_add_peer(struct cc_request *request, const struct cc_peer *peer)
{
    cc_request_add_var(request, CC_SPAN("SERVER_NAME"), peer->server_name);
    cc_request_add_var(request, CC_SPAN("SERVER_PORT"), peer->server_port);
    if (peer->remote_addr.len > 0)
        cc_request_add_var(request, CC_SPAN("REMOTE_ADDR"), peer->remote_addr);
    if (peer->remote_port.len > 0)
        cc_request_add_var(request, CC_SPAN("REMOTE_PORT"), peer->remote_port);
    if (peer->secure)
        cc_request_add_var(request, CC_SPAN("HTTPS"), CC_SPAN("on"));
    request->remote_addr = peer->remote_addr;
}
