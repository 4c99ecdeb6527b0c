#include "evidence/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/json_lex.h"

enum { FIRST_PENDING = 32 };

/* An open array or object. Its parts lie in `pending` from `first` on; the slot before them waits for itself. */
struct frame {
    bool object;
    size_t first;
};

struct parser {
    struct json_lex lex;
    struct frame frames[JSON_MAX_DEPTH];
    size_t depth;
    struct json_member *pending;
    size_t count, cap;
};

static enum err no_memory(struct parser *p)
{
    enum err e = arena_err(p->lex.arena);
    return json_lex_fail(&p->lex, e == ERR_OK ? ERR_NOMEM : e, p->lex.at);
}

/* A slot for a value that is about to be read. Each will need its place in the arena, so the arena's maximum bounds the
 * slots too. */
static enum err push_slot(struct parser *p)
{
    if (arena_failed(p->lex.arena))
        return no_memory(p);
    if (p->count >= arena_room(p->lex.arena) / sizeof(struct json))
        return json_lex_fail(&p->lex, ERR_TOO_LARGE, p->lex.at);
    if (p->count == p->cap) {
        size_t cap = p->cap == 0 ? FIRST_PENDING : 2 * p->cap;
        struct json_member *pending = realloc(p->pending, cap * sizeof *pending);
        if (pending == NULL)
            return no_memory(p);
        p->pending = pending;
        p->cap = cap;
    }
    p->pending[p->count++] = (struct json_member){.key = NULL};
    return ERR_OK;
}

/* A key and its colon, into the newest slot. */
static enum err read_key(struct parser *p)
{
    struct json_member *m = &p->pending[p->count - 1];
    struct json key;
    int c = json_lex_peek(&p->lex);
    size_t offset = p->lex.at;
    if (c != '"')
        return json_lex_fail(&p->lex, ERR_SYNTAX, offset);
    enum err e = json_lex_scalar(&p->lex, c, &key);
    if (e != ERR_OK)
        return e;
    m->key = key.as.text;
    m->key_len = key.len;
    m->key_offset = (uint32_t)offset;
    if (json_lex_peek(&p->lex) != ':')
        return json_lex_fail(&p->lex, ERR_SYNTAX, p->lex.at);
    p->lex.at++;
    return ERR_OK;
}

/* Opens the next part of the innermost container. */
static enum err open_part(struct parser *p)
{
    enum err e = push_slot(p);
    return e == ERR_OK && p->frames[p->depth - 1].object ? read_key(p) : e;
}

static bool same_key(const struct json_member *a, const struct json_member *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* Of the members with one key, forgets the key of all but the last. *first_again is the first member in the text whose
 * key was there before, or `count`. */
static void mark_duplicates(struct json_member *members, uint32_t count, const uint32_t *order, uint32_t *first_again)
{
    *first_again = count;
    for (uint32_t i = 1; i < count; i++) {
        if (!same_key(&members[order[i - 1]], &members[order[i]]))
            continue;
        if (order[i] < *first_again)
            *first_again = order[i];
        members[order[i - 1]].key = NULL;
    }
}

/* Sorts the members' keys and deals with duplicates: the last wins, if that is forgiven. */
static enum err finish_members(struct parser *p, struct json_list *list)
{
    enum err e = json_key_sort(list->members, list->count, list->order);
    if (e != ERR_OK)
        return json_lex_fail(&p->lex, e, p->lex.at);
    uint32_t again = 0;
    mark_duplicates(list->members, list->count, list->order, &again);
    if (again == list->count)
        return ERR_OK;
    e = json_lex_forgive(&p->lex, ERR_DUPLICATE_KEY, list->members[again].key_offset);
    if (e != ERR_OK)
        return e;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->members[i].key != NULL)
            list->members[kept++] = list->members[i];
    }
    list->count = kept;
    e = json_key_sort(list->members, list->count, list->order);
    return e == ERR_OK ? e : json_lex_fail(&p->lex, e, p->lex.at);
}

/* Moves the pending parts of a container into its list. */
static enum err make_list(struct parser *p, const struct frame *f, struct json_list **out)
{
    struct arena *arena = p->lex.arena;
    const struct json_member *parts = p->pending + f->first;
    size_t count = p->count - f->first;
    struct json_list *list = arena_alloc(arena, sizeof *list);
    if (list == NULL)
        return no_memory(p);
    *list = (struct json_list){.count = (uint32_t)count, .cap = (uint32_t)count};
    if (!f->object) {
        list->items = arena_alloc(arena, count * sizeof *list->items);
        if (list->items == NULL)
            return no_memory(p);
        for (size_t i = 0; i < count; i++)
            list->items[i] = parts[i].value;
        *out = list;
        return ERR_OK;
    }
    list->members = arena_alloc(arena, count * sizeof *list->members);
    list->order = arena_alloc(arena, count * sizeof *list->order);
    if (list->members == NULL || list->order == NULL)
        return no_memory(p);
    memcpy(list->members, parts, count * sizeof *list->members);
    *out = list;
    return finish_members(p, list);
}

