/* src/log: the access line against uWSGI's own, hostile texts, and a reader that does not read. */
#include "cc_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/access.h"
#include "log/log.h"

/* Standard error led into a pipe or another descriptor for a while. */
static int lead_stderr(int to)
{
    int saved = dup(STDERR_FILENO);

    assert_true(saved >= 0 && dup2(to, STDERR_FILENO) >= 0);
    return saved;
}

static void restore_stderr(int saved)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void line_of(const struct cc_access *access, char *line, size_t size)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    int saved = lead_stderr(ends[1]);
    cc_access_log(access);
    restore_stderr(saved);
    ssize_t got = read(ends[0], line, size - 1);
    assert_true(got > 0);
    line[got] = '\0';
    close(ends[0]);
    close(ends[1]);
}

/* Puts this process's pid and a fixed time where the line has its own. */
static void fix(char *line, char *fixed, size_t size)
{
    char *pid_end = strchr(line, '|');
    char *time_begin = strstr(line, "} [");

    assert_non_null(pid_end);
    assert_non_null(time_begin);
    assert_int_equal(strtol(line + strlen("[pid: "), NULL, 10), getpid());
    assert_int_equal(time_begin[3 + 24], ']');
    snprintf(fixed, size, "[pid: 7%.*s} [Tue Dec  1 12:15:28 2026%s", (int)(time_begin - pid_end),
             pid_end, time_begin + 3 + 24);
}

static void request_of(struct cc_request *request, const char *uri, size_t uri_len)
{
    cc_request_init(request);
    request->method = CC_SPAN("GET");
    request->uri = (struct cc_span){uri, uri_len};
    request->protocol = CC_SPAN("HTTP/1.1");
    request->remote_addr = CC_SPAN("127.0.0.1");
    cc_request_add_var(request, CC_SPAN("REQUEST_METHOD"), CC_SPAN("GET"));
    cc_request_add_var(request, CC_SPAN("QUERY_STRING"), CC_SPAN(""));
}

static struct cc_access facts_of(const struct cc_request *request)
{
    return (struct cc_access){
        .request = request,
        .status = 200,
        .header_bytes = 51,
        .body_bytes = 12,
        .n_headers = 2,
        .duration_ns = 1999999,
        .worker = 1,
        .thread = 3,
        .worker_requests = 4,
        .total_requests = 18446744073709551615u,
    };
}

static void the_line_is_uwsgis(void **state)
{
    struct cc_request request;
    char line[8192], fixed[8192];
    (void)state;

    request_of(&request, "/a?b=c", 6);
    cc_request_add_var(&request, CC_SPAN("REMOTE_USER"), CC_SPAN("ann"));
    struct cc_access access = facts_of(&request);
    line_of(&access, line, sizeof line);
    fix(line, fixed, sizeof fixed);
    assert_string_equal(fixed, "[pid: 7|app: 0|req: 4/18446744073709551615] 127.0.0.1 (ann) "
                               "{6 vars in 55 bytes} [Tue Dec  1 12:15:28 2026] GET /a?b=c => "
                               "generated 12 bytes in 1 msecs (HTTP/1.1 200) 2 headers in 51 bytes "
                               "(1 switches on core 3)\n");
    cc_request_clear(&request);
}

static void the_time_is_when_the_request_came(void **state)
{
    struct cc_request request;
    char line[8192], want[64];
    time_t then = time(NULL) - 100;
    struct tm tm;
    (void)state;

    request_of(&request, "/", 1);
    struct cc_access access = facts_of(&request);
    access.duration_ns = 100 * CC_SECOND_NS;
    line_of(&access, line, sizeof line);
    strftime(want, sizeof want, "[%a %b %e %H:%M:", localtime_r(&then, &tm));
    if (tm.tm_sec < 58) /* else the minute may have changed meanwhile */
        assert_non_null(strstr(line, want));
    assert_non_null(strstr(line, " in 100000 msecs "));
    cc_request_clear(&request);
}

