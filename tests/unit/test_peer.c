#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "wire/peer.h"

static char scratch[SCRATCH_PATH_BYTES];
static char path[SCRATCH_PATH_BYTES + 16];
static int pair[2];

static int setup(void **state)
{
    (void)state;
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/s", scratch);
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    close(pair[0]);
    close(pair[1]);
    return 0;
}

static int listen_here(int backlog)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(peer_address(path, &address), 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, backlog), 0);
    return fd;
}

/* Between what must have passed and what a slow machine may add. */
static void took(int64_t since, int64_t least_ms, int64_t most_ms)
{
    int64_t ms = peer_now_ms() - since;
    assert_true(ms >= least_ms);
    assert_true(ms < most_ms);
}

static void an_address_is_a_path_that_fits(void **state)
{
    (void)state;
    struct sockaddr_un a = {.sun_family = 77};
    char name[PEER_MAX_PATH + 2];
    memset(name, 'x', sizeof name);
    name[PEER_MAX_PATH + 1] = '\0';
    assert_int_equal(PEER_MAX_PATH, 107);
    assert_int_equal(peer_address("", &a), -1);
    assert_int_equal(peer_address(name, &a), -1);
    assert_int_equal(a.sun_family, 77); /* untouched */
    name[PEER_MAX_PATH] = '\0';
    assert_int_equal(peer_address(name, &a), 0);
    assert_int_equal(a.sun_family, AF_UNIX);
    assert_string_equal(a.sun_path, name);
}