/* Takes the closing bracket and puts the container into the slot that waits for it. */
static enum err close_container(struct parser *p)
{
    const struct frame *f = &p->frames[p->depth - 1];
    struct json_list *list = NULL;
    enum err e = p->count > f->first ? make_list(p, f, &list) : ERR_OK;
    if (e != ERR_OK)
        return e;
    p->lex.at++;
    p->depth--;
    p->count = f->first;
    p->pending[p->count - 1].value = (struct json){.type = f->object ? JSON_OBJECT : JSON_ARRAY, .as.list = list};
    return ERR_OK;
}

static int closing(const struct parser *p)
{
    return p->frames[p->depth - 1].object ? '}' : ']';
}

/* What stands behind a value: a comma and the next part, or closing brackets. */
static enum err after_value(struct parser *p)
{
    while (p->depth > 0) {
        int c = json_lex_peek(&p->lex);
        if (c == ',') {
            p->lex.at++;
            return open_part(p);
        }
        if (c != closing(p))
            return json_lex_fail(&p->lex, ERR_SYNTAX, p->lex.at);
        enum err e = close_container(p);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err open_container(struct parser *p, bool object)
{
    if (p->depth == JSON_MAX_DEPTH)
        return json_lex_fail(&p->lex, ERR_DEPTH, p->lex.at);
    p->frames[p->depth++] = (struct frame){.object = object, .first = p->count};
    p->lex.at++;
    return json_lex_peek(&p->lex) == closing(p) ? after_value(p) : open_part(p);
}

/* Reads the value that the newest slot waits for, or only its beginning when it has parts. */
static enum err read_value(struct parser *p)
{
    int c = json_lex_peek(&p->lex);
    if (c == '{' || c == '[')
        return open_container(p, c == '{');
    enum err e = json_lex_scalar(&p->lex, c, &p->pending[p->count - 1].value);
    return e == ERR_OK ? after_value(p) : e;
}

static enum err read_text(struct parser *p)
{
    enum err e = json_lex_utf8(&p->lex);
    if (e == ERR_OK)
        e = push_slot(p);
    if (e != ERR_OK)
        return e;
    do {
        e = read_value(p);
    } while (e == ERR_OK && p->depth > 0);
    if (e == ERR_OK && json_lex_peek(&p->lex) != -1)
        e = json_lex_fail(&p->lex, ERR_SYNTAX, p->lex.at);
    return e;
}

static void set_fault(struct json_fault *fault, enum err e, const struct json_lex *lex, size_t offset)
{
    if (fault == NULL)
        return;
    *fault = (struct json_fault){.err = e, .offset = offset, .line = 1, .column = 1};
    for (size_t i = 0; i < offset; i++) {
        fault->column++;
        if (lex->text[i] == '\n') {
            fault->line++;
            fault->column = 1;
        }
    }
}

static enum err parse(struct json_lex lex, const struct json **out, struct json_fault *fault, struct json_fault *loose)
{
    struct parser p = {.lex = lex};
    struct json *root = NULL;
    /* Lengths and offsets in values have 32 bits. */
    enum err e = lex.len < UINT32_MAX ? read_text(&p) : json_lex_fail(&p.lex, ERR_TOO_LARGE, 0);
    if (e == ERR_OK) {
        root = arena_alloc(lex.arena, sizeof *root);
        if (root == NULL)
            e = no_memory(&p);
    }
    if (e == ERR_OK) {
        *root = p.pending[0].value;
        *out = root;
        if (loose != NULL && p.lex.noted != ERR_OK)
            set_fault(loose, p.lex.noted, &p.lex, p.lex.noted_at);
        else if (loose != NULL)
            *loose = (struct json_fault){.err = ERR_OK};
    } else {
        set_fault(fault, e, &p.lex, p.lex.fault_at);
    }
    free(p.pending);
    return e;
}

enum err json_parse(struct arena *arena, const void *text, size_t len, const struct json **out,
                    struct json_fault *fault)
{
    return parse((struct json_lex){.text = text, .len = len, .arena = arena}, out, fault, NULL);
}

enum err json_parse_loose(struct arena *arena, const void *text, size_t len, const struct json **out,
                          struct json_fault *fault, struct json_fault *loose)
{
    assert(loose != NULL);
    return parse((struct json_lex){.text = text, .len = len, .arena = arena, .loose = true}, out, fault, loose);
}
