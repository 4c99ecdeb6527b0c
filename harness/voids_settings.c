#include "harness/voids_settings.h"

#include <stdio.h>
#include <string.h>

#include "harness/hook_line.h"

static const char DEFINE[] = "put the output of `tracekit hook-definition --agent gemini` in its place";

/* One entry of BeforeTool that Gemini would keep. */
struct entry {
    const struct settings_node *definition, *hook;
    const char *name, *command; /* "" when it has none */
    const char *fault;          /* what makes it less than our gate, or NULL */
};

enum { ENTRIES = 2000 };

struct entries {
    size_t count;
    bool more; /* than fit */
    struct entry list[ENTRIES];
};

/* The key, and where it stands. */
static void add(struct voids *v, const char *key, enum settings_scope scope, const char *why, const char *remedy)
{
    char what[VOIDS_WHAT_BYTES];
    snprintf(what, sizeof what, "%.60s (%.30s)", key, effective_scope_name(scope));
    voids_add(v, what, why, remedy);
}

/* --- one entry ------------------------------------------------------------------------------------------------- */

/* What Gemini takes for every tool. */
static bool matches_all(const struct settings_node *matcher)
{
    const char *text = settings_node_text(matcher);
    if (!settings_node_truthy(matcher))
        return true;
    if (text == NULL)
        return false;
    text += strspn(text, " \t\n\v\f\r");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\n\v\f\r", text[len - 1]) != NULL)
        len--;
    return len == 0 || (len == 1 && *text == '*') || (len == 2 && memcmp(text, ".*", 2) == 0);
}

static bool environment_is_ours(const struct settings_node *env)
{
    size_t known = 0;
    for (const struct hook_line_variable *n = HOOK_LINE_ENVIRONMENT; n->name != NULL; n++, known++) {
        const char *value = settings_node_text(settings_node_member(env, n->name, strlen(n->name)));
        if (value == NULL || strcmp(value, n->value) != 0)
            return false;
    }
    return env->count == known;
}

/* Whether Gemini waits longer than the hook. Nothing else than a number in this range means what it says. */
static bool waits_long_enough(const struct settings_node *timeout, uint32_t wait_s)
{
    double ms = 0;
    return timeout != NULL && timeout->kind == SETTINGS_VALUE && json_number(timeout->value, &ms) &&
           ms > (double)wait_s * 1000 && ms <= 2147483647.0;
}

/* Fills in what is wrong with an entry of ours. That it may be for some tools only is no matter here. */
static void judge(struct entry *e)
{
    const struct settings_node *name = settings_node_at(e->hook, "name");
    const char *type = settings_node_text(settings_node_at(e->hook, "type"));
    struct hook_line line;
    if (type == NULL || strcmp(type, "command") != 0)
        e->fault = "the gate's type is not command: calls may run without it";
    else if (name != NULL && settings_node_text(name) == NULL)
        e->fault = "the gate's name is no plain text: it cannot be told what switches it off";
    else if (!hook_line_read(e->command, &line))
        e->fault = "the gate's command line is not as it is printed: calls may run without an answer";
    else if (!waits_long_enough(settings_node_at(e->hook, "timeout"), line.wait_s))
        e->fault = "Gemini's timeout ends the gate before the signer has answered: the call runs";
    else if (!environment_is_ours(settings_node_at(e->hook, "env")))
        e->fault = "the gate's env is not as it is printed: a project can end the hook's shell";
}

/* Gemini tells entries apart by "name:command" alone. */
static bool same_key(const struct entry *a, const struct entry *b)
{
    size_t a_name = strlen(a->name), b_name = strlen(b->name), len = a_name + 1 + strlen(a->command);
    if (len != b_name + 1 + strlen(b->command))
        return false;
    for (size_t i = 0; i < len; i++) {
        char x = i < a_name ? a->name[i] : i == a_name ? ':' : a->command[i - a_name - 1];
        char y = i < b_name ? b->name[i] : i == b_name ? ':' : b->command[i - b_name - 1];
        if (x != y)
            return false;
    }
    return true;
}

