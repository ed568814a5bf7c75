/* See nearest.h. */
#include "config/nearest.h"

void cc_nearest_init(struct cc_nearest *nearest, const char *name)
{
    size_t len = strlen(name);

    nearest->name = (struct cc_span){name, len};
    nearest->best = (struct cc_span){"", 0};
    nearest->distance = len < 3 ? 0 : len <= 5 ? 2 : len <= 9 ? 3 : 4;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char folded(char c)
{
    return c == '_' ? '-' : c;
}

/* The number of single slips between two texts (optimal string alignment). Both are at most
 * CC_NEAREST_MAX bytes long. */
static unsigned distance(struct cc_span a, struct cc_span b)
{
    unsigned rows[3][CC_NEAREST_MAX + 1];

    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = folded(a.at[i - 1]), y = folded(b.at[j - 1]);
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == folded(b.at[j - 2]) && y == folded(a.at[i - 2]))
                now[j] = least(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

void cc_nearest_consider(struct cc_nearest *nearest, struct cc_span candidate)
{
    if (candidate.len > CC_NEAREST_MAX || nearest->name.len > CC_NEAREST_MAX)
        return;
    unsigned slips = distance(nearest->name, candidate);
    if (slips < nearest->distance) {
        nearest->distance = slips;
        nearest->best = candidate;
    }
}
