/* What would keep our hooks from running, and whether a change touched anything else. */
#include <stdlib.h>
#include <string.h>

#include "evidence/jcs.h"
#include "harness/jsonc.h"
#include "harness/settings_internal.h"

/* What Gemini takes for yes where it wants true or false; a text "false" is no in a file without other errors only. */
static bool is_off(const struct json *v)
{
    double number;
    return json_is(v, JSON_FALSE) || (json_number(v, &number) && number == 0) ||
           (json_is(v, JSON_STRING) && !json_equal_cstr(v, "true"));
}

/* A matcher that Gemini calls a string's function on though it is none. */
static bool voids_event(const struct json *matcher)
{
    double number;
    return json_is(matcher, JSON_TRUE) || json_is(matcher, JSON_ARRAY) || json_is(matcher, JSON_OBJECT) ||
           (json_number(matcher, &number) && number != 0);
}

/* A member of hooksConfig as a value. */
static enum err config_member(const struct settings *s, struct span config, const char *path, struct arena *arena,
                              const struct json **out, struct span_item *item, struct fault *fault)
{
    bool found = false;
    enum err e = settings_look(s, config, path, SETTINGS_ANY, item, &found, fault);
    return e != ERR_OK || !found ? e : settings_value(s, item->value, arena, out, fault);
}

static enum err check_disabled(const struct settings *s, const struct span_item *at, const struct json *disabled,
                               const char *const *names, struct fault *fault)
{
    for (size_t i = 0; i < json_count(disabled); i++)
        for (const char *const *name = names; *name != NULL; name++)
            if (json_equal_cstr(json_at(disabled, i), *name))
                return settings_fail(s, ERR_CONFIG, at->from, fault,
                                     "hooksConfig.disabled names a hook of ours; take the name out of the list");
    return ERR_OK;
}

static enum err check_config(const struct settings *s, struct arena *arena, const char *const *names,
                             struct fault *fault)
{
    struct span_item config, item;
    const struct json *enabled = NULL, *disabled = NULL;
    bool found = false;
    enum err e = settings_look(s, settings_top(s), "hooksConfig", SETTINGS_OBJECT, &config, &found, fault);
    if (e != ERR_OK || !found)
        return e;
    e = config_member(s, config.value, "hooksConfig.enabled", arena, &enabled, &item, fault);
    if (e == ERR_OK && is_off(enabled))
        return settings_fail(s, ERR_CONFIG, item.from, fault,
                             "hooksConfig.enabled switches all hooks off; set it to true, or take it out");
    if (e == ERR_OK)
        e = config_member(s, config.value, "hooksConfig.disabled", arena, &disabled, &item, fault);
    return e == ERR_OK ? check_disabled(s, &item, disabled, names, fault) : e;
}

static enum err check_event(const struct settings *s, const struct span_item *event, struct arena *arena,
                            struct fault *fault)
{
    struct span_walk walk;
    struct span_item item;
    if (s->plain[event->value.from] != '[')
        return settings_fail(s, ERR_CONFIG, event->from, fault,
                             "this event is no array; put what it holds into [ ], or take it out");
    span_open(&walk, s->plain, event->value);
    while (span_next(&walk, &item)) {
        const struct json *v = NULL;
        enum err e = settings_value(s, item.value, arena, &v, fault);
        if (e != ERR_OK)
            return e;
        if (voids_event(json_get(v, "matcher")))
            return settings_fail(
                s, ERR_CONFIG, item.from, fault,
                "the matcher of this hook is no text, and Gemini would void the whole event, ours with it; "
                "write it as a text");
    }
    return ERR_OK;
}

enum err settings_check(struct settings *s, const char *const *names, struct fault *fault)
{
    struct span_item hooks, event;
    struct span_walk walk;
    bool found = false;
    struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
    enum err e = check_config(s, arena, names, fault);
    if (e == ERR_OK)
        e = settings_look(s, settings_top(s), "hooks", SETTINGS_OBJECT, &hooks, &found, fault);
    if (e == ERR_OK && found) {
        span_open(&walk, s->plain, hooks.value);
        while (e == ERR_OK && span_next(&walk, &event))
            e = check_event(s, &event, arena, fault);
    }
    arena_free(arena);
    return e;
}

/* --- what is not ours ---------------------------------------------------------------------------------------------- */

/* Everything but our parts and what is empty without them, in text order. */
struct rest {
    struct buf out;
    settings_ours *ours;
    const char *word;
    enum err err;
};

static void put_value(struct rest *r, const struct json *v)
{
    if (r->err == ERR_OK)
        r->err = jcs_write(&r->out, v);
    buf_putc(&r->out, '\n');
}

static void put_key(struct rest *r, const struct json *object, size_t i)
{
    size_t len = 0;
    const char *key = json_key(object, i, &len);
    buf_printf(&r->out, "%zu:", len);
    buf_put(&r->out, key, len);
}

static bool key_is(const struct json *object, size_t i, const char *name)
{
    size_t len = 0;
    const char *key = json_key(object, i, &len);
    return len == strlen(name) && memcmp(key, name, len) == 0;
}

