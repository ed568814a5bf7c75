/* An app whose ways are written in a file, so that they can change while its processes run. */
#ifndef APP_FILE_H
#define APP_FILE_H

#include <stdbool.h>

/* Of a group of tests: makes the file, and removes it. */
int app_file_make(void **state);
int app_file_remove(void **state);
/* What the app does from now on. */
void set_app(const char *text);
/* Whether the file begins so. Any process. */
bool app_is(const char *what);

#endif
