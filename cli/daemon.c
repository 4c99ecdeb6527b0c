#include "cli/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/daemon_env.h"
#include "cli/daemon_log.h"
#include "cli/daemon_process.h"
#include "cli/daemon_systemd.h"
#include "cli/program.h"
#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/json.h"
#include "wire/client.h"
#include "wire/peer.h"
#include "wire/process.h"

#define PROGRAM "tracekit-signer"

extern char **environ;

enum {
    OTHER_START_MS = 20000,
    START_MS = 10000,
    STOP_MS = 20000,
    ANSWER_MS = 5000,
    PAUSE_MS = 20,
    ARENA_BYTES = 16 << 20,
    LOG_SHOWN_BYTES = 8 << 10,
};

/* One start or stop under way. */
struct work {
    const struct daemon_setup *setup;
    const char *data; /* --data, absolute and without slashes at its end; or NULL */
    struct daemon_state state;
    struct daemon_systemd systemd;
    bool is_systemd; /* its manager works */
    int process;     /* of the signer that listens (wire/process.h), or -1 */
    struct fault *fault;
};

enum err daemon_program(char out[static PATHS_MAX], struct fault *fault)
{
    char path[PATHS_MAX];
    enum err e = program_beside(PROGRAM, path, fault);
    if (e != ERR_OK)
        return e;
    if (!program_is_there(path))
        return fault_set(fault, ERR_PATH, "there is no program %s; install both beside each other", path);
    memcpy(out, path, strlen(path) + 1);
    return ERR_OK;
}

static enum err prepare(struct work *w)
{
    struct daemon_state *s = &w->state;
    enum err e = paths_data(w->setup->data, s->data, w->fault);
    if (e == ERR_OK)
        e = paths_control_socket(w->setup->data, NULL, s->socket, w->fault);
    if (e != ERR_OK)
        return e;
    for (size_t len = strlen(s->data); len > 1 && s->data[len - 1] == '/'; len--)
        s->data[len - 1] = '\0';
    w->data = w->setup->data != NULL ? s->data : NULL;
    int n = snprintf(s->log, sizeof s->log, "%s/%s", s->data, DAEMON_LOG_NAME);
    if (n < 0 || n >= (int)sizeof s->log)
        return fault_set(w->fault, ERR_PATH, "the data directory's path is too long; choose a shorter one");
    return daemon_systemd_init(&w->systemd, w->data, w->fault);
}

static void find_systemd(struct work *w)
{
    const char *search = w->setup->search != NULL ? w->setup->search : getenv("PATH");
    w->is_systemd = daemon_systemd_works(&w->systemd, search);
}

/* Asks what listens on the control socket, and takes hold of its process first: after the answer, it is known to be the
 * process that the kernel named when it began to listen. */
static enum err knock(struct work *w)
{
    struct client *client = NULL;
    struct fault fault = {""};
    const struct json *reply = NULL;
    enum err e = client_open(w->state.socket, (uid_t)-1, &client, &fault);
    if (e == ERR_CONNECT)
        return ERR_OK;
    if (e != ERR_OK)
        return fault_set(w->fault, e, "%s", fault.text);
    struct peer peer = client_server(client);
    int process = process_open(peer.pid);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *request = json_new_object(arena);
    if (request != NULL)
        json_set_string(arena, request, "op", "status");
    e = request == NULL ? ERR_NOMEM : client_call(client, request, ANSWER_MS, arena, &reply, &fault);
    if (e == ERR_OK && json_get_cstr(reply, "version") == NULL)
        e = fault_set(&fault, ERR_PROTOCOL, "it answers, but not as a signer does");
    if (e == ERR_OK) {
        w->state.running = true;
        w->state.pid = peer.pid > 0 ? peer.pid : 0;
        w->state.uid = peer.uid;
        (void)json_int(json_get(reply, "hooks_waiting"), &w->state.waiting);
        w->process = process;
        process = -1;
    } else {
        fault_set(w->fault, e, "what listens on %s cannot be used: %.150s. Stop it, or choose another --data",
                  w->state.socket, fault.text[0] != '\0' ? fault.text : err_text(e));
    }
    if (process >= 0)
        close(process);
    arena_free(arena);
    client_close(client);
    return e;
}

