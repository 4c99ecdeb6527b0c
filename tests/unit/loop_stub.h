/*
 * loop_stub.h - a service that only counts, for the tests of the event loop (loop_rig.h includes it). It defines the
 * service's functions: signer/service.c must not be linked beside it.
 *
 * It does what a hook's payload or a request says:
 *
 *   hook      "allow" "deny"  answer at once     "park"  hold     "fail"  STORE from service_hook
 *             "too-long"      an answer that is no frame
 *             anything else   allow, with its length and sum as the text
 *   request   "answer"  allow every parked hook  "big N"  N bytes      "fds N"  set the limit of descriptors
 *             "fail"    NOMEM                    else     an error reply that echoes
 */
#ifndef UNIT_LOOP_STUB_H
#define UNIT_LOOP_STUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "signer/service.h"

enum { RIG_PARKED = 2048 };

/* Seen by the test and by the signer's process. */
struct rig_shared {
    atomic_int begins, commits, hooks, requests, gone, delivered, undelivered, ticks, stops, most, lines;
    atomic_int disorder;  /* a call at a moment when it must not come */
    atomic_int fds_left;  /* descriptors that the loop left open */
    atomic_int commit_ms; /* how long a commit takes */
    atomic_int commit_fails;
    atomic_int tick_ms;       /* what a tick asks for */
    atomic_ullong last_token; /* of service_hook */
    atomic_int last_uid, last_pid, last_oversize, last_gone_was_parked;
    atomic_llong last_deadline_ms;
    char last_line[200];
};

struct service {
    bool in_batch, is_committed;
    int in_this_batch;
    size_t parked_count, answer_count;
    uint64_t parked[RIG_PARKED], answers[RIG_PARKED];
    bool answer_allows;
};

static struct rig_shared *shared;
static struct service stub;

static inline void rig_check(bool good)
{
    if (!good)
        atomic_fetch_add(&shared->disorder, 1);
}

const char *service_failure(const struct service *s)
{
    (void)s;
    return "";
}

enum err service_begin(struct service *s, const struct clock *now)
{
    rig_check(!s->in_batch && now->mono_ms > 0 && now->wall_us > 0);
    s->in_batch = true;
    s->is_committed = false;
    s->in_this_batch = 0;
    atomic_fetch_add(&shared->begins, 1);
    return ERR_OK;
}

enum err service_commit(struct service *s)
{
    rig_check(s->in_batch);
    struct timespec pause = {.tv_sec = shared->commit_ms / 1000, .tv_nsec = shared->commit_ms % 1000 * 1000000L};
    if (s->in_this_batch > 0)
        nanosleep(&pause, NULL);
    if (shared->commit_fails != 0 && s->in_this_batch > 0)
        return ERR_SYNC;
    s->in_batch = false;
    s->is_committed = true;
    if (s->in_this_batch > shared->most)
        shared->most = s->in_this_batch;
    atomic_fetch_add(&shared->commits, 1);
    return ERR_OK;
}

