#include "wire/client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/buf.h"
#include "evidence/jcs.h"
#include "wire/frame.h"
#include "wire/peer.h"

enum { OPEN_MS = 5000 };

struct client {
    int fd;
    struct peer server;
    bool in_step; /* between two frames; once false, the connection is of no more use */
};

static enum err connect_fault(const char *path, struct fault *fault)
{
    switch (errno) {
    case ENAMETOOLONG:
    case EINVAL:
        return fault_set(fault, ERR_PATH, "the socket's path must have 1 to %zu bytes; choose a shorter directory",
                         (size_t)PEER_MAX_PATH);
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        return fault_set(fault, ERR_CONNECT, "no signer listens on %s; start it with `tracekit up`", path);
    case EACCES:
    case EPERM:
        return fault_set(fault, ERR_CONNECT,
                         "the socket %s may not be opened by this user; run this as the signer's user", path);
    case ETIMEDOUT:
        return fault_set(fault, ERR_CONNECT,
                         "the signer at %s takes no connection within %d seconds; look at its messages", path,
                         OPEN_MS / 1000);
    default:
        return fault_set(fault, ERR_CONNECT, "cannot connect to %s: %s", path, strerror(errno));
    }
}

static enum err check_peer(struct client *c, const char *path, uid_t server_uid, struct fault *fault)
{
    struct peer peer;
    if (peer_get(c->fd, &peer) != 0)
        return fault_set(fault, ERR_PEER, "cannot tell who listens on %s: %s", path, strerror(errno));
    bool is_expected = server_uid == (uid_t)-1 ? peer.uid == geteuid() || peer.uid == 0 : peer.uid == server_uid;
    if (!is_expected)
        return fault_set(
            fault, ERR_PEER,
            "%s is served by user %ju, and that is not you: run tracekit as that user if it is the signer's, else find"
            " out who it is",
            path, (uintmax_t)peer.uid);
    c->server = peer;
    return ERR_OK;
}

enum err client_open(const char *path, uid_t server_uid, struct client **out, struct fault *fault)
{
    struct client *c = malloc(sizeof *c);
    if (c == NULL)
        return fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    *c = (struct client){.fd = peer_connect(path, peer_now_ms() + OPEN_MS), .in_step = true};
    enum err e = c->fd < 0 ? connect_fault(path, fault) : check_peer(c, path, server_uid, fault);
    if (e != ERR_OK) {
        client_close(c);
        return e;
    }
    *out = c;
    return ERR_OK;
}

struct peer client_server(const struct client *c)
{
    return c->server;
}

void client_close(struct client *c)
{
    if (c == NULL)
        return;
    if (c->fd >= 0)
        close(c->fd);
    free(c);
}

/* Why a transfer failed, from errno. */
static enum err transfer_fault(struct fault *fault)
{
    if (errno == ETIMEDOUT)
        return fault_set(fault, ERR_TIMEOUT, "the signer did not answer in time");
    return fault_set(fault, ERR_CLOSED, "the signer closed the connection");
}

static enum err send_request(struct client *c, const struct json *request, int64_t deadline_ms, struct fault *fault)
{
    struct buf body;
    uint8_t head[FRAME_HEAD_BYTES];
    buf_init(&body, FRAME_MAX_REQUEST);
    enum err e = jcs_write(&body, request);
    if (e != ERR_OK) {
        fault_set(fault, e, "the request: %s", err_text(e));
        goto out;
    }
    frame_head_write(&(struct frame_head){.kind = FRAME_REQUEST, .b = (uint32_t)body.len}, head);
    c->in_step = false;
    if (peer_write(c->fd, head, sizeof head, deadline_ms) != 0 ||
        peer_write(c->fd, body.data, body.len, deadline_ms) != 0)
        e = transfer_fault(fault);
out:
    buf_wipe(&body);
    return e;
}

