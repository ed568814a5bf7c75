/* src/config/convert.c, apply.c, check.c: text to fields by kind, and what is said about it. */
#include "cc_test.h"

#include <stdlib.h>
#include <string.h>

#include "config/apply.h"
#include "config/check.h"
#include "config/convert.h"

struct demo {
    bool flag;
    int64_t number, size, seconds, choice;
    char *text, *path;
    struct cc_texts list;
    int64_t optional;
};

static const char *const colours[] = {"red", "green", NULL};

static const struct cc_option demo_rows[] = {
    {CC_BOOL_ROW("flag", struct demo, flag), .aliases = "switch other-switch"},
    {CC_INT_ROW("number", struct demo, number), .fallback = "3", .min = 1, .max = 10},
    {CC_SIZE_ROW("size-of-it", struct demo, size), .fallback = "4096"},
    {CC_SECONDS_ROW("seconds", struct demo, seconds), .fallback = "60", .max = 3600},
    {CC_CHOICE_ROW("colour", struct demo, choice), .fallback = "green", .choices = colours},
    {CC_TEXT_ROW("text", struct demo, text)},
    {CC_PATH_ROW("path", struct demo, path), .fallback = "/tmp"},
    {CC_LIST_ROW("list", struct demo, list)},
    {CC_SECONDS_ROW("optional", struct demo, optional), .fallback = "0", .bare = "5"},
    {.name = "nothing", .kind = CC_BOOL, .support = CC_NO_EFFECT, .help = "Because."},
    {CC_BOOL_ROW("strict", struct demo, flag)},
};
static const struct cc_option_table demo_table = {
    "demo", demo_rows, sizeof demo_rows / sizeof demo_rows[0], sizeof(struct demo)};

struct fixture {
    struct demo demo;
    struct cc_targets targets;
    struct cc_entries entries;
    struct cc_problems problems;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    cc_targets_add(&fixture->targets, &demo_table, &fixture->demo);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    cc_targets_clear(&fixture->targets);
    cc_entries_clear(&fixture->entries);
    cc_problems_clear(&fixture->problems);
    free(fixture);
    return 0;
}

static void add(struct fixture *fixture, const char *key, const char *value)
{
    struct cc_place place = {"t.ini", (int)fixture->entries.count + 1};
    cc_entries_add(&fixture->entries, key, value, place);
}

static void apply(struct fixture *fixture)
{
    cc_apply(&fixture->entries, &fixture->targets, &fixture->problems);
}

/* The only problem is of that severity and has the part in its text. */
static void expect_problem(const struct fixture *fixture, enum cc_severity severity,
                           const char *part)
{
    assert_int_equal(fixture->problems.count, 1);
    assert_int_equal(fixture->problems.items[0].severity, severity);
    if (strstr(fixture->problems.items[0].text, part) == NULL)
        assert_string_equal(fixture->problems.items[0].text, part);
    assert_int_equal(fixture->problems.items[0].place.line, 1);
}

static void defaults_come_from_the_table(void **state)
{
    struct fixture *fixture = *state;

    apply(fixture);
    assert_false(fixture->demo.flag);
    assert_int_equal(fixture->demo.number, 3);
    assert_int_equal(fixture->demo.size, 4096);
    assert_int_equal(fixture->demo.seconds, 60);
    assert_int_equal(fixture->demo.choice, 1);
    assert_null(fixture->demo.text);
    assert_string_equal(fixture->demo.path, "/tmp");
    assert_int_equal(fixture->demo.list.count, 0);
    assert_int_equal(fixture->problems.count, 0);
    assert_false(cc_targets_origin(&fixture->targets, "number").given);
}

static void the_last_single_value_wins_and_lists_add_up(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "number", "4");
    add(fixture, "list", "a");
    add(fixture, "number", "5");
    add(fixture, "list", "b");
    add(fixture, "other-switch", NULL);
    add(fixture, "text", "one");
    add(fixture, "text", "two");
    apply(fixture);
    assert_int_equal(fixture->demo.number, 5);
    assert_int_equal(cc_targets_origin(&fixture->targets, "number").place.line, 3);
    assert_int_equal(fixture->demo.list.count, 2);
    assert_string_equal(fixture->demo.list.items[1].text, "b");
    assert_int_equal(fixture->demo.list.items[1].place.line, 4);
    assert_string_equal(fixture->demo.text, "two");
    assert_true(fixture->demo.flag);
    assert_int_equal(fixture->problems.count, 0);
}

