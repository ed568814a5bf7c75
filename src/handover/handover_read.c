/* See handover.h. It is ours and sealed, but of another version: each member has to be there, of
 * its kind and within its bounds, and nothing else may be. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "handover/handover.h"
#include "handover/handover_text.h"

#define MOST         65536 /* of anything */
#define ROWS_MOST    1000000
#define THREADS_MOST 100000

/* One object while it is read. The first thing that is wrong is kept, all after it is skipped. */
struct reading {
    const json_t *object;
    size_t taken; /* members so far */
    struct cc_err *err;
    bool *failed;
};

static bool wrong(struct reading *reading, const char *key)
{
    if (!*reading->failed)
        cc_fail(reading->err, "the handover's \"%s\" is missing or not what it should be", key);
    *reading->failed = true;
    return false;
}

static const json_t *member(struct reading *reading, const char *key)
{
    const json_t *value = *reading->failed ? NULL : json_object_get(reading->object, key);

    if (value == NULL)
        wrong(reading, key);
    reading->taken++;
    return value;
}

static int64_t number(struct reading *reading, const char *key, int64_t least, int64_t most)
{
    const json_t *value = member(reading, key);

    if (value == NULL)
        return 0;
    json_int_t found = json_integer_value(value);
    if (json_is_integer(value) && found >= least && found <= most)
        return found;
    wrong(reading, key);
    return 0;
}

static int fd_or_none(struct reading *reading, const char *key)
{
    return (int)number(reading, key, -1, INT_MAX);
}

static bool flag(struct reading *reading, const char *key)
{
    const json_t *value = member(reading, key);

    if (value != NULL && !json_is_boolean(value))
        wrong(reading, key);
    return json_is_true(value);
}

/* A text that has to be there, or may be NULL. */
static char *text(struct reading *reading, const char *key, bool may_be_null)
{
    const json_t *value = member(reading, key);
    char *found = NULL;

    if (value != NULL && (!cc_handover_untext(value, &found) || (found == NULL && !may_be_null)))
        wrong(reading, key);
    return found;
}

/* An array's values, which the caller looks at one by one; NULL where there are none. */
static const json_t *array(struct reading *reading, const char *key, size_t *count)
{
    const json_t *value = member(reading, key);

    *count = 0;
    if (value == NULL)
        return NULL;
    if (!json_is_array(value) || json_array_size(value) > MOST) {
        wrong(reading, key);
        return NULL;
    }
    *count = json_array_size(value);
    return value;
}

static struct reading begin(const struct reading *outer, const json_t *object, const char *key)
{
    struct reading inner = {.object = object, .err = outer->err, .failed = outer->failed};

    if (!json_is_object(object))
        wrong(&inner, key);
    return inner;
}

static void end(struct reading *reading, const char *key)
{
    if (!*reading->failed && json_object_size(reading->object) != reading->taken)
        wrong(reading, key);
}

static void read_file(const struct reading *outer, const json_t *object, const char *key,
                      struct cc_handed_file *file)
{
    struct reading reading = begin(outer, object, key);

    file->fd = fd_or_none(&reading, "fd");
    file->text = text(&reading, "text", true);
    end(&reading, key);
}

static void file_member(struct reading *reading, const char *key, struct cc_handed_file *file)
{
    const json_t *object = member(reading, key);

    if (object != NULL)
        read_file(reading, object, key, file);
}

static void read_listener(const struct reading *outer, const json_t *object,
                          struct cc_handed_listener *listener)
{
    struct reading reading = begin(outer, object, "listeners");

    listener->fd = (int)number(&reading, "fd", 0, INT_MAX);
    listener->passed = (int)number(&reading, "passed", 0, INT_MAX);
    listener->address = text(&reading, "address", false);
    listener->file = text(&reading, "file", true);
    listener->device = (uint64_t)number(&reading, "device", INT64_MIN, INT64_MAX);
    listener->number = (uint64_t)number(&reading, "number", INT64_MIN, INT64_MAX);
    end(&reading, "listeners");
}

/* fd or pid numbers. */
static int *read_numbers(struct reading *reading, const char *key, size_t *count)
{
    const json_t *values = array(reading, key, count);
    int *numbers = cc_alloc_zeroed(*count + 1, sizeof *numbers);

    for (size_t i = 0; i < *count; i++) {
        const json_t *value = json_array_get(values, i);
        json_int_t found = json_integer_value(value);
        if (!json_is_integer(value) || found < 0 || found > INT_MAX)
            wrong(reading, key);
        else
            numbers[i] = (int)found;
    }
    return numbers;
}

