/* See app_file.h. */
#include "app_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char app_file[64];

int app_file_make(void **state)
{
    (void)state;
    strcpy(app_file, "/tmp/cc-test-app-XXXXXX");
    close(mkstemp(app_file));
    return 0;
}

int app_file_remove(void **state)
{
    (void)state;
    unlink(app_file);
    return 0;
}

void set_app(const char *text)
{
    FILE *file = fopen(app_file, "w");
    fputs(text, file);
    fclose(file);
}

bool app_is(const char *what)
{
    char text[16] = "";
    int fd = open(app_file, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, text, sizeof text - 1);

    close(fd);
    return got > 0 && strncmp(text, what, strlen(what)) == 0;
}
