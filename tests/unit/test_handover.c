/* src/handover: what is written is read again, and nothing that is cut, changed or of another
 * version is. */
#include "cc_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "handover/handover.h"

static struct cc_handed_file file(int fd, const char *text)
{
    return (struct cc_handed_file){fd, text == NULL ? NULL : cc_strdup(text)};
}

static void fill_arrays(struct cc_handover *handover)
{
    handover->n_passed = 1;
    handover->passed = cc_alloc_zeroed(1, sizeof *handover->passed);
    handover->passed[0] = file(3, "web");
    handover->n_listeners = 2;
    handover->listeners = cc_alloc_zeroed(2, sizeof *handover->listeners);
    handover->listeners[0] = (struct cc_handed_listener){
        8, 0, cc_strdup("app.sock"), cc_strdup("/srv/\xff\"\\%\n/app.sock"), UINT64_MAX, 77};
    handover->listeners[1] = (struct cc_handed_listener){9, 3, cc_strdup("fd://web"), NULL, 0, 0};
    handover->n_generations = 1;
    handover->generations = cc_alloc_zeroed(1, sizeof *handover->generations);
    handover->generations[0] =
        (struct cc_handed_generation){.number = 5,
                                      .state = 1,
                                      .pid = 4711,
                                      .loaded = true,
                                      .channel = -1,
                                      .board = 12,
                                      .rows = 3,
                                      .threads = 2,
                                      .started_ns = INT64_MAX,
                                      .deadline_ns = 0,
                                      .workers = cc_alloc_zeroed(3, sizeof(int))};
    handover->generations[0].workers[2] = 4712;
    handover->n_options = 2;
    handover->options = cc_alloc_zeroed(2, sizeof *handover->options);
    handover->options[0] = (struct cc_option_value){cc_strdup("chroot"), NULL};
    handover->options[1] = (struct cc_option_value){cc_strdup("uid"), cc_strdup("www-data")};
    handover->n_clients = 1;
    handover->clients = cc_alloc_zeroed(1, sizeof *handover->clients);
    handover->clients[0] = 20;
}

static char *example(bool trial)
{
    struct cc_handover handover;

    cc_handover_init(&handover);
    handover.trial = trial;
    handover.master = (int)(trial ? getppid() : getpid());
    handover.from = cc_strdup("ccontainer 9");
    handover.layout = cc_strdup("message 1");
    handover.folder = file(4, "/srv/gr\xfc\xdf");
    handover.fifo = file(-1, NULL);
    handover.pidfile = file(5, "");
    handover.started = 5;
    handover.started_ns = 123456789012345;
    handover.paused = true;
    fill_arrays(&handover);
    char *text = cc_handover_write(&handover);
    cc_handover_clear(&handover);
    return text;
}

static void what_is_written_is_read(void **state)
{
    struct cc_handover got;
    struct cc_err err;
    char *text = example(false);
    (void)state;

    assert_true(cc_handover_read(&got, text, strlen(text), &err));
    assert_string_equal(got.from, "ccontainer 9");
    assert_string_equal(got.folder.text, "/srv/gr\xfc\xdf");
    assert_string_equal(got.pidfile.text, "");
    assert_null(got.fifo.text);
    assert_int_equal(got.fifo.fd, -1);
    assert_int_equal(got.control, -1);
    assert_true(got.paused && !got.trial);
    assert_true(got.started_ns == 123456789012345);
    assert_string_equal(got.listeners[0].file, "/srv/\xff\"\\%\n/app.sock");
    assert_true(got.listeners[0].device == UINT64_MAX);
    assert_int_equal(got.listeners[1].passed, 3);
    assert_int_equal(got.generations[0].workers[2], 4712);
    assert_true(got.generations[0].started_ns == INT64_MAX);
    assert_null(got.options[0].value);
    assert_string_equal(got.options[1].value, "www-data");
    assert_int_equal(got.clients[0], 20);
    char *again = cc_handover_write(&got);
    assert_string_equal(again, text);
    free(again);
    free(text);
    cc_handover_clear(&got);
}

static void refused(const char *text, size_t len)
{
    struct cc_handover got;
    struct cc_err err = {.text = ""};

    if (cc_handover_read(&got, text, len, &err))
        fail_msg("was read: %.*s", (int)len, text);
    assert_true(err.text[0] != '\0');
    cc_handover_clear(&got);
}

static void nothing_that_is_cut_is_read(void **state)
{
    char *text = example(false);
    size_t len = strlen(text);
    (void)state;

    for (size_t cut = 0; cut < len; cut++)
        refused(text, cut);
    free(text);
}

/* The example with one piece of it replaced. The caller frees it. */
static char *changed(const char *from, const char *to)
{
    char *text = example(false);
    char *at = strstr(text, from);

    if (at == NULL)
        fail_msg("not there: %s in %s", from, text);
    char *whole = cc_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return whole;
}

