/* src/config/load.c, expand.c and expression.c: text to entries with everything replaced. Expected
 * values are uWSGI's; tests/integration/test_show_config.py compares with the real one. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "config/expand.h"

struct fixture {
    struct cc_entries entries;
    struct cc_problems problems;
    struct cc_loader loader;
};

/* Files of the test: "name" is there, anything else is not. */
static bool fake_file(const char *path, char **text, size_t *len, struct cc_err *err)
{
    static const char *const files[][2] = {
        {"two-lines", "one\ntwo\n"},
        {"bare", "x"},
        {"empty", ""},
        {"inner.ini", "[uwsgi]\ninner = %n\n[other]\ninner = other\n"},
        {"self.ini", "[uwsgi]\ninclude = self.ini\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(files[i][0], path) == 0) {
            *text = cc_strdup(files[i][1]);
            *len = strlen(*text);
            return true;
        }
    return cc_fail(err, "not there");
}

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    cc_loader_init(&fixture->loader, &fixture->entries, &fixture->problems);
    fixture->loader.read_file = fake_file;
}

static void end(struct fixture *fixture)
{
    cc_loader_clear(&fixture->loader);
    cc_entries_clear(&fixture->entries);
    cc_problems_clear(&fixture->problems);
}

static void read_lines(struct fixture *fixture, const char *lines)
{
    char *text = cc_format("[uwsgi]\n%s", lines);

    begin(fixture);
    cc_load_text(&fixture->loader, cc_span_of(text), "t.ini");
    cc_expand(&fixture->loader);
    free(text);
}

/* Value of the key x in the lines. */
static void expect(const char *lines, const char *expected)
{
    struct fixture fixture;

    read_lines(&fixture, lines);
    const struct cc_entry *entry = cc_entries_find(&fixture.entries, "x");
    assert_non_null(entry);
    if (strcmp(entry->value, expected) != 0)
        print_error("in: %s\n", lines);
    assert_string_equal(entry->value, expected);
    assert_int_equal(fixture.problems.errors, 0);
    end(&fixture);
}

static void keys(void **state)
{
    (void)state;
    expect("a = 1\nx = %(a)", "1");
    expect("x = %(a)\na = 1", "1");
    expect("a = 1\na = 2\nx = <%(a)>", "<1>");
    expect("x = %(nope) %(method)", "%(nope) %(method)");
    expect("x = %() %(a", "%() %(a");
    expect("a = 1\nx = (%(a)) %((a))", "(1) %((a))");
    expect("a = 1\nx = %(%(a))", "%(1)");
    expect("master\nx = <%(master)>", "<>");
    expect("a b = 1\nx = %(c)\nc = 2", "2");
}

static void chains_are_read_again_from_the_second_byte(void **state)
{
    (void)state;
    expect("x = %(b)\nb = %(c)\nc = 3", "%(c)");
    expect("x = a%(b)\nb = %(c)\nc = 3", "a3");
    expect("c = 3\nb = %(c)\nx = %(b)", "3");
    expect("x = %(x)1", "%(x)11");
}

static void sums(void **state)
{
    (void)state;
    expect("n = 3\nx = %(n + 2)", "5");
    expect("n = 3\nx = %(n - 10 * 2)", "-14");
    expect("n = 7\nx = %(n / 2)", "3");
    expect("n = 7\nx = %(n / 0)", "0");
    expect("n = 7\nx = %(n ++)%(n --)", "86");
    expect("n = 7\nx = %(n++)", "%(n++)");
    expect("n = 7\nm = 8\nx = %(n m)", "78");
    expect("x = %(a b)", "");
    expect("x = %(a + 1)", "1");
    expect("x = %(1 + 2)", "3");
    expect("n = 9223372036854775807\nx = %(n + 1)", "-9223372036854775808");
    expect("n = -9223372036854775808\nm = -1\nx = %(n / m)", "-9223372036854775808");
}

static void environment(void **state)
{
    (void)state;
    setenv("CC_UNIT_ONE", "one", 1);
    setenv("CC_UNIT_KEY", "%(a)", 1);
    unsetenv("CC_UNIT_NONE");
    expect("x = $(CC_UNIT_ONE)", "one");
    expect("x = <$(CC_UNIT_ONE)|$(CC_UNIT_NONE)>", "<one|$(CC_UNIT_NONE)>");
    expect("a = 5\nx = $(CC_UNIT_KEY)", "5");
    expect("x = $CC_UNIT_ONE", "$CC_UNIT_ONE");
}

static void files(void **state)
{
    (void)state;
    expect("x = <@(two-lines)>", "<one\ntwo>");
    expect("x = @(bare)@(empty)@(bare)", "xx");
    expect("n = bare\nx = me@example.org @ (bare)", "me@example.org @ (bare)");
}

