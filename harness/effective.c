#include "harness/effective.h"

#include <string.h>

#include "harness/jsonc.h"

/* What the gate depends on, as Gemini's schema has it. Lists that are joined exist from the start: a text in a file becomes
 * a member of them. */
static const char BUILT_IN[] =
    "{\"hooks\":{\"BeforeTool\":[],\"AfterTool\":[],\"BeforeAgent\":[],\"AfterAgent\":[],\"Notification\":[],"
    "\"SessionStart\":[],\"SessionEnd\":[],\"PreCompress\":[],\"BeforeModel\":[],\"AfterModel\":[],"
    "\"BeforeToolSelection\":[]},"
    "\"hooksConfig\":{\"enabled\":true,\"disabled\":[],\"notifications\":true},"
    "\"tools\":{\"exclude\":[]},\"security\":{\"folderTrust\":{\"enabled\":true}},"
    "\"advanced\":{\"excludedEnvVars\":[\"DEBUG\",\"DEBUG_MODE\"]},\"policyPaths\":[],\"adminPolicyPaths\":[],"
    "\"extensions\":{\"disabled\":[]},\"skills\":{\"disabled\":[]},\"mcpServers\":{},"
    "\"context\":{\"fileFiltering\":{\"customIgnoreFilePaths\":[]}}}";

/* Keys whose lists are joined; all others are replaced. */
static const char *const JOINED[] = {
    "hooks.BeforeTool",
    "hooks.AfterTool",
    "hooks.BeforeAgent",
    "hooks.AfterAgent",
    "hooks.Notification",
    "hooks.SessionStart",
    "hooks.SessionEnd",
    "hooks.PreCompress",
    "hooks.BeforeModel",
    "hooks.AfterModel",
    "hooks.BeforeToolSelection",
    "hooksConfig.disabled",
    "tools.exclude",
    "policyPaths",
    "adminPolicyPaths",
    "extensions.disabled",
    "skills.disabled",
    "advanced.excludedEnvVars",
    "context.fileFiltering.customIgnoreFilePaths",
};

enum { KEYS_BYTES = 64 }; /* longer than each of them */