static void peers_cannot_forge_lines(void **state)
{
    static const char uri[] = "/\n[pid: 1\r\x1b[2J\x7f\xc3\xa9\\\"\t\0z";
    struct cc_request request;
    char line[8192];
    (void)state;

    request_of(&request, uri, sizeof uri - 1);
    struct cc_access access = facts_of(&request);
    line_of(&access, line, sizeof line);
    assert_non_null(strstr(line, " GET /\\x0a[pid: 1\\x0d\\x1b[2J\\x7f\\xc3\\xa9\\\\\"\\x09\\x00z "
                                 "=> generated"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    cc_request_clear(&request);
}

static void long_texts_are_cut(void **state)
{
    struct cc_request request;
    char line[8192];
    char *uri = malloc(70000);
    (void)state;

    memset(uri, 1, 70000);
    request_of(&request, uri, 70000);
    request.method = request.protocol = request.remote_addr = request.uri;
    cc_request_add_var(&request, CC_SPAN("REMOTE_USER"), request.uri);
    struct cc_access access = facts_of(&request);
    line_of(&access, line, sizeof line);
    assert_true(strlen(line) <= 4096);
    assert_non_null(strstr(line, "\\x01... => generated 12 bytes"));
    cc_request_clear(&request);
    free(uri);
}

static void nothing_to_write_to_is_no_trouble(void **state)
{
    struct cc_request request;
    int full = open("/dev/full", O_WRONLY);
    (void)state;

    request_of(&request, "/", 1);
    struct cc_access access = facts_of(&request);
    int saved = lead_stderr(full);
    close(full);
    errno = ENOTDIR;
    cc_access_log(&access);
    assert_int_equal(errno, ENOTDIR);
    close(STDERR_FILENO);
    cc_access_log(&access);
    assert_int_equal(errno, ENOTDIR);
    restore_stderr(saved);
    cc_request_clear(&request);
}

/* A reader that takes nothing, then everything: lines are lost, and that is said. */
static void slow_reader(int ends[2], int (*fill)(int))
{
    struct cc_request request;
    static char all[1 << 20];
    size_t have = 0;
    ssize_t got;

    request_of(&request, "/", 1);
    struct cc_access access = facts_of(&request);
    int saved = lead_stderr(ends[1]);
    assert_true(fill(ends[1]) > 0);
    int64_t begin = cc_clock_ns();
    for (int i = 0; i < 50; i++)
        cc_access_log(&access);
    int64_t took = cc_clock_ns() - begin;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    while ((got = read(ends[0], all, sizeof all)) > 0)
        continue;
    cc_access_log(&access);
    restore_stderr(saved);
    while (have < sizeof all - 1 && (got = read(ends[0], all + have, sizeof all - 1 - have)) > 0)
        have += (size_t)got;
    all[have] = '\0';
    assert_non_null(strstr(all, "[pid: "));
    assert_non_null(strstr(all, "50 lines of this log are lost"));
    assert_true(took < 30 * CC_SECOND_NS);
    close(ends[0]);
    close(ends[1]);
    cc_request_clear(&request);
}

static int fill_pipe(int fd)
{
    static const char junk[4096];
    int count = 0;
    int flags = fcntl(fd, F_GETFL);

    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, junk, sizeof junk) > 0)
        count++;
    fcntl(fd, F_SETFL, flags);
    return count;
}

static void a_pipe_that_nobody_reads(void **state)
{
    int ends[2];
    (void)state;

    assert_int_equal(pipe(ends), 0);
    slow_reader(ends, fill_pipe);
}

static void a_socket_that_nobody_reads(void **state)
{
    int ends[2];
    (void)state;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    slow_reader(ends, fill_pipe);
}

static void long_log_texts_stay_whole(void **state)
{
    static char text[20000], back[30000];
    int ends[2];
    (void)state;

    memset(text, 'x', sizeof text - 1);
    assert_int_equal(pipe(ends), 0);
    int saved = lead_stderr(ends[1]);
    cc_log(CC_LOG_WARN, "%s!", text);
    restore_stderr(saved);
    ssize_t got = read(ends[0], back, sizeof back - 1);
    assert_true(got > (ssize_t)sizeof text);
    back[got] = '\0';
    assert_non_null(strstr(back, "] warning: xxx"));
    assert_string_equal(back + got - 3, "x!\n");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_is_uwsgis),
        cmocka_unit_test(the_time_is_when_the_request_came),
        cmocka_unit_test(peers_cannot_forge_lines),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(nothing_to_write_to_is_no_trouble),
        cmocka_unit_test(a_pipe_that_nobody_reads),
        cmocka_unit_test(a_socket_that_nobody_reads),
        cmocka_unit_test(long_log_texts_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
