/*
 * fake_control - a control socket with canned replies, for tests of the command line.
 *
 *   fake_control SOCKET SCRIPT LOG COMMAND [ARGUMENT...]
 *
 * Listens on SOCKET, runs COMMAND, and answers each request with the next line of SCRIPT, whatever was asked;
 * requests are appended to LOG, one a line. Ends with COMMAND's exit code (128 + the signal's number when one ended
 * it), 125 when something is wrong with the test itself, or when lines of SCRIPT are left over and COMMAND succeeded.
 *
 *   reply JSON   a REPLY             file PATH   a REPLY of the file's bytes     close     ends the connection instead
 *   error JSON   an error REPLY      short JSON  half of a REPLY, then the end   garbage   what is no frame
 *   stall        nothing, until the other end hangs up
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/frame.h"
#include "wire/peer.h"

enum { WRONG_TEST = 125, PATIENCE_MS = 20000, LIFE_S = 120 };

static pid_t child = -1;

static void give_up(const char *what)
{
    fprintf(stderr, "fake_control: %s: %s\n", what, strerror(errno));
    if (child > 0)
        kill(child, SIGKILL);
    exit(WRONG_TEST);
}

static void too_long(int number)
{
    (void)number;
    if (child > 0)
        kill(child, SIGKILL);
    _exit(WRONG_TEST);
}

static int64_t deadline(void)
{
    return peer_now_ms() + PATIENCE_MS;
}

static int listen_on(const char *path)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || peer_address(path, &address) != 0)
        give_up(path);
    unlink(path);
    umask(0177);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 8) != 0)
        give_up(path);
    umask(0077);
    return fd;
}

/* The next line of the script without its newline, or NULL at its end. */
static char *next_line(FILE *script)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n = 0;
    while ((n = getline(&line, &cap, script)) > 0) {
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (line[0] != '\0' && line[0] != '#')
            return line;
    }
    free(line);
    return NULL;
}

static char *whole_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(FRAME_MAX_REPLY);
    if (f == NULL || bytes == NULL)
        give_up(path);
    *len = fread(bytes, 1, FRAME_MAX_REPLY, f);
    fclose(f);
    return bytes;
}

static void send_reply(int fd, const char *bytes, size_t announced, size_t sent, uint8_t flags)
{
    uint8_t head[FRAME_HEAD_BYTES];
    frame_head_write(&(struct frame_head){.kind = FRAME_REPLY, .flags = flags, .b = (uint32_t)announced}, head);
    /* The command may have ended; then nobody misses it. */
    if (peer_write(fd, head, sizeof head, deadline()) == 0 && sent > 0)
        (void)peer_write(fd, bytes, sent, deadline());
}

/* Does what a line says. False: the connection ends. */
static bool answer(int fd, const char *line)
{
    static const uint8_t garbage[FRAME_HEAD_BYTES] = "HTTP/1.1 400 Bad";
    const char *rest = strchr(line, ' ');
    rest = rest != NULL ? rest + 1 : "";
    size_t len = strlen(rest);
    if (strncmp(line, "reply ", 6) == 0) {
        send_reply(fd, rest, len, len, 0);
    } else if (strncmp(line, "error ", 6) == 0) {
        send_reply(fd, rest, len, len, FRAME_ERROR);
    } else if (strncmp(line, "file ", 5) == 0) {
        char *bytes = whole_file(rest, &len);
        send_reply(fd, bytes, len, len, 0);
        free(bytes);
    } else if (strncmp(line, "short ", 6) == 0) {
        send_reply(fd, rest, len, len / 2, 0);
        return false;
    } else if (strcmp(line, "garbage") == 0) {
        (void)peer_write(fd, garbage, sizeof garbage, deadline());
        return false;
    } else if (strcmp(line, "stall") == 0) {
        uint8_t byte;
        (void)peer_read(fd, &byte, 1, deadline());
        return false;
    } else if (strcmp(line, "close") == 0) {
        return false;
    } else {
        give_up("a line of the script has no known word");
    }
    return true;
}

/* Reads one request into the log. False when the connection has ended. */
static bool take_request(int fd, FILE *log)
{
    static uint8_t body[FRAME_MAX_REQUEST];
    uint8_t bytes[FRAME_HEAD_BYTES];
    struct frame_head head;
    if (peer_read(fd, bytes, sizeof bytes, deadline()) != 0)
        return false;
    if (frame_head_read(bytes, &head) != 0 || head.kind != FRAME_REQUEST ||
        peer_read(fd, body, head.b, deadline()) != 0)
        give_up("a request is none");
    fwrite(body, 1, head.b, log);
    fputc('\n', log);
    return fflush(log) == 0;
}

static void serve(int fd, FILE *script, FILE *log)
{
    while (take_request(fd, log)) {
        char *line = next_line(script);
        bool goes_on = line != NULL && answer(fd, line);
        free(line);
        if (!goes_on)
            return;
    }
}

static void start(char **argv, int listener)
{
    child = fork();
    if (child < 0)
        give_up("fork");
    if (child > 0)
        return;
    close(listener);
    execvp(argv[0], argv);
    fprintf(stderr, "fake_control: %s: %s\n", argv[0], strerror(errno));
    _exit(WRONG_TEST);
}

/* Serves until the child has ended; returns its exit code. */
static int serve_child(int listener, FILE *script, FILE *log)
{
    for (;;) {
        int status = 0;
        struct pollfd p = {.fd = listener, .events = POLLIN};
        if (poll(&p, 1, 20) > 0) {
            int fd = accept(listener, NULL, NULL);
            if (fd >= 0) {
                serve(fd, script, log);
                close(fd);
            }
            continue;
        }
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: fake_control SOCKET SCRIPT LOG COMMAND [ARGUMENT...]\n");
        return WRONG_TEST;
    }
    signal(SIGALRM, too_long);
    alarm(LIFE_S);
    FILE *script = fopen(argv[2], "r"), *log = fopen(argv[3], "a");
    if (script == NULL || log == NULL)
        give_up("the script or the log");
    int listener = listen_on(argv[1]);
    start(argv + 4, listener);
    int code = serve_child(listener, script, log);
    char *left = next_line(script);
    if (left != NULL && code == 0) {
        fprintf(stderr, "fake_control: not asked for: %.60s\n", left);
        code = WRONG_TEST;
    }
    free(left);
    fclose(script);
    fclose(log);
    close(listener);
    unlink(argv[1]);
    return code;
}