/* A hook definition, without hooks of ours; not at all when there are no others. */
static void put_group(struct rest *r, const struct json *group)
{
    const struct json *hooks = json_get(group, "hooks");
    size_t count = json_is(hooks, JSON_ARRAY) ? json_count(hooks) : 0, mine = 0;
    for (size_t i = 0; i < count; i++)
        mine += r->ours(json_at(hooks, i));
    if (!json_is(hooks, JSON_ARRAY)) {
        put_value(r, group);
        return;
    }
    bool is_ours = mine > 0 && mine == count;
    for (size_t i = 0; !is_ours && i < json_count(group); i++) {
        put_key(r, group, i);
        if (!key_is(group, i, "hooks"))
            put_value(r, json_at(group, i));
    }
    for (size_t i = 0; i < count; i++)
        if (!r->ours(json_at(hooks, i)))
            put_value(r, json_at(hooks, i));
}

static void put_hooks(struct rest *r, const struct json *hooks)
{
    for (size_t i = 0; i < json_count(hooks); i++) {
        const struct json *event = json_at(hooks, i);
        bool is_array = json_is(event, JSON_ARRAY);
        if (is_array && json_count(event) == 0)
            continue;
        size_t mark = r->out.len;
        put_key(r, hooks, i);
        size_t behind = r->out.len;
        for (size_t k = 0; is_array && k < json_count(event); k++)
            put_group(r, json_at(event, k));
        if (!is_array)
            put_value(r, event);
        if (r->out.len == behind)
            r->out.len = mark;
    }
}

static void put_advanced(struct rest *r, const struct json *advanced)
{
    for (size_t i = 0; i < json_count(advanced); i++) {
        const struct json *list = json_at(advanced, i);
        bool is_list = key_is(advanced, i, "excludedEnvVars") && json_is(list, JSON_ARRAY);
        if (!is_list) {
            put_key(r, advanced, i);
            put_value(r, list);
        }
        for (size_t k = 0; is_list && k < json_count(list); k++)
            if (!json_equal_cstr(json_at(list, k), r->word))
                put_value(r, json_at(list, k));
    }
}

static void put_security(struct rest *r, const struct json *security)
{
    for (size_t i = 0; i < json_count(security); i++) {
        if (key_is(security, i, "toolSandboxing"))
            continue;
        put_key(r, security, i);
        put_value(r, json_at(security, i));
    }
}

static void put_top(struct rest *r, const struct json *top)
{
    for (size_t i = 0; i < json_count(top); i++) {
        const struct json *v = json_at(top, i);
        size_t mark = r->out.len;
        put_key(r, top, i);
        size_t behind = r->out.len;
        bool is_object = json_is(v, JSON_OBJECT);
        if (is_object && key_is(top, i, "hooks"))
            put_hooks(r, v);
        else if (is_object && key_is(top, i, "advanced"))
            put_advanced(r, v);
        else if (is_object && key_is(top, i, "security"))
            put_security(r, v);
        else
            put_value(r, v);
        if (r->out.len == behind)
            r->out.len = mark;
    }
}

/* Reads a text and writes its rest. */
static enum err write_rest(struct rest *r, const char *text, size_t len)
{
    struct json_fault bad, loose;
    const struct json *v = NULL;
    struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
    char *plain = malloc(len + 1);
    enum err e = plain == NULL ? ERR_NOMEM : ERR_OK;
    if (e == ERR_OK) {
        memcpy(plain, text, len);
        jsonc_strip(plain, len);
        e = json_parse_loose(arena, plain, len, &v, &bad, &loose);
    }
    if (e == ERR_OK) {
        put_top(r, v);
        e = r->err != ERR_OK ? r->err : buf_err(&r->out);
    }
    free(plain);
    arena_free(arena);
    return e;
}

enum err settings_verify(const struct settings *s, settings_ours *ours, const char *word, struct fault *fault)
{
    struct rest before = {.ours = ours, .word = word}, after = {.ours = ours, .word = word};
    buf_init(&before.out, SETTINGS_MAX_BYTES * 8);
    buf_init(&after.out, SETTINGS_MAX_BYTES * 8);
    enum err e = write_rest(&before, s->first, s->first_len);
    if (e == ERR_OK)
        e = write_rest(&after, (const char *)s->text.data, s->text.len);
    bool same =
        before.out.len == after.out.len &&
        (before.out.len == 0 || (after.out.len > 0 && memcmp(before.out.data, after.out.data, after.out.len) == 0));
    if (e == ERR_OK && !same)
        e = ERR_STATE;
    buf_wipe(&before.out);
    buf_wipe(&after.out);
    if (e == ERR_NOMEM || e == ERR_TOO_LARGE)
        return fault_set(fault, e, "%s", err_text(e));
    if (e != ERR_OK)
        return fault_set(
            fault, ERR_STATE,
            "the change would touch more than our own entries; nothing was written, edit the file by hand");
    return ERR_OK;
}