static void flags(void **state)
{
    static const struct {
        const char *text;
        bool on;
        int severity; /* -1: nothing is said */
    } cases[] = {
        {NULL, true, -1},
        {"", true, -1},
        {"true", true, -1},
        {"TRUE", true, -1},
        {"on", true, -1},
        {"yes", true, -1},
        {"1", true, -1},
        {"false", false, -1},
        {"Off", false, -1},
        {"no", false, -1},
        {"0", false, -1},
        {"true ; note", true, CC_HINT},
        {"1 # note", true, CC_HINT},
        {"false ; note", false, CC_WARNING},
        {"0 # note", false, CC_WARNING},
        {"false;note", false, CC_WARNING},
        {"maybe", true, CC_WARNING},
        {"2", true, CC_WARNING},
        {"false alarm", true, CC_WARNING},
        {"falsely", true, CC_WARNING},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture->demo.flag = !cases[i].on;
        cc_convert(&demo_rows[0], "flag", cases[i].text, &fixture->demo, (struct cc_place){"", 1},
                   &fixture->problems);
        assert_int_equal(fixture->demo.flag, cases[i].on);
        if (cases[i].severity < 0)
            assert_int_equal(fixture->problems.count, 0);
        else
            expect_problem(fixture, (enum cc_severity)cases[i].severity, "flag: ");
        cc_problems_clear(&fixture->problems);
    }
}

static void numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t expected; /* 0: an error */
        bool note;
    } cases[] = {
        {"1", 1, false},
        {"10", 10, false},
        {"007", 7, false},
        {"+5", 5, false},
        {"4 ; four", 4, true},
        {"4 # x", 4, true},
        {"4;x", 4, true},
        {"0", 0, false},
        {"11", 0, false},
        {"-1", 0, false},
        {"four", 0, false},
        {"4x", 0, false},
        {"4 x", 0, false},
        {"0x4", 0, false},
        {"4.5", 0, false},
        {"", 0, false},
        {"1e1", 0, false},
        {"; four", 0, false},
        {"--4", 0, false},
        {"+", 0, false},
        {"99999999999999999999", 0, false},
        {"99999999999999999999999999999999999", 0, false},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture->demo.number = 77;
        cc_convert(&demo_rows[1], "number", cases[i].text, &fixture->demo, (struct cc_place){"", 1},
                   &fixture->problems);
        if (cases[i].expected == 0) {
            expect_problem(fixture, CC_ERROR, "number: ");
            assert_int_equal(fixture->demo.number, 77);
        } else {
            assert_int_equal(fixture->problems.count, cases[i].note);
            assert_int_equal(fixture->problems.errors, 0);
            assert_int_equal(fixture->demo.number, cases[i].expected);
        }
        cc_problems_clear(&fixture->problems);
    }
}

static void errors_say_what_was_expected(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "seconds", "4000");
    apply(fixture);
    expect_problem(fixture, CC_ERROR,
                   "seconds: expected a whole number of seconds from 0 to 3600, got \"4000\"");
    assert_int_equal(fixture->demo.seconds, 60);
}

static void choices(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "colour", "blue");
    apply(fixture);
    expect_problem(fixture, CC_ERROR, "colour: expected one of red, green, got \"blue\"");
    assert_int_equal(fixture->demo.choice, 1);
}

static void a_value_is_needed(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "text", "");
    apply(fixture);
    expect_problem(fixture, CC_ERROR, "text: needs a value (text)");
}

static void some_options_need_none(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "optional", NULL);
    apply(fixture);
    assert_int_equal(fixture->demo.optional, 5);
    add(fixture, "optional", "true");
    add(fixture, "optional", "7");
    apply(fixture);
    assert_int_equal(fixture->demo.optional, 7);
    assert_int_equal(fixture->problems.count, 0);
}

static void notes_in_texts_stay(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "path", "/srv ; the folder");
    apply(fixture);
    expect_problem(fixture, CC_WARNING, "what looks like a note");
    assert_string_equal(fixture->demo.path, "/srv ; the folder");
}

