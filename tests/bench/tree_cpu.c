/* Reads /proc/PID/stat of every process and adds up those below the root. */
#include "tests/bench/tree_cpu.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PROCESSES 8192

struct process {
    pid_t pid, parent;
    double seconds;
    bool counted;
};

/* false: the process is gone, or its line is not as expected. */
static bool read_process(pid_t pid, struct process *process)
{
    char path[64], line[1024];
    unsigned long user, system;
    long children_user, children_system;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t len = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[len] = '\0';
    /* The name in parentheses may hold anything, so the fields are counted from its end. */
    const char *fields = strrchr(line, ')');
    if (fields == NULL ||
        sscanf(fields + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
               &process->parent, &user, &system, &children_user, &children_system) != 5)
        return false;
    process->pid = pid;
    process->seconds = (double)(user + system + (unsigned long)(children_user + children_system)) /
                       (double)sysconf(_SC_CLK_TCK);
    process->counted = false;
    return true;
}

static bool has_counted_parent(const struct process *all, size_t count, pid_t parent)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].counted && all[i].pid == parent)
            return true;
    return false;
}

static double add_up(struct process *all, size_t count, pid_t root)
{
    double sum = 0;

    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            if (all[i].counted ||
                (all[i].pid != root && !has_counted_parent(all, count, all[i].parent)))
                continue;
            all[i].counted = more = true;
            sum += all[i].seconds;
        }
    }
    return sum;
}

double cc_tree_cpu(pid_t root)
{
    static struct process all[MAX_PROCESSES];
    size_t count = 0;
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    if (folder == NULL)
        return 0;
    while (count < MAX_PROCESSES && (entry = readdir(folder)) != NULL) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && read_process((pid_t)pid, &all[count]))
            count++;
    }
    closedir(folder);
    return add_up(all, count, root);
}
