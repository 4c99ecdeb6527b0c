/* advanced.excludedEnvVars and security.toolSandboxing. */
#include <string.h>

#include "harness/settings_internal.h"

static bool is_word(const struct settings *s, struct span value, const char *word)
{
    size_t len = strlen(word);
    return value.to - value.from == len + 2 && s->plain[value.from] == '"' &&
           memcmp(s->plain + value.from + 1, word, len) == 0;
}

/* Where the list stands, and the word in it. */
struct listed {
    struct span_item advanced, list, word;
    bool has_advanced, has_list, has_word;
};

static enum err find_listed(const struct settings *s, const char *word, struct listed *l, struct fault *fault)
{
    struct span_walk walk;
    memset(l, 0, sizeof *l);
    enum err e = settings_look(s, settings_top(s), "advanced", SETTINGS_OBJECT, &l->advanced, &l->has_advanced, fault);
    if (e == ERR_OK && l->has_advanced)
        e = settings_look(s, l->advanced.value, "advanced.excludedEnvVars", SETTINGS_ARRAY, &l->list, &l->has_list,
                          fault);
    if (e != ERR_OK || !l->has_list)
        return e;
    span_open(&walk, s->plain, l->list.value);
    while (!l->has_word && span_next(&walk, &l->word))
        l->has_word = is_word(s, l->word.value, word);
    return ERR_OK;
}

/* Adds `"KEY": VALUE` in containers that are not there yet: `inner` is what goes into them. */
static enum err add_wrapped(struct settings *s, struct span where, const char *key, char open, const char *inner,
                            struct fault *fault)
{
    struct buf b;
    buf_init(&b, s->text.max);
    settings_edit_wrap(&b, key, open, inner);
    buf_putc(&b, '\0');
    enum err e = buf_err(&b);
    e = e == ERR_OK ? settings_edit_add(s, where, (const char *)b.data, fault) : fault_set(fault, e, "%s", err_text(e));
    buf_wipe(&b);
    return e;
}

enum err settings_put_excluded(struct settings *s, const char *word, struct fault *fault)
{
    struct listed l;
    struct buf item, list;
    enum err e = find_listed(s, word, &l, fault);
    if (e != ERR_OK || l.has_word)
        return e;
    buf_init(&item, s->text.max);
    buf_init(&list, s->text.max);
    buf_printf(&item, "\"%s\"", word);
    buf_putc(&item, '\0');
    if (buf_err(&item) == ERR_OK)
        settings_edit_wrap(&list, "excludedEnvVars", '[', (const char *)item.data);
    buf_putc(&list, '\0');
    e = buf_err(&item) != ERR_OK ? buf_err(&item) : buf_err(&list);
    if (e != ERR_OK)
        fault_set(fault, e, "%s", err_text(e));
    else if (l.has_list)
        e = settings_edit_add(s, l.list.value, (const char *)item.data, fault);
    else if (l.has_advanced)
        e = settings_edit_add(s, l.advanced.value, (const char *)list.data, fault);
    else
        e = add_wrapped(s, settings_top(s), "advanced", '{', (const char *)list.data, fault);
    buf_wipe(&item);
    buf_wipe(&list);
    return e;
}

enum err settings_drop_excluded(struct settings *s, const char *word, struct fault *fault)
{
    struct listed l;
    bool hollow = false;
    enum err e = find_listed(s, word, &l, fault);
    if (e != ERR_OK || !l.has_word)
        return e;
    e = settings_edit_drop(s, l.list.value, l.word.from, &hollow, fault);
    if (e != ERR_OK || !hollow)
        return e;
    /* What stands before the word has not moved. */
    e = find_listed(s, word, &l, fault);
    if (e == ERR_OK)
        e = settings_edit_drop(s, l.advanced.value, l.list.from, &hollow, fault);
    if (e == ERR_OK && hollow)
        e = settings_edit_drop(s, settings_top(s), l.advanced.from, &s->bare, fault);
    return e;
}

static enum err find_sandbox(const struct settings *s, struct span_item *security, bool *has_security,
                             struct span_item *sandbox, bool *has_sandbox, struct fault *fault)
{
    *has_sandbox = false;
    enum err e = settings_look(s, settings_top(s), "security", SETTINGS_OBJECT, security, has_security, fault);
    if (e == ERR_OK && *has_security)
        e = settings_look(s, security->value, "security.toolSandboxing", SETTINGS_ANY, sandbox, has_sandbox, fault);
    return e;
}

static bool is_true(const struct settings *s, struct span value)
{
    return value.to - value.from == 4 && memcmp(s->plain + value.from, "true", 4) == 0;
}

enum err settings_tool_sandbox(struct settings *s, bool *out, struct fault *fault)
{
    struct span_item security, sandbox;
    bool has_security = false, has_sandbox = false;
    enum err e = find_sandbox(s, &security, &has_security, &sandbox, &has_sandbox, fault);
    if (e == ERR_OK)
        *out = has_sandbox && is_true(s, sandbox.value);
    return e;
}

enum err settings_put_tool_sandbox(struct settings *s, struct fault *fault)
{
    struct span_item security, sandbox;
    bool has_security = false, has_sandbox = false;
    enum err e = find_sandbox(s, &security, &has_security, &sandbox, &has_sandbox, fault);
    if (e != ERR_OK || (has_sandbox && is_true(s, sandbox.value)))
        return e;
    if (has_sandbox)
        return settings_edit_replace(s, sandbox.value, "true", fault);
    if (has_security)
        return settings_edit_add(s, security.value, "\"toolSandboxing\": true", fault);
    return add_wrapped(s, settings_top(s), "security", '{', "\"toolSandboxing\": true", fault);
}
