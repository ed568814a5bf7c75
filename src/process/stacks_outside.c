/* What the kernel knows of a process that cannot tell itself; see stacks.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "process/stacks.h"

#define MOST_THREADS 256

/* The first line of the file, printable; fallback when it cannot be read. */
static void read_line(char *line, size_t size, const char *path, const char *fallback)
{
    FILE *file = fopen(path, "re");

    if (file == NULL || fgets(line, (int)size, file) == NULL)
        snprintf(line, size, "%s", fallback);
    if (file != NULL)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    cc_text_printable(line);
}

/* "S (sleeping)"; the field's own line in the file status. */
static void read_state(char *state, size_t size, const char *folder)
{
    char path[96], line[128];
    FILE *file;

    snprintf(state, size, "?");
    snprintf(path, sizeof path, "%s/status", folder);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "State:", 6) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(state, size, "%s", line + 6 + strspn(line + 6, " \t"));
            break;
        }
    if (file != NULL)
        fclose(file);
}

static void describe(const char *folder, const char *tid, struct cc_buf *buf)
{
    char path[96], name[32], state[40], channel[64], call[160];

    snprintf(path, sizeof path, "%s/comm", folder);
    read_line(name, sizeof name, path, "?");
    read_state(state, sizeof state, folder);
    snprintf(path, sizeof path, "%s/wchan", folder);
    read_line(channel, sizeof channel, path, "?");
    snprintf(path, sizeof path, "%s/syscall", folder);
    read_line(call, sizeof call, path, "?");
    cc_buf_printf(buf, "thread %s \"%s\": state %s, waits in %s, system call %s\n", tid, name,
                  state, channel, call);
}

void cc_stacks_from_outside(pid_t pid, struct cc_buf *buf)
{
    char folder[64];
    const struct dirent *entry;
    int count = 0;

    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(folder);
    if (tasks == NULL) {
        cc_buf_printf(buf, "%s: %s\n", folder, strerror(errno));
        return;
    }
    while ((entry = readdir(tasks)) != NULL && count < MOST_THREADS) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof folder, "/proc/%d/task/%.20s", (int)pid, entry->d_name);
        describe(folder, entry->d_name, buf);
        count++;
    }
    closedir(tasks);
}
