/* See procname.h. The kernel shows the memory in which it put the command line; when the last byte
 * of that is not 0, it shows all up to the first 0, also where the first environment began. So a
 * name is written there and filled up with zeros. (libbsd's setproctitle() leaves a dot in names
 * that are shorter than the program's path; PR_SET_MM_ARG_START needs a capability.) */
#include "system/procname.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

/* Of the process; written before its first thread and its first child, each of which has its own.
 */
static struct {
    char *at; /* NULL: no names are asked for */
    size_t size;
    char *copy; /* of what was there; argv[0] is at its begin */
} area;

/* uWSGI's order: procname-master, then procname, then what auto-procname makes up. */
static bool is_named(const struct cc_name_settings *names)
{
    return names->automatic || names->all != NULL || names->master != NULL;
}

/* Where the strings that follow each other in memory from here on end. */
static char *end_of(char *const *strings, char *end)
{
    for (; *strings != NULL; strings++)
        if (*strings == end)
            end += strlen(end) + 1;
    return end;
}

/* Those of the strings that are in the area, from then on in its copy. */
static void move_away(char **strings)
{
    for (; *strings != NULL; strings++)
        if (*strings >= area.at && *strings < area.at + area.size)
            *strings = area.copy + (*strings - area.at);
}

void cc_procname_begin(const struct cc_name_settings *names, char **argv)
{
    if (!is_named(names) || argv[0] == NULL)
        return;
    area.at = argv[0];
    area.size = (size_t)(end_of(environ, end_of(argv, area.at)) - area.at);
    area.copy = cc_alloc(area.size);
    memcpy(area.copy, area.at, area.size);
    move_away(argv);
    move_away(environ);
}

/* Each part goes behind the ones before, as far as there is room. */
static void show(const char *const *parts, size_t count)
{
    size_t used = 0;

    memset(area.at, 0, area.size);
    for (size_t i = 0; i < count; i++) {
        size_t len = parts[i] == NULL ? 0 : strlen(parts[i]);
        size_t room = area.size - 1 - used;
        len = len < room ? len : room;
        memcpy(area.at + used, parts[i] == NULL ? "" : parts[i], len);
        used += len;
    }
}

void cc_procname_set(const struct cc_name_settings *names, enum cc_role role, int number)
{
    const char *name = role == CC_ROLE_MASTER && names->master != NULL ? names->master : names->all;
    char made[64];

    if (area.at == NULL)
        return;
    if (name == NULL && !names->automatic) {
        show((const char *const[]){area.copy}, 1); /* not the name of the parent */
        return;
    }
    if (role == CC_ROLE_MASTER)
        snprintf(made, sizeof made, "ccontainer master");
    else
        snprintf(made, sizeof made, "ccontainer %s %d", role == CC_ROLE_WORKER ? "worker" : "app",
                 number);
    const char *space = names->prefix_spaced == NULL ? NULL : " ";
    show((const char *const[]){names->prefix_spaced, space, names->prefix,
                               name == NULL ? made : name, names->append},
         5);
}
