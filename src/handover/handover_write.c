/* See handover.h. */
#include <jansson.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "handover/handover.h"
#include "handover/handover_text.h"

static json_t *of_file(const struct cc_handed_file *file)
{
    return json_pack("{s:i, s:o}", "fd", file->fd, "text", cc_handover_text(file->text));
}

static json_t *of_listener(const struct cc_handed_listener *listener)
{
    return json_pack("{s:i, s:i, s:o, s:o, s:I, s:I}", "fd", listener->fd, "passed",
                     listener->passed, "address", cc_handover_text(listener->address), "file",
                     cc_handover_text(listener->file), "device", (json_int_t)listener->device,
                     "number", (json_int_t)listener->number);
}

static json_t *of_numbers(const int *numbers, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(numbers[i]));
    return array;
}

static json_t *of_generation(const struct cc_handed_generation *one)
{
    return json_pack("{s:i, s:i, s:i, s:b, s:b, s:i, s:i, s:i, s:i, s:I, s:I, s:o}", "number",
                     one->number, "state", one->state, "pid", one->pid, "loaded", (int)one->loaded,
                     "may_idle_out", (int)one->may_idle_out, "channel", one->channel, "board",
                     one->board, "rows", one->rows, "threads", one->threads, "started_ns",
                     (json_int_t)one->started_ns, "deadline_ns", (json_int_t)one->deadline_ns,
                     "workers", of_numbers(one->workers, (size_t)one->rows));
}

static json_t *of_option(const struct cc_option_value *option)
{
    return json_pack("{s:o, s:o}", "name", cc_handover_text(option->name), "value",
                     cc_handover_text(option->value));
}

static void add_arrays(json_t *whole, const struct cc_handover *handover)
{
    json_t *passed = json_array(), *listeners = json_array(), *generations = json_array();
    json_t *options = json_array();

    for (size_t i = 0; i < handover->n_passed; i++)
        json_array_append_new(passed, of_file(&handover->passed[i]));
    for (size_t i = 0; i < handover->n_listeners; i++)
        json_array_append_new(listeners, of_listener(&handover->listeners[i]));
    for (size_t i = 0; i < handover->n_generations; i++)
        json_array_append_new(generations, of_generation(&handover->generations[i]));
    for (size_t i = 0; i < handover->n_options; i++)
        json_array_append_new(options, of_option(&handover->options[i]));
    json_object_set_new(whole, "passed", passed);
    json_object_set_new(whole, "listeners", listeners);
    json_object_set_new(whole, "generations", generations);
    json_object_set_new(whole, "options", options);
    json_object_set_new(whole, "clients", of_numbers(handover->clients, handover->n_clients));
}

char *cc_handover_write(const struct cc_handover *handover)
{
    json_t *whole = json_pack(
        "{s:i, s:b, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:I, s:b}", "version",
        CC_HANDOVER_VERSION, "trial", (int)handover->trial, "master", handover->master, "from",
        cc_handover_text(handover->from), "layout", cc_handover_text(handover->layout), "folder",
        of_file(&handover->folder), "pidfile", of_file(&handover->pidfile), "pidfile2",
        of_file(&handover->pidfile2), "fifo", of_file(&handover->fifo), "control",
        handover->control, "notify", handover->notify, "started", handover->started, "started_ns",
        (json_int_t)handover->started_ns, "paused", (int)handover->paused);

    if (whole == NULL)
        abort(); /* no memory, as in base/alloc.c */
    add_arrays(whole, handover);
    char *text = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(whole);
    if (text == NULL)
        abort();
    return text;
}