static void read_generation(const struct reading *outer, const json_t *object,
                            struct cc_handed_generation *one)
{
    struct reading reading = begin(outer, object, "generations");
    size_t workers;

    one->number = (int)number(&reading, "number", 1, INT_MAX);
    one->state = (int)number(&reading, "state", 0, 16);
    one->pid = (int)number(&reading, "pid", 0, INT_MAX);
    one->loaded = flag(&reading, "loaded");
    one->may_idle_out = flag(&reading, "may_idle_out");
    one->channel = fd_or_none(&reading, "channel");
    one->board = (int)number(&reading, "board", 0, INT_MAX);
    one->rows = (int)number(&reading, "rows", 1, ROWS_MOST);
    one->threads = (int)number(&reading, "threads", 1, THREADS_MOST);
    one->started_ns = number(&reading, "started_ns", 0, INT64_MAX);
    one->deadline_ns = number(&reading, "deadline_ns", 0, INT64_MAX);
    one->workers = read_numbers(&reading, "workers", &workers);
    if (!*reading.failed && workers != (size_t)one->rows)
        wrong(&reading, "workers");
    end(&reading, "generations");
}

static void read_option(const struct reading *outer, const json_t *object,
                        struct cc_option_value *option)
{
    struct reading reading = begin(outer, object, "options");

    option->name = text(&reading, "name", false);
    option->value = text(&reading, "value", true);
    end(&reading, "options");
}

static void read_arrays(struct reading *reading, struct cc_handover *handover)
{
    const json_t *values = array(reading, "passed", &handover->n_passed);

    handover->passed = cc_alloc_zeroed(handover->n_passed + 1, sizeof *handover->passed);
    for (size_t i = 0; i < handover->n_passed; i++)
        read_file(reading, json_array_get(values, i), "passed", &handover->passed[i]);
    values = array(reading, "listeners", &handover->n_listeners);
    handover->listeners = cc_alloc_zeroed(handover->n_listeners + 1, sizeof *handover->listeners);
    for (size_t i = 0; i < handover->n_listeners; i++)
        read_listener(reading, json_array_get(values, i), &handover->listeners[i]);
    values = array(reading, "generations", &handover->n_generations);
    handover->generations =
        cc_alloc_zeroed(handover->n_generations + 1, sizeof *handover->generations);
    for (size_t i = 0; i < handover->n_generations; i++)
        read_generation(reading, json_array_get(values, i), &handover->generations[i]);
    values = array(reading, "options", &handover->n_options);
    handover->options = cc_alloc_zeroed(handover->n_options + 1, sizeof *handover->options);
    for (size_t i = 0; i < handover->n_options; i++)
        read_option(reading, json_array_get(values, i), &handover->options[i]);
    handover->clients = read_numbers(reading, "clients", &handover->n_clients);
}

static void read_whole(struct reading *reading, struct cc_handover *handover)
{
    handover->trial = flag(reading, "trial");
    handover->master = (int)number(reading, "master", 1, INT_MAX);
    handover->from = text(reading, "from", false);
    handover->layout = text(reading, "layout", false);
    file_member(reading, "folder", &handover->folder);
    file_member(reading, "pidfile", &handover->pidfile);
    file_member(reading, "pidfile2", &handover->pidfile2);
    file_member(reading, "fifo", &handover->fifo);
    handover->control = fd_or_none(reading, "control");
    handover->notify = fd_or_none(reading, "notify");
    handover->started = (int)number(reading, "started", 0, INT_MAX);
    handover->started_ns = number(reading, "started_ns", 0, INT64_MAX);
    handover->paused = flag(reading, "paused");
    read_arrays(reading, handover);
    end(reading, "version");
}

bool cc_handover_read(struct cc_handover *handover, const char *text, size_t len,
                      struct cc_err *err)
{
    json_error_t at;
    json_t *whole = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
    bool failed = false;
    struct reading reading = {.object = whole, .err = err, .failed = &failed};

    cc_handover_init(handover);
    if (!json_is_object(whole)) {
        json_decref(whole);
        return cc_fail(err, "the handover is no JSON object");
    }
    json_int_t version = json_integer_value(json_object_get(whole, "version"));
    if (version != CC_HANDOVER_VERSION) {
        json_decref(whole);
        return cc_fail(err,
                       "the handover has version %lld, and this binary reads version %d: a restart "
                       "is needed to go from one to the other",
                       (long long)version, CC_HANDOVER_VERSION);
    }
    reading.taken = 1;
    read_whole(&reading, handover);
    json_decref(whole);
    if (failed)
        cc_handover_clear(handover);
    return !failed;
}
