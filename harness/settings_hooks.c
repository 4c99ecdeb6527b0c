/* Our entries under "hooks". */
#include <string.h>

#include "evidence/jcs.h"
#include "harness/settings_internal.h"

enum kind { NOT_OURS, ALL_OURS, MIXED };

/* A hook definition that holds hooks of ours. */
struct found {
    struct span group;
    enum kind kind;
};

static enum kind classify(const struct json *group, settings_ours *ours)
{
    const struct json *hooks = json_get(group, "hooks");
    size_t count = json_is(hooks, JSON_ARRAY) ? json_count(hooks) : 0, mine = 0;
    for (size_t i = 0; i < count; i++)
        mine += ours(json_at(hooks, i));
    return mine == 0 ? NOT_OURS : mine == count ? ALL_OURS : MIXED;
}

/* The first definition of ours in an event's array that begins at `start` or later; kind NOT_OURS: there is none. */
static enum err find_group(const struct settings *s, struct span array, size_t start, settings_ours *ours,
                           struct found *out, struct fault *fault)
{
    struct found found = {{0, 0}, NOT_OURS};
    struct span_walk walk;
    struct span_item item;
    struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
    enum err e = ERR_OK;
    span_open(&walk, s->plain, array);
    while (e == ERR_OK && found.kind == NOT_OURS && span_next(&walk, &item)) {
        const struct json *v = NULL;
        if (item.from < start)
            continue;
        e = settings_value(s, item.value, arena, &v, fault);
        if (e == ERR_OK)
            found = (struct found){item.value, classify(v, ours)};
    }
    arena_free(arena);
    if (e == ERR_OK)
        *out = found;
    return e;
}

/* Removes the first hook of ours from a definition that holds others too. */
static enum err drop_one(struct settings *s, struct span group, settings_ours *ours, struct fault *fault)
{
    struct span_item hooks, item;
    struct span_walk walk;
    bool found = false, hollow = false;
    enum err e = settings_look(s, group, "hooks", SETTINGS_ARRAY, &hooks, &found, fault);
    if (e != ERR_OK || !found)
        return e;
    span_open(&walk, s->plain, hooks.value);
    found = false;
    while (e == ERR_OK && !found && span_next(&walk, &item)) {
        struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
        const struct json *v = NULL;
        e = settings_value(s, item.value, arena, &v, fault);
        found = e == ERR_OK && ours(v);
        arena_free(arena);
    }
    return found ? settings_edit_drop(s, hooks.value, item.from, &hollow, fault) : e;
}

/* Whether a definition has this value already. */
static enum err is_equal(const struct settings *s, struct span group, const char *wanted, bool *out,
                         struct fault *fault)
{
    struct arena *arena = arena_new(SETTINGS_ARENA_BYTES);
    const struct json *have = NULL, *want = NULL;
    struct buf a, b;
    buf_init(&a, SETTINGS_MAX_BYTES * 6);
    buf_init(&b, SETTINGS_MAX_BYTES * 6);
    enum err e = settings_value(s, group, arena, &have, fault);
    if (e == ERR_OK)
        e = json_parse(arena, wanted, strlen(wanted), &want, NULL);
    if (e == ERR_OK)
        e = jcs_write(&a, have);
    if (e == ERR_OK)
        e = jcs_write(&b, want);
    if (e == ERR_OK)
        *out = a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
    buf_wipe(&a);
    buf_wipe(&b);
    arena_free(arena);
    return e == ERR_OK ? e : settings_fail(s, e, group.from, fault, err_text(e));
}

static enum err find_event(const struct settings *s, const char *event, struct span_item *out, bool *found,
                           struct fault *fault)
{
    struct span_item hooks;
    enum err e = settings_look(s, settings_top(s), "hooks", SETTINGS_OBJECT, &hooks, found, fault);
    return e != ERR_OK || !*found ? e : settings_look(s, hooks.value, event, SETTINGS_ARRAY, out, found, fault);
}

/* Adds a definition behind those that are there; makes the event's array, and "hooks", as needed. */
static enum err add(struct settings *s, const char *event, const char *group, struct fault *fault)
{
    struct span_item hooks, array;
    struct buf list, all;
    bool has_hooks = false, has_event = false;
    enum err e = settings_look(s, settings_top(s), "hooks", SETTINGS_OBJECT, &hooks, &has_hooks, fault);
    if (e == ERR_OK && has_hooks)
        e = settings_look(s, hooks.value, event, SETTINGS_ARRAY, &array, &has_event, fault);
    if (e != ERR_OK)
        return e;
    buf_init(&list, s->text.max);
    buf_init(&all, s->text.max);
    settings_edit_wrap(&list, event, '[', group);
    buf_putc(&list, '\0');
    if (buf_err(&list) == ERR_OK)
        settings_edit_wrap(&all, "hooks", '{', (const char *)list.data);
    buf_putc(&all, '\0');
    e = buf_err(&list) != ERR_OK ? buf_err(&list) : buf_err(&all);
    if (e != ERR_OK)
        fault_set(fault, e, "%s", err_text(e));
    else if (has_event)
        e = settings_edit_add(s, array.value, group, fault);
    else if (has_hooks)
        e = settings_edit_add(s, hooks.value, (const char *)list.data, fault);
    else
        e = settings_edit_add(s, settings_top(s), (const char *)all.data, fault);
    buf_wipe(&list);
    buf_wipe(&all);
    return e;
}

static enum err too_many(const struct settings *s, size_t offset, struct fault *fault)
{
    return settings_fail(s, ERR_TOO_LARGE, offset, fault,
                         "more entries of ours than anybody put there; take them out by hand");
}

