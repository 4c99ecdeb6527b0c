/*
 * fake_signer - listens on a Unix socket as the signer does, and misbehaves on demand.
 *
 *   fake_signer SOCKET BEHAVIOUR [--log FILE] [--payload FILE] [--delay MS]
 *
 * Prints "ready" once it listens. Each connection is served by a thread of its own; --delay waits before the answer.
 * --log appends a line for each HOOK frame: pid, harness, event, wait_ms, flags and length; --payload keeps the newest
 * payload. It runs until it is killed. The behaviours are in the table below.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/frame.h"
#include "wire/peer.h"

enum { LONG_MS = 600 * 1000 };

static const char DENY[] = "{\"decision\":\"deny\",\"reason\":\"fake_signer says no\"}";

static const char SHORT_DENY[] = "{\"decision\":\"deny\",\"reason\":\"x\"}";

static const char *log_file, *payload_file;
static int delay_ms;
static pthread_mutex_t files = PTHREAD_MUTEX_INITIALIZER;

static void pause_for(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

static void put(int fd, const void *bytes, size_t len)
{
    (void)!peer_write(fd, bytes, len, peer_now_ms() + LONG_MS);
}

/* Sends a head of our choice, well-formed or not, and text behind it. */
static void put_frame(int fd, struct frame_head head, const char *text)
{
    uint8_t bytes[FRAME_HEAD_BYTES];
    frame_head_write(&head, bytes);
    put(fd, bytes, sizeof bytes);
    put(fd, text, strlen(text));
}

static void put_answer(int fd, uint8_t flags, const char *out, const char *err)
{
    struct frame_head head = {FRAME_ANSWER, flags, (uint32_t)strlen(out), (uint32_t)strlen(err)};
    put_frame(fd, head, out);
    put(fd, err, strlen(err));
}

/* A good allow as bytes, for those that send only parts of it. */
static size_t make_allow(uint8_t bytes[static FRAME_HEAD_BYTES + 2])
{
    frame_head_write(&(struct frame_head){FRAME_ANSWER, FRAME_ALLOW, 2, 0}, bytes);
    memcpy(bytes + FRAME_HEAD_BYTES, "{}", 2);
    return FRAME_HEAD_BYTES + 2;
}

static void put_part_of_allow(int fd, size_t len)
{
    uint8_t bytes[FRAME_HEAD_BYTES + 2];
    make_allow(bytes);
    put(fd, bytes, len);
}

/* An allow with one byte of the head replaced. */
static void put_changed_allow(int fd, size_t at, uint8_t byte)
{
    uint8_t bytes[FRAME_HEAD_BYTES + 2];
    size_t len = make_allow(bytes);
    bytes[at] = byte;
    put(fd, bytes, len);
}

static void do_allow(int fd)
{
    put_answer(fd, FRAME_ALLOW, "{}", "");
}

/* And does not hang up. */
static void do_allow_open(int fd)
{
    do_allow(fd);
    pause_for(LONG_MS);
}

static void do_deny(int fd)
{
    put_answer(fd, 0, DENY, "fake_signer says no\n");
}

static void do_noisy_allow(int fd)
{
    put_answer(fd, FRAME_ALLOW, "{}", "a note\n");
}

static void do_allow_with_deny_text(int fd)
{
    put_answer(fd, FRAME_ALLOW, DENY, "");
}

static void do_deny_with_allow_text(int fd)
{
    put_answer(fd, 0, "{}", "");
}

static void do_deny_empty(int fd)
{
    put_answer(fd, 0, "", "");
}

static void do_deny_two_decisions(int fd)
{
    put_answer(fd, 0, "{\"decision\":\"deny\",\"reason\":\"x\",\"decision\":\"allow\"}", "");
}

static void do_garbage(int fd)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    put(fd, text, sizeof text - 1);
}

static void do_wrong_magic(int fd)
{
    put_changed_allow(fd, 3, '2');
}

static void do_wrong_kind(int fd)
{
    put_changed_allow(fd, 4, FRAME_REPLY);
}

