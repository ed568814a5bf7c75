/* src/server/deadlines.c: what is due comes up once, in its second; what was prolonged does not. */
#include "cc_test.h"

#include "server/deadlines.h"

struct thing {
    struct cc_due due;
    int expired_at; /* the tick; 0: not yet */
};

static struct cc_deadlines wheel;
static int ticks;

static void on_expired(struct cc_due *due)
{
    struct thing *thing = CC_CONTAINER(due, struct thing, due);
    assert_int_equal(thing->expired_at, 0);
    thing->expired_at = ticks;
}

static void run_to(int tick)
{
    while (ticks < tick) {
        ticks++;
        cc_deadlines_tick(&wheel, on_expired);
    }
}

static int begin(void **state)
{
    (void)state;
    ticks = 0;
    cc_deadlines_init(&wheel, 5);
    return 0;
}

static void each_comes_up_after_its_seconds(void **state)
{
    static const int seconds[] = {0, 1, 2, 30, 62, 63, 64, 65, 200, 3600};
    struct thing things[10] = {0};
    (void)state;

    for (int i = 0; i < 10; i++) {
        cc_due_init(&things[i].due);
        cc_deadlines_set(&wheel, &things[i].due, seconds[i]);
    }
    run_to(4000);
    for (int i = 0; i < 10; i++)
        assert_int_equal(things[i].expired_at, seconds[i] + 1);
}

static void a_later_deadline_replaces_the_earlier(void **state)
{
    struct thing thing = {0};
    (void)state;

    cc_due_init(&thing.due);
    cc_deadlines_set(&wheel, &thing.due, 5);
    run_to(4);
    cc_deadlines_prolong(&wheel, &thing.due, 100);
    run_to(104);
    assert_int_equal(thing.expired_at, 0);
    run_to(105);
    assert_int_equal(thing.expired_at, 105);
}

static void an_earlier_deadline_counts_too(void **state)
{
    struct thing thing = {0};
    (void)state;

    cc_due_init(&thing.due);
    cc_deadlines_set(&wheel, &thing.due, 50);
    cc_deadlines_set(&wheel, &thing.due, 3);
    run_to(200);
    assert_int_equal(thing.expired_at, 4);
}

/* An app thread cannot move an entry to an earlier bucket, so it must not lie in a late one. */
static void a_deadline_that_is_prolonged_to_an_earlier_time_is_not_late(void **state)
{
    struct thing thing = {0};
    (void)state;

    cc_due_init(&thing.due);
    cc_deadlines_set(&wheel, &thing.due, 30);
    run_to(2);
    cc_deadlines_prolong(&wheel, &thing.due, 5);
    run_to(7);
    assert_int_equal(thing.expired_at, 0);
    run_to(8);
    assert_int_equal(thing.expired_at, 8);
}

static void what_is_removed_never_comes(void **state)
{
    struct thing thing = {0};
    (void)state;

    cc_due_init(&thing.due);
    cc_deadlines_set(&wheel, &thing.due, 3);
    cc_deadlines_remove(&thing.due);
    cc_deadlines_remove(&thing.due);
    run_to(100);
    assert_int_equal(thing.expired_at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_comes_up_after_its_seconds, begin),
        cmocka_unit_test_setup(a_later_deadline_replaces_the_earlier, begin),
        cmocka_unit_test_setup(an_earlier_deadline_counts_too, begin),
        cmocka_unit_test_setup(a_deadline_that_is_prolonged_to_an_earlier_time_is_not_late, begin),
        cmocka_unit_test_setup(what_is_removed_never_comes, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
