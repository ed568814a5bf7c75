/* The option tables themselves: the core's and those of the plugins that are built. */
#include "cc_test.h"

#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "config/apply.h"
#include "config/check.h"
#include "config/options_core.h"
#include "config/settings.h"
#include "config/targets.h"
#include "config/uwsgi_names.h"
#include "plugin/loader.h"

static struct cc_settings settings;
static struct cc_targets targets;
static struct cc_plugins plugins;

static int open_tables(void **state)
{
    static const char *const names[] = {"http", "uwsgi", "python", "native"};
    struct cc_text folder = {(char *)"./.libs", {0}};
    struct cc_texts folders = {&folder, 1};
    (void)state;

    cc_options_core_add(&targets, &settings);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cc_plugins_open(&plugins, names[i], &folders, NULL);
    for (size_t i = 0; i < plugins.count; i++)
        cc_targets_add(&targets, plugins.items[i].plugin->options, plugins.items[i].settings);
    return 0;
}

static int close_tables(void **state)
{
    (void)state;
    cc_targets_clear(&targets);
    cc_plugins_close(&plugins);
    return 0;
}

static void each_row(void (*check)(const struct cc_option_table *table,
                                   const struct cc_option *row))
{
    for (size_t i = 0; i < targets.count; i++)
        for (size_t row = 0; row < targets.items[i].table->count; row++)
            check(targets.items[i].table, &targets.items[i].table->rows[row]);
}

/* How many rows of the table's owner answer to the name. */
static unsigned count_name(const struct cc_option_table *table, const char *name, size_t len)
{
    unsigned count = 0;
    char *alone = cc_strndup(name, len);

    for (size_t i = 0; i < targets.count; i++) {
        const struct cc_option_table *other = targets.items[i].table;
        for (size_t row = 0; row < other->count && strcmp(other->owner, table->owner) == 0; row++) {
            struct cc_option_table one = {other->owner, &other->rows[row], 1, other->target_size};
            count += cc_option_find(&one, alone) != NULL;
        }
    }
    free(alone);
    return count;
}

static void check_names(const struct cc_option_table *table, const struct cc_option *row)
{
    assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(row->name));
    assert_int_equal(count_name(table, row->name, strlen(row->name)), 1);
    for (const char *at = row->aliases; at != NULL && *at != '\0';) {
        size_t len = strcspn(at, " ");
        assert_true(len > 0);
        assert_int_equal(count_name(table, at, len), 1);
        at += len + (at[len] == ' ');
    }
}

static void names_are_unique_in_a_table(void **state)
{
    (void)state;
    each_row(check_names);
}

static void check_texts(const struct cc_option_table *table, const struct cc_option *row)
{
    size_t len = row->help == NULL ? 0 : strlen(row->help);
    (void)table;

    assert_true(len > 10 && row->help[len - 1] == '.');
    assert_non_null(row->section);
    assert_non_null(row->since);
    assert_true(strtod(row->since, NULL) <= strtod(PACKAGE_VERSION, NULL));
    assert_true(strtod(row->since, NULL) > 0);
}

static void texts_are_whole(void **state)
{
    (void)state;
    each_row(check_texts);
}

static void check_bounds(const struct cc_option_table *table, const struct cc_option *row)
{
    assert_true(row->max == 0 || row->min <= row->max);
    assert_true(row->kind != CC_CHOICE || row->choices != NULL);
    if (row->support == CC_SUPPORTED && row->kind != CC_COMMAND)
        assert_true(row->offset < table->target_size);
    if (row->kind == CC_LIST)
        assert_null(row->fallback); /* entries would add up with it */
}

static void bounds_make_sense(void **state)
{
    (void)state;
    each_row(check_bounds);
}

static void defaults_parse_within_their_bounds(void **state)
{
    struct cc_problems problems = {0};
    (void)state;

    cc_apply_defaults(&targets, &problems);
    cc_problems_print(&problems, CC_HINT, stderr);
    assert_int_equal(problems.count, 0);
    cc_problems_clear(&problems);
}

/* An option that several tables have is one option to the user: it has one default. buffer-size is
 * the exception, since no uwsgi packet can be longer than 65535 bytes. */