/* What would be a good refusal, but in a frame that only hooks send. */
static void do_wrong_kind_deny(int fd)
{
    put_frame(fd, (struct frame_head){FRAME_HOOK, 0, sizeof SHORT_DENY - 1, 0}, SHORT_DENY);
}

static void do_unknown_kind(int fd)
{
    put_changed_allow(fd, 4, 77);
}

static void do_unknown_flag(int fd)
{
    put_changed_allow(fd, 5, FRAME_ALLOW | FRAME_OVERSIZE);
}

static void do_reserved(int fd)
{
    put_changed_allow(fd, 7, 1);
}

static void do_oversize_length(int fd)
{
    put_frame(fd, (struct frame_head){FRAME_ANSWER, FRAME_ALLOW, FRAME_MAX_OUT + 1, 0}, "{}");
}

static void do_huge_length(int fd)
{
    put_frame(fd, (struct frame_head){FRAME_ANSWER, FRAME_ALLOW, UINT32_MAX, UINT32_MAX}, "{}");
}

static void do_truncated_head(int fd)
{
    put_part_of_allow(fd, FRAME_HEAD_BYTES - 1);
}

static void do_truncated_text(int fd)
{
    put_part_of_allow(fd, FRAME_HEAD_BYTES + 1);
}

static void do_truncated_then_silence(int fd)
{
    put_part_of_allow(fd, FRAME_HEAD_BYTES + 1);
    pause_for(LONG_MS);
}

static void do_missing_error_text(int fd)
{
    put_frame(fd, (struct frame_head){FRAME_ANSWER, FRAME_ALLOW, 2, 9}, "{}");
}

static void do_close(int fd)
{
    (void)fd;
}

static void do_silence(int fd)
{
    (void)fd;
    pause_for(LONG_MS);
}

static void do_slow(int fd)
{
    uint8_t bytes[FRAME_HEAD_BYTES + 2];
    size_t len = make_allow(bytes);
    for (size_t i = 0; i < len; i++) {
        put(fd, bytes + i, 1);
        pause_for(20);
    }
}

/* So slowly that no deadline of a test lasts for all of it, though each wait is short. */
static void do_drip(int fd)
{
    uint8_t bytes[FRAME_HEAD_BYTES + 2];
    size_t len = make_allow(bytes);
    for (size_t i = 0; i < len; i++) {
        put(fd, bytes + i, 1);
        pause_for(300);
    }
}

static void do_trailing(int fd)
{
    do_allow(fd);
    put(fd, "more", 4);
}

static void do_longest(int fd)
{
    static char out[FRAME_MAX_OUT + 1], err[FRAME_MAX_OUT + 1];
    static const char head[] = "{\"decision\":\"deny\",\"reason\":\"";
    memset(out, 'o', FRAME_MAX_OUT);
    memset(err, 'e', FRAME_MAX_OUT);
    memcpy(out, head, sizeof head - 1);
    memcpy(out + FRAME_MAX_OUT - 2, "\"}", 2);
    put_answer(fd, 0, out, err);
}

struct behaviour {
    const char *name;
    bool reads; /* the HOOK frame first */
    void (*answer)(int fd);
};

static const struct behaviour BEHAVIOURS[] = {
    {"allow", true, do_allow},
    {"allow-open", true, do_allow_open},
    {"noisy-allow", true, do_noisy_allow},
    {"deny", true, do_deny},
    {"allow-with-deny-text", true, do_allow_with_deny_text},
    {"deny-with-allow-text", true, do_deny_with_allow_text},
    {"deny-empty", true, do_deny_empty},
    {"deny-two-decisions", true, do_deny_two_decisions},
    {"garbage", true, do_garbage},
    {"wrong-magic", true, do_wrong_magic},
    {"wrong-kind", true, do_wrong_kind},
    {"wrong-kind-deny", true, do_wrong_kind_deny},
    {"unknown-kind", true, do_unknown_kind},
    {"unknown-flag", true, do_unknown_flag},
    {"reserved", true, do_reserved},
    {"oversize-length", true, do_oversize_length},
    {"huge-length", true, do_huge_length},
    {"truncated-head", true, do_truncated_head},
    {"truncated-text", true, do_truncated_text},
    {"truncated-then-silence", true, do_truncated_then_silence},
    {"missing-error-text", true, do_missing_error_text},
    {"close", true, do_close},
    {"close-unread", false, do_close},
    {"allow-unread", false, do_allow},
    {"silence", true, do_silence},
    {"silence-unread", false, do_silence},
    {"slow", true, do_slow},
    {"drip", true, do_drip},
    {"trailing", true, do_trailing},
    {"longest", true, do_longest},
    {"no-accept", false, NULL},
};