/* --- all of them ----------------------------------------------------------------------------------------------- */

static const char *text_or_empty(const struct settings_node *node)
{
    const char *text = settings_node_text(node);
    return text != NULL ? text : "";
}

static void collect(struct entries *entries, const struct settings_node *event)
{
    for (const struct settings_node *d = event->first; d != NULL; d = d->next) {
        const struct settings_node *hooks = settings_node_at(d, "hooks");
        if (hooks == NULL || hooks->kind != SETTINGS_LIST)
            continue;
        for (const struct settings_node *h = hooks->first; h != NULL; h = h->next) {
            if (h->kind != SETTINGS_OBJECT)
                continue;
            entries->more = entries->count == ENTRIES;
            if (entries->more)
                return;
            struct entry *e = &entries->list[entries->count++];
            *e = (struct entry){.definition = d, .hook = h};
            e->name = text_or_empty(settings_node_at(h, "name"));
            e->command = text_or_empty(settings_node_at(h, "command"));
            judge(e);
        }
    }
}

/* Whether hooksConfig.disabled names the entry. A text in place of the list is searched as a whole. */
static const struct settings_node *disabled_by(const struct settings_node *merged, const struct entry *e)
{
    const struct settings_node *list = settings_node_at(merged, "hooksConfig.disabled");
    const char *name = e->name[0] != '\0' ? e->name : e->command, *text = settings_node_text(list);
    if (settings_node_truthy(list) && list->kind != SETTINGS_LIST && (text == NULL || strstr(text, name) != NULL))
        return list;
    for (const struct settings_node *n = list != NULL ? list->first : NULL; n != NULL; n = n->next) {
        const char *one = settings_node_text(n);
        if (one != NULL && strcmp(one, name) == 0)
            return n;
    }
    return NULL;
}

static const struct entry *shadow_of(const struct entries *entries, const struct entry *gate)
{
    for (const struct entry *e = entries->list; e < gate; e++)
        if (e->fault != NULL && same_key(e, gate))
            return e;
    return NULL;
}

/* Whether the entry is the whole gate; if not, says why. */
static bool check_gate(struct voids *v, const struct entries *entries, const struct entry *e,
                       const struct settings_node *merged)
{
    const struct settings_node *disabled = disabled_by(merged, e);
    const struct entry *shadow = shadow_of(entries, e);
    if (e->fault != NULL)
        add(v, "hooks.BeforeTool", e->definition->scope, e->fault, DEFINE);
    else if (!matches_all(settings_node_at(e->definition, "matcher")))
        add(v, "hooks.BeforeTool", e->definition->scope, "the gate's matcher lets calls of other tools by", DEFINE);
    else if (disabled != NULL)
        add(v, "hooksConfig.disabled", disabled->scope, "switches the gate off",
            "take the gate's name out of the list");
    else if (shadow != NULL)
        add(v, "hooks.BeforeTool", shadow->definition->scope,
            "an entry with the gate's name and command, and other settings, is taken in its place", "remove it");
    else
        return true;
    return false;
}

/* Returns the command line of the gate that holds, or NULL. */
static const char *check_entries(struct voids *v, const struct entries *entries, const struct settings_node *merged)
{
    struct voids said = {.count = 0};
    bool any = false;
    for (size_t i = 0; i < entries->count; i++) {
        if (!hook_line_is_gate(entries->list[i].command))
            continue;
        any = true;
        if (check_gate(&said, entries, &entries->list[i], merged))
            return entries->list[i].command;
    }
    for (size_t i = 0; i < said.count; i++)
        voids_add(v, said.list[i].what, said.list[i].why, said.list[i].remedy);
    if (!any)
        voids_add(v, "hooks.BeforeTool", "has no hook of tracekit's: nothing asks the signer",
                  "put the output of `tracekit hook-definition --agent gemini` into the settings");
    return NULL;
}

