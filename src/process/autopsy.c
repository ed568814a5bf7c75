/* See autopsy.h. */
#include "process/autopsy.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "log/log.h"
#include "process/stacks.h"
#include "process/worker_entry.h"

/* What one call of the log takes for sure. */
#define PIECE_MAX  60000
#define MOST_FILES 200

bool cc_autopsy_frozen(pid_t pid)
{
    char path[40];
    size_t len;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *text = cc_fd_read_file(path, 1024, &len);
    /* The name before it may hold anything, brackets too. */
    const char *end = text == NULL ? NULL : strrchr(text, ')');
    bool frozen = end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
    free(text);
    return frozen;
}

/* The links' targets are names that the app chose. */
static void append_files(pid_t pid, struct cc_buf *buf)
{
    char path[64], target[256];
    const struct dirent *entry;
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    while ((entry = readdir(folder)) != NULL && count < MOST_FILES) {
        if (entry->d_name[0] == '.')
            continue;
        ssize_t len = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        target[len < 0 ? 0 : len] = '\0';
        cc_text_printable(target);
        cc_buf_printf(buf, "file %s: %s\n", entry->d_name, target);
        count++;
    }
    closedir(folder);
}

/* One piece if the log takes it; what is longer goes on in further ones, cut at line ends. */
static void log_text(const struct cc_worker_entry *entry, const char *title, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        size_t piece = len;
        if (piece > PIECE_MAX) {
            const char *newline = memrchr(text, '\n', PIECE_MAX);
            piece = newline == NULL ? PIECE_MAX : (size_t)(newline - text) + 1;
        }
        cc_log(CC_LOG_WARN, "worker %d (pid %d): %s:\n%.*s", entry->seat->number, (int)entry->pid,
               title, (int)piece, text);
        text += piece;
        len -= piece;
    }
}

void cc_autopsy_report(struct cc_worker_entry *entry)
{
    const struct cc_process_settings *process = &entry->all->launch->settings->process;
    struct cc_buf text = {0};

    cc_report_read(&entry->report);
    const char *own = cc_report_text(&entry->report);
    cc_buf_printf(&text, "%s%s", own, own[0] == '\0' ? "" : "\n");
    if (!cc_report_done(&entry->report))
        cc_buf_printf(&text, "it has not %s within a second%s; seen from outside:\n",
                      own[0] == '\0' ? "answered" : "finished its report",
                      cc_autopsy_frozen(entry->pid) ? ", since it is stopped" : "");
    if (!cc_report_done(&entry->report) || process->harakiri_verbose)
        cc_stacks_from_outside(entry->pid, &text);
    if (process->harakiri_verbose)
        append_files(entry->pid, &text);
    log_text(entry, "where it stands", cc_buf_text(&text));
    cc_buf_clear(&text);
    cc_report_reset(&entry->report);
}

void cc_autopsy_dead(struct cc_worker_entry *entry)
{
    cc_report_read(&entry->report);
    const char *text = cc_report_text(&entry->report);

    if (text[0] != '\0')
        log_text(entry, "where it stood", text);
    else if (entry->harakiri.stage == CC_HARAKIRI_ASKED)
        cc_log(CC_LOG_WARN, "worker %d (pid %d) died before it could say where it stands",
               entry->seat->number, (int)entry->pid);
}