static void without_effect_is_a_hint(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "nothing", "true");
    apply(fixture);
    expect_problem(fixture, CC_HINT, "nothing: no effect here. Because.");
}

static void names_that_no_table_has(void **state)
{
    static const struct {
        const char *name, *part;
        int severity;
    } cases[] = {
        {"numbr", "did you mean \"number\"", CC_WARNING},
        {"ohter-switch", "did you mean \"flag\"", CC_WARNING},
        {"size_of_it", "taken for size-of-it", CC_HINT},
        {"daemonise", "did you mean \"daemonize\"", CC_WARNING},
        {"spooler", "spooler (t.ini:1)", CC_WARNING},
        {"my-own-name", "no %(my-own-name) uses it", CC_HINT},
        {"x", "no %(x) uses it", CC_HINT},
        {"", "no key before", CC_WARNING},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add(fixture, cases[i].name, "1");
        apply(fixture);
        expect_problem(fixture, (enum cc_severity)cases[i].severity, cases[i].part);
        cc_problems_clear(&fixture->problems);
        cc_entries_clear(&fixture->entries);
    }
}

static void strict_turns_them_into_errors(void **state)
{
    static const char *const names[] = {"numbr", "spooler", "my-own-name"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        add(fixture, names[i], "1");
        add(fixture, "strict", "true");
        apply(fixture);
        expect_problem(fixture, CC_ERROR, names[i]);
        cc_problems_clear(&fixture->problems);
        cc_entries_clear(&fixture->entries);
    }
}

static void used_keys_are_placeholders(void **state)
{
    struct fixture *fixture = *state;

    add(fixture, "numbr", "1");
    fixture->entries.items[0].used = true;
    add(fixture, "strict", "true");
    apply(fixture);
    assert_int_equal(fixture->problems.count, 0);
}

static void an_option_in_two_tables_fills_both(void **state)
{
    struct fixture *fixture = *state;
    static struct demo second; /* cleared in tear_down() */

    cc_targets_add(&fixture->targets, &demo_table, &second);
    add(fixture, "number", "8");
    add(fixture, "text", "t");
    apply(fixture);
    assert_int_equal(fixture->demo.number, 8);
    assert_int_equal(second.number, 8);
    assert_string_equal(second.text, "t");
    assert_ptr_not_equal(second.text, fixture->demo.text);
}

static void problems_are_printed_in_order(void **state)
{
    struct fixture *fixture = *state;
    struct cc_problems *problems = &fixture->problems;
    char text[400] = "";
    FILE *to = fmemopen(text, sizeof text, "w");

    cc_problems_add(problems, CC_ERROR, (struct cc_place){"b.ini", 9}, "nine");
    cc_problems_add(problems, CC_WARNING, (struct cc_place){"a.ini", 2}, "two");
    cc_problems_add(problems, CC_HINT, (struct cc_place){"b.ini", 1}, "hidden");
    cc_problems_add(problems, CC_ERROR, (struct cc_place){"b.ini", 3}, "three");
    cc_problems_add(problems, CC_ERROR, (struct cc_place){0}, "first");
    cc_problems_add(problems, CC_ERROR, (struct cc_place){"b.ini", 0}, "whole");
    cc_problems_print(problems, CC_WARNING, to);
    fclose(to);
    assert_string_equal(text, "command line: first\nb.ini: whole\nb.ini:3: three\nb.ini:9: nine\n"
                              "a.ini:2: warning: two\n");
    assert_int_equal(problems->errors, 4);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(defaults_come_from_the_table),
        CASE(the_last_single_value_wins_and_lists_add_up),
        CASE(flags),
        CASE(numbers),
        CASE(errors_say_what_was_expected),
        CASE(choices),
        CASE(a_value_is_needed),
        CASE(some_options_need_none),
        CASE(notes_in_texts_stay),
        CASE(without_effect_is_a_hint),
        CASE(names_that_no_table_has),
        CASE(strict_turns_them_into_errors),
        CASE(used_keys_are_placeholders),
        CASE(an_option_in_two_tables_fills_both),
        CASE(problems_are_printed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
