/* See header_bytes.h. */
#include "request/header_bytes.h"

const unsigned char cc_header_name_bytes[256] = {
    ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*',
    ['+'] = '+', ['-'] = '_', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`',   ['|'] = '|',
    ['~'] = '~', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',   ['5'] = '5',
    ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'A', ['B'] = 'B',   ['C'] = 'C',
    ['D'] = 'D', ['E'] = 'E', ['F'] = 'F', ['G'] = 'G', ['H'] = 'H', ['I'] = 'I',   ['J'] = 'J',
    ['K'] = 'K', ['L'] = 'L', ['M'] = 'M', ['N'] = 'N', ['O'] = 'O', ['P'] = 'P',   ['Q'] = 'Q',
    ['R'] = 'R', ['S'] = 'S', ['T'] = 'T', ['U'] = 'U', ['V'] = 'V', ['W'] = 'W',   ['X'] = 'X',
    ['Y'] = 'Y', ['Z'] = 'Z', ['a'] = 'A', ['b'] = 'B', ['c'] = 'C', ['d'] = 'D',   ['e'] = 'E',
    ['f'] = 'F', ['g'] = 'G', ['h'] = 'H', ['i'] = 'I', ['j'] = 'J', ['k'] = 'K',   ['l'] = 'L',
    ['m'] = 'M', ['n'] = 'N', ['o'] = 'O', ['p'] = 'P', ['q'] = 'Q', ['r'] = 'R',   ['s'] = 'S',
    ['t'] = 'T', ['u'] = 'U', ['v'] = 'V', ['w'] = 'W', ['x'] = 'X', ['y'] = 'Y',   ['z'] = 'Z',
};

/* Whether any of eight bytes is below 0x20 or is 0x7f (the tab is found too: the caller looks).
 * Eight at once, because every byte of every header's value passes here. */
static bool eight_have_control(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t word;

    memcpy(&word, at, sizeof word);
    uint64_t low = (word - ones * 0x20) & ~word;
    uint64_t without_del = word ^ (ones * 0x7f);
    uint64_t del = (without_del - ones) & ~without_del;
    return ((low | del) & tops) != 0;
}

const char *cc_find_control(const char *at, const char *end)
{
    while (at < end) {
        while (end - at >= 8 && !eight_have_control(at))
            at += 8;
        for (int i = 0; i < 8 && at < end; i++, at++)
            if (cc_is_control(*at))
                return at;
    }
    return end;
}