static inline bool rig_is(const uint8_t *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

enum err service_hook(struct service *s, const struct service_hook *hook, bool *parked, struct service_answer *answer)
{
    static uint64_t last_token;
    unsigned sum = 0;
    rig_check(s->in_batch && hook->token != 0 && hook->token > last_token && hook->payload != NULL);
    last_token = hook->token;
    s->in_this_batch++;
    atomic_fetch_add(&shared->hooks, 1);
    shared->last_token = hook->token;
    shared->last_uid = (int)hook->peer.uid;
    shared->last_pid = (int)hook->peer.pid;
    shared->last_oversize = hook->oversize;
    shared->last_deadline_ms = hook->deadline_ms;
    if (rig_is(hook->payload, hook->payload_len, "fail"))
        return ERR_STORE;
    if (rig_is(hook->payload, hook->payload_len, "park")) {
        rig_check(s->parked_count < RIG_PARKED);
        s->parked[s->parked_count++] = hook->token;
        *parked = true;
        return ERR_OK;
    }
    for (size_t i = 0; i < hook->payload_len; i++)
        sum += hook->payload[i];
    *parked = false;
    answer->allow = !rig_is(hook->payload, hook->payload_len, "deny");
    buf_init(&answer->out, FRAME_MAX_OUT);
    buf_init(&answer->err, FRAME_MAX_OUT);
    if (rig_is(hook->payload, hook->payload_len, "too-long"))
        buf_init(&answer->out, FRAME_MAX_OUT + 1);
    if (rig_is(hook->payload, hook->payload_len, "too-long"))
        buf_commit(&answer->out, buf_reserve(&answer->out, FRAME_MAX_OUT + 1) != NULL ? FRAME_MAX_OUT + 1 : 0);
    else
        buf_printf(&answer->out, "%s %s %zu %u", hook->meta->harness, hook->meta->event, hook->payload_len, sum);
    buf_puts(&answer->err, answer->allow ? "" : "no");
    return ERR_OK;
}

bool service_next_answer(struct service *s, uint64_t *token, struct service_answer *answer)
{
    rig_check(s->is_committed && !s->in_batch);
    if (s->answer_count == 0)
        return false;
    *token = s->answers[--s->answer_count];
    answer->allow = s->answer_allows;
    buf_init(&answer->out, FRAME_MAX_OUT);
    buf_init(&answer->err, FRAME_MAX_OUT);
    buf_puts(&answer->out, s->answer_allows ? "approved" : "stopped");
    return true;
}

static inline bool rig_unpark(struct service *s, uint64_t token)
{
    for (size_t i = 0; i < s->parked_count; i++)
        if (s->parked[i] == token) {
            s->parked[i] = s->parked[--s->parked_count];
            return true;
        }
    return false;
}

static inline void rig_answer_all(struct service *s, bool allow)
{
    memcpy(s->answers, s->parked, s->parked_count * sizeof s->parked[0]);
    s->answer_count = s->parked_count;
    s->parked_count = 0;
    s->answer_allows = allow;
}

enum err service_hook_gone(struct service *s, uint64_t token)
{
    rig_check(s->in_batch);
    shared->last_gone_was_parked = rig_unpark(s, token);
    atomic_fetch_add(&shared->gone, 1);
    return ERR_OK;
}

enum err service_undelivered(struct service *s, uint64_t token)
{
    rig_check(s->in_batch && token != 0);
    atomic_fetch_add(&shared->undelivered, 1);
    return ERR_OK;
}

void service_delivered(struct service *s, uint64_t token)
{
    rig_check(s->is_committed && token != 0);
    atomic_fetch_add(&shared->delivered, 1);
}

enum err service_request(struct service *s, const struct peer *peer, const uint8_t *text, size_t len, struct buf *reply,
                         bool *refused)
{
    char word[64];
    rig_check(s->in_batch && reply->len == 0 && text != NULL);
    s->in_this_batch++;
    atomic_fetch_add(&shared->requests, 1);
    shared->last_uid = (int)peer->uid;
    snprintf(word, sizeof word, "%.*s", (int)(len < 60 ? len : 60), (const char *)text);
    if (strcmp(word, "fail") == 0)
        return ERR_NOMEM;
    if (strcmp(word, "answer") == 0) {
        rig_answer_all(s, true);
        buf_puts(reply, "{}");
    } else if (strncmp(word, "big ", 4) == 0) {
        size_t n = strtoul(word + 4, NULL, 10);
        uint8_t *at = buf_reserve(reply, n);
        if (at != NULL) {
            memset(at, 'b', n);
            buf_commit(reply, n);
        }
    } else if (strncmp(word, "fds ", 4) == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = strtoul(word + 4, NULL, 10);
        rig_check(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        buf_puts(reply, "{}");
    } else {
        buf_puts(reply, word);
        *refused = true;
    }
    return ERR_OK;
}

enum err service_tick(struct service *s, int64_t *next_ms)
{
    rig_check(s->in_batch);
    atomic_fetch_add(&shared->ticks, 1);
    *next_ms = shared->tick_ms < 0 ? INT64_MAX : shared->tick_ms == 0 ? 0 : peer_now_ms() + shared->tick_ms;
    return ERR_OK;
}

enum err service_stop(struct service *s)
{
    rig_check(s->in_batch);
    atomic_fetch_add(&shared->stops, 1);
    rig_answer_all(s, false);
    return ERR_OK;
}

#endif
