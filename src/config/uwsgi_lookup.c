/* See uwsgi_names.h. */
#include "config/uwsgi_names.h"

#include <string.h>

const struct cc_uwsgi_name *cc_uwsgi_name_find(const char *name)
{
    for (size_t i = 0; i < cc_uwsgi_names_count; i++)
        if (strcmp(cc_uwsgi_names[i].name, name) == 0)
            return &cc_uwsgi_names[i];
    return NULL;
}

const struct cc_uwsgi_name *cc_uwsgi_letter_find(char letter)
{
    for (size_t i = 0; i < cc_uwsgi_names_count; i++)
        if (letter != 0 && cc_uwsgi_names[i].letter == letter)
            return &cc_uwsgi_names[i];
    return NULL;
}
