/* Runs a fuzz harness over files, without libFuzzer: each argument is a file or a folder of them;
 * without any, the harness's own corpus (CC_CORPUS), as make check does. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fd.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static unsigned replay_file(const char *path)
{
    size_t len;
    char *bytes = cc_fd_read_file(path, (size_t)1 << 24, &len);

    if (bytes == NULL)
        return 0;
    /* A copy of exactly len bytes, so that AddressSanitizer sees a read past the end. */
    uint8_t *exact = cc_alloc(len == 0 ? 1 : len);
    for (size_t i = 0; i < len; i++)
        exact[i] = (uint8_t)bytes[i];
    LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    free(bytes);
    return 1;
}

static unsigned replay(const char *path)
{
    DIR *folder = opendir(path);
    unsigned count = 0;

    if (folder == NULL)
        return replay_file(path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char *file = cc_format("%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            count += replay_file(file);
        free(file);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    unsigned count = 0;

    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    if (argc == 1)
        count = replay(CC_CORPUS);
    printf("replayed %u inputs\n", count);
    return count == 0;
}
