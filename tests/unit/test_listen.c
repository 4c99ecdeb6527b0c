#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signer/listen.h"
#include "tests/unit/scratch.h"
#include "wire/peer.h"

enum { NOBODY = 65534 };

static char scratch[SCRATCH_PATH_BYTES];
static char path[512];

static int setup(void **state)
{
    (void)state;
    umask(0);
    scratch_make(scratch);
    snprintf(path, sizeof path, "%s/agent.sock", scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(scratch);
    return 0;
}

static int knock(void)
{
    struct sockaddr_un address;
    assert_int_equal(peer_address(path, &address), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    int r = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    close(fd);
    return r;
}

static void refuses(enum err want, const char *words)
{
    struct listen l = {.fd = 77};
    struct fault fault = {""};
    assert_int_equal(listen_open(path, (gid_t)-1, &l, &fault), want);
    assert_int_equal(l.fd, 77); /* untouched */
    if (strstr(fault.text, words) == NULL)
        assert_string_equal(fault.text, words);
}

static void it_listens_and_goes(void **state)
{
    (void)state;
    struct listen l;
    struct stat st;
    assert_int_equal(listen_open(path, (gid_t)-1, &l, NULL), ERR_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(umask(0), 0); /* put back */
    assert_true((fcntl(l.fd, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(l.fd, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(knock(), 0);
    listen_close(&l);
    assert_int_equal(l.fd, -1);
    assert_int_equal(knock(), ENOENT);
    listen_close(&l);
}

static void the_queue_holds_a_burst(void **state)
{
    (void)state;
    struct listen l;
    int fds[200];
    struct sockaddr_un address;
    assert_int_equal(listen_open(path, (gid_t)-1, &l, NULL), ERR_OK);
    assert_int_equal(peer_address(path, &address), 0);
    for (int i = 0; i < 200; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(fds[i] >= 0);
        assert_int_equal(connect(fds[i], (const struct sockaddr *)&address, sizeof address), 0);
    }
    for (int i = 0; i < 200; i++)
        close(fds[i]);
    listen_close(&l);
}

static void a_group_may_be_let_in(void **state)
{
    (void)state;
    struct listen l;
    struct stat st;
    gid_t group = geteuid() == 0 ? NOBODY : getegid();
    assert_int_equal(listen_open(path, group, &l, NULL), ERR_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_int_equal(st.st_gid, group);
    listen_close(&l);
}

static void a_dead_socket_is_replaced(void **state)
{
    (void)state;
    struct listen l;
    struct sockaddr_un address;
    assert_int_equal(peer_address(path, &address), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(knock(), ECONNREFUSED);
    assert_int_equal(listen_open(path, (gid_t)-1, &l, NULL), ERR_OK);
    assert_int_equal(knock(), 0);
    listen_close(&l);
}

static void a_living_socket_is_left_alone(void **state)
{
    (void)state;
    struct listen l;
    assert_int_equal(listen_open(path, (gid_t)-1, &l, NULL), ERR_OK);
    refuses(ERR_STATE, "another program listens there");
    assert_int_equal(knock(), 0);
    listen_close(&l);
}

/* A full queue answers with EAGAIN: alive, only busy. */
static void a_busy_socket_is_left_alone(void **state)
{
    (void)state;
    struct sockaddr_un address;
    int fds[8], last = 0;
    assert_int_equal(peer_address(path, &address), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    for (int i = 0; i < 8; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        last = connect(fds[i], (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    }
    assert_int_equal(last, EAGAIN);
    refuses(ERR_STATE, "another program listens there");
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    close(fd);
}

static void other_things_in_the_way_stay(void **state)
{
    (void)state;
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    refuses(ERR_PATH, "not a socket");
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/nowhere", path), 0);
    refuses(ERR_PATH, "not a socket");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    refuses(ERR_PATH, "not a socket");
}

static void somebody_elses_socket_stays(void **state)
{
    (void)state;
    struct sockaddr_un address;
    if (geteuid() != 0)
        skip();
    assert_int_equal(peer_address(path, &address), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    refuses(ERR_PATH, "a socket of uid 65534 is in the way");
}

static void the_directory_is_ours_alone_to_write_to(void **state)
{
    (void)state;
    assert_int_equal(chmod(scratch, 0720), 0);
    refuses(ERR_PATH, "must be ours alone to write to");
    assert_int_equal(chmod(scratch, 0702), 0);
    refuses(ERR_PATH, "must be ours alone to write to");
    assert_int_equal(chmod(scratch, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(scratch, NOBODY, NOBODY), 0);
        refuses(ERR_PATH, "must be ours alone to write to");
        assert_int_equal(chown(scratch, 0, 0), 0);
    }
    snprintf(path, sizeof path, "%s/link/agent.sock", scratch);
    char link[512];
    snprintf(link, sizeof link, "%s/link", scratch);
    assert_int_equal(symlink(".", link), 0);
    refuses(ERR_PATH, "must be ours alone to write to");
}

static void paths_have_a_limit(void **state)
{
    (void)state;
    struct listen l;
    size_t len = strlen(scratch);
    memset(path, 'x', sizeof path);
    memcpy(path, scratch, len);
    path[len] = '/';
    path[PEER_MAX_PATH + 1] = '\0';
    refuses(ERR_PATH, "1 to 107 bytes, not 108");
    path[PEER_MAX_PATH] = '\0';
    assert_int_equal(listen_open(path, (gid_t)-1, &l, NULL), ERR_OK);
    assert_int_equal(knock(), 0);
    listen_close(&l);
    path[0] = '\0';
    refuses(ERR_PATH, "1 to 107 bytes, not 0");
    snprintf(path, sizeof path, "agent.sock");
    refuses(ERR_PATH, "absolute path");
    snprintf(path, sizeof path, "%s/", scratch);
    refuses(ERR_PATH, "absolute path");
    snprintf(path, sizeof path, "%s/none/agent.sock", scratch);
    refuses(ERR_IO, "cannot examine the socket's directory");
}

static void at_the_end_only_our_own_socket_goes(void **state)
{
    (void)state;
    struct listen old, new;
    assert_int_equal(listen_open(path, (gid_t)-1, &old, NULL), ERR_OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(listen_open(path, (gid_t)-1, &new, NULL), ERR_OK);
    listen_close(&old);
    assert_int_equal(knock(), 0);
    listen_close(&new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_listens_and_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(the_queue_holds_a_burst, setup, teardown),
        cmocka_unit_test_setup_teardown(a_group_may_be_let_in, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dead_socket_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_living_socket_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_busy_socket_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(other_things_in_the_way_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(somebody_elses_socket_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(the_directory_is_ours_alone_to_write_to, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_have_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(at_the_end_only_our_own_socket_goes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