static void nothing_else_is_read(void **state)
{
    static const char *const changes[][2] = {
        {"\"version\":1", "\"version\":2"},
        {"\"version\":1", "\"version\":\"1\""},
        {",\"version\":1", ""},
        {"\"version\":1", "\"version\":1,\"more\":0"},
        {"\"version\":1", "\"version\":1,\"version\":1"},
        {"\"paused\":true", "\"paused\":1"},
        {"\"started\":5", "\"started\":-1"},
        {"\"started\":5", "\"started\":5.0"},
        {"\"started\":5", "\"started\":2147483648"},
        {"\"control\":-1", "\"control\":-2"},
        {"\"control\":-1", "\"control\":null"},
        {"\"from\":\"ccontainer 9\"", "\"from\":null"},
        {"\"from\":\"ccontainer 9\"", "\"from\":\"%4\""},
        {"\"from\":\"ccontainer 9\"", "\"from\":\"%zz\""},
        {"\"from\":\"ccontainer 9\"", "\"from\":\"%00\""},
        {"\"clients\":[20]", "\"clients\":[-1]"},
        {"\"clients\":[20]", "\"clients\":20"},
        {"\"clients\":[20]", "\"clients\":[[]]"},
        {"[0,0,4712]", "[0,4712]"},
        {"[0,0,4712]", "[0,0,0,4712]"},
        {"[0,0,4712]", "[0,0,\"4712\"]"},
        {"\"rows\":3", "\"rows\":0"},
        {"\"rows\":3", "\"rows\":99999999"},
        {"\"board\":12", "\"board\":-1"},
        {"\"value\":null", "\"value\":false"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *text = changed(changes[i][0], changes[i][1]);
        refused(text, strlen(text));
        free(text);
    }
    refused("[]", 2);
    refused("{}", 2);
    refused("\0\0", 2);
}

/* Puts the text where a new binary looks for it. */
static void offer(const char *text)
{
    char number[16];
    int fd = cc_handover_seal(text);

    assert_true(fd >= 0);
    snprintf(number, sizeof number, "%d", fd);
    setenv(CC_HANDOVER_VARIABLE, number, 1);
}

static void it_is_taken_once_and_by_its_own_process(void **state)
{
    struct cc_handover got;
    struct cc_err err;
    char *text = example(false);
    (void)state;

    for (int trial = 0; trial < 2; trial++) {
        char *mine = example(trial != 0);
        offer(mine);
        int fd = atoi(getenv(CC_HANDOVER_VARIABLE));
        assert_true(cc_handover_wanted());
        assert_true(cc_handover_take(&got, &err));
        assert_false(cc_handover_wanted());
        assert_int_equal(fcntl(fd, F_GETFD), -1);
        cc_handover_clear(&got);
        free(mine);
    }
    char *other = changed("\"master\":", "\"master\":1");
    offer(other);
    assert_false(cc_handover_take(&got, &err));
    assert_non_null(strstr(err.text, "another process"));
    free(other);
    free(text);
}

static void only_a_sealed_file_is_taken(void **state)
{
    struct cc_handover got;
    struct cc_err err;
    char number[16], *text = example(false);
    FILE *plain = tmpfile();
    (void)state;

    fputs(text, plain);
    fflush(plain);
    snprintf(number, sizeof number, "%d", fileno(plain));
    setenv(CC_HANDOVER_VARIABLE, number, 1);
    assert_false(cc_handover_take(&got, &err));
    assert_true(fcntl(fileno(plain), F_GETFD) >= 0); /* somebody else's */
    setenv(CC_HANDOVER_VARIABLE, "999", 1);
    assert_false(cc_handover_take(&got, &err));
    fclose(plain);
    int fd = cc_handover_seal(text);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    close(fd);
    free(text);
}

static void what_is_handed_over_stays_open(void **state)
{
    struct cc_handover handover;
    (void)state;

    cc_handover_init(&handover);
    handover.folder.fd = open("/", O_PATH | O_CLOEXEC);
    handover.n_clients = 1;
    handover.clients = cc_alloc_zeroed(1, sizeof *handover.clients);
    handover.clients[0] = dup(handover.folder.fd);
    fcntl(handover.clients[0], F_SETFD, FD_CLOEXEC);
    assert_true(cc_handover_keep_open(&handover, true));
    assert_int_equal(fcntl(handover.folder.fd, F_GETFD), 0);
    assert_int_equal(fcntl(handover.clients[0], F_GETFD), 0);
    assert_true(cc_handover_keep_open(&handover, false));
    assert_int_equal(fcntl(handover.clients[0], F_GETFD), FD_CLOEXEC);
    close(handover.clients[0]);
    assert_false(cc_handover_keep_open(&handover, true));
    close(handover.folder.fd);
    cc_handover_clear(&handover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(nothing_that_is_cut_is_read),
        cmocka_unit_test(nothing_else_is_read),
        cmocka_unit_test(it_is_taken_once_and_by_its_own_process),
        cmocka_unit_test(only_a_sealed_file_is_taken),
        cmocka_unit_test(what_is_handed_over_stays_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
