/* src/log: heads and levels of lines. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/log.h"

/* Standard error as a socket, and what came through it since the last look. */
static int reader, kept_stderr;
static char heard[256 * 1024];

static const char *listen_to_it(void)
{
    ssize_t got = recv(reader, heard, sizeof heard - 1, MSG_DONTWAIT);

    heard[got < 0 ? 0 : got] = '\0';
    return heard;
}

static int set_up(void **state)
{
    int ends[2], size = 1 << 20;
    (void)state;

    kept_stderr = dup(STDERR_FILENO);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return -1;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    reader = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    close(reader);
    return 0;
}

static void name_the_journal(const char *text)
{
    setenv("JOURNAL_STREAM", text, 1);
    cc_log_find_journal();
}

static void a_line_has_time_pid_and_level(void **state)
{
    char pid[32];
    (void)state;

    snprintf(pid, sizeof pid, "] [%d] warning: four\n", (int)getpid());
    cc_log(CC_LOG_WARN, "%s", "four");
    assert_non_null(strstr(listen_to_it(), pid));
    assert_int_equal(heard[0], '[');
}

static void odd_names_of_the_journal_are_none(void **state)
{
    static const char *const odd[] = {"", "1", "1:", ":2", "a:b", "1:2:3", "1:2x"};
    (void)state;

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        name_the_journal(odd[i]);
        cc_log(CC_LOG_INFO, "x");
        assert_int_equal(listen_to_it()[0], '[');
    }
}

static void each_line_for_the_journal_has_its_level(void **state)
{
    char name[64], *text = malloc(100 * 1024);
    struct stat stat;
    (void)state;

    assert_int_equal(fstat(STDERR_FILENO, &stat), 0);
    snprintf(name, sizeof name, "%ju:%ju", (uintmax_t)stat.st_dev, (uintmax_t)stat.st_ino);
    name_the_journal(name);
    cc_log(CC_LOG_ERROR, "one\ntwo\n\nthree");
    assert_string_equal(listen_to_it(), "<3>one\n<3>two\n<3>\n<3>three\n");
    cc_log(CC_LOG_WARN, "a");
    cc_log(CC_LOG_INFO, "b");
    cc_log(CC_LOG_DEBUG, "c");
    assert_string_equal(listen_to_it(), "<4>a\n<6>b\n<7>c\n");

    memset(text, 'x', 100 * 1024);
    text[100 * 1024 - 1] = '\0';
    text[10000] = '\n';
    cc_log(CC_LOG_INFO, "%s", text);
    assert_int_equal(strlen(listen_to_it()), 64 * 1024 + 2 * 3);
    assert_int_equal(strncmp(heard + 10000 + 4, "<6>x", 4), 0);
    free(text);

    dup2(kept_stderr, STDERR_FILENO); /* logto: no journal any more */
    FILE *file = tmpfile();
    dup2(fileno(file), STDERR_FILENO);
    cc_log(CC_LOG_INFO, "to a file");
    rewind(file);
    assert_int_equal(fgetc(file), '[');
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_has_time_pid_and_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_of_the_journal_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_line_for_the_journal_has_its_level, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