/* A matcher that is no text makes Gemini fail before it runs any hook of the event. */
static void check_matchers(struct voids *v, const struct settings_node *hooks, const char *event)
{
    const struct settings_node *list = settings_node_member(hooks, event, strlen(event));
    char key[48];
    snprintf(key, sizeof key, "hooks.%.24s matcher", event);
    for (const struct settings_node *d = list != NULL ? list->first : NULL; d != NULL; d = d->next) {
        const struct settings_node *matcher = settings_node_at(d, "matcher");
        if (settings_node_truthy(matcher) && !(matcher->kind == SETTINGS_VALUE && json_is(matcher->value, JSON_STRING)))
            add(v, key, d->scope, "is no text, and so keeps all hooks of the event from running",
                "make it a text, or leave it out");
    }
}

static enum err check_hooks(struct voids *v, struct arena *arena, const struct settings_node *merged, const char **line)
{
    const struct settings_node *hooks = settings_node_at(merged, "hooks"),
                               *gate = settings_node_at(hooks, "BeforeTool");
    if (hooks != NULL && hooks->kind != SETTINGS_OBJECT) {
        add(v, "hooks", hooks->scope, "is no object, and so drops the hooks of all files before it", "remove it");
        return ERR_OK;
    }
    struct entries *entries = arena_alloc(arena, sizeof *entries);
    if (entries == NULL)
        return ERR_NOMEM;
    entries->count = 0;
    entries->more = false;
    if (gate != NULL && gate->kind == SETTINGS_LIST)
        collect(entries, gate);
    if (entries->more)
        voids_add(v, "hooks.BeforeTool", "has more entries than can be checked", "remove some");
    *line = check_entries(v, entries, merged);
    check_matchers(v, hooks, "BeforeTool");
    check_matchers(v, hooks, "AfterTool");
    return ERR_OK;
}

/* --- the rest -------------------------------------------------------------------------------------------------- */

static bool equals_ignoring_case(const char *text, const char *lower)
{
    for (; *lower != '\0'; text++, lower++)
        if (*text != *lower && !(*text >= 'A' && *text <= 'Z' && *text - 'A' + 'a' == *lower))
            return false;
    return *text == '\0';
}

/* Off is false, 0 and "", and a text that says false in a file in which nothing else is wrong. */
static bool is_off(const struct settings_node *node)
{
    const char *text = settings_node_text(node);
    return node != NULL && !settings_node_is(node, JSON_NULL) &&
           (!settings_node_truthy(node) || (text != NULL && equals_ignoring_case(text, "false")));
}

/* Whether a name or a switch starts a container. With another text Gemini ends with an error of its own. */
static bool starts_sandbox(const struct settings_node *value)
{
    static const char *const on[] = {"docker", "podman", "runsc", "lxc", "sandbox-exec", "1"};
    const char *text = settings_node_text(value);
    if (text == NULL)
        return settings_node_is(value, JSON_TRUE);
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (strcmp(text, on[i]) == 0)
            return true;
    return equals_ignoring_case(text, "true");
}

static bool sandbox_is_on(const struct settings_node *sandbox)
{
    if (sandbox == NULL || sandbox->kind != SETTINGS_OBJECT)
        return starts_sandbox(sandbox);
    const struct settings_node *command = settings_node_at(sandbox, "command");
    if (!settings_node_truthy(settings_node_at(sandbox, "enabled")))
        return false;
    return command == NULL || settings_node_is(command, JSON_NULL) || starts_sandbox(command);
}

enum err voids_settings(struct voids *v, struct arena *arena, const struct settings_node *merged, bool sandbox_counts,
                        const char **line)
{
    const struct settings_node *enabled = settings_node_at(merged, "hooksConfig.enabled"),
                               *sandbox = settings_node_at(merged, "tools.sandbox");
    *line = NULL;
    enum err e = check_hooks(v, arena, merged, line);
    if (is_off(enabled))
        add(v, "hooksConfig.enabled", enabled->scope, "switches all hooks off", "set it to true, or leave it out");
    if (sandbox_counts && sandbox_is_on(sandbox))
        add(v, "tools.sandbox", sandbox->scope, "moves Gemini into a container whose copy of the settings has no hooks",
            "leave it out; security.toolSandboxing confines the tools and keeps the hooks");
    return e;
}