/* Who looks after the signer that runs. */
static void find_manager(struct work *w)
{
    struct daemon_state *s = &w->state;
    bool has_unit = daemon_systemd_has_unit(&w->systemd);
    if (has_unit) {
        find_systemd(w);
        memcpy(s->unit, w->systemd.unit, sizeof w->systemd.unit);
    }
    if (s->running)
        s->manager =
            w->is_systemd && s->pid > 0 && daemon_systemd_pid(&w->systemd) == s->pid ? DAEMON_SYSTEMD : DAEMON_DETACHED;
    if (s->manager == DAEMON_SYSTEMD)
        s->log[0] = '\0';
}

static enum err look(struct work *w)
{
    enum err e = prepare(w);
    if (e == ERR_OK)
        e = knock(w);
    if (e == ERR_OK)
        find_manager(w);
    return e;
}

static void let_go(struct work *w)
{
    if (w->process >= 0)
        close(w->process);
    w->process = -1;
}

enum err daemon_look(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault)
{
    struct work w = {.setup = setup, .process = -1, .fault = fault};
    enum err e = look(&w);
    if (e == ERR_OK)
        *out = w.state;
    let_go(&w);
    return e;
}

/* --- up ----------------------------------------------------------------------------------------------------------- */

/* Until the signer answers, or the process `started` (-1: not known) has ended. */
static enum err await(struct work *w, int started)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    int64_t deadline_ms = peer_now_ms() + START_MS;
    for (;;) {
        bool has_ended = started >= 0 && process_has_ended(started, 0);
        enum err e = knock(w);
        if (e != ERR_OK || w->state.running)
            return e;
        if (has_ended)
            return fault_set(w->fault, ERR_STATE, "the signer ended at once. %s tells why", w->state.log);
        if (peer_now_ms() >= deadline_ms)
            return fault_set(w->fault, ERR_TIMEOUT, "the signer does not answer on %s; look at %s", w->state.socket,
                             w->state.log);
        nanosleep(&pause, NULL);
    }
}

static enum err start_detached(struct work *w, int log)
{
    char program[PATHS_MAX], data[PATHS_MAX], dev[] = "--dev", option[] = "--data";
    char *argv[] = {program, dev, option, data, NULL};
    char *environment[DAEMON_ENV_MAX + 1];
    pid_t pid = -1;
    snprintf(program, sizeof program, "%s", w->setup->signer);
    snprintf(data, sizeof data, "%s", w->state.data);
    if (w->data == NULL)
        argv[2] = NULL;
    daemon_env_filter(environ, environment);
    struct daemon_process start = {.argv = argv, .environment = environment, .log = log};
    enum err e = daemon_process_start(&start, &pid, w->fault);
    if (e != ERR_OK)
        return e;
    int started = process_open(pid);
    e = await(w, started);
    if (started >= 0)
        close(started);
    w->state.manager = DAEMON_DETACHED;
    /* Another one may have come before ours. */
    w->state.changed = e == ERR_OK && w->state.pid == pid;
    return e;
}

