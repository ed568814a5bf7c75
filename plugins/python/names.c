/* See names.h. An open-addressing table; an entry never leaves it. */
#include "python/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attributes.h"

#define SLOTS         512 /* a power of two */
#define MOST_NAMES    384
#define LONGEST_PROBE 8
#define LONGEST_NAME  64
#define LONGEST_VALUE 256

struct cc_names {
    struct cc_name slots[SLOTS];
    size_t count;
};

static const struct {
    const char *name;
    enum cc_name_role role;
} usual[] = {
    {"REQUEST_METHOD", CC_NAME_PLAIN},
    {"REQUEST_URI", CC_NAME_PLAIN},
    {"PATH_INFO", CC_NAME_PLAIN},
    {"SCRIPT_NAME", CC_NAME_PLAIN},
    {"QUERY_STRING", CC_NAME_PLAIN},
    {"CONTENT_TYPE", CC_NAME_PLAIN},
    {"CONTENT_LENGTH", CC_NAME_PLAIN},
    {"DOCUMENT_ROOT", CC_NAME_PLAIN},
    {"SERVER_NAME", CC_NAME_NEVER_EMPTY},
    {"SERVER_PORT", CC_NAME_NEVER_EMPTY},
    {"SERVER_PROTOCOL", CC_NAME_NEVER_EMPTY},
    {"REMOTE_ADDR", CC_NAME_PLAIN},
    {"REMOTE_PORT", CC_NAME_PLAIN},
    {"REMOTE_USER", CC_NAME_PLAIN},
    {"UWSGI_SCHEME", CC_NAME_UWSGI_SCHEME},
    {"HTTPS", CC_NAME_HTTPS},
    {"REQUEST_SCHEME", CC_NAME_REQUEST_SCHEME},
    {"HTTP_HOST", CC_NAME_PLAIN},
    {"HTTP_USER_AGENT", CC_NAME_PLAIN},
    {"HTTP_ACCEPT", CC_NAME_PLAIN},
    {"HTTP_ACCEPT_ENCODING", CC_NAME_PLAIN},
    {"HTTP_ACCEPT_LANGUAGE", CC_NAME_PLAIN},
    {"HTTP_AUTHORIZATION", CC_NAME_PLAIN},
    {"HTTP_CACHE_CONTROL", CC_NAME_PLAIN},
    {"HTTP_CONNECTION", CC_NAME_PLAIN},
    {"HTTP_COOKIE", CC_NAME_PLAIN},
    {"HTTP_DNT", CC_NAME_PLAIN},
    {"HTTP_EXPECT", CC_NAME_PLAIN},
    {"HTTP_FORWARDED", CC_NAME_PLAIN},
    {"HTTP_IF_MATCH", CC_NAME_PLAIN},
    {"HTTP_IF_MODIFIED_SINCE", CC_NAME_PLAIN},
    {"HTTP_IF_NONE_MATCH", CC_NAME_PLAIN},
    {"HTTP_ORIGIN", CC_NAME_PLAIN},
    {"HTTP_PRAGMA", CC_NAME_PLAIN},
    {"HTTP_RANGE", CC_NAME_PLAIN},
    {"HTTP_REFERER", CC_NAME_PLAIN},
    {"HTTP_SEC_FETCH_DEST", CC_NAME_PLAIN},
    {"HTTP_SEC_FETCH_MODE", CC_NAME_PLAIN},
    {"HTTP_SEC_FETCH_SITE", CC_NAME_PLAIN},
    {"HTTP_SEC_FETCH_USER", CC_NAME_PLAIN},
    {"HTTP_UPGRADE_INSECURE_REQUESTS", CC_NAME_PLAIN},
    {"HTTP_VIA", CC_NAME_PLAIN},
    {"HTTP_X_CSRFTOKEN", CC_NAME_PLAIN},
    {"HTTP_X_FORWARDED_FOR", CC_NAME_PLAIN},
    {"HTTP_X_FORWARDED_HOST", CC_NAME_PLAIN},
    {"HTTP_X_FORWARDED_PROTO", CC_NAME_PLAIN},
    {"HTTP_X_REAL_IP", CC_NAME_PLAIN},
    {"HTTP_X_REQUESTED_WITH", CC_NAME_PLAIN},
    {"HTTP_X_REQUEST_ID", CC_NAME_PLAIN},
};

