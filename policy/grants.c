#include "policy/grants.h"

#include <stdio.h>
#include <string.h>

/* How a NUL inside a path or key is written. */
#define NUL_ESCAPE "\\x00"

enum { MAX_PLACE_BYTES = 64 };

/* Grants in the order of the text, until they are sorted by kind. */
struct found {
    struct arena *arena;
    size_t count;
    struct grant list[GRANTS_MAX];
};

const char *grants_kind_name(enum grant_kind kind)
{
    switch (kind) {
    case GRANT_NETWORK:
        return "network";
    case GRANT_READ:
        return "read";
    case GRANT_WRITE:
        return "write";
    case GRANT_UNKNOWN:
        return "unknown";
    }
    return "unknown";
}

/* The only values that surely ask for nothing. A string is not among them, not even the empty one: what a harness makes
 * of a string in this place is not known. */
static bool is_empty(const struct json *v)
{
    switch (json_type(v)) {
    case JSON_NULL:
    case JSON_FALSE:
        return true;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(v) == 0;
    case JSON_TRUE:
    case JSON_INT:
    case JSON_REAL:
    case JSON_STRING:
        return false;
    }
    return false;
}

static size_t escaped_len(const char *bytes, size_t len)
{
    size_t nuls = 0;
    for (size_t i = 0; i < len; i++)
        nuls += bytes[i] == '\0';
    return len + nuls * (sizeof NUL_ESCAPE - 2);
}

/* Copies `bytes`, each NUL escaped, and returns the end. */
static char *put_escaped(char *end, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != '\0') {
            *end++ = bytes[i];
            continue;
        }
        memcpy(end, NUL_ESCAPE, sizeof NUL_ESCAPE - 1);
        end += sizeof NUL_ESCAPE - 1;
    }
    return end;
}

/* "network", or "<kind>:<prefix><bytes>". NULL when the arena fails. */
static const char *compose(struct arena *arena, enum grant_kind kind, const char *prefix, const char *bytes, size_t len)
{
    const char *name = grants_kind_name(kind), *colon = kind == GRANT_NETWORK ? "" : ":";
    size_t head = strlen(name) + strlen(colon) + strlen(prefix);
    char *text = arena_alloc(arena, head + escaped_len(bytes, len) + 1);
    if (text == NULL)
        return NULL;
    (void)snprintf(text, head + 1, "%s%s%s", name, colon, prefix);
    *put_escaped(text + head, bytes, len) = '\0';
    return text;
}

static enum err add(struct found *f, enum grant_kind kind, const char *prefix, const char *bytes, size_t len)
{
    /* Repeats count too, so that the work is bounded as well as the result. */
    if (f->count == GRANTS_MAX || len > GRANTS_MAX_PATH_BYTES)
        return ERR_TOO_LARGE;
    const char *text = compose(f->arena, kind, prefix, bytes, len);
    if (text == NULL)
        return ERR_NOMEM;
    const char *colon = strchr(text, ':');
    f->list[f->count++] = (struct grant){.kind = kind, .subject = colon ? colon + 1 : "", .text = text};
    return ERR_OK;
}

static enum err add_unknown(struct found *f, const char *place)
{
    return add(f, GRANT_UNKNOWN, "", place, strlen(place));
}

/* fileSystem.read or fileSystem.write: a list of paths. `place` is its name. */
static enum err read_paths(struct found *f, enum grant_kind kind, const char *place, const struct json *v)
{
    if (is_empty(v))
        return ERR_OK;
    if (!json_is(v, JSON_ARRAY))
        return add_unknown(f, place);
    for (size_t i = 0; i < json_count(v); i++) {
        size_t len = 0;
        const char *path = json_text(json_at(v, i), &len);
        enum err e = ERR_OK;
        if (path != NULL && len > 0) {
            e = add(f, kind, "", path, len);
        } else {
            char element[MAX_PLACE_BYTES];
            (void)snprintf(element, sizeof element, "%s[%zu]", place, i);
            e = add_unknown(f, element);
        }
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static bool key_is(const char *key, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(key, name, len) == 0;
}

static enum err read_file_system(struct found *f, const struct json *v)
{
    if (is_empty(v))
        return ERR_OK;
    if (!json_is(v, JSON_OBJECT))
        return add_unknown(f, "fileSystem");
    for (size_t i = 0; i < json_count(v); i++) {
        size_t len = 0;
        const char *key = json_key(v, i, &len);
        enum err e = ERR_OK;
        if (key_is(key, len, "read"))
            e = read_paths(f, GRANT_READ, "fileSystem.read", json_at(v, i));
        else if (key_is(key, len, "write"))
            e = read_paths(f, GRANT_WRITE, "fileSystem.write", json_at(v, i));
        else
            e = add(f, GRANT_UNKNOWN, "fileSystem.", key, len);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err read_permissions(struct found *f, const struct json *v)
{
    if (is_empty(v))
        return ERR_OK;
    if (!json_is(v, JSON_OBJECT))
        return add_unknown(f, GRANTS_ARGUMENT);
    for (size_t i = 0; i < json_count(v); i++) {
        size_t len = 0;
        const char *key = json_key(v, i, &len);
        enum err e = ERR_OK;
        if (key_is(key, len, "network"))
            e = is_empty(json_at(v, i)) ? ERR_OK : add(f, GRANT_NETWORK, "", "", 0);
        else if (key_is(key, len, "fileSystem"))
            e = read_file_system(f, json_at(v, i));
        else
            e = add(f, GRANT_UNKNOWN, "", key, len);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static bool holds(const struct grant *list, size_t count, const struct grant *g)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].text, g->text) == 0)
            return true;
    }
    return false;
}

/* By kind, in the order of the text within a kind, each once. */
static enum err sort(const struct found *f, struct grants *out)
{
    if (f->count == 0) {
        *out = (struct grants){0};
        return ERR_OK;
    }
    struct grant *list = arena_alloc(f->arena, f->count * sizeof *list);
    if (list == NULL)
        return ERR_NOMEM;
    size_t count = 0;
    for (int kind = GRANT_NETWORK; kind <= GRANT_UNKNOWN; kind++) {
        for (size_t i = 0; i < f->count; i++) {
            if ((int)f->list[i].kind == kind && !holds(list, count, &f->list[i]))
                list[count++] = f->list[i];
        }
    }
    *out = (struct grants){.count = count, .list = list};
    return ERR_OK;
}

enum err grants_read(struct arena *arena, const struct json *args, struct grants *out)
{
    struct found f = {.arena = arena};
    enum err e = read_permissions(&f, json_get(args, GRANTS_ARGUMENT));
    return e != ERR_OK ? e : sort(&f, out);
}