static enum err start_unit(struct work *w)
{
    struct daemon_unit unit = {.signer = w->setup->signer,
                               .data = w->data,
                               .home = getenv("HOME"),
                               .xdg_data_home = getenv("XDG_DATA_HOME"),
                               .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR")};
    memcpy(w->state.unit, w->systemd.unit, sizeof w->systemd.unit);
    w->state.manager = DAEMON_SYSTEMD;
    w->state.log[0] = '\0';
    enum err e = daemon_systemd_start(&w->systemd, &unit, w->fault);
    if (e == ERR_OK) {
        snprintf(w->state.log, sizeof w->state.log, "`journalctl --user -u %s`", w->state.unit);
        e = await(w, -1);
        w->state.log[0] = '\0';
    }
    w->state.changed = e == ERR_OK;
    return e;
}

/* Within the lock against other starts. */
static enum err start(struct work *w, int directory)
{
    int log = -1;
    enum err e = knock(w);
    if (e != ERR_OK || w->state.running) {
        if (e == ERR_OK)
            find_manager(w);
        return e;
    }
    find_systemd(w);
    if (w->is_systemd)
        return start_unit(w);
    e = daemon_log_open(directory, &log, &w->state.log_from, w->fault);
    if (e == ERR_OK)
        e = start_detached(w, log);
    if (log >= 0)
        close(log);
    return e;
}

enum err daemon_up(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault)
{
    struct work w = {.setup = setup, .process = -1, .fault = fault};
    int directory = -1;
    enum err e = look(&w);
    if (e == ERR_OK && !w.state.running) {
        e = daemon_log_enter(w.state.data, OTHER_START_MS, &directory, fault);
        if (e == ERR_OK)
            e = start(&w, directory);
        if (directory >= 0)
            close(directory);
    }
    let_go(&w);
    *out = w.state;
    return e;
}

/* --- down --------------------------------------------------------------------------------------------------------- */

static enum err end(struct work *w)
{
    const struct daemon_state *s = &w->state;
    if (s->pid == 0)
        return fault_set(
            w->fault, ERR_STATE,
            "the signer runs where this system does not show its process (another container?): stop it there");
    if (s->uid != geteuid())
        return fault_set(w->fault, ERR_STATE, "the signer is a process of user %ju, not yours; stop it as that user",
                         (uintmax_t)s->uid);
    if (!process_is_called(s->pid, PROGRAM))
        return fault_set(w->fault, ERR_STATE,
                         "process %ld answers as the signer but is not called %s; stop it yourself", (long)s->pid,
                         PROGRAM);
    if (w->process < 0 || process_signal(w->process, SIGTERM) != 0) {
        if (w->process >= 0 && errno == ESRCH)
            return ERR_OK;
        return fault_set(w->fault, ERR_STATE, "this system lets us not stop process %ld safely; run: kill %ld",
                         (long)s->pid, (long)s->pid);
    }
    if (!process_has_ended(w->process, STOP_MS))
        return fault_set(w->fault, ERR_TIMEOUT,
                         "process %ld was told to stop and has not ended; look at it, or run: kill -KILL %ld",
                         (long)s->pid, (long)s->pid);
    return ERR_OK;
}

static enum err stop(struct work *w)
{
    enum err e = ERR_OK;
    bool has_ended = !w->state.running;
    if (w->state.unit[0] != '\0' && w->is_systemd) {
        e = daemon_systemd_stop(&w->systemd, w->fault);
        if (e == ERR_OK && w->state.manager == DAEMON_SYSTEMD)
            has_ended = w->process < 0 || process_has_ended(w->process, STOP_MS);
    }
    if (e == ERR_OK && !has_ended)
        e = end(w);
    if (e == ERR_OK) {
        w->state.changed = w->state.running;
        w->state.running = false;
    }
    if (e == ERR_OK && w->setup->forget && w->state.unit[0] != '\0') {
        e = daemon_systemd_forget(&w->systemd, w->is_systemd, w->fault);
        w->state.changed = e == ERR_OK;
    }
    return e;
}

enum err daemon_down(const struct daemon_setup *setup, struct daemon_state *out, struct fault *fault)
{
    struct work w = {.setup = setup, .process = -1, .fault = fault};
    enum err e = look(&w);
    if (e == ERR_OK)
        e = stop(&w);
    if (e == ERR_OK)
        *out = w.state;
    let_go(&w);
    return e;
}

/* --- what it had to say --------------------------------------------------------------------------------------------- */

void daemon_show_log(const struct term *t, const struct daemon_state *state)
{
    struct buf text;
    if (state->log[0] != '/')
        return;
    buf_init(&text, LOG_SHOWN_BYTES);
    daemon_log_tail(state->log, state->log_from, &text);
    size_t len = text.len;
    if (len > 0 && text.data[len - 1] == '\n')
        len--;
    if (len > 0) {
        fputs("The signer's last words:\n", t->out);
        term_wrap(t, 2, (const char *)text.data, len);
    }
    buf_wipe(&text);
}