/* Mixes the length and the first and last eight bytes: names differ there. A client that makes
 * names collide only keeps its own names out of the table. */
static uint32_t hash_of(struct cc_span name)
{
    uint64_t first = 0, last = 0;

    if (name.len >= 8) {
        memcpy(&first, name.at, 8);
        memcpy(&last, name.at + name.len - 8, 8);
    } else {
        memcpy(&first, name.at, name.len);
    }
    uint64_t mixed = (first ^ name.len) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ last) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(mixed >> 32);
}

static bool is_name(const struct cc_name *entry, uint32_t hash, struct cc_span name)
{
    return entry->hash == hash && (size_t)PyUnicode_GET_LENGTH(entry->key) == name.len &&
           memcmp(PyUnicode_1BYTE_DATA(entry->key), name.at, name.len) == 0;
}

static bool holds(struct cc_span name, const char *word)
{
    return memmem(name.at, name.len, word, strlen(word)) != NULL;
}

static struct cc_name *insert(struct cc_names *names, struct cc_name *slot, uint32_t hash,
                              struct cc_span name)
{
    PyObject *key = PyUnicode_DecodeLatin1(name.at, (Py_ssize_t)name.len, NULL);

    if (key == NULL)
        return NULL;
    PyUnicode_InternInPlace(&key); /* the app's own constants are found by their address */
    *slot = (struct cc_name){
        .key = key,
        .hash = hash,
        .secret = holds(name, "AUTH") || holds(name, "COOKIE") || holds(name, "TOKEN") ||
                  holds(name, "KEY") || holds(name, "SECRET") || holds(name, "PASS"),
    };
    names->count++;
    return slot;
}

struct cc_name *cc_names_find(struct cc_names *names, struct cc_span name)
{
    if (CC_UNLIKELY(name.len > LONGEST_NAME || name.len == 0))
        return NULL;
    uint32_t hash = hash_of(name);
    for (uint32_t i = 0; i < LONGEST_PROBE; i++) {
        struct cc_name *slot = &names->slots[(hash + i) % SLOTS];
        if (slot->key == NULL)
            return names->count < MOST_NAMES ? insert(names, slot, hash, name) : NULL;
        if (CC_LIKELY(is_name(slot, hash, name)))
            return slot;
    }
    return NULL;
}

PyObject *cc_name_value(struct cc_name *name, struct cc_span value)
{
    PyObject *last = name == NULL ? NULL : name->value;

    if (last != NULL && (size_t)PyUnicode_GET_LENGTH(last) == value.len &&
        memcmp(PyUnicode_1BYTE_DATA(last), value.at, value.len) == 0) {
        Py_INCREF(last);
        return last;
    }
    PyObject *text = PyUnicode_DecodeLatin1(value.at, (Py_ssize_t)value.len, NULL);
    if (text != NULL && name != NULL && !name->secret && value.len <= LONGEST_VALUE) {
        Py_INCREF(text);
        Py_XSETREF(name->value, text);
    }
    return text;
}

struct cc_names *cc_names_new(void)
{
    struct cc_names *names = cc_alloc_zeroed(1, sizeof *names);

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        struct cc_name *name = cc_names_find(names, cc_span_of(usual[i].name));
        if (name == NULL && PyErr_Occurred()) {
            cc_names_free(names);
            return NULL;
        }
        if (name != NULL)
            name->role = usual[i].role;
    }
    return names;
}

void cc_names_free(struct cc_names *names)
{
    if (names == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++) {
        Py_XDECREF(names->slots[i].key);
        Py_XDECREF(names->slots[i].value);
    }
    free(names);
}
