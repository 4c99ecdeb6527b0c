/* What a person is shown of a held call: sealed when it is asked about, opened for the command line. A list opens only a
 * small part of each, so that large arguments do not hold everybody up. */
#include <string.h>

#include "evidence/jcs.h"
#include "signer/service_internal.h"

enum {
    PLAIN_MAX_BYTES = 2 * POLICY_MAX_SHOWN_BYTES,
    SEALED_MAX_BYTES = 4 * POLICY_MAX_SHOWN_BYTES,
    SUMMARY_MAX_BYTES = 2000,
    NAME_MAX_BYTES = 256,
    ARENA_BYTES = 8 << 20, /* grants are a part of the arguments, so they are not much longer than these */
};

/* Names that are there for some calls only. */
static const char *const OPTIONAL[] = {"server", "server_tool", "replaces"};

/* At most `max` bytes, cut between two characters. */
static size_t cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

static void set_name(struct arena *arena, struct json *shown, const char *key, const struct json *name)
{
    size_t len = 0;
    const char *text = json_text(name, &len);
    if (text != NULL)
        json_set(arena, shown, key, json_new_text(arena, text, cut(text, len, NAME_MAX_BYTES)));
}

/* {"grants": [...], "summary": "..."}: the command, or else the arguments as they stand in `plain`; and for whom the call
 * is, when its tool's name does not say. */
static enum err write_shown(const struct decision *d, const struct harness_message *m, const struct buf *plain,
                            struct buf *out)
{
    size_t len = 0;
    struct arena *arena = arena_new(ARENA_BYTES);
    struct json *shown = json_new_object(arena), *grants = json_new_array(arena);
    const char *summary = json_text(json_get(m->args, "command"), &len);
    if (summary == NULL) {
        summary = (const char *)plain->data;
        len = plain->len;
    }
    for (size_t i = 0; i < d->grants.count; i++)
        json_add(arena, grants, json_new_string(arena, d->grants.list[i].text));
    json_set(arena, shown, "grants", grants);
    json_set(arena, shown, "summary", json_new_text(arena, summary, cut(summary, len, SUMMARY_MAX_BYTES)));
    set_name(arena, shown, "server", m->server);
    set_name(arena, shown, "server_tool", m->server_tool);
    set_name(arena, shown, "replaces", m->replaces);
    enum err e = jcs_write(out, shown);
    arena_free(arena);
    return e;
}

enum err shown_insert(struct service *s, const struct store_approval *a, const struct decision *d,
                      const struct harness_message *m)
{
    struct buf plain, sealed, shown, sealed_shown;
    buf_init(&plain, PLAIN_MAX_BYTES);
    buf_init(&shown, PLAIN_MAX_BYTES);
    buf_init(&sealed, SEALED_MAX_BYTES);
    buf_init(&sealed_shown, SEALED_MAX_BYTES);
    enum err e = jcs_write(&plain, m->args);
    if (e == ERR_OK)
        e = write_shown(d, m, &plain, &shown);
    if (e == ERR_OK)
        e = seal_write(s->seal, plain.data, plain.len, &sealed);
    if (e == ERR_OK)
        e = seal_write(s->seal, shown.data, shown.len, &sealed_shown);
    if (e == ERR_OK)
        e = store_approval_insert(s->store, a, &sealed, &sealed_shown);
    buf_wipe(&plain);
    buf_wipe(&shown);
    buf_wipe(&sealed);
    buf_wipe(&sealed_shown);
    return e;
}

/* Opens what `read` finds; NULL when it is gone, or sealed under another key. It was strict JSON when it came, but its
 * canonical form need not be: 1e20 is written as an integer that strict JSON refuses. */
static enum err unseal(struct service *s, enum err (*read)(struct store *, const char *, struct buf *), const char *id,
                       struct arena *arena, const struct json **out)
{
    const struct json *value = NULL;
    struct json_fault loose;
    struct buf sealed, plain;
    buf_init(&sealed, SEALED_MAX_BYTES);
    buf_init(&plain, SEALED_MAX_BYTES);
    enum err e = read(s->store, id, &sealed);
    if (e == ERR_OK)
        e = seal_read(s->seal, sealed.data, sealed.len, &plain);
    if (e == ERR_OK)
        e = json_parse_loose(arena, plain.data, plain.len, &value, NULL, &loose);
    if (e == ERR_NOT_FOUND || e == ERR_LEDGER)
        e = ERR_OK;
    if (e == ERR_OK)
        *out = value;
    buf_wipe(&sealed);
    buf_wipe(&plain);
    return e;
}

enum err shown_args(struct service *s, const char *id, struct arena *arena, const struct json **out)
{
    return unseal(s, store_approval_args, id, arena, out);
}

enum err shown_read(struct service *s, const char *id, struct arena *arena, struct json *approval)
{
    const struct json *shown = NULL;
    enum err e = unseal(s, store_approval_shown, id, arena, &shown);
    if (e != ERR_OK)
        return e;
    json_set(arena, approval, "grants", shown != NULL ? json_get(shown, "grants") : json_new_array(arena));
    json_set(arena, approval, "summary", shown != NULL ? json_get(shown, "summary") : json_new_string(arena, ""));
    for (size_t i = 0; i < sizeof OPTIONAL / sizeof OPTIONAL[0]; i++)
        if (json_get(shown, OPTIONAL[i]) != NULL)
            json_set(arena, approval, OPTIONAL[i], json_get(shown, OPTIONAL[i]));
    return ERR_OK;
}
