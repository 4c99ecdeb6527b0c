#include "evidence/verify_calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/digest.h"

/* Tiers from the weakest claim to the strongest. NO_CLAIM: no record of the call says one, which counts as untiered. */
enum tier { UNTIERED, T3, T1, T2, NO_CLAIM };
static const char *const tier_names[] = {"untiered", "T3", "T1", "T2", "untiered"};

/* Where a record came from; the last one stands for anything that the schema refuses. */
static const char *const source_names[] = {"hook",     "proxy",  "transcript", "signer", "sdk",
                                           "migrated", "import", "gateway",    "other"};
enum { SOURCES = sizeof source_names / sizeof source_names[0], NO_PATH = 255, FIRST_CALLS = 256 };

static enum tier tier_of(const struct json *event)
{
    const struct json *v = json_get(event, "tier");
    for (enum tier t = T3; t <= T2; t++) {
        if (json_equal_cstr(v, tier_names[t]))
            return t;
    }
    return UNTIERED;
}

static uint8_t path_of(const struct json *event, enum tier tier)
{
    const struct json *v = json_get(event, "source");
    unsigned source = 0;
    while (source < SOURCES - 1 && !json_equal_cstr(v, source_names[source]))
        source++;
    return (uint8_t)(source * NO_CLAIM + tier);
}

/* The first 128 bits of a digest: two calls share them only by an attack on SHA-256. */
static void call_id(const struct json *event, uint8_t out[static 16])
{
    struct digest_state s;
    uint8_t digest[DIGEST_BYTES];
    size_t run_len = 0, call_len = 0;
    const char *run = json_text(json_get(event, "run_id"), &run_len);
    const char *call = json_text(json_get(event, "tool_call_id"), &call_len);
    digest_init(&s);
    digest_update(&s, run == NULL ? "" : run, run_len);
    digest_update(&s, "", 1);
    digest_update(&s, call == NULL ? "" : call, call_len);
    digest_final(&s, digest);
    memcpy(out, digest, 16);
}

static int by_id(const void *a, const void *b)
{
    const struct verify_call *x = a, *y = b;
    int order = memcmp(x->id, y->id, sizeof x->id);
    return order != 0 ? order : (x->first > y->first) - (x->first < y->first);
}

static int by_place(const void *a, const void *b)
{
    const struct verify_call *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void join(struct verify_call *into, const struct verify_call *from)
{
    if (from->tier < into->tier)
        into->tier = from->tier;
    if (from->path == NO_PATH)
        return;
    if (into->path == NO_PATH) {
        into->path = from->path;
        into->first = from->first;
    } else if (into->other_path == NO_PATH && from->path != into->path) {
        into->other_path = from->path;
        into->other = from->first;
    }
    if (into->other_path == NO_PATH && from->other_path != NO_PATH && from->other_path != into->path) {
        into->other_path = from->other_path;
        into->other = from->other;
    }
}

/* Joins what belongs to one call: afterwards each call is in the list once. */
static void compact(struct verify_calls *c)
{
    if (c->count == 0)
        return;
    qsort(c->list, c->count, sizeof *c->list, by_id);
    size_t last = 0;
    for (size_t i = 1; i < c->count; i++) {
        if (memcmp(c->list[last].id, c->list[i].id, sizeof c->list[i].id) == 0)
            join(&c->list[last], &c->list[i]);
        else
            c->list[++last] = c->list[i];
    }
    c->count = last + 1;
}

/* Room for one more: by joining first, so that the list grows with the calls and not with their records. */
static enum err make_room(struct verify_calls *c)
{
    if (c->count < c->cap)
        return ERR_OK;
    compact(c);
    if (c->cap > 0 && c->count <= c->cap / 2)
        return ERR_OK;
    size_t cap = c->cap == 0 ? FIRST_CALLS : 2 * c->cap;
    struct verify_call *list = realloc(c->list, cap * sizeof *list);
    if (list == NULL)
        return ERR_NOMEM;
    c->list = list;
    c->cap = cap;
    return ERR_OK;
}

enum err verify_calls_add(struct verify_calls *c, const struct json *event, uint32_t run_seq)
{
    const struct json *id = json_get(event, "tool_call_id");
    if (id == NULL || json_is(id, JSON_NULL))
        return ERR_OK;
    const struct json *type = json_get(event, "type");
    bool decides = json_equal_cstr(type, "policy.decision") || json_equal_cstr(type, "tool.result");
    enum tier tier = tier_of(event);

    struct verify_call call = {.first = run_seq, .tier = (uint8_t)tier, .path = NO_PATH, .other_path = NO_PATH};
    if (decides)
        call.path = path_of(event, tier);
    else if (tier == UNTIERED)
        call.tier = NO_CLAIM;
    call_id(event, call.id);
    enum err e = make_room(c);
    if (e != ERR_OK)
        return e;
    c->list[c->count++] = call;
    return ERR_OK;
}

void verify_calls_line(struct verify_calls *c, struct report *lines)
{
    size_t n[NO_CLAIM + 1] = {0};
    size_t split = 0;
    compact(c);
    if (c->count == 0)
        return;
    qsort(c->list, c->count, sizeof *c->list, by_place);
    for (size_t i = 0; i < c->count; i++) {
        n[c->list[i].tier]++;
        split += c->list[i].other_path != NO_PATH;
    }
    report_line(lines, split > 0 ? REPORT_WARN : REPORT_PASS, "tiers",
                "of %zu tool call(s), T1 %zu, T2 %zu, T3 %zu, untiered %zu%s", c->count, n[T1], n[T2], n[T3],
                n[UNTIERED] + n[NO_CLAIM],
                split > 0 ? "; some were decided by one layer and completed by another" : "");
    for (size_t i = 0; i < c->count; i++) {
        const struct verify_call *call = &c->list[i];
        if (call->other_path != NO_PATH)
            report_problem(lines, "one call: run_seq %u by %s (%s), run_seq %u by %s (%s)", call->first,
                           source_names[call->path / NO_CLAIM], tier_names[call->path % NO_CLAIM], call->other,
                           source_names[call->other_path / NO_CLAIM], tier_names[call->other_path % NO_CLAIM]);
    }
}

void verify_calls_wipe(struct verify_calls *c)
{
    free(c->list);
    *c = (struct verify_calls){0};
}
