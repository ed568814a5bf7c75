/* src/config/ini_reader.c: uWSGI's lines, whatever inih would make of them. */
#include "cc_test.h"

#include <stdio.h>
#include <string.h>

#include "config/ini_reader.h"

/* What came out, as "number:[section] key=value|" each. */
static struct cc_buf seen;
static struct cc_problems problems;

static void note_line(void *context, const struct cc_ini_line *line)
{
    (void)context;
    cc_buf_printf(&seen, "%d:[%s] %s=%s|", line->number, line->section, line->key, line->value);
}

static bool read_span(struct cc_span text)
{
    struct cc_ini_events events = {.line = note_line};

    cc_problems_clear(&problems);
    cc_buf_clear(&seen);
    return cc_ini_read(text, "test.ini", &events, &problems);
}

static const char *read_text(const char *text)
{
    assert_true(read_span(cc_span_of(text)));
    return cc_buf_text(&seen);
}

static int clear(void **state)
{
    (void)state;
    cc_problems_clear(&problems);
    cc_buf_clear(&seen);
    return 0;
}

static void keys_values_and_numbers(void **state)
{
    (void)state;
    assert_string_equal(read_text("[uwsgi]\na = 1\n\nb=2\n"), "2:[uwsgi] a=1|4:[uwsgi] b=2|");
    assert_string_equal(read_text("[uwsgi]\na=1"), "2:[uwsgi] a=1|");
    assert_string_equal(read_text("a=1\n[x]\nb=2"), "1:[] a=1|3:[x] b=2|");
    assert_string_equal(read_text(""), "");
    assert_string_equal(read_text("\n\n"), "");
    assert_int_equal(problems.count, 0);
}

static void bare_keys_are_flags(void **state)
{
    (void)state;
    assert_string_equal(read_text("[uwsgi]\nmaster\n  vacuum  \nx =\n"),
                        "2:[uwsgi] master=|3:[uwsgi] vacuum=|4:[uwsgi] x=|");
}

static void indentation_means_nothing(void **state)
{
    (void)state;
    assert_string_equal(read_text("[uwsgi]\na = 1\n  b = 2\n\t c = 3\n"),
                        "2:[uwsgi] a=1|3:[uwsgi] b=2|4:[uwsgi] c=3|");
}

static void only_the_first_equals_splits(void **state)
{
    (void)state;
    assert_string_equal(read_text("[uwsgi]\nenv = A=B=C\n= x\na:b = c:d\n"),
                        "2:[uwsgi] env=A=B=C|3:[uwsgi] =x|4:[uwsgi] a:b=c:d|");
}

static void notes_are_part_of_the_value(void **state)
{
    (void)state;
    assert_string_equal(read_text("[uwsgi]\na = 1 ; one\nb = #2\n ; c = 3\n#d = 4\n"),
                        "2:[uwsgi] a=1 ; one|3:[uwsgi] b=#2|");
}

static void windows_files(void **state)
{
    (void)state;
    assert_string_equal(read_text("\xef\xbb\xbf[uwsgi]\r\na = 1\r\n\r\nb\r\n"),
                        "2:[uwsgi] a=1|4:[uwsgi] b=|");
}

static void lines_of_any_length(void **state)
{
    char text[9000], expected[9000];
    (void)state;

    for (int len = 1; len < 4000; len += len < 300 ? 1 : 77) {
        snprintf(text, sizeof text, "[uwsgi]\na = %0*d\nb = 2\n", len, 7);
        snprintf(expected, sizeof expected, "2:[uwsgi] a=%0*d|3:[uwsgi] b=2|", len, 7);
        assert_string_equal(read_text(text), expected);
        snprintf(text, sizeof text, "[uwsgi]\n%0*d = a\nb = 2\n", len, 7);
        snprintf(expected, sizeof expected, "2:[uwsgi] %0*d=a|3:[uwsgi] b=2|", len, 7);
        assert_string_equal(read_text(text), expected);
        snprintf(text, sizeof text, "[%0*d]\nb = 2\n", len, 7);
        snprintf(expected, sizeof expected, "2:[%0*d] b=2|", len, 7);
        assert_string_equal(read_text(text), expected);
    }
}

static void headers_must_be_closed(void **state)
{
    (void)state;
    assert_string_equal(read_text("[a]\nx=1\n[uwsgi\ny=2\n[b] # note\n"), "2:[a] x=1|4:[a] y=2|");
    assert_int_equal(problems.errors, 2);
    assert_int_equal(problems.items[0].place.line, 3);
    assert_int_equal(problems.items[1].place.line, 5);
    assert_string_equal(problems.items[1].place.file, "test.ini");
    assert_string_equal(read_text("[]\nx=1\n[ a b ]\ny=2\n[a]b]\nz=3\n"),
                        "2:[] x=1|4:[ a b ] y=2|6:[a]b] z=3|");
    assert_int_equal(problems.errors, 0);
}

static void nul_bytes_are_no_text(void **state)
{
    (void)state;
    assert_false(read_span((struct cc_span){"[uwsgi]\na\0b\n", 12}));
    assert_int_equal(problems.errors, 1);
    assert_int_equal(problems.items[0].place.line, 2);
    assert_non_null(strstr(problems.items[0].text, "offset 9"));
    assert_int_equal(seen.len, 0);
}

static const struct cc_words *test_words(void *context)
{
    return context;
}

static void words_are_replaced_line_by_line(void **state)
{
    struct cc_words words;
    struct cc_ini_events events = {.context = &words, .line = note_line, .words = test_words};
    (void)state;

    cc_problems_clear(&problems);
    cc_buf_clear(&seen);
    cc_words_init(&words);
    cc_words_enter(&words, "x.ini", "/srv/www/x.ini", "");
    assert_true(cc_ini_read(cc_span_of("[%n]\nd = %d%%d %(key)\nz = a%qb\ne = 5%\nf = %1\n"),
                            "x.ini", &events, &problems));
    assert_string_equal(cc_buf_text(&seen),
                        "2:[x] d=/srv/www/%d %(key)|3:[x] z=ab|4:[x] e=5%|5:[x] f=www|");
    assert_int_equal(problems.count, 2); /* %q vanishes, the % at the end */
    assert_int_equal(problems.items[0].place.line, 3);
    assert_int_equal(problems.items[1].place.line, 4);
    cc_words_clear(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_values_and_numbers),
        cmocka_unit_test(bare_keys_are_flags),
        cmocka_unit_test(indentation_means_nothing),
        cmocka_unit_test(only_the_first_equals_splits),
        cmocka_unit_test(notes_are_part_of_the_value),
        cmocka_unit_test(windows_files),
        cmocka_unit_test(lines_of_any_length),
        cmocka_unit_test(headers_must_be_closed),
        cmocka_unit_test(nul_bytes_are_no_text),
        cmocka_unit_test(words_are_replaced_line_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
