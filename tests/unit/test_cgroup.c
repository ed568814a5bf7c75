/* src/base/cgroup.c: limits read from trees that are made here. */
#include "cc_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"

static char root[] = "/tmp/cc-test-XXXXXX";

static void run(const char *command)
{
    char *whole;

    assert_true(asprintf(&whole, "cd %s && %s", root, command) > 0);
    assert_int_equal(system(whole), 0);
    free(whole);
}

/* A file in the tree; text without a newline at its end. */
static void put(const char *path, const char *text)
{
    char *whole;

    assert_true(asprintf(&whole, "mkdir -p \"$(dirname %s)\" && echo '%s' >%s", path, text, path) >
                0);
    run(whole);
    free(whole);
}

static int set_up(void **state)
{
    (void)state;
    memcpy(root + strlen(root) - 6, "XXXXXX", 6);
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    run("rm -rf proc sys");
    return rmdir(root);
}

static void nothing_is_no_limit(void **state)
{
    (void)state;
    struct cc_cgroup limits = cc_cgroup_read(root);

    assert_true(limits.cpus == 0);
    assert_int_equal(limits.memory, 0);
    put("proc/self/cgroup", "0::/a/b");
    limits = cc_cgroup_read(root);
    assert_true(limits.cpus == 0);
}

static void version_2_in_a_container(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/");
    put("sys/fs/cgroup/cpu.max", "150000 100000");
    put("sys/fs/cgroup/memory.max", "536870912");
    struct cc_cgroup limits = cc_cgroup_read(root);

    assert_true(limits.cpus == 1.5);
    assert_int_equal(limits.memory, 536870912);
}

static void the_strictest_of_the_parents_counts(void **state)
{
    (void)state;
    put("proc/self/cgroup", "0::/kube/pod/box");
    put("sys/fs/cgroup/kube/pod/box/cpu.max", "max 100000");
    put("sys/fs/cgroup/kube/pod/cpu.max", "50000 100000");
    put("sys/fs/cgroup/kube/cpu.max", "400000 100000");
    put("sys/fs/cgroup/kube/pod/box/memory.max", "max");
    put("sys/fs/cgroup/kube/memory.max", "1000000");
    struct cc_cgroup limits = cc_cgroup_read(root);

    assert_true(limits.cpus == 0.5);
    assert_int_equal(limits.memory, 1000000);
}

static void version_1(void **state)
{
    (void)state;
    /* As docker has it: the path is the host's, the mount the container's own. */
    put("proc/self/cgroup", "7:memory:/docker/4f\n5:cpu,cpuacct:/docker/4f\n1:name=systemd:/x");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    put("sys/fs/cgroup/memory/docker/4f/memory.limit_in_bytes", "1048576");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    struct cc_cgroup limits = cc_cgroup_read(root);

    assert_true(limits.cpus == 2);
    assert_int_equal(limits.memory, 1048576);
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
    assert_true(cc_cgroup_read(root).cpus == 0);
}

static void odd_files_limit_nothing(void **state)
{
    static const char *const lines[] = {
        "", ":", "0", "0:", "0::", "0::x", "0::/..", "0::/../../a", "a:b:c:d", ":::::"};
    static const char *const quotas[] = {"", "x", "1", "0 0", "-5 100", "5 0", "nan 1", "1 nan"};
    (void)state;

    put("sys/fs/cgroup/memory.max", "-7");
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
        put("sys/fs/cgroup/cpu.max", quotas[i]);
        for (size_t j = 0; j < sizeof lines / sizeof *lines; j++) {
            put("proc/self/cgroup", lines[j]);
            assert_true(cc_cgroup_read(root).cpus == 0);
        }
        put("proc/self/cgroup", "0::/");
        struct cc_cgroup limits = cc_cgroup_read(root);
        assert_true(limits.cpus == 0);
        assert_int_equal(limits.memory, 0);
    }
}

static void processes_follow_the_quota(void **state)
{
    static const struct {
        double cpus;
        int affinity, want;
    } cases[] = {{0, 4, 4},  {0, 0, 1},   {1.5, 8, 2},   {0.1, 8, 1},  {2, 8, 2},
                 {16, 8, 8}, {2.5, 2, 2}, {1e300, 3, 3}, {3.01, 64, 4}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cc_cgroup limits = {.cpus = cases[i].cpus};
        assert_int_equal(cc_cgroup_processes(&limits, cases[i].affinity), cases[i].want);
    }
    assert_true(cc_cgroup_affinity() >= 1);
    assert_true(cc_cgroup_affinity() <= sysconf(_SC_NPROCESSORS_CONF));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_no_limit),
        TEST(version_2_in_a_container),
        TEST(the_strictest_of_the_parents_counts),
        TEST(version_1),
        TEST(odd_files_limit_nothing),
        cmocka_unit_test(processes_follow_the_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