static const struct behaviour *chosen;

static void keep(const struct frame_meta *meta, const struct frame_head *head, const uint8_t *payload, pid_t pid)
{
    pthread_mutex_lock(&files);
    FILE *f = log_file == NULL ? NULL : fopen(log_file, "a");
    if (f != NULL) {
        fprintf(f, "pid=%d harness=%s event=%s wait_ms=%u flags=%u length=%u\n", (int)pid, meta->harness, meta->event,
                meta->wait_ms, head->flags, head->b);
        fclose(f);
    }
    f = payload_file == NULL ? NULL : fopen(payload_file, "wb");
    if (f != NULL) {
        fwrite(payload, 1, head->b, f);
        fclose(f);
    }
    pthread_mutex_unlock(&files);
}

static int read_hook(int fd)
{
    int64_t deadline = peer_now_ms() + LONG_MS;
    uint8_t bytes[FRAME_HEAD_BYTES], meta_bytes[FRAME_MAX_META], *payload = NULL;
    struct frame_head head;
    struct frame_meta meta;
    struct peer peer = {0};
    int ok = -1;
    if (peer_get(fd, &peer) == 0 && peer_read(fd, bytes, sizeof bytes, deadline) == 0 &&
        frame_head_read(bytes, &head) == 0 && head.kind == FRAME_HOOK &&
        peer_read(fd, meta_bytes, head.a, deadline) == 0 && frame_meta_read(meta_bytes, head.a, &meta) == 0 &&
        (payload = malloc((size_t)head.b + 1)) != NULL && peer_read(fd, payload, head.b, deadline) == 0) {
        keep(&meta, &head, payload, peer.pid);
        ok = 0;
    }
    free(payload);
    return ok;
}

static void *serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    if (!chosen->reads || read_hook(fd) == 0) {
        pause_for(delay_ms);
        chosen->answer(fd);
    }
    close(fd);
    return NULL;
}

static int listen_on(const char *path, int backlog)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (peer_address(path, &address) != 0 || fd < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, backlog) != 0) {
        fprintf(stderr, "fake_signer: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return fd;
}

/* Fills the socket's queue, so that the next connect has to wait for ever. */
static void fill_queue(const char *path)
{
    while (peer_connect(path, peer_now_ms() + 50) >= 0)
        ;
}

static int read_ms(const char *text)
{
    char *end = NULL;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || v < 0 || v > LONG_MS) {
        fprintf(stderr, "%s: not a time in milliseconds\n", text);
        exit(64);
    }
    return (int)v;
}

static bool read_options(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof BEHAVIOURS / sizeof BEHAVIOURS[0]; i++)
        if (strcmp(argv[2], BEHAVIOURS[i].name) == 0)
            chosen = &BEHAVIOURS[i];
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--log") == 0)
            log_file = argv[i + 1];
        else if (strcmp(argv[i], "--payload") == 0)
            payload_file = argv[i + 1];
        else if (strcmp(argv[i], "--delay") == 0)
            delay_ms = read_ms(argv[i + 1]);
        else
            return false;
    }
    return chosen != NULL && argc % 2 == 1;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: fake_signer SOCKET BEHAVIOUR [--log FILE] [--payload FILE] [--delay MS]\n");
        return 64;
    }
    int listener = listen_on(argv[1], chosen->answer == NULL ? 0 : 128);
    if (chosen->answer == NULL)
        fill_queue(argv[1]);
    puts("ready");
    fflush(stdout);
    if (chosen->answer == NULL)
        pause();
    for (;;) {
        pthread_t thread;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0)
            close(fd);
        else
            pthread_detach(thread);
    }
}