static void a_peer_is_who_the_kernel_says(void **state)
{
    (void)state;
    struct peer p = {0};
    assert_int_equal(peer_get(pair[0], &p), 0);
    assert_int_equal(p.pid, getpid());
    assert_int_equal(p.uid, geteuid());
    assert_int_equal(p.gid, getegid());
    int pipe_ends[2];
    struct peer untouched = p;
    assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
    assert_int_equal(peer_get(pipe_ends[0], &p), -1);
    assert_int_equal(errno, ENOTSOCK);
    assert_int_equal(peer_get(-1, &p), -1);
    assert_memory_equal(&p, &untouched, sizeof p);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void the_clock_is_monotonic(void **state)
{
    (void)state;
    struct timespec before, t = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    int64_t first = peer_now_ms();
    nanosleep(&t, NULL);
    assert_true(first >= (int64_t)before.tv_sec * 1000);
    took(first, 19, 5000);
}

static void it_connects(void **state)
{
    (void)state;
    int listener = listen_here(1);
    int fd = peer_connect(path, peer_now_ms() + 1000);
    assert_true(fd >= 0);
    assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    struct peer p;
    assert_int_equal(peer_get(fd, &p), 0);
    assert_int_equal(p.uid, geteuid());
    close(fd);
    close(listener);
}

static void does_not_connect(const char *to, int want)
{
    int64_t began = peer_now_ms();
    assert_int_equal(peer_connect(to, began + 10000), -1);
    assert_int_equal(errno, want);
    took(began, 0, 5000); /* what time does not mend is told at once */
}

static void it_says_why_it_does_not_connect(void **state)
{
    (void)state;
    char longer[200];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    does_not_connect("", EINVAL);
    does_not_connect(longer, ENAMETOOLONG);
    does_not_connect(path, ENOENT);
    int listener = listen_here(1);
    close(listener);
    does_not_connect(path, ECONNREFUSED);
    does_not_connect(scratch, ECONNREFUSED);
    does_not_connect("/dev/null/s", ENOTDIR);
}

static void a_full_queue_is_waited_for(void **state)
{
    (void)state;
    int listener = listen_here(0), first = peer_connect(path, peer_now_ms() + 1000);
    assert_true(first >= 0);
    int64_t began = peer_now_ms();
    assert_int_equal(peer_connect(path, began + 200), -1);
    assert_int_equal(errno, ETIMEDOUT);
    took(began, 199, 5000);
    /* With room again, it gets through. */
    close(accept(listener, NULL, NULL));
    int second = peer_connect(path, peer_now_ms() + 5000);
    assert_true(second >= 0);
    close(first);
    close(second);
    close(listener);
}

static void descriptors_are_given_back(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    for (int i = 0; i < 10; i++)
        assert_int_equal(peer_connect(path, peer_now_ms() + 1000), -1);
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

static void bytes_cross(void **state)
{
    (void)state;
    char got[6] = "";
    assert_int_equal(peer_write(pair[0], "hello", 6, peer_now_ms() + 1000), 0);
    assert_int_equal(peer_read(pair[1], got, 3, peer_now_ms() + 1000), 0);
    assert_int_equal(peer_read(pair[1], got + 3, 3, peer_now_ms() + 1000), 0);
    assert_string_equal(got, "hello");
    assert_int_equal(peer_read(pair[1], got, 0, 0), 0);
    assert_int_equal(peer_write(pair[1], got, 0, 0), 0);
}

enum { BIG = 8 << 20 };

static void *write_big(void *bytes)
{
    return peer_write(pair[0], bytes, BIG, peer_now_ms() + 20000) == 0 ? bytes : NULL;
}

static void large_transfers_come_whole(void **state)
{
    (void)state;
    uint8_t *sent = malloc(BIG), *got = calloc(1, BIG);
    pthread_t writer;
    void *done = NULL;
    assert_non_null(sent);
    assert_non_null(got);
    for (size_t i = 0; i < BIG; i++)
        sent[i] = (uint8_t)(i * 2654435761U >> 24);
    assert_int_equal(pthread_create(&writer, NULL, write_big, sent), 0);
    assert_int_equal(peer_read(pair[1], got, BIG, peer_now_ms() + 20000), 0);
    pthread_join(writer, &done);
    assert_ptr_equal(done, sent);
    assert_memory_equal(sent, got, BIG);
    free(sent);
    free(got);
}

static void an_end_is_an_error(void **state)
{
    (void)state;
    char got[8];
    assert_int_equal(peer_write(pair[0], "abc", 3, peer_now_ms() + 1000), 0);
    shutdown(pair[0], SHUT_WR);
    assert_int_equal(peer_read(pair[1], got, 4, peer_now_ms() + 1000), -1);
    assert_int_equal(errno, ECONNRESET);
}

/* The program would die here of SIGPIPE. */
static void writing_to_nobody_is_an_error(void **state)
{
    (void)state;
    close(pair[1]);
    assert_int_equal(peer_write(pair[0], "abc", 3, peer_now_ms() + 1000), -1);
    assert_int_equal(errno, EPIPE);
    pair[1] = dup(pair[0]);
}

static void deadlines_hold(void **state)
{
    (void)state;
    char got[8];
    int64_t began = peer_now_ms();
    assert_int_equal(peer_read(pair[1], got, 1, began + 150), -1);
    assert_int_equal(errno, ETIMEDOUT);
    took(began, 149, 5000);
    assert_int_equal(peer_read(pair[1], got, 1, began), -1); /* passed already */
    assert_int_equal(errno, ETIMEDOUT);

    uint8_t *much = calloc(1, BIG);
    assert_non_null(much);
    began = peer_now_ms();
    assert_int_equal(peer_write(pair[0], much, BIG, began + 150), -1);
    assert_int_equal(errno, ETIMEDOUT);
    took(began, 149, 5000);
    free(much);
}

static void *drip(void *stop)
{
    struct timespec t = {0, 20000000};
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        (void)!send(pair[0], "x", 1, MSG_NOSIGNAL);
        nanosleep(&t, NULL);
    }
    return NULL;
}

/* The deadline is for the whole, not for each byte. */
static void a_slow_peer_does_not_move_the_deadline(void **state)
{
    (void)state;
    char got[1000];
    pthread_t dripper;
    int stop = 0;
    assert_int_equal(pthread_create(&dripper, NULL, drip, &stop), 0);
    int64_t began = peer_now_ms();
    assert_int_equal(peer_read(pair[1], got, sizeof got, began + 200), -1);
    assert_int_equal(errno, ETIMEDOUT);
    took(began, 199, 5000);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(dripper, NULL);
}

int main(void)
{
#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_PAIR(an_address_is_a_path_that_fits),
        WITH_PAIR(a_peer_is_who_the_kernel_says),
        WITH_PAIR(the_clock_is_monotonic),
        WITH_PAIR(it_connects),
        WITH_PAIR(it_says_why_it_does_not_connect),
        WITH_PAIR(a_full_queue_is_waited_for),
        WITH_PAIR(descriptors_are_given_back),
        WITH_PAIR(bytes_cross),
        WITH_PAIR(large_transfers_come_whole),
        WITH_PAIR(an_end_is_an_error),
        WITH_PAIR(writing_to_nobody_is_an_error),
        WITH_PAIR(deadlines_hold),
        WITH_PAIR(a_slow_peer_does_not_move_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
