/* See cgroup.h. */
#include "base/cgroup.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fd.h"

#define FILE_MAX ((size_t)64 * 1024)
/* Version 1 says "no limit" with the largest number of whole pages. */
#define NO_MEMORY_LIMIT (INT64_C(1) << 60)

/* The file's text; NULL: there is none. The caller frees it. */
static char *read_text(const char *root, const char *mount, const char *group, const char *name)
{
    size_t len;
    char *path = cc_format("%s/sys/fs/cgroup%s%s/%s", root, mount, group, name);
    char *text = cc_fd_read_file(path, FILE_MAX, &len);

    free(path);
    return text;
}

static void lower_cpus(struct cc_cgroup *limits, double quota, double period)
{
    if (!(quota > 0) || !(period > 0))
        return;
    double cpus = quota / period;
    if (limits->cpus == 0 || cpus < limits->cpus)
        limits->cpus = cpus;
}

static void lower_memory(struct cc_cgroup *limits, const char *text)
{
    int64_t bytes = text == NULL ? 0 : strtoll(text, NULL, 10); /* "max" is 0 */

    if (bytes > 0 && bytes < NO_MEMORY_LIMIT && (limits->memory == 0 || bytes < limits->memory))
        limits->memory = bytes;
}

static void read_v2(struct cc_cgroup *limits, const char *root, const char *group)
{
    char *cpu = read_text(root, "", group, "cpu.max"); /* "150000 100000", "max 100000" */
    char *memory = read_text(root, "", group, "memory.max");
    double quota = 0, period = 0;

    if (cpu != NULL && sscanf(cpu, "%lf %lf", &quota, &period) == 2)
        lower_cpus(limits, quota, period);
    lower_memory(limits, memory);
    free(cpu);
    free(memory);
}

static void read_v1_cpu(struct cc_cgroup *limits, const char *root, const char *group)
{
    static const char *const mounts[] = {"/cpu", "/cpu,cpuacct"};

    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        char *quota = read_text(root, mounts[i], group, "cpu.cfs_quota_us"); /* -1: none */
        char *period = read_text(root, mounts[i], group, "cpu.cfs_period_us");
        if (quota != NULL && period != NULL)
            lower_cpus(limits, strtod(quota, NULL), strtod(period, NULL));
        free(quota);
        free(period);
    }
}

static void read_v1_memory(struct cc_cgroup *limits, const char *root, const char *group)
{
    char *memory = read_text(root, "/memory", group, "memory.limit_in_bytes");

    lower_memory(limits, memory);
    free(memory);
}

/* The group and all above it. A container sees its own group as the mount's root, and the path that
 * /proc names may lie outside of what it sees: files that are not there limit nothing. */
static void read_upwards(struct cc_cgroup *limits, const char *root, char *group,
                         void (*read)(struct cc_cgroup *, const char *, const char *))
{
    for (;;) {
        char *slash = strrchr(group, '/');
        bool top = slash == NULL || group[1] == '\0';
        read(limits, root, top ? "" : group);
        if (top)
            return;
        slash[slash == group ? 1 : 0] = '\0';
    }
}

/* Is the controller among "cpu,cpuacct"? */
static bool has(const char *controllers, const char *one)
{
    size_t len = strlen(one);

    for (const char *at = controllers;; at++) {
        size_t word = strcspn(at, ",");
        if (word == len && strncmp(at, one, len) == 0)
            return true;
        at += word;
        if (*at == '\0')
            return false;
    }
}

/* One line of /proc/self/cgroup: "0::/a/b", "4:cpu,cpuacct:/a/b". */
static void read_line(struct cc_cgroup *limits, const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');

    if (group == NULL || group[1] != '/' || strstr(group, "/..") != NULL)
        return;
    *group++ = '\0';
    controllers++;
    if (*controllers == '\0')
        read_upwards(limits, root, group, read_v2);
    else if (has(controllers, "cpu"))
        read_upwards(limits, root, group, read_v1_cpu);
    else if (has(controllers, "memory"))
        read_upwards(limits, root, group, read_v1_memory);
}

struct cc_cgroup cc_cgroup_read(const char *root)
{
    struct cc_cgroup limits = {0};
    size_t len;
    char *path = cc_format("%s/proc/self/cgroup", root);
    char *text = cc_fd_read_file(path, FILE_MAX, &len), *rest = NULL;

    free(path);
    for (char *line = text == NULL ? NULL : strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        read_line(&limits, root, line);
    free(text);
    return limits;
}

int cc_cgroup_affinity(void)
{
    /* More processors than the set has room for is EINVAL. */
    for (int room = 1024; room <= 1 << 20; room *= 4) {
        cpu_set_t *set = CPU_ALLOC(room);
        size_t size = CPU_ALLOC_SIZE(room);
        int count = 0;
        if (set != NULL && sched_getaffinity(0, size, set) == 0)
            count = CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return 1;
}

int cc_cgroup_processes(const struct cc_cgroup *limits, int affinity)
{
    if (affinity < 1)
        affinity = 1;
    if (limits->cpus <= 0 || limits->cpus >= affinity)
        return affinity;
    int whole = (int)limits->cpus;
    return whole < limits->cpus ? whole + 1 : whole;
}
