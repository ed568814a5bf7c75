/* See invocation.h. */
#include "cli/invocation.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

char **cc_invocation_copy(char **argv)
{
    size_t count = 0;

    while (argv[count] != NULL)
        count++;
    char **copy = cc_alloc_zeroed(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = cc_strdup(argv[i]);
    return copy;
}

void cc_invocation_free_copy(char **argv)
{
    for (size_t i = 0; argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}

void cc_invocation_init(struct cc_invocation *invocation, char **argv)
{
    invocation->argv = cc_invocation_copy(argv);
    invocation->folder = getcwd(NULL, 0);
    /* Before any descriptor of ours could take the number of one that is named there. */
    cc_activation_take(&invocation->activation);
    invocation->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void cc_invocation_clear(struct cc_invocation *invocation)
{
    cc_invocation_free_copy(invocation->argv);
    free(invocation->folder);
    cc_activation_clear(&invocation->activation);
    if (invocation->fd >= 0)
        close(invocation->fd);
}
