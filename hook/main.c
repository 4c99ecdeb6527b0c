/*
 * tracekit-hook - asks the signer about one hook call of Gemini CLI, and passes its answer on.
 *
 * Gemini takes a hook that crashes, is late or says nothing for consent. So whatever goes wrong here before a BeforeTool
 * answer ends in a deny of our own, and only exit code 42 lets the guard in settings.json say yes. On other events a
 * failure stays silent: a deny there would hide a tool's result from the model.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hook/deny.h"
#include "hook/options.h"
#include "hook/relay.h"
#include "wire/peer.h"

enum {
    EXIT_SILENT = 0,
    EXIT_DENY = 2,
    EXIT_ALLOW = 42,
    WRITE_MS = 2000, /* for an answer to leave; comes on top of --wait */
};

static const char HELP[] =
    "usage: tracekit-hook gemini --event EVENT --socket PATH --signer-uid UID --wait SECONDS\n"
    "       tracekit-hook --help | --version\n"
    "\n"
    "Asks the signer whether a call of Gemini CLI may go on. Gemini starts it, with the call on\n"
    "standard input; `tracekit hook-definition --agent gemini` prints what belongs into settings.json.\n"
    "\n"
    "  --event EVENT     BeforeTool, AfterTool, SessionStart, SessionEnd, ...\n"
    "  --socket PATH     the signer's agent socket, an absolute path\n"
    "  --signer-uid UID  who must own the other end of it\n"
    "  --wait SECONDS    answer after this time at the latest, 1 to 590\n"
    "\n"
    "Example:\n"
    "  tracekit-hook gemini --event BeforeTool --socket /run/user/1000/tracekit-c/agent.sock \\\n"
    "      --signer-uid 1000 --wait 540 <call.json\n"
    "\n"
    "Exit status for BeforeTool: 42 the call may go on; 2 it may not, and the reason is on standard\n"
    "output (JSON) and standard error. For any other event: 0.\n";

static const char VERSION[] = "tracekit-hook " TRACEKIT_VERSION "\n";

