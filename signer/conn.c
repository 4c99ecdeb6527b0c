#include "signer/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READS_AT_ONCE = 16 }; /* then the others have their turn */

void conn_queue_push(struct conn_queue *q, struct conn *c)
{
    c->next = NULL;
    if (q->last == NULL)
        q->first = c;
    else
        q->last->next = c;
    q->last = c;
    q->count++;
}

struct conn *conn_queue_pop(struct conn_queue *q)
{
    struct conn *c = q->first;
    if (c == NULL)
        return NULL;
    q->first = c->next;
    if (q->first == NULL)
        q->last = NULL;
    q->count--;
    c->next = NULL;
    return c;
}

void conn_queue_remove(struct conn_queue *q, struct conn *c)
{
    struct conn *before = NULL, *at = q->first;
    while (at != NULL && at != c) {
        before = at;
        at = at->next;
    }
    if (at == NULL)
        return;
    if (before == NULL)
        q->first = c->next;
    else
        before->next = c->next;
    if (q->last == c)
        q->last = before;
    q->count--;
    c->next = NULL;
}

void conn_open(struct conn *c, int fd, enum conn_kind kind, const struct peer *peer)
{
    *c = (struct conn){
        .fd = fd,
        .state = CONN_HEAD,
        .kind = kind,
        .peer = *peer,
        .generation = c->generation + 1,
        .deadline_ms = INT64_MAX,
    };
    buf_init(&c->out[0], 0);
    buf_init(&c->out[1], 0);
}

void conn_hang_up(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    conn_end_frame(c);
    buf_wipe(&c->out[0]);
    buf_wipe(&c->out[1]);
}

/* Reads until `len` bytes are there. */
static enum conn_result fill(int fd, uint8_t *bytes, size_t *have, size_t len)
{
    for (int i = 0; i < READS_AT_ONCE && *have < len; i++) {
        ssize_t n = recv(fd, bytes + *have, len - *have, MSG_DONTWAIT);
        if (n == 0)
            return CONN_CLOSED;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return CONN_MORE;
        if (n < 0)
            return CONN_CLOSED;
        *have += (size_t)n;
    }
    return *have == len ? CONN_DONE : CONN_MORE;
}

enum conn_result conn_read_head(struct conn *c)
{
    enum conn_result r = fill(c->fd, c->raw, &c->raw_len, sizeof c->raw);
    if (r != CONN_DONE)
        return r;
    uint8_t expected = c->kind == CONN_AGENT ? FRAME_HOOK : FRAME_REQUEST;
    if (frame_head_read(c->raw, &c->head) != 0 || c->head.kind != expected)
        return CONN_BROKEN;
    return CONN_DONE;
}

enum conn_result conn_new_body(struct conn *c)
{
    size_t len = (size_t)c->head.a + c->head.b;
    c->body_len = 0;
    c->body = malloc(len > 0 ? len : 1);
    return c->body == NULL ? CONN_NOMEM : CONN_DONE;
}

enum conn_result conn_read_body(struct conn *c)
{
    enum conn_result r = fill(c->fd, c->body, &c->body_len, (size_t)c->head.a + c->head.b);
    if (r != CONN_DONE)
        return r;
    if (c->kind == CONN_AGENT && frame_meta_read(c->body, c->head.a, &c->meta) != 0)
        return CONN_BROKEN;
    return CONN_DONE;
}

const uint8_t *conn_payload(const struct conn *c, size_t *len)
{
    *len = c->head.b;
    return c->body + c->head.a;
}

void conn_end_frame(struct conn *c)
{
    free(c->body);
    c->body = NULL;
    c->body_len = 0;
    c->raw_len = 0;
}

/* Hands the bytes over; the giver's buffer is empty afterwards. */
static void move(struct buf *to, struct buf *from)
{
    buf_wipe(to);
    *to = *from;
    buf_init(from, from->max);
}

void conn_set_answer(struct conn *c, struct service_answer *answer)
{
    c->is_out_good = buf_err(&answer->out) == ERR_OK && buf_err(&answer->err) == ERR_OK &&
                     answer->out.len <= FRAME_MAX_OUT && answer->err.len <= FRAME_MAX_OUT;
    struct frame_head head = {
        .kind = FRAME_ANSWER,
        .flags = answer->allow ? FRAME_ALLOW : 0,
        .a = (uint32_t)answer->out.len,
        .b = (uint32_t)answer->err.len,
    };
    move(&c->out[0], &answer->out);
    move(&c->out[1], &answer->err);
    frame_head_write(&head, c->out_head);
    c->out_sent = 0;
}

void conn_set_reply(struct conn *c, struct buf *reply, bool refused)
{
    c->is_out_good = buf_err(reply) == ERR_OK && reply->len <= FRAME_MAX_REPLY;
    struct frame_head head = {
        .kind = FRAME_REPLY,
        .flags = refused ? FRAME_ERROR : 0,
        .b = (uint32_t)reply->len,
    };
    move(&c->out[0], reply);
    frame_head_write(&head, c->out_head);
    c->out_sent = 0;
}

/* What is left to write: the parts behind the first `sent` bytes. */
static int left(struct conn *c, struct iovec parts[static 3])
{
    struct iovec all[3] = {
        {c->out_head, sizeof c->out_head}, {c->out[0].data, c->out[0].len}, {c->out[1].data, c->out[1].len}};
    size_t skip = c->out_sent;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        if (skip >= all[i].iov_len) {
            skip -= all[i].iov_len;
            continue;
        }
        parts[count++] = (struct iovec){(uint8_t *)all[i].iov_base + skip, all[i].iov_len - skip};
        skip = 0;
    }
    return count;
}

enum conn_result conn_write(struct conn *c)
{
    struct iovec parts[3];
    if (!c->is_out_good)
        return CONN_CLOSED;
    for (int count = left(c, parts); count > 0; count = left(c, parts)) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
        ssize_t n = sendmsg(c->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            return CONN_MORE;
        if (n < 0 && errno != EINTR)
            return CONN_CLOSED;
        if (n > 0)
            c->out_sent += (size_t)n;
    }
    buf_wipe(&c->out[0]);
    buf_wipe(&c->out[1]);
    return CONN_DONE;
}
