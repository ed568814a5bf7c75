/* See touch.h. Not inotify: a look a second costs nothing that can be measured, and it works on
 * network file systems, through renames, and before the file or its folder is there. */
#include "process/touch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "log/log.h"

#define EVERY_S 1.0

/* Notes how the file is; true: it has changed. */
static bool look(struct cc_touched_file *file)
{
    struct stat info;

    if (stat(file->path, &info) != 0) {
        file->there = false;
        return false;
    }
    bool same = file->there && file->device == info.st_dev && file->number == info.st_ino &&
                file->modified.tv_sec == info.st_mtim.tv_sec &&
                file->modified.tv_nsec == info.st_mtim.tv_nsec;
    file->there = true;
    file->device = info.st_dev;
    file->number = info.st_ino;
    file->modified = info.st_mtim;
    return !same;
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct cc_touch *touch = timer->data;

    (void)events;
    for (size_t i = 0; i < touch->n_files; i++) {
        struct cc_touched_file *file = &touch->files[i];
        struct cc_buf who = {0};
        if (!look(file))
            continue;
        cc_buf_printf(&who, "%s: %s", file->option, file->path);
        cc_orders_obey(ev_userdata(loop), file->order, cc_buf_text(&who));
        cc_buf_clear(&who);
    }
}

void cc_touch_begin(struct cc_touch *touch, struct ev_loop *loop)
{
    *touch = (struct cc_touch){.loop = loop};
    ev_timer_init(&touch->timer, on_time, EVERY_S, EVERY_S);
    touch->timer.data = touch;
}

static const struct cc_touched_file *find(const struct cc_touch *touch,
                                          const struct cc_touched_file *wanted)
{
    for (size_t i = 0; i < touch->n_files; i++)
        if (touch->files[i].order == wanted->order &&
            strcmp(touch->files[i].path, wanted->path) == 0)
            return &touch->files[i];
    return NULL;
}

static void add(struct cc_touch *next, const struct cc_touch *before, struct cc_touched_file file)
{
    const struct cc_touched_file *known = find(before, &file);
    char *path = cc_strdup(file.path);

    if (known != NULL)
        file = *known;
    file.path = path;
    if (known == NULL) {
        look(&file);
        if (!file.there)
            cc_log(CC_LOG_WARN, "%s: %s: %s; it counts as touched when it appears", file.option,
                   file.path, strerror(errno));
    }
    next->files = cc_realloc(next->files, (next->n_files + 1) * sizeof *next->files);
    next->files[next->n_files++] = file;
}

static void clear_files(struct cc_touch *touch)
{
    for (size_t i = 0; i < touch->n_files; i++)
        free(touch->files[i].path);
    free(touch->files);
    touch->files = NULL;
    touch->n_files = 0;
}

void cc_touch_follow(struct cc_touch *touch, const struct cc_reload_settings *settings)
{
    const struct {
        const struct cc_texts *paths;
        const char *option;
        enum cc_order order;
    } kinds[] = {
        {&settings->touch_reload, "touch-reload", CC_ORDER_RELOAD},
        {&settings->touch_chain, "touch-chain-reload", CC_ORDER_CHAIN},
        {&settings->touch_workers, "touch-workers-reload", CC_ORDER_RECYCLE},
        {&settings->touch_logreopen, "touch-logreopen", CC_ORDER_LOG_REOPEN},
    };
    struct cc_touch next = {0};

    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (size_t i = 0; i < kinds[kind].paths->count; i++)
            add(&next, touch,
                (struct cc_touched_file){.path = kinds[kind].paths->items[i].text,
                                         .option = kinds[kind].option,
                                         .order = kinds[kind].order});
    clear_files(touch);
    touch->files = next.files;
    touch->n_files = next.n_files;
    if (touch->n_files > 0)
        ev_timer_start(touch->loop, &touch->timer);
    else
        ev_timer_stop(touch->loop, &touch->timer);
}

void cc_touch_end(struct cc_touch *touch)
{
    ev_timer_stop(touch->loop, &touch->timer);
    clear_files(touch);
}
