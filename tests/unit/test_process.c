/* Another process, held by a descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/process.h"

static pid_t child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

static void a_signal_reaches_it_and_its_end_is_seen(void **state)
{
    (void)state;
    int status = 0;
    pid_t pid = child();
    int process = process_open(pid);
    assert_true(process >= 0);
    assert_false(process_has_ended(process, 0));
    assert_false(process_has_ended(process, 20));
    assert_int_equal(process_signal(process, SIGTERM), 0);
    assert_true(process_has_ended(process, 10000));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    /* The id may belong to another one by now; the descriptor does not. */
    assert_int_equal(process_signal(process, SIGKILL), -1);
    assert_int_equal(errno, ESRCH);
    assert_true(process_has_ended(process, 0));
    close(process);
}

static void no_process_has_no_descriptor(void **state)
{
    (void)state;
    assert_int_equal(process_open(0), -1);
    assert_int_equal(process_open(-1), -1);
    pid_t pid = child();
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(process_open(pid), -1);
}

static void a_process_is_called_as_its_file(void **state)
{
    (void)state;
    assert_true(process_is_called(getpid(), "test_process"));
    assert_false(process_is_called(getpid(), "tracekit-signer"));
    assert_false(process_is_called(getpid(), "test_proces"));
    assert_false(process_is_called(getpid(), ""));
    assert_false(process_is_called(-1, "test_process"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_reaches_it_and_its_end_is_seen),
        cmocka_unit_test(no_process_has_no_descriptor),
        cmocka_unit_test(a_process_is_called_as_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