static void check_default_is_the_same(const struct cc_option_table *table,
                                      const struct cc_option *row)
{
    (void)table;
    for (size_t i = 0; i < targets.count; i++) {
        const struct cc_option *other = cc_option_find(targets.items[i].table, row->name);
        if (other == NULL || strcmp(row->name, "buffer-size") == 0)
            continue;
        assert_int_equal(other->fallback == NULL, row->fallback == NULL);
        if (row->fallback != NULL)
            assert_string_equal(other->fallback, row->fallback);
    }
}

static void tables_agree_on_defaults(void **state)
{
    (void)state;
    each_row(check_default_is_the_same);
}

static void check_letter(const struct cc_option_table *table, const struct cc_option *row)
{
    const struct cc_uwsgi_name *theirs = cc_uwsgi_letter_find(row->letter);
    (void)table;

    if (row->letter == 0)
        return;
    assert_non_null(theirs);
    assert_int_equal(cc_uwsgi_name_find(row->name)->letter, row->letter);
}

static void letters_are_those_of_uwsgi(void **state)
{
    (void)state;
    each_row(check_letter);
}

static void the_options_of_the_first_release_are_there(void **state)
{
    static const char *const names[] = {
        "master",
        "processes",
        "workers",
        "threads",
        "socket",
        "uwsgi-socket",
        "http",
        "http-socket",
        "http11-socket",
        "protocol",
        "socket-protocol",
        "listen",
        "chmod-socket",
        "chown-socket",
        "chdir",
        "env",
        "need-app",
        "post-buffering",
        "harakiri",
        "max-requests",
        "vacuum",
        "die-on-term",
        "lazy-apps",
        "pidfile",
        "uid",
        "gid",
        "logto",
        "disable-logging",
        "strict",
        "plugins",
        "plugin",
        "ini",
        "include",
        "show-config",
        "limit-post",
    };
    (void)state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(cc_targets_find(&targets, names[i]));
}

static void all_names_of_uwsgi_are_known(void **state)
{
    (void)state;
    assert_int_equal(cc_uwsgi_names_count, 1329);
    for (size_t i = 1; i < cc_uwsgi_names_count; i++)
        assert_true(strcmp(cc_uwsgi_names[i - 1].name, cc_uwsgi_names[i].name) < 0);
    assert_int_equal(cc_uwsgi_name_find("daemonize")->argument, CC_ARGUMENT_REQUIRED);
    assert_int_equal(cc_uwsgi_name_find("daemonize")->letter, 'd');
    assert_int_equal(cc_uwsgi_name_find("single-interpreter")->argument, CC_ARGUMENT_NONE);
    assert_null(cc_uwsgi_name_find("daemonise"));
}

static void misspelt_names_lead_to_the_right_ones(void **state)
{
    static const char *const pairs[][2] = {
        {"thread", "threads"},
        {"theads", "threads"},
        {"process", "processes"},
        {"enable-theads", "enable-threads"},
        {"deamonize", "daemonize"},
        {"chmod-sock", "chmod-socket"},
        {"buffer-sizi", "buffer-size"},
        {"max-request", "max-requests"},
        {"harakri", "harakiri"},
        {"pluggins", "plugins"},
        {"py-callos-afterfork", "py-call-osafterfork"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_string_equal(cc_targets_nearest(&targets, pairs[i][0]), pairs[i][1]);
    assert_null(cc_targets_nearest(&targets, "my-very-own-name"));
    assert_null(cc_targets_nearest(&targets, "x"));
    assert_null(cc_targets_nearest(&targets, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_in_a_table),
        cmocka_unit_test(texts_are_whole),
        cmocka_unit_test(bounds_make_sense),
        cmocka_unit_test(defaults_parse_within_their_bounds),
        cmocka_unit_test(tables_agree_on_defaults),
        cmocka_unit_test(letters_are_those_of_uwsgi),
        cmocka_unit_test(the_options_of_the_first_release_are_there),
        cmocka_unit_test(all_names_of_uwsgi_are_known),
        cmocka_unit_test(misspelt_names_lead_to_the_right_ones),
    };
    return cmocka_run_group_tests(tests, open_tables, close_tables);
}
