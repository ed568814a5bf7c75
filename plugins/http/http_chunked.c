/* See http_chunked.h. A small machine, a byte a step outside of the data: between two chunks there
 * are about six bytes. */
#include "http/http_chunked.h"

#include "http/http_bytes.h"

/* Bytes that extensions and trailers may take in one body; nobody uses them, and a decoder without
 * a limit can be kept busy by them. */
#define OVERHEAD_LIMIT 16384u

enum step {
    SIZE,         /* the first digit of the size, and the rest of them */
    SIZE_BLANK,   /* blanks between the size and the ';' of an extension */
    EXTENSION,    /* what follows ';' */
    SIZE_LF,      /* the LF of the size line */
    DATA,         /* size bytes of data */
    DATA_CR,      /* the CR after the data */
    DATA_LF,      /* and its LF */
    TRAILER,      /* the first byte of a trailer line, or the CR of the empty line that ends it */
    TRAILER_NAME, /* further bytes of a name, up to the colon */
    TRAILER_TEXT, /* the value */
    TRAILER_LF,   /* the LF of a trailer line */
    END_LF,       /* the LF of the last line */
};

static bool broken(struct cc_err *err, const char *text)
{
    return cc_fail_status(err, 400, "chunked body: %s", text);
}

static bool take_digit(struct cc_http_chunked *chunked, int digit, struct cc_err *err)
{
    /* 15 digits are 60 bits, so no sum overflows; leading zeros count too. */
    if (++chunked->digits > 15)
        return broken(err, "a chunk's size has more than 15 digits");
    chunked->size = chunked->size << 4 | (unsigned)digit;
    return true;
}

/* The size line is whole. */
static bool start_chunk(struct cc_http_chunked *chunked, int64_t limit, struct cc_err *err)
{
    chunked->digits = 0;
    if (chunked->size == 0) {
        chunked->step = TRAILER;
        return true;
    }
    chunked->total += chunked->size;
    if (chunked->total > (limit > 0 ? (uint64_t)limit : (uint64_t)INT64_MAX))
        return cc_fail_status(err, 413, "the chunked body is longer than limit-post allows");
    chunked->step = DATA;
    return true;
}

static bool count_overhead(struct cc_http_chunked *chunked, struct cc_err *err)
{
    if (++chunked->overhead > OVERHEAD_LIMIT)
        return cc_fail_status(err, 431,
                              "chunked body: extensions and trailers take more than %u "
                              "bytes",
                              OVERHEAD_LIMIT);
    return true;
}

/* chunk-size [ chunk-ext ] CRLF */
static bool take_size_byte(struct cc_http_chunked *chunked, char c, int64_t limit,
                           struct cc_err *err)
{
    int digit = chunked->step == SIZE ? cc_http_hex(c) : -1;

    if (digit >= 0)
        return take_digit(chunked, digit, err);
    if (chunked->step == SIZE_LF)
        return c == '\n' ? start_chunk(chunked, limit, err)
                         : broken(err, "a CR without LF in a chunk's size line");
    if (chunked->digits == 0)
        return broken(err, "a chunk does not begin with its size in hexadecimal digits");
    if (c == '\r' && chunked->step != SIZE_BLANK) {
        chunked->step = SIZE_LF;
        return true;
    }
    if (chunked->step == EXTENSION) {
        if (cc_is_control(c))
            return broken(err, "a control byte in a chunk extension");
        return count_overhead(chunked, err);
    }
    if (c == ';')
        chunked->step = EXTENSION;
    else if (c == ' ' || c == '\t')
        chunked->step = SIZE_BLANK;
    else
        return broken(err, "a chunk's size is followed by something else than ; or CR LF");
    return count_overhead(chunked, err);
}

/* trailer-section CRLF: header lines as in a head, which are dropped (RFC 9110 6.5.1). */
static bool take_trailer_byte(struct cc_http_chunked *chunked, char c, struct cc_err *err)
{
    switch (chunked->step) {
    case TRAILER:
        if (c == '\r')
            chunked->step = END_LF;
        else if (cc_is_token_byte(c))
            chunked->step = TRAILER_NAME;
        else
            return broken(err, "a trailer line does not begin with a name");
        break;
    case TRAILER_NAME:
        if (c == ':')
            chunked->step = TRAILER_TEXT;
        else if (!cc_is_token_byte(c))
            return broken(err, "a trailer's name has a byte in it that no name has");
        break;
    case TRAILER_TEXT:
        if (c == '\r')
            chunked->step = TRAILER_LF;
        else if (cc_is_control(c))
            return broken(err, "a control byte in a trailer");
        break;
    default:
        if (c != '\n')
            return broken(err, "a CR without LF in the trailers");
        chunked->done = chunked->step == END_LF;
        chunked->step = TRAILER;
        break;
    }
    return count_overhead(chunked, err);
}

static bool take_byte(struct cc_http_chunked *chunked, char c, int64_t limit, struct cc_err *err)
{
    switch (chunked->step) {
    case SIZE:
    case SIZE_BLANK:
    case EXTENSION:
    case SIZE_LF:
        return take_size_byte(chunked, c, limit, err);
    case DATA_CR:
        chunked->step = DATA_LF;
        return c == '\r' || broken(err, "a chunk is longer than its size says");
    case DATA_LF:
        chunked->step = SIZE;
        return c == '\n' || broken(err, "a CR without LF after a chunk");
    default:
        return take_trailer_byte(chunked, c, err);
    }
}

size_t cc_http_chunked_take(struct cc_http_chunked *chunked, struct cc_span bytes, int64_t limit,
                            struct cc_span *data, struct cc_err *err)
{
    size_t at = 0;

    *data = (struct cc_span){bytes.at, 0};
    while (at < bytes.len && !chunked->done) {
        if (chunked->step == DATA) {
            size_t len = bytes.len - at;
            if (len > chunked->size)
                len = (size_t)chunked->size;
            *data = (struct cc_span){bytes.at + at, len};
            chunked->size -= len;
            if (chunked->size == 0)
                chunked->step = DATA_CR;
            return at + len;
        }
        if (!take_byte(chunked, bytes.at[at], limit, err))
            return SIZE_MAX;
        at++;
    }
    return at;
}
