/* See words.h. The letters are uWSGI's. */
#include "config/words.h"

#include <config.h>
#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"

/* The letters that follow the file being read; their capitals follow the first one. */
static const char of_file[] = "dnspcexoij";

/* Takes text. */
static void set(struct cc_words *words, char letter, char *text)
{
    unsigned char index = (unsigned char)letter;

    free(words->of[index]);
    words->of[index] = text;
}

static void set_system(struct cc_words *words)
{
    char host[256] = "";
    char *folder = getcwd(NULL, 0);
    const struct passwd *user = getpwuid(getuid());
    const struct group *group = getgrgid(getgid());

    gethostname(host, sizeof host - 1);
    set(words, 'h', cc_strdup(host));
    set(words, 'v', cc_strdup(folder == NULL ? "" : folder));
    set(words, 'u', cc_format("%u", (unsigned)getuid()));
    set(words, 'g', cc_format("%u", (unsigned)getgid()));
    set(words, 'U', user == NULL ? cc_format("%u", (unsigned)getuid()) : cc_strdup(user->pw_name));
    set(words, 'G',
        group == NULL ? cc_format("%u", (unsigned)getgid()) : cc_strdup(group->gr_name));
    free(folder);
}

void cc_words_init(struct cc_words *words)
{
    struct timeval now;

    *words = (struct cc_words){{NULL}};
    gettimeofday(&now, NULL);
    set_system(words);
    set(words, 't', cc_format("%lld", (long long)now.tv_sec));
    set(words, 'T', cc_format("%lld", (long long)now.tv_sec * 1000000 + now.tv_usec));
    set(words, 'b', realpath("/proc/self/exe", NULL));
    set(words, 'V', cc_strdup(PACKAGE_VERSION));
    set(words, 'k', cc_format("%ld", sysconf(_SC_NPROCESSORS_ONLN)));
    set(words, '[', cc_strdup("\033"));
    set(words, '%', cc_strdup("%"));
    set(words, '(', cc_strdup("%("));
}

/* Bernstein's hash in the form h * 33 ^ c, which uWSGI prints for %j. */
static uint32_t hash(const char *text)
{
    uint32_t sum = 5381;

    for (; *text != '\0'; text++)
        sum = (sum * 33) ^ (unsigned char)*text;
    return sum;
}

/* %0 is the first folder of the path, %1 the second... */
static void set_parts(struct cc_words *words, const char *path)
{
    for (char digit = '0'; digit <= '9'; digit++)
        set(words, digit, NULL);
    for (char digit = '0'; digit <= '9'; digit++) {
        if (*path == '/')
            path++;
        const char *end = strchr(path, '/');
        if (end == NULL)
            return; /* what is left is the file itself */
        set(words, digit, cc_strndup(path, (size_t)(end - path)));
        path = end;
    }
}

void cc_words_enter(struct cc_words *words, const char *argument, const char *path,
                    const char *section)
{
    struct stat status;
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    const char *parent = slash;

    while (parent != NULL && parent > path && parent[-1] != '/')
        parent--;
    set(words, 'o', cc_strdup(argument));
    set(words, 'p', cc_strdup(path));
    set(words, 's', cc_strdup(name));
    set(words, 'd', cc_strndup(path, (size_t)(name - path)));
    set(words, 'c', slash == NULL ? cc_strdup("") : cc_strndup(parent, (size_t)(slash - parent)));
    set(words, 'x', cc_strdup(section));
    if (dot != NULL) {
        set(words, 'e', cc_strdup(dot + 1));
        set(words, 'n', cc_strndup(name, (size_t)(dot - name)));
    }
    set(words, 'i', stat(path, &status) == 0 ? cc_format("%ju", (uintmax_t)status.st_ino) : NULL);
    uint32_t sum = hash(path);
    /* Byte by byte, lowest first. */
    set(words, 'j',
        cc_format("%02X%02X%02X%02X", sum & 0xff, sum >> 8 & 0xff, sum >> 16 & 0xff, sum >> 24));
    set_parts(words, path);
}

void cc_words_keep_first(struct cc_words *words)
{
    for (const char *letter = of_file; *letter != '\0'; letter++) {
        const char *text = words->of[(unsigned char)*letter];
        set(words, (char)toupper(*letter), text == NULL ? NULL : cc_strdup(text));
    }
}

void cc_words_copy(struct cc_words *to, const struct cc_words *from)
{
    for (size_t i = 0; i < 256; i++)
        to->of[i] = from->of[i] == NULL ? NULL : cc_strdup(from->of[i]);
}

void cc_words_clear(struct cc_words *words)
{
    for (size_t i = 0; i < 256; i++)
        free(words->of[i]);
    *words = (struct cc_words){{NULL}};
}

char cc_words_replace(const struct cc_words *words, struct cc_span line, struct cc_buf *out)
{
    char unknown = '\0';

    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] != '%' || i + 1 == line.len) {
            cc_buf_append(out, line.at + i, 1);
            continue;
        }
        const char *text = words->of[(unsigned char)line.at[++i]];
        if (text != NULL)
            cc_buf_append(out, text, strlen(text));
        else if (unknown == '\0' && strchr(of_file, line.at[i]) == NULL &&
                 strchr("DNSPCEXOIJ0123456789", line.at[i]) == NULL)
            unknown = line.at[i];
    }
    return unknown;
}