static enum err refuse(const struct settings_file *file, const struct json_fault *f, struct fault *fault)
{
    bool limit = f->err == ERR_DEPTH || f->err == ERR_TOO_LARGE;
    if (f->err == ERR_NOMEM)
        return fault_set(fault, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    return fault_set(fault, limit ? f->err : ERR_CONFIG, "%.200s, line %zu, column %zu: %s", file->path, f->line,
                     f->column, f->err == ERR_SYNTAX ? "no JSON with comments" : err_text(f->err));
}

static enum err parse(struct arena *arena, const struct settings_file *file, const struct buf *text,
                      const struct json **out, struct fault *fault)
{
    struct json_fault at = {.err = ERR_OK}, loose = {.err = ERR_OK};
    const struct json *json = NULL;
    jsonc_strip((char *)text->data, text->len);
    if (json_parse_loose(arena, text->data, text->len, &json, &at, &loose) != ERR_OK)
        return refuse(file, &at, fault);
    if (!json_is(json, JSON_OBJECT))
        return fault_set(fault, ERR_CONFIG, "%.200s, line 1, column 1: not a JSON object", file->path);
    *out = json;
    return ERR_OK;
}

enum err effective_read(struct arena *arena, const struct settings_file *file, enum settings_scope scope,
                        const struct settings_environment *env, struct settings_node **out, struct fault *fault)
{
    const struct json *json = NULL;
    struct settings_node *node = NULL;
    struct buf text;
    if (file->text == NULL) {
        *out = NULL;
        return ERR_OK;
    }
    if (file->len > SETTINGS_FILE_BYTES)
        return fault_set(fault, ERR_TOO_LARGE, "%.200s is larger than %d bytes", file->path, SETTINGS_FILE_BYTES);
    buf_init(&text, 3 * SETTINGS_FILE_BYTES + 1);
    settings_node_repair(&text, file->text, file->len);
    buf_putc(&text, ' ');
    enum err e = buf_err(&text);
    if (e == ERR_OK)
        e = parse(arena, file, &text, &json, fault);
    buf_wipe(&text);
    if (e == ERR_OK)
        e = settings_node_read(arena, json, scope, env, &node);
    if (e == ERR_TOO_LARGE)
        fault_set(fault, e, "%.200s: more than %d members, or a text that becomes too long", file->path,
                  SETTINGS_NODE_MEMBERS);
    if (e == ERR_OK)
        *out = node;
    return e;
}

static bool is_joined(const char *keys)
{
    for (size_t i = 0; i < sizeof JOINED / sizeof *JOINED; i++)
        if (strcmp(keys, JOINED[i]) == 0)
            return true;
    return false;
}

/* These name an object's own workings in JavaScript. */
static bool is_skipped(const struct settings_node *node)
{
    static const char *const names[] = {"__proto__", "constructor", "prototype"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (node->key_len == strlen(names[i]) && memcmp(node->key, names[i], node->key_len) == 0)
            return true;
    return false;
}

/* Writes "above.key" to `out`; what does not fit is no key that anything depends on, and comes out as "?". */
static void join_keys(const char *above, const struct settings_node *node, char out[static KEYS_BYTES])
{
    size_t len = strlen(above), dot = len > 0 ? 1 : 0;
    bool odd = memchr(node->key, '.', node->key_len) != NULL || memchr(node->key, '\0', node->key_len) != NULL;
    if (odd || len + dot + node->key_len >= KEYS_BYTES) {
        memcpy(out, "?", 2);
        return;
    }
    memcpy(out, above, len);
    memcpy(out + len, ".", dot);
    memcpy(out + len + dot, node->key, node->key_len);
    out[len + dot + node->key_len] = '\0';
}

static enum err put_copy(struct arena *arena, struct settings_node *list, const struct settings_node *node)
{
    struct settings_node *copy = settings_node_copy(arena, node);
    if (copy == NULL)
        return ERR_NOMEM;
    settings_node_append(list, copy);
    return ERR_OK;
}

/* Joins what is no list as a member of its own. */
static enum err join_lists(struct arena *arena, struct settings_node *target, const struct settings_node *source)
{
    struct settings_node list = {.kind = SETTINGS_LIST, .scope = target->scope, .key = target->key};
    enum err e = ERR_OK;
    list.key_len = target->key_len;
    for (const struct settings_node *n = target->first; n != NULL && e == ERR_OK; n = n->next)
        e = put_copy(arena, &list, n);
    if (source->kind != SETTINGS_LIST)
        e = e == ERR_OK ? put_copy(arena, &list, source) : e;
    else
        for (const struct settings_node *n = source->first; n != NULL && e == ERR_OK; n = n->next)
            e = put_copy(arena, &list, n);
    list.next = target->next;
    if (e == ERR_OK)
        *target = list;
    return e;
}

static enum err merge_into(struct arena *arena, struct settings_node *target, const struct settings_node *source,
                           const char *above);

/* Puts `node` into the place of `target`, which keeps its neighbours. */
static enum err replace(struct arena *arena, struct settings_node *target, const struct settings_node *node,
                        const char *keys)
{
    struct settings_node *next = target->next;
    *target = *node;
    target->next = next;
    if (node->kind != SETTINGS_OBJECT)
        return ERR_OK;
    target->first = target->last = NULL;
    target->count = 0;
    return merge_into(arena, target, node, keys);
}

static enum err merge_member(struct arena *arena, struct settings_node *target, const struct settings_node *node,
                             const char *above)
{
    char keys[KEYS_BYTES];
    struct settings_node *old = settings_node_member(target, node->key, node->key_len);
    join_keys(above, node, keys);
    if (old == NULL) {
        old = settings_node_copy(arena, node);
        if (old == NULL)
            return ERR_NOMEM;
        settings_node_append(target, old);
        return replace(arena, old, node, keys);
    }
    if (old->kind == SETTINGS_LIST && is_joined(keys))
        return join_lists(arena, old, node);
    if (old->kind == SETTINGS_OBJECT && node->kind == SETTINGS_OBJECT && strcmp(above, "mcpServers") != 0)
        return merge_into(arena, old, node, keys);
    return replace(arena, old, node, keys);
}

/* Recurses as deep as the files are: JSON_MAX_DEPTH. */
static enum err merge_into(struct arena *arena, struct settings_node *target, const struct settings_node *source,
                           const char *above)
{
    for (const struct settings_node *n = source->first; n != NULL; n = n->next) {
        enum err e = is_skipped(n) ? ERR_OK : merge_member(arena, target, n, above);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

enum err effective_merge(struct arena *arena, struct settings_node *const files[static SETTINGS_SCOPES],
                         struct settings_node **out)
{
    const struct settings_file built_in = {"built-in settings", BUILT_IN, sizeof BUILT_IN - 1};
    struct settings_node *root = NULL;
    enum err e = effective_read(arena, &built_in, SETTINGS_BUILT_IN, NULL, &root, NULL);
    for (size_t s = 0; s < SETTINGS_SCOPES && e == ERR_OK; s++)
        if (files[s] != NULL)
            e = merge_into(arena, root, files[s], "");
    if (e == ERR_OK)
        *out = root;
    return e;
}

const char *effective_scope_name(enum settings_scope scope)
{
    static const char *const names[SETTINGS_SCOPES] = {"built-in settings", "system defaults", "user settings",
                                                       "workspace settings", "system settings"};
    return names[scope];
}
