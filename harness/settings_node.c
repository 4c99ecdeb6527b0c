#include "harness/settings_node.h"

#include <string.h>

#include "evidence/visible.h"

enum { NAME_BYTES = 256 };

void settings_node_repair(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)text + at, len - at, &code);
        if (n > 0)
            buf_put(out, text + at, n);
        else
            buf_puts(out, "\xef\xbf\xbd");
        at += n > 0 ? n : 1;
    }
}

static bool is_name_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* What stands at a dollar sign. */
struct reference {
    const char *name, *fallback; /* fallback: NULL when there is none */
    size_t name_len, fallback_len, len;
};

static bool read_braces(const char *text, size_t len, struct reference *r)
{
    const char *end = len > 2 ? memchr(text + 2, '}', len - 2) : NULL;
    if (end == NULL || end == text + 2)
        return false;
    *r = (struct reference){text + 2, NULL, (size_t)(end - text - 2), 0, (size_t)(end - text) + 1};
    /* A name has at least one character, whatever it is. */
    for (size_t i = 1; i + 1 < r->name_len; i++) {
        if (r->name[i] != ':' || r->name[i + 1] != '-')
            continue;
        r->fallback = r->name + i + 2;
        r->fallback_len = r->name_len - i - 2;
        r->name_len = i;
        break;
    }
    return true;
}

static bool read_reference(const char *text, size_t len, struct reference *r)
{
    size_t n = 1;
    while (n < len && is_name_byte(text[n]))
        n++;
    if (n > 1) {
        *r = (struct reference){text + 1, NULL, n - 1, 0, n};
        return true;
    }
    return len > 1 && text[1] == '{' && read_braces(text, len, r);
}

static void put_reference(struct buf *out, const char *text, const struct reference *r,
                          const struct settings_environment *env)
{
    char name[NAME_BYTES];
    const char *value = NULL;
    if (r->name_len < sizeof name && memchr(r->name, '\0', r->name_len) == NULL) {
        memcpy(name, r->name, r->name_len);
        name[r->name_len] = '\0';
        value = env->look_up(env->context, name);
    }
    if (value != NULL)
        settings_node_repair(out, value, strlen(value));
    else if (r->fallback != NULL)
        buf_put(out, r->fallback, r->fallback_len);
    else
        buf_put(out, text, r->len);
}

void settings_node_expand(struct buf *out, const char *text, size_t len, const struct settings_environment *env)
{
    for (size_t at = 0; at < len;) {
        struct reference r;
        if (text[at] == '$' && read_reference(text + at, len - at, &r)) {
            put_reference(out, text + at, &r, env);
            at += r.len;
        } else {
            buf_putc(out, (uint8_t)text[at++]);
        }
    }
}

static enum err read_value(struct arena *arena, const struct json *json, const struct settings_environment *env,
                           const struct json **out)
{
    size_t len = 0;
    const char *text = json_text(json, &len);
    struct buf expanded;
    if (env == NULL || text == NULL || memchr(text, '$', len) == NULL) {
        *out = json;
        return ERR_OK;
    }
    buf_init(&expanded, SETTINGS_NODE_TEXT_BYTES);
    settings_node_expand(&expanded, text, len, env);
    enum err e = buf_err(&expanded);
    const struct json *made = NULL;
    if (e == ERR_OK) {
        made = json_new_text(arena, expanded.len > 0 ? (const char *)expanded.data : "", expanded.len);
        e = made != NULL ? ERR_OK : ERR_NOMEM;
    }
    buf_wipe(&expanded);
    if (e == ERR_OK)
        *out = made;
    return e;
}

/* Recurses as deep as the parser lets a text go: JSON_MAX_DEPTH. */
enum err settings_node_read(struct arena *arena, const struct json *json, enum settings_scope scope,
                            const struct settings_environment *env, struct settings_node **out)
{
    struct settings_node *node = arena_alloc(arena, sizeof *node);
    bool object = json_is(json, JSON_OBJECT);
    if (node == NULL)
        return ERR_NOMEM;
    *node = (struct settings_node){.scope = scope};
    if (!object && !json_is(json, JSON_ARRAY)) {
        enum err e = read_value(arena, json, env, &node->value);
        if (e == ERR_OK)
            *out = node;
        return e;
    }
    node->kind = object ? SETTINGS_OBJECT : SETTINGS_LIST;
    if (json_count(json) > SETTINGS_NODE_MEMBERS)
        return ERR_TOO_LARGE;
    for (size_t i = 0; i < json_count(json); i++) {
        struct settings_node *child = NULL;
        enum err e = settings_node_read(arena, json_at(json, i), scope, env, &child);
        if (e != ERR_OK)
            return e;
        child->key = object ? json_key(json, i, &child->key_len) : NULL;
        settings_node_append(node, child);
    }
    *out = node;
    return ERR_OK;
}

struct settings_node *settings_node_copy(struct arena *arena, const struct settings_node *node)
{
    struct settings_node *copy = node != NULL ? arena_alloc(arena, sizeof *copy) : NULL;
    if (copy != NULL) {
        *copy = *node;
        copy->next = NULL;
    }
    return copy;
}

void settings_node_append(struct settings_node *parent, struct settings_node *child)
{
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    parent->count++;
}

struct settings_node *settings_node_member(const struct settings_node *node, const char *key, size_t key_len)
{
    if (node == NULL || node->kind != SETTINGS_OBJECT)
        return NULL;
    for (struct settings_node *child = node->first; child != NULL; child = child->next)
        if (child->key_len == key_len && memcmp(child->key, key, key_len) == 0)
            return child;
    return NULL;
}

const struct settings_node *settings_node_at(const struct settings_node *root, const char *keys)
{
    for (;;) {
        size_t len = strcspn(keys, ".");
        root = settings_node_member(root, keys, len);
        if (keys[len] == '\0')
            return root;
        keys += len + 1;
    }
}

bool settings_node_truthy(const struct settings_node *node)
{
    double number = 0;
    size_t len = 0;
    if (node == NULL || node->kind != SETTINGS_VALUE)
        return node != NULL;
    if (json_number(node->value, &number))
        return number < 0 || number > 0;
    if (json_text(node->value, &len) != NULL)
        return len > 0;
    return json_true(node->value);
}

const char *settings_node_text(const struct settings_node *node)
{
    return node != NULL && node->kind == SETTINGS_VALUE ? json_cstr(node->value) : NULL;
}

bool settings_node_is(const struct settings_node *node, enum json_type type)
{
    return node != NULL && node->kind == SETTINGS_VALUE && json_is(node->value, type);
}