/* Receives one REPLY frame; the caller wipes `body` in any case. */
static enum err receive_reply(struct client *c, int64_t deadline_ms, struct buf *body, bool *is_error,
                              struct fault *fault)
{
    uint8_t bytes[FRAME_HEAD_BYTES];
    struct frame_head head;
    if (peer_read(c->fd, bytes, sizeof bytes, deadline_ms) != 0)
        return transfer_fault(fault);
    if (frame_head_read(bytes, &head) != 0 || head.kind != FRAME_REPLY)
        return fault_set(fault, ERR_FRAME,
                         "what listens there does not speak as a signer does; is it of another version?");
    uint8_t *room = buf_reserve(body, head.b);
    if (room == NULL)
        return fault_set(fault, buf_err(body), "the reply: %s", err_text(buf_err(body)));
    if (peer_read(c->fd, room, head.b, deadline_ms) != 0)
        return transfer_fault(fault);
    buf_commit(body, head.b);
    c->in_step = true;
    *is_error = (head.flags & FRAME_ERROR) != 0;
    return ERR_OK;
}

/* The error of that name; PROTOCOL when there is none, or when it would be none. */
static enum err named_error(const char *name)
{
    static const enum err ALL[] = {
#define CLIENT_ERR(name, kind, text) ERR_##name,
        ERR_TABLE(CLIENT_ERR)
#undef CLIENT_ERR
    };
    for (size_t i = 0; name != NULL && i < sizeof ALL / sizeof ALL[0]; i++)
        if (ALL[i] != ERR_OK && strcmp(name, err_name(ALL[i])) == 0)
            return ALL[i];
    return ERR_PROTOCOL;
}

static enum err read_refusal(const struct json *reply, struct fault *fault)
{
    const char *message = json_get_cstr(reply, "message");
    enum err e = named_error(json_get_cstr(reply, "error"));
    return fault_set(fault, e, "%s", message != NULL && message[0] != '\0' ? message : err_text(e));
}

static enum err parse_reply(const struct buf *body, struct arena *arena, const struct json **out, struct fault *fault)
{
    struct json_fault where, loose;
    const struct json *reply = NULL;
    enum err e = json_parse_loose(arena, body->data, body->len, &reply, &where, &loose);
    if (e == ERR_NOMEM)
        return fault_set(fault, e, "%s", err_text(e));
    /* A call's arguments are in it, and 1e20 in canonical form is an integer that strict JSON refuses. */
    if (e == ERR_OK && loose.err != ERR_OK && loose.err != ERR_INT_RANGE) {
        e = loose.err;
        where = loose;
    }
    if (e != ERR_OK)
        return fault_set(fault, ERR_PROTOCOL, "the signer's reply at byte %zu: %s", where.offset, err_text(e));
    if (!json_is(reply, JSON_OBJECT))
        return fault_set(fault, ERR_PROTOCOL, "the signer's reply is not an object");
    *out = reply;
    return ERR_OK;
}

enum err client_call(struct client *c, const struct json *request, int timeout_ms, struct arena *arena,
                     const struct json **reply, struct fault *fault)
{
    int64_t deadline_ms = peer_now_ms() + timeout_ms;
    const struct json *value = NULL;
    bool is_error = false;
    struct buf body;
    buf_init(&body, FRAME_MAX_REPLY);

    enum err e = ERR_OK;
    if (!c->in_step)
        e = fault_set(fault, ERR_CLOSED, "the connection broke in an earlier request; connect again");
    if (e == ERR_OK)
        e = send_request(c, request, deadline_ms, fault);
    if (e == ERR_OK)
        e = receive_reply(c, deadline_ms, &body, &is_error, fault);
    if (e == ERR_OK)
        e = parse_reply(&body, arena, &value, fault);
    if (e == ERR_OK && is_error)
        e = read_refusal(value, fault);
    if (e == ERR_OK)
        *reply = value;
    buf_wipe(&body);
    return e;
}