/* One definition of ours that was found: kept, brought up to date, or removed. */
static enum err settle(struct settings *s, struct span array, const struct found *f, const char *group,
                       settings_ours *ours, bool *kept, struct fault *fault)
{
    bool same = false, hollow = false;
    if (f->kind == MIXED)
        return drop_one(s, f->group, ours, fault);
    if (*kept)
        return settings_edit_drop(s, array, f->group.from, &hollow, fault);
    *kept = true;
    enum err e = is_equal(s, f->group, group, &same, fault);
    return e != ERR_OK || same ? e : settings_edit_replace(s, f->group, group, fault);
}

static enum err put_group(struct settings *s, const char *event, const char *group, settings_ours *ours,
                          struct fault *fault)
{
    size_t start = 0;
    bool kept = false;
    for (int changes = 0;; changes++) {
        struct span_item array = {{0, 0}, {0, 0}, 0};
        struct found f = {{0, 0}, NOT_OURS};
        bool found = false;
        enum err e = find_event(s, event, &array, &found, fault);
        if (e == ERR_OK && found)
            e = find_group(s, array.value, start, ours, &f, fault);
        if (e != ERR_OK)
            return e;
        if (f.kind == NOT_OURS)
            return kept ? ERR_OK : add(s, event, group, fault);
        if (changes == SETTINGS_MAX_OURS)
            return too_many(s, f.group.from, fault);
        bool is_first = !kept && f.kind == ALL_OURS;
        e = settle(s, array.value, &f, group, ours, &kept, fault);
        if (e != ERR_OK)
            return e;
        if (is_first)
            start = f.group.from + 1;
    }
}

enum err settings_put_hook(struct settings *s, const char *event, const char *hook, settings_ours *ours,
                           struct fault *fault)
{
    struct buf list, group;
    buf_init(&list, s->text.max);
    buf_init(&group, s->text.max);
    settings_edit_wrap(&list, "hooks", '[', hook);
    buf_putc(&list, '\0');
    if (buf_err(&list) == ERR_OK)
        settings_edit_wrap(&group, NULL, '{', (const char *)list.data);
    buf_putc(&group, '\0');
    enum err e = buf_err(&list) != ERR_OK ? buf_err(&list) : buf_err(&group);
    if (e != ERR_OK)
        fault_set(fault, e, "%s", err_text(e));
    else
        e = put_group(s, event, (const char *)group.data, ours, fault);
    buf_wipe(&list);
    buf_wipe(&group);
    return e;
}

/* The first definition of ours for any event. */
static enum err find_any(const struct settings *s, settings_ours *ours, struct span_item *hooks,
                         struct span_item *event, struct found *out, struct fault *fault)
{
    struct span_walk walk;
    struct found f = {{0, 0}, NOT_OURS};
    bool found = false;
    enum err e = settings_look(s, settings_top(s), "hooks", SETTINGS_ANY, hooks, &found, fault);
    if (e == ERR_OK && found && s->plain[hooks->value.from] == '{') {
        span_open(&walk, s->plain, hooks->value);
        while (e == ERR_OK && f.kind == NOT_OURS && span_next(&walk, event))
            if (s->plain[event->value.from] == '[')
                e = find_group(s, event->value, 0, ours, &f, fault);
    }
    if (e == ERR_OK)
        *out = f;
    return e;
}

enum err settings_find_hook(struct settings *s, settings_ours *ours, struct arena *arena, const struct json **out,
                            struct fault *fault)
{
    struct span_item hooks, event;
    struct found f;
    const struct json *group = NULL, *hit = NULL;
    enum err e = find_any(s, ours, &hooks, &event, &f, fault);
    if (e == ERR_OK && f.kind != NOT_OURS)
        e = settings_value(s, f.group, arena, &group, fault);
    if (e != ERR_OK)
        return e;
    const struct json *list = json_get(group, "hooks");
    for (size_t i = 0; i < json_count(list) && hit == NULL; i++)
        if (ours(json_at(list, i)))
            hit = json_at(list, i);
    *out = hit;
    return ERR_OK;
}

/* Removes a definition and what is empty after it. */
static enum err drop_group(struct settings *s, const struct span_item *event, const struct found *f,
                           struct fault *fault)
{
    struct span_item hooks;
    bool hollow = false, found = false;
    enum err e = settings_edit_drop(s, event->value, f->group.from, &hollow, fault);
    if (e == ERR_OK && hollow)
        e = settings_look(s, settings_top(s), "hooks", SETTINGS_OBJECT, &hooks, &found, fault);
    if (e != ERR_OK || !found)
        return e;
    /* The event stands before the definition, so it is still in its place. */
    e = settings_edit_drop(s, hooks.value, event->from, &hollow, fault);
    if (e == ERR_OK && hollow)
        e = settings_edit_drop(s, settings_top(s), hooks.from, &s->bare, fault);
    return e;
}

enum err settings_drop_hooks(struct settings *s, settings_ours *ours, struct fault *fault)
{
    for (int changes = 0;; changes++) {
        struct span_item hooks, event;
        struct found f;
        enum err e = find_any(s, ours, &hooks, &event, &f, fault);
        if (e != ERR_OK || f.kind == NOT_OURS)
            return e;
        if (changes == SETTINGS_MAX_OURS)
            return too_many(s, f.group.from, fault);
        e = f.kind == MIXED ? drop_one(s, f.group, ours, fault) : drop_group(s, &event, &f, fault);
        if (e != ERR_OK)
            return e;
    }
}
