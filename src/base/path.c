/* See path.h. */
#include "base/path.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

char *cc_path_absolute(const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    char *whole = folder == NULL ? cc_strdup(path) : cc_format("%s/%s", folder, path);

    free(folder);
    return whole;
}
