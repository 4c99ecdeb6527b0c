#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "signer/notify.h"
#include "tests/unit/scratch.h"

/* A manager's socket at `name`; '@' means the abstract namespace. */
static int manager(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, len), 0);
    return fd;
}

static void reaches(const char *name)
{
    char text[64] = "";
    int fd = manager(name);
    assert_int_equal(notify_send(name, "READY=1"), 0);
    assert_int_equal(recv(fd, text, sizeof text - 1, 0), 7);
    assert_string_equal(text, "READY=1");
    close(fd);
}

static void the_manager_is_told(void **state)
{
    (void)state;
    char directory[SCRATCH_PATH_BYTES], name[128];
    scratch_make(directory);
    snprintf(name, sizeof name, "%s/notify", directory);
    reaches(name);
    scratch_remove(directory);
    snprintf(name, sizeof name, "@tracekit-test-%ld", (long)getpid());
    reaches(name);
}

static void without_a_manager_nothing_is_sent(void **state)
{
    (void)state;
    assert_int_equal(notify_send(NULL, "READY=1"), 0);
    assert_int_equal(notify_send("", "READY=1"), 0);
}

static void what_is_no_socket_is_refused(void **state)
{
    (void)state;
    char name[200];
    assert_int_equal(notify_send("relative", "READY=1"), -1);
    assert_int_equal(notify_send("/", "READY=1"), -1);
    assert_int_equal(notify_send("@", "READY=1"), -1);
    assert_int_equal(notify_send("/nonexistent/socket", "READY=1"), -1);
    memset(name, 'x', sizeof name - 1);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    assert_int_equal(notify_send(name, "READY=1"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manager_is_told),
        cmocka_unit_test(without_a_manager_nothing_is_sent),
        cmocka_unit_test(what_is_no_socket_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