/* Errors, each with its line. */
static void expect_error(const char *lines, int line, const char *part)
{
    struct fixture fixture;

    read_lines(&fixture, lines);
    assert_int_equal(fixture.problems.errors, 1);
    for (size_t i = 0; i < fixture.problems.count; i++)
        if (fixture.problems.items[i].severity == CC_ERROR) {
            assert_int_equal(fixture.problems.items[i].place.line, line);
            if (strstr(fixture.problems.items[i].text, part) == NULL)
                assert_string_equal(fixture.problems.items[i].text, part);
        }
    end(&fixture);
}

static void errors_have_their_line(void **state)
{
    (void)state;
    expect_error("a = 1\nx = @(none)", 3, "@(none): not there");
    expect_error("x = @(http://x/)", 2, "no scheme");
    expect_error("a = 1\nb = 2\nx = a%(x)", 4, "lead back to itself");
    expect_error("a = 0123456789abcdef0123456789abcdef\n"
                 "b = %(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)%(a)\n"
                 "c = %(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)%(b)\n"
                 "d = %(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)%(c)\n"
                 "e = %(d)%(d)",
                 6, "more than 128 KiB");
    expect_error("set-ph = nothing", 2, "expected key=value");
    expect_error("if-env = A\nfor = b", 3, "blocks do not nest");
    expect_error("include = none.ini", 2, "none.ini: not there");
    expect_error("ini = :x", 2, "names a section of the file before it");
}

static void included_files_have_their_own_words(void **state)
{
    struct fixture fixture;
    (void)state;

    begin(&fixture);
    cc_load_entry(&fixture.loader, "ini", "inner.ini", (struct cc_place){0});
    cc_load_entry(&fixture.loader, "ini", ":other", (struct cc_place){0});
    assert_int_equal(fixture.entries.count, 4);
    assert_string_equal(fixture.entries.items[1].value, "inner");
    assert_int_equal(fixture.entries.items[1].place.line, 2);
    assert_string_equal(fixture.entries.items[1].place.file, "inner.ini");
    assert_string_equal(fixture.entries.items[3].value, "other");
    assert_null(fixture.loader.words.of['n']);
    assert_int_equal(fixture.problems.count, 0);
    end(&fixture);
}

static void circles_are_found(void **state)
{
    struct fixture fixture;
    (void)state;

    begin(&fixture);
    cc_load_file(&fixture.loader, "self.ini", (struct cc_place){0});
    assert_int_equal(fixture.problems.errors, 1);
    assert_non_null(strstr(fixture.problems.items[0].text, "includes itself"));
    assert_int_equal(fixture.problems.items[0].place.line, 2);
    end(&fixture);
}

static void placeholders_are_kept_as_they_are(void **state)
{
    struct fixture fixture;
    (void)state;

    read_lines(&fixture, "n = 1\nset-ph = a=%(n)\nset = b=%(n)\n");
    const struct cc_entry *a = cc_entries_find(&fixture.entries, "a");
    const struct cc_entry *b = cc_entries_find(&fixture.entries, "b");
    assert_string_equal(a->value, "%(n)");
    assert_true(a->placeholder);
    assert_string_equal(b->value, "1");
    assert_false(b->placeholder);
    assert_true(cc_entries_find(&fixture.entries, "n")->used);
    assert_false(b->used);
    end(&fixture);
}

static void blocks(void **state)
{
    (void)state;
    setenv("CC_TEST", "yes", 1);
    expect("if-env = CC_TEST\nx = %(_)\nelse\nx = no\nendif", "yes");
    expect("if-not-env = CC_TEST\nx = %(_)\nelse =\nx = no %(_)\nendif", "no yes");
    expect("for = a b\nset-ph = x=%(_)\nendfor\nif-opt = x=a\ny = 1\nend\nx = %(y)", "a");
    expect("if-reload\nx = again\nelse\nx = first\nendif", "first");
    expect("end\nelse\nendif = 3\nx = 1", "1");
}

/* A few bytes must not become gigabytes. */
static void expect_bounded(const char *lines)
{
    struct fixture fixture;

    read_lines(&fixture, lines);
    assert_true(fixture.problems.errors > 0 && fixture.problems.errors < 5);
    assert_true(fixture.entries.count <= 10000);
    end(&fixture);
}

static void blocks_are_bounded(void **state)
{
    struct cc_buf line = {0};
    (void)state;

    expect_bounded("for-times = 999999999\nx = %(_)\nendfor");
    for (int i = 0; i < 3000; i++)
        CC_BUF_LITERAL(&line, "%(_)");
    expect_bounded("for-times = 99\ninclude = nowhere\nend\nfor-times = 10001\nx\nend");
    char *lines = cc_format("for = %0*d\nx = %s\nendfor", 9000, 0, cc_buf_text(&line));
    expect_bounded(lines);
    free(lines);
    cc_buf_clear(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(chains_are_read_again_from_the_second_byte),
        cmocka_unit_test(sums),
        cmocka_unit_test(environment),
        cmocka_unit_test(files),
        cmocka_unit_test(errors_have_their_line),
        cmocka_unit_test(included_files_have_their_own_words),
        cmocka_unit_test(circles_are_found),
        cmocka_unit_test(placeholders_are_kept_as_they_are),
        cmocka_unit_test(blocks),
        cmocka_unit_test(blocks_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
