#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "signer/room.h"
#include "signer/tally.h"

static void a_queue_is_first_in_first_out(void **state)
{
    (void)state;
    struct conn_queue q = {0};
    struct conn c[4] = {0};
    assert_null(conn_queue_pop(&q));
    for (int i = 0; i < 4; i++)
        conn_queue_push(&q, &c[i]);
    conn_queue_remove(&q, &c[1]);
    assert_int_equal(q.count, 3);
    assert_ptr_equal(conn_queue_pop(&q), &c[0]);
    conn_queue_remove(&q, &c[3]); /* the last one */
    conn_queue_remove(&q, &c[3]); /* not in it */
    conn_queue_push(&q, &c[1]);
    assert_ptr_equal(conn_queue_pop(&q), &c[2]);
    assert_ptr_equal(conn_queue_pop(&q), &c[1]);
    assert_null(conn_queue_pop(&q));
    assert_int_equal(q.count, 0);
    conn_queue_push(&q, &c[0]);
    conn_queue_remove(&q, &c[0]);
    assert_null(q.first);
    assert_null(q.last);
}

static void room_has_an_end(void **state)
{
    (void)state;
    struct room r = {.max = 100};
    struct conn a = {0}, b = {0}, c = {0}, d = {0};
    assert_true(room_take(&r, &a, 60));
    assert_true(room_take(&r, &b, 40));
    assert_false(room_take(&r, &c, 50));
    assert_false(room_take(&r, &d, 0)); /* somebody waits already */
    assert_int_equal(r.used, 100);
    room_give(&r, &b, 5);
    assert_int_equal(r.used, 65);
    assert_null(room_next(&r)); /* nor is `d` served before `c` */
    room_give(&r, &b, 0);
    room_give(&r, &a, 0);
    assert_ptr_equal(room_next(&r), &c);
    assert_ptr_equal(room_next(&r), &d);
    assert_null(room_next(&r));
    assert_int_equal(r.used, 50);
    room_give(&r, &c, 0);
    room_give(&r, &d, 0);
    assert_int_equal(r.used, 0);
    assert_true(room_take(&r, &a, 100));
}

static void users_are_counted(void **state)
{
    (void)state;
    struct tally t = {0};
    size_t model[64] = {0};
    const char *given = getenv("TEST_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    for (int i = 0; i < 20000; i++) {
        uid_t uid = (uid_t)rand_r(&seed) % 64;
        if (model[uid] > 0 && rand_r(&seed) % 2 == 0) {
            tally_drop(&t, uid);
            model[uid]--;
        } else {
            assert_int_equal(tally_add(&t, uid), 0);
            model[uid]++;
        }
        uid = (uid_t)rand_r(&seed) % 64;
        assert_int_equal(tally_count(&t, uid), model[uid]);
    }
    size_t users = 0;
    for (int i = 0; i < 64; i++)
        users += model[i] > 0;
    assert_int_equal(t.users, users);
    tally_wipe(&t);
    assert_int_equal(tally_count(&t, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_first_in_first_out),
        cmocka_unit_test(room_has_an_end),
        cmocka_unit_test(users_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
