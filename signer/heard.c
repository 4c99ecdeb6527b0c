/* What the harness tells beside calls and their results: prompts, and questions of its own to its user. */
#include <inttypes.h>
#include <stdio.h>

#include "evidence/commit.h"
#include "signer/service_internal.h"

/* The record has no field for a salt's name: where it stands names it. */
static enum err prompt_data(struct service *s, const struct service_call *call, struct arena *arena, struct json *data)
{
    char label[128], digest[DIGEST_TEXT_BYTES], commitment[DIGEST_HMAC_TEXT_BYTES];
    uint64_t size = 0;
    struct json *content = json_new_object(arena);
    enum err e = commit_value_digest(call->message.prompt, digest, &size);
    if (e != ERR_OK)
        return e;
    snprintf(label, sizeof label, "user.prompt:%s:%" PRId64, call->run.run_id, call->run.next_run_seq);
    seal_commit(s->seal, label, digest, commitment);
    json_set_string(arena, content, "hash", commitment);
    json_set_int(arena, content, "size", (int64_t)size);
    json_set_bool(arena, content, "redacted", false);
    json_set(arena, data, "content", content);
    return ERR_OK;
}

enum err heard_prompt(struct service *s, struct service_call *call)
{
    enum err e = run_of_call(s, call);
    if (e != ERR_OK || call->message.prompt == NULL)
        return e;
    struct arena *arena = arena_new(SERVICE_RECORD_ARENA_BYTES);
    struct json *data = json_new_object(arena);
    e = prompt_data(s, call, arena, data);
    const struct ledger_event event = {.type = "user.prompt", .source = "hook", .tier = "T1", .data = data};
    if (e == ERR_OK)
        e = run_append(s, &call->run, &event, arena);
    arena_free(arena);
    return e;
}

/* The program asks the same question about permissions that the call itself asked for, and that were decided. A question names
 * no call: it is taken for such a one only when no other call is open. */
enum err heard_notice(struct service *s, struct service_call *call)
{
    bool is_decided = false;
    enum err e = run_of_call(s, call);
    if (e != ERR_OK || !call->message.notice_widens)
        return e;
    e = store_call_all_ask(s->store, call->run.id, &is_decided);
    if (e != ERR_OK || is_decided)
        return e;
    return run_gap(
        s, &call->run, "reconcile.unexplained_effect", NULL,
        "the agent's program asked its user to widen the sandbox for a call; what it grants then was decided by"
        " no policy, and may show in no hook");
}
