/* src/process: its small parts, each alone. */
#include "cc_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/channel.h"
#include "process/harakiri.h"
#include "process/spawn.h"
#include "process/throttle.h"
#include "system/identity.h"
#include "system/pidfile.h"
#include "system/surroundings.h"

static void starts_that_fail_wait_longer_and_longer(void **state)
{
    static const int want[] = {0, 1, 2, 4, 8, 16, 30, 30, 30};
    struct cc_throttle throttle = {0};
    (void)state;

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(cc_throttle_delay(&throttle, false, 0), want[i]);
    for (int i = 0; i < 100; i++)
        assert_int_equal(cc_throttle_delay(&throttle, false, 0), 30);
    assert_int_equal(cc_throttle_delay(&throttle, true, 2 * CC_SECOND_NS), 0);
    assert_int_equal(cc_throttle_delay(&throttle, false, 0), 0);
}

static void workers_that_served_are_back_at_once(void **state)
{
    static const int want[] = {1, 2, 4, 8, 16, 30, 30, 30};
    struct cc_throttle throttle = {0};
    (void)state;

    for (int i = 0; i < 5; i++)
        assert_int_equal(cc_throttle_delay(&throttle, true, CC_MILLISECOND_NS), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(cc_throttle_delay(&throttle, true, CC_MILLISECOND_NS), want[i]);
    assert_int_equal(cc_throttle_delay(&throttle, true, CC_SECOND_NS), 0);
    assert_int_equal(cc_throttle_delay(&throttle, true, CC_MILLISECOND_NS), 0);
}

static void messages_keep_their_boundaries(void **state)
{
    struct cc_message message = {0};
    int ends[2];
    (void)state;

    assert_true(cc_channel_open(ends));
    assert_int_equal(fcntl(ends[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(cc_channel_receive(ends[0], &message), CC_RECEIVED_NONE);
    for (int i = 1; i <= 3; i++)
        assert_true(cc_channel_send(
            ends[1], (struct cc_message){
                         .kind = CC_MESSAGE_ENDED, .worker = i, .pid = -i, .status = i << 8}));
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(cc_channel_receive(ends[0], &message), CC_RECEIVED);
        assert_int_equal(message.kind, CC_MESSAGE_ENDED);
        assert_int_equal(message.worker, i);
        assert_int_equal(message.pid, -i);
        assert_int_equal(message.status, i << 8);
    }
    /* What was sent before the end is still read. */
    assert_true(cc_channel_send(ends[1], (struct cc_message){.kind = CC_MESSAGE_READY}));
    close(ends[1]);
    assert_int_equal(cc_channel_receive(ends[0], &message), CC_RECEIVED);
    assert_int_equal(cc_channel_receive(ends[0], &message), CC_RECEIVED_GONE);
    assert_false(cc_channel_send(ends[0], (struct cc_message){.kind = CC_MESSAGE_STOP}));
    close(ends[0]);
}

static void messages_that_nobody_reads_do_not_block(void **state)
{
    int ends[2], sent = 0;
    (void)state;

    assert_true(cc_channel_open(ends));
    while (sent < 100000 && cc_channel_send(ends[0], (struct cc_message){.kind = CC_MESSAGE_STOP}))
        sent++;
    /* Enough for every worker that there can be. */
    assert_true(sent > 100 && sent < 100000);
    close(ends[0]);
    close(ends[1]);
}

static void fates_are_told_in_words(void **state)
{
    char text[64];
    int status;
    (void)state;

    for (int i = 0; i < 2; i++) {
        pid_t pid = cc_spawn("a child");
        if (pid == 0) {
            if (i == 0)
                _exit(3);
            pause();
        }
        if (i == 1)
            kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_string_equal(cc_spawn_fate(status, text, sizeof text),
                            i == 0 ? "exited with code 3" : "was killed by SIGKILL");
    }
}

/* A child must not start with what is blocked or ignored here, and terminal signals do not kill. */
static void children_start_with_clean_signals(void **state)
{
    sigset_t set, now;
    int status;
    (void)state;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t pid = cc_spawn("a child");
    if (pid == 0) {
        struct sigaction action;
        sigprocmask(SIG_BLOCK, NULL, &now);
        raise(SIGINT);
        raise(SIGQUIT);
        raise(SIGHUP);
        sigaction(SIGCHLD, NULL, &action);
        _exit(sigismember(&now, SIGTERM) || action.sa_handler != SIG_DFL ? 1 : 0);
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void children_die_with_their_parent(void **state)
{
    int ends[2], status;
    char byte;
    (void)state;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (cc_spawn("a grandchild") == 0)
            for (;;)
                pause();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    /* The grandchild held the other end. */
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static char *read_all(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? 0 : read(fd, text, size - 1);

    text[got < 0 ? 0 : got] = '\0';
    close(fd);
    return text;
}

static void write_all(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void pidfiles_are_refused_while_held(void **state)
{
    struct cc_pidfile mine = {.fd = -1}, other = {.fd = -1};
    struct cc_err err;
    char folder[] = "/tmp/cc-test-XXXXXX", text[64], want[64], *path;
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_true(asprintf(&path, "%s/a.pid", folder) > 0);
    write_all(path, "1\n"); /* left behind: process 1 lives, and is not ours */
    assert_true(cc_pidfile_write(&mine, "pidfile", path, &err));
    snprintf(want, sizeof want, "%d\n", (int)getpid());
    assert_string_equal(read_all(path, text, sizeof text), want);
    assert_false(cc_pidfile_write(&other, "pidfile", path, &err));
    want[strlen(want) - 1] = ')';
    assert_non_null(strstr(err.text, want));
    assert_true(cc_pidfile_close(&mine, false, &err));
    assert_int_equal(access(path, F_OK), 0);

    assert_true(cc_pidfile_write(&mine, "pidfile", path, &err));
    assert_true(cc_pidfile_close(&mine, true, &err));
    assert_int_not_equal(access(path, F_OK), 0);
    rmdir(folder);
    free(path);
}

static void pidfiles_spare_other_files(void **state)
{
    struct cc_pidfile pidfile = {.fd = -1};
    struct cc_err err;
    char folder[] = "/tmp/cc-test-XXXXXX", text[64], *path, *link;
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_true(asprintf(&path, "%s/app.py", folder) > 0);
    assert_true(asprintf(&link, "%s/link", folder) > 0);
    write_all(path, "import os\n");
    assert_false(cc_pidfile_write(&pidfile, "pidfile", path, &err));
    assert_non_null(strstr(err.text, "app.py"));
    assert_string_equal(read_all(path, text, sizeof text), "import os\n");
    assert_int_equal(symlink(path, link), 0);
    assert_false(cc_pidfile_write(&pidfile, "pidfile", link, &err));
    assert_non_null(strstr(err.text, "symbolic link"));
    assert_false(cc_pidfile_write(&pidfile, "pidfile", folder, &err));
    assert_false(cc_pidfile_write(&pidfile, "pidfile", "/nowhere/a.pid", &err));
    assert_non_null(strstr(err.text, "No such file or directory"));

    /* Another server has put its own in the place: not ours to remove. */
    unlink(path);
    assert_true(cc_pidfile_write(&pidfile, "pidfile", path, &err));
    unlink(path);
    write_all(path, "1\n");
    assert_true(cc_pidfile_close(&pidfile, true, &err));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    unlink(link);
    rmdir(folder);
    free(path);
    free(link);
}

static void identities_are_found_by_name_and_number(void **state)
{
    char nobody[] = "nobody", root_group[] = "root", odd[] = "no-such-user-here", id[] = "54321",
         owner[] = "nobody:root", socket_group[] = ":nogroup", last[] = "4294967295";
    struct cc_settings settings = {.process.uid = nobody};
    struct cc_identity identity;
    struct cc_err err;
    (void)state;

    assert_true(cc_identity_find(&identity, &settings, &err));
    assert_int_equal(identity.uid, 65534);
    assert_int_equal(identity.gid, 65534); /* its own group: root's would stay otherwise */
    assert_int_equal(identity.socket_uid, 65534);
    settings.process.gid = root_group;
    settings.server.chown_socket = owner;
    assert_true(cc_identity_find(&identity, &settings, &err));
    assert_int_equal(identity.gid, 0);
    assert_int_equal(identity.socket_uid, 65534);
    assert_int_equal(identity.socket_gid, 0);
    settings.server.chown_socket = socket_group;
    assert_true(cc_identity_find(&identity, &settings, &err));
    assert_int_equal(identity.socket_uid, (uid_t)-1);
    assert_int_equal(identity.socket_gid, 65534);
    settings.process.uid = id;
    assert_true(cc_identity_find(&identity, &settings, &err));
    assert_int_equal(identity.uid, 54321);

    settings.process.gid = NULL;
    assert_false(cc_identity_find(&identity, &settings, &err));
    assert_non_null(strstr(err.text, "set gid as well"));
    settings.process.uid = odd;
    assert_false(cc_identity_find(&identity, &settings, &err));
    assert_string_equal(err.text, "uid: there is no user \"no-such-user-here\" on this system");
    settings.process.uid = last; /* means "as it is" to the kernel: stay root */
    assert_false(cc_identity_find(&identity, &settings, &err));
    settings.process.uid = NULL;
    settings.process.gid = odd;
    assert_false(cc_identity_find(&identity, &settings, &err));
    assert_non_null(strstr(err.text, "gid: there is no group"));
}

static void only_root_becomes_another(void **state)
{
    struct cc_identity identity = {.uid = 65534, .gid = 65534, .name = "nobody"};
    struct cc_identity root = {.uid = 0, .gid = (gid_t)-1}, same = {.uid = 65534, .gid = 65534};
    struct cc_err err;
    int status;
    (void)state;

    if (geteuid() != 0)
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        gid_t groups[64];
        bool right = cc_identity_take(&identity, &err) && geteuid() == 65534 && getuid() == 65534 &&
                     getegid() == 65534;
        for (int i = getgroups(64, groups); i > 0; i--)
            right = right && groups[i - 1] != 0;
        right = right && cc_identity_take(&same, &err);
        right = right && !cc_identity_take(&root, &err) &&
                strstr(err.text, "only root can become another user") != NULL;
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void surroundings_say_what_is_wrong(void **state)
{
    char pair[] = "CC_TEST_A=b=c", bad[] = "CC_TEST_B";
    struct cc_text items[] = {{.text = pair}, {.text = bad}};
    struct cc_texts env = {items, 1};
    struct cc_err err;
    (void)state;

    assert_true(cc_surroundings_env(&env, &err));
    assert_string_equal(getenv("CC_TEST_A"), "b=c");
    env.count = 2;
    assert_false(cc_surroundings_env(&env, &err));
    assert_non_null(strstr(err.text, "CC_TEST_B"));
    assert_true(cc_surroundings_chdir(NULL, false, &err));
    assert_true(cc_surroundings_chdir("/", true, &err));
    assert_false(cc_surroundings_chdir("/nowhere", true, &err));
    assert_non_null(strstr(err.text, "chdir: /nowhere: No such file or directory"));
    assert_false(cc_surroundings_chdir("/etc/passwd", true, &err));
    assert_true(cc_surroundings_logto("logto", NULL, &err));
    assert_false(cc_surroundings_logto("logto", "/nowhere/a.log", &err));
    assert_non_null(strstr(err.text, "logto: /nowhere/a.log"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_that_fail_wait_longer_and_longer),
        cmocka_unit_test(workers_that_served_are_back_at_once),
        cmocka_unit_test(messages_keep_their_boundaries),
        cmocka_unit_test(messages_that_nobody_reads_do_not_block),
        cmocka_unit_test(fates_are_told_in_words),
        cmocka_unit_test(children_start_with_clean_signals),
        cmocka_unit_test(children_die_with_their_parent),
        cmocka_unit_test(pidfiles_are_refused_while_held),
        cmocka_unit_test(pidfiles_spare_other_files),
        cmocka_unit_test(identities_are_found_by_name_and_number),
        cmocka_unit_test(only_root_becomes_another),
        cmocka_unit_test(surroundings_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
