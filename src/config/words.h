/* The %-words of an ini (%d, %n, %k...): replaced in each line as it is read. */
#ifndef CC_CONFIG_WORDS_H
#define CC_CONFIG_WORDS_H

#include <stddef.h>

#include "base/buf.h"

/* What each letter stands for. All zero: no letter stands for anything. One thread. */
struct cc_words {
    char *of[256]; /* owned; NULL: the word vanishes, as in uWSGI */
};

/* Fills what is the same in every file: %v %h %t %T %V %b %k %u %U %g %G and %[. */
void cc_words_init(struct cc_words *words);
/* Fills what one file brings: %d %n %s %p %c %e %x %o %i %j and %0 to %9 (with those that end up
 * empty kept from the file before, as in uWSGI). argument: as it was given, without its section;
 * path: of the file, whole. section: asked for by name, or "". */
void cc_words_enter(struct cc_words *words, const char *argument, const char *path,
                    const char *section);
/* Makes the words of the first file (%D %N...) from those of the file just entered. */
void cc_words_keep_first(struct cc_words *words);
/* A copy, to come back to after an included file. */
void cc_words_copy(struct cc_words *to, const struct cc_words *from);
void cc_words_clear(struct cc_words *words);
/* Appends the line with its words replaced. %( stays, for expand.h. Returns the first letter that
 * is no word ('\0': none): it vanishes together with its %. A % at the end stays. */
char cc_words_replace(const struct cc_words *words, struct cc_span line, struct cc_buf *out);

#endif