/* Writes all of it before the deadline; 0 or -1. One write does, unless the reader is slow. */
static int write_all(int fd, const void *bytes, size_t len, int64_t deadline_ms)
{
    const char *at = bytes;
    while (len > 0) {
        int64_t left = deadline_ms - peer_now_ms();
        struct pollfd out = {.fd = fd, .events = POLLOUT};
        if (left <= 0)
            return -1;
        int ready = poll(&out, 1, (int)left);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        if (ready < 0)
            return -1;
        ssize_t n = write(fd, at, len);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* A standard descriptor that was closed is filled with one on which every read and write fails, as it should: the socket
 * to the signer must not take its number. */
static void fill_descriptors(void)
{
    struct pollfd p[] = {{.fd = STDIN_FILENO}, {.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
    if (poll(p, 3, 0) <= 0 || ((p[0].revents | p[1].revents | p[2].revents) & POLLNVAL) == 0)
        return;
    int fd = -1;
    do
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

static int write_deny(struct deny *d)
{
    deny_say(d, " Another way to the same effect is refused too: do not try one, tell the user.");
    deny_end(d);
    size_t reason_len = 0;
    const char *reason = deny_reason(d, &reason_len);
    int64_t deadline_ms = peer_now_ms() + WRITE_MS;
    (void)!write_all(STDOUT_FILENO, d->text, d->len, deadline_ms);
    /* Whatever became of that: text on standard error and exit code 2 deny on their own. */
    if (write_all(STDERR_FILENO, reason, reason_len, deadline_ms) == 0)
        (void)!write_all(STDERR_FILENO, "\n", 1, deadline_ms);
    return EXIT_DENY;
}

static int deny_usage(const char *mistake)
{
    struct deny d;
    deny_begin(&d);
    deny_say(&d, "Tracekit refused this call: the command line of its hook is wrong (");
    deny_say(&d, mistake);
    deny_say(&d, "). Put what `tracekit hook-definition --agent gemini` prints into settings.json.");
    return write_deny(&d);
}

static void say_failure(struct deny *d, enum relay_result result, const struct options *o, uid_t peer_uid)
{
    switch (result) {
    case RELAY_UNREADABLE:
        deny_say(d, "the call could not be read to its end from standard input. Try the call again; if that does not "
                    "help, restart Gemini.");
        return;
    case RELAY_NO_MEMORY:
        deny_say(d, "there was no memory to read the call. Try again when the machine has some.");
        return;
    case RELAY_NO_SIGNER:
        deny_say(d, "the signer does not run (nobody listens on ");
        deny_say(d, o->socket);
        deny_say(d, "). The user has to start it with `tracekit up`; then try the call again.");
        return;
    case RELAY_UNREACHABLE:
        deny_say(d, "the signer's socket ");
        deny_say(d, o->socket);
        deny_say(d, " may not be opened from here. The user has to allow it (permissions, or a sandbox that does not "
                    "share its directory).");
        return;
    case RELAY_WRONG_PEER:
        deny_say(d, "uid ");
        deny_say_number(d, peer_uid);
        deny_say(d, " listens on ");
        deny_say(d, o->socket);
        deny_say(d, ", not the signer's uid ");
        deny_say_number(d, o->signer_uid);
        deny_say(d, ". The user has to find out who that is, or correct --signer-uid in settings.json.");
        return;
    case RELAY_LATE:
        deny_say(d, "no answer came within ");
        deny_say_number(d, (uint64_t)o->wait_s);
        deny_say(d, " seconds. The user can look at `tracekit approvals list` and whether the signer still works; then "
                    "try the call again.");
        return;
    case RELAY_CLOSED:
        deny_say(d,
                 "the signer hung up without an answer. The user has to look at its messages, or start it again with "
                 "`tracekit up`.");
        return;
    case RELAY_TOO_LARGE:
        deny_say(d, "its arguments are over 16 MiB. Do it in smaller steps.");
        return;
    case RELAY_BROKEN:
    case RELAY_ANSWERED: /* an answer, but not one that BeforeTool can have */
        deny_say(d, "the signer's answer is not usable. The user has to check that tracekit-hook and tracekit-signer "
                    "have the same --version.");
        return;
    }
}

static int deny_failure(enum relay_result result, const struct options *o, uid_t peer_uid)
{
    struct deny d;
    deny_begin(&d);
    deny_say(&d, "Tracekit refused this call: ");
    say_failure(&d, result, o, peer_uid);
    return write_deny(&d);
}

static int deny_undelivered(void)
{
    static const char TEXT[] = "Tracekit refused this call: the answer could not be written to standard output.\n";
    (void)!write_all(STDERR_FILENO, TEXT, sizeof TEXT - 1, peer_now_ms() + WRITE_MS);
    return EXIT_DENY;
}

/* A refusal has to be one for Gemini as well: beside `{}` exit code 2 means nothing. */
static bool is_usable(const struct relay_answer *answer)
{
    return answer->allow || deny_is(answer->bytes, answer->out_len);
}

static int write_answer(const struct relay_answer *answer, bool silent)
{
    int64_t deadline_ms = peer_now_ms() + WRITE_MS;
    int written = write_all(STDOUT_FILENO, answer->bytes, answer->out_len, deadline_ms);
    if (written != 0 && answer->allow && !silent)
        return deny_undelivered();
    (void)!write_all(STDERR_FILENO, answer->bytes + answer->out_len, answer->err_len, deadline_ms);
    if (silent)
        return EXIT_SILENT;
    return answer->allow ? EXIT_ALLOW : EXIT_DENY;
}

static int run(int argc, char **argv, int64_t start_ms)
{
    struct options o;
    struct relay_answer answer;
    const char *mistake = options_read(argc, argv, &o);
    if (mistake != NULL)
        return o.silent ? EXIT_SILENT : deny_usage(mistake);
    struct relay relay = {.harness = o.harness,
                          .event = o.event,
                          .socket = o.socket,
                          .signer_uid = o.signer_uid,
                          .deadline_ms = start_ms + (int64_t)o.wait_s * 1000};
    enum relay_result result = relay_call(&relay, &answer);
    if (o.silent)
        return result == RELAY_ANSWERED ? write_answer(&answer, true) : EXIT_SILENT;
    if (result != RELAY_ANSWERED || !is_usable(&answer))
        return deny_failure(result, &o, answer.peer_uid);
    return write_answer(&answer, false);
}

int main(int argc, char **argv)
{
    int64_t start_ms = peer_now_ms();
    fill_descriptors();
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL); /* a reader that left must not take the exit code with it */

    const char *only = argc == 2 ? argv[1] : "";
    if (strcmp(only, "--help") == 0)
        return write_all(STDOUT_FILENO, HELP, sizeof HELP - 1, start_ms + WRITE_MS) != 0;
    if (strcmp(only, "--version") == 0)
        return write_all(STDOUT_FILENO, VERSION, sizeof VERSION - 1, start_ms + WRITE_MS) != 0;
    _exit(run(argc, argv, start_ms));
}
