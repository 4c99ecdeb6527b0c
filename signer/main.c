#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/visible.h"
#include "signer/command.h"
#include "signer/config.h"
#include "signer/datadir.h"
#include "signer/listen.h"
#include "signer/loop.h"
#include "signer/notify.h"
#include "signer/service.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_LOCKED = 3 };

enum { LARGE_BLOCK_BYTES = 256 << 10, MAX_LINE_BYTES = 8 << 10 };

/* One line on standard error, in one write. The text may hold anything. */
static void say(const char *text)
{
    struct buf line;
    buf_init(&line, MAX_LINE_BYTES);
    buf_puts(&line, "tracekit-signer: ");
    visible_write(&line, text, strlen(text), SIZE_MAX);
    buf_putc(&line, '\n');
    if (buf_err(&line) == ERR_OK) {
        ssize_t n = write(STDERR_FILENO, line.data, line.len);
        (void)n; /* nobody left to tell */
    }
    buf_wipe(&line);
}

static void log_line(void *context, const char *line)
{
    (void)context;
    say(line);
}

static int exit_status(enum err e)
{
    if (e == ERR_LOCKED)
        return EXIT_LOCKED;
    return e == ERR_USAGE || e == ERR_CONFIG || e == ERR_PATH ? EXIT_USAGE : EXIT_FAILED;
}

/* Nothing that we open may become standard input, output or error. */
static int open_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    return fd < 0 ? -1 : close(fd);
}

/* No other process may read our memory, nor a core dump of it. */
static int close_memory(void)
{
    struct rlimit none = {0, 0};
    return prctl(PR_SET_DUMPABLE, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0 ? -1 : 0;
}

/* A payload's memory goes back to the system with it: an idle signer is small. */
static void keep_memory_small(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK_BYTES);
}

/* Room for every connection and for the database, as far as the system lets us. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    const rlim_t want = CONNS_MAX + CONNS_DESCRIPTORS_KEPT;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= want)
        return;
    limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* SIGTERM and SIGINT arrive as bytes of a descriptor. SIGHUP does nothing: a configuration is read once. */
static int catch_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    if (sigaction(SIGPIPE, &ignore, NULL) != 0 || sigaction(SIGHUP, &ignore, NULL) != 0 ||
        sigaction(SIGXFSZ, &ignore, NULL) != 0 || sigprocmask(SIG_BLOCK, &stops, NULL) != 0)
        return -1;
    return signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
}

static enum err read_config(const struct command *command, struct config *out, struct fault *fault)
{
    if (!command->dev)
        return config_load(command->config, out, fault);
    struct config_env env = {
        .xdg_data_home = getenv("XDG_DATA_HOME"),
        .xdg_runtime_dir = getenv("XDG_RUNTIME_DIR"),
        .home = getenv("HOME"),
    };
    return config_dev(command->data, &env, out, fault);
}

/* Makes the directory that a socket lies in. */
static enum err make_parent(const char *path, gid_t group, struct fault *fault)
{
    char parent[CONFIG_PATH_BYTES];
    size_t len = (size_t)(strrchr(path, '/') - path);
    memcpy(parent, path, len);
    parent[len] = '\0';
    return datadir_make(parent, group, fault);
}

static bool is_same_directory(const char *a, const char *b)
{
    size_t len = (size_t)(strrchr(a, '/') - a);
    return len == (size_t)(strrchr(b, '/') - b) && memcmp(a, b, len) == 0;
}

/* Both sockets, or none. */
static enum err open_sockets(const struct config *c, struct listen *agent, struct listen *control, struct fault *fault)
{
    enum err e = make_parent(c->agent_socket, c->agent_group, fault);
    if (e == ERR_OK && !is_same_directory(c->agent_socket, c->control_socket))
        e = make_parent(c->control_socket, (gid_t)-1, fault);
    if (e == ERR_OK)
        e = listen_open(c->agent_socket, c->agent_group, agent, fault);
    if (e == ERR_OK) {
        e = listen_open(c->control_socket, (gid_t)-1, control, fault);
        if (e != ERR_OK)
            listen_close(agent);
    }
    return e;
}

static void say_ready(const struct config *c)
{
    char line[4 * CONFIG_PATH_BYTES];
    snprintf(line, sizeof line, "ready, %s, process %ld, data %s, agent socket %s, control socket %s",
             c->dev ? "dev mode (same-user)" : "system mode", (long)getpid(), c->data_dir, c->agent_socket,
             c->control_socket);
    say(line);
    if (notify_send(getenv("NOTIFY_SOCKET"), "READY=1") != 0)
        say("cannot tell the service manager that we are ready");
}

/* From the locked data directory to the end of the loop. */
static enum err serve(const struct config *c, int stop_fd, struct fault *fault)
{
    struct listen agent = {.fd = -1}, control = {.fd = -1};
    struct service *service = NULL;
    struct clock now = clock_read();
    enum err e = service_open(c, &now, &service, fault);
    if (e != ERR_OK)
        return e;
    e = open_sockets(c, &agent, &control, fault);
    if (e != ERR_OK) {
        service_close(service);
        return e;
    }
    say_ready(c);
    struct loop_setup setup = {
        .service = service,
        .agent = &agent,
        .control = &control,
        .stop_fd = stop_fd,
        .log = log_line,
    };
    e = loop_run(&setup, fault);
    /* After a failure what the service has in memory may be ahead of the disk: it writes nothing more. */
    if (e == ERR_OK)
        service_close(service);
    listen_close(&agent);
    listen_close(&control);
    return e;
}

static enum err run(const struct command *command, struct fault *fault)
{
    struct config config;
    int lock = -1;
    enum err e = read_config(command, &config, fault);
    if (e != ERR_OK)
        return e;
    int stop_fd = catch_signals();
    if (stop_fd < 0)
        return fault_set(fault, ERR_IO, "cannot receive signals: %s", strerror(errno));
    e = datadir_open(config.data_dir, &lock, fault);
    if (e == ERR_OK)
        e = serve(&config, stop_fd, fault);
    datadir_close(lock);
    close(stop_fd);
    return e;
}

int main(int argc, char **argv)
{
    struct command command;
    struct fault fault = {""};
    if (open_standard_descriptors() != 0)
        return EXIT_FAILED;
    umask(077);
    if (close_memory() != 0) {
        say("cannot keep other processes out of our memory");
        return EXIT_FAILED;
    }
    enum err e = command_parse(argc, argv, &command, &fault);
    if (e == ERR_OK && (command.help || command.version)) {
        fputs(command.help ? command_help() : "tracekit-signer " TRACEKIT_VERSION "\n", stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILED;
    }
    keep_memory_small();
    raise_descriptors();
    if (e == ERR_OK)
        e = run(&command, &fault);
    if (e != ERR_OK) {
        say(fault.text[0] != '\0' ? fault.text : err_text(e));
        if (e == ERR_USAGE)
            say("--help says how it is used");
        return exit_status(e);
    }
    say("stopped");
    return EXIT_SUCCESS;
}
