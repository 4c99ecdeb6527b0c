#include "hook/relay.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/peer.h"

/* The payload is read behind room for head and meta, so that a frame leaves in one piece. */
enum {
    ROOM = FRAME_HEAD_BYTES + FRAME_MAX_META,
    FIRST_BYTES = 64 << 10,
    MOST_BYTES = ROOM + FRAME_MAX_PAYLOAD + 1, /* one more than allowed, to tell */
};

struct payload {
    uint8_t *bytes; /* owned by the process: it ends soon enough */
    size_t len;     /* with ROOM */
    size_t cap;
};

static int grow(struct payload *p)
{
    size_t cap = p->cap == 0 ? FIRST_BYTES : 2 * p->cap;
    if (cap > MOST_BYTES)
        cap = MOST_BYTES;
    uint8_t *bytes = realloc(p->bytes, cap);
    if (bytes == NULL)
        return -1;
    p->bytes = bytes;
    p->cap = cap;
    return 0;
}

/* Reads once, when there is something; 1 to go on, 0 at the end, -1 on failure or at the deadline. */
static int read_some(struct payload *p, int64_t deadline_ms)
{
    int64_t left = deadline_ms - peer_now_ms();
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (left <= 0)
        return -1;
    int ready = poll(&in, 1, (int)left);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return 1;
    if (ready < 0)
        return -1;
    ssize_t n = read(STDIN_FILENO, p->bytes + p->len, p->cap - p->len);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 1 : -1;
    p->len += (size_t)n;
    return n > 0;
}

/* Reads to the end, or to the first byte over the maximum. */
static enum relay_result read_payload(struct payload *p, int64_t deadline_ms)
{
    p->len = ROOM;
    for (int more = 1; more != 0 && p->len < MOST_BYTES;) {
        if (p->len >= p->cap && grow(p) != 0)
            return RELAY_NO_MEMORY;
        more = read_some(p, deadline_ms);
        if (more < 0)
            return RELAY_UNREADABLE;
    }
    return RELAY_ANSWERED;
}

static enum relay_result connect_signer(const struct relay *relay, int *fd, uid_t *peer_uid)
{
    struct peer peer;
    *fd = peer_connect(relay->socket, relay->deadline_ms);
    if (*fd < 0 && errno == ETIMEDOUT)
        return RELAY_LATE;
    if (*fd < 0)
        return errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR ? RELAY_NO_SIGNER : RELAY_UNREACHABLE;
    if (peer_get(*fd, &peer) != 0)
        return RELAY_UNREACHABLE;
    *peer_uid = peer.uid;
    return peer.uid == relay->signer_uid ? RELAY_ANSWERED : RELAY_WRONG_PEER;
}

/* Both names come from our own lists, so they fit. */
static void set_name(char out[static FRAME_MAX_NAME + 1], const char *name)
{
    size_t len = strnlen(name, FRAME_MAX_NAME);
    memcpy(out, name, len);
    out[len] = '\0';
}

static enum relay_result send_hook(const struct relay *relay, int fd, struct payload *p, bool oversize)
{
    struct frame_meta meta = {0};
    uint8_t meta_bytes[FRAME_MAX_META];
    int64_t left = relay->deadline_ms - peer_now_ms();
    if (left <= 0)
        return RELAY_LATE;
    meta.wait_ms = (uint32_t)left;
    set_name(meta.harness, relay->harness);
    set_name(meta.event, relay->event);
    size_t meta_len = frame_meta_write(&meta, meta_bytes);
    size_t payload_len = oversize ? 0 : p->len - ROOM;
    struct frame_head head = {.kind = FRAME_HOOK,
                              .flags = oversize ? FRAME_OVERSIZE : 0,
                              .a = (uint32_t)meta_len,
                              .b = (uint32_t)payload_len};

    uint8_t *frame = p->bytes + ROOM - meta_len - FRAME_HEAD_BYTES;
    frame_head_write(&head, frame);
    memcpy(frame + FRAME_HEAD_BYTES, meta_bytes, meta_len);
    if (peer_write(fd, frame, FRAME_HEAD_BYTES + meta_len + payload_len, relay->deadline_ms) != 0)
        return errno == ETIMEDOUT ? RELAY_LATE : RELAY_CLOSED;
    return RELAY_ANSWERED;
}

static enum relay_result receive_answer(int fd, int64_t deadline_ms, struct relay_answer *answer)
{
    uint8_t bytes[FRAME_HEAD_BYTES];
    struct frame_head head;
    if (peer_read(fd, bytes, sizeof bytes, deadline_ms) != 0)
        return errno == ETIMEDOUT ? RELAY_LATE : RELAY_CLOSED;
    if (frame_head_read(bytes, &head) != 0 || head.kind != FRAME_ANSWER)
        return RELAY_BROKEN;
    if (peer_read(fd, answer->bytes, (size_t)head.a + head.b, deadline_ms) != 0)
        return errno == ETIMEDOUT ? RELAY_LATE : RELAY_BROKEN;
    answer->allow = (head.flags & FRAME_ALLOW) != 0;
    answer->out_len = head.a;
    answer->err_len = head.b;
    return RELAY_ANSWERED;
}

enum relay_result relay_call(const struct relay *relay, struct relay_answer *answer)
{
    struct payload payload = {0};
    int fd = -1;
    answer->peer_uid = (uid_t)-1;
    enum relay_result result = read_payload(&payload, relay->deadline_ms);
    bool oversize = payload.len == MOST_BYTES;
    if (result == RELAY_ANSWERED)
        result = connect_signer(relay, &fd, &answer->peer_uid);
    if (result == RELAY_ANSWERED)
        result = send_hook(relay, fd, &payload, oversize);
    if (result == RELAY_ANSWERED)
        result = receive_answer(fd, relay->deadline_ms, answer);
    if (result == RELAY_ANSWERED && oversize && answer->allow)
        result = RELAY_TOO_LARGE;
    return result;
}
