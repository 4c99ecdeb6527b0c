#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "policy/scalar.h"
#include "policy/yaml_internal.h"

/* A list or mapping that is open. It stands in its parent already: a container may grow after it was put there. */
struct frame {
    struct json *container;
    bool is_mapping;
    bool has_key;
    char *key; /* of the value that comes next; NUL-terminated */
    struct yaml_place key_place;
};

struct reader {
    struct yaml *doc;
    struct fault *fault;
    yaml_parser_t parser;
    struct frame frames[YAML_MAX_DEPTH];
    size_t depth;
};

static struct yaml_place place_of(const yaml_mark_t *mark)
{
    return (struct yaml_place){.line = mark->line + 1, .column = mark->column + 1};
}

static enum err fail(const struct reader *r, enum err e, const yaml_event_t *event, const char *text)
{
    return yaml_fail(r->doc, e, place_of(&event->start_mark), text, r->fault);
}

/* What libyaml refused. Its messages are fixed texts. */
static enum err syntax(const struct reader *r, const char *text)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return fault_set(r->fault, ERR_NOMEM, "%s: %s", r->doc->name, err_text(ERR_NOMEM));
    struct yaml_place place = place_of(&p->problem_mark);
    if (p->error == YAML_READER_ERROR)
        place = yaml_place_of(text, p->problem_offset);
    return yaml_fail(r->doc, ERR_SYNTAX, place, p->problem != NULL ? p->problem : err_text(ERR_SYNTAX), r->fault);
}

/* The value of the event goes to the open container, or is the document. */
static enum err put(struct reader *r, const yaml_event_t *event, const struct json *value)
{
    struct yaml *doc = r->doc;
    struct frame *f = r->depth > 0 ? &r->frames[r->depth - 1] : NULL;
    bool has_key = f != NULL && f->has_key;
    enum err e = value == NULL ? ERR_NOMEM : yaml_add_place(doc, has_key ? f->key_place : place_of(&event->start_mark));
    if (e != ERR_OK)
        return fail(r, e, event, err_text(e));
    if (f == NULL) {
        doc->root = value;
    } else if (has_key) {
        json_set(doc->arena, f->container, f->key, value);
        f->has_key = false;
    } else {
        json_add(doc->arena, f->container, value);
    }
    if (arena_failed(doc->arena))
        return fail(r, ERR_NOMEM, event, err_text(ERR_NOMEM));
    return ERR_OK;
}

static bool is_awaiting_key(const struct reader *r)
{
    return r->depth > 0 && r->frames[r->depth - 1].is_mapping && !r->frames[r->depth - 1].has_key;
}

static enum err take_key(struct reader *r, const yaml_event_t *event, const struct json *value)
{
    struct frame *f = &r->frames[r->depth - 1];
    const char *key = json_cstr(value);
    if (key == NULL)
        return fail(r, ERR_SYNTAX, event, "a key has to be text: put it into quotes");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(key, "<<") == 0)
        return fail(r, ERR_SYNTAX, event, "merge keys are not read: write the keys out");
    if (json_get(f->container, key) != NULL)
        return fail(r, ERR_DUPLICATE_KEY, event, "this key stands in the mapping already");
    f->key = arena_copy(r->doc->arena, key, strlen(key));
    if (f->key == NULL)
        return fail(r, ERR_NOMEM, event, err_text(ERR_NOMEM));
    f->key_place = place_of(&event->start_mark);
    f->has_key = true;
    return ERR_OK;
}

static enum err resolve(struct reader *r, const yaml_event_t *event, const struct json **out)
{
    struct arena *arena = r->doc->arena;
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        *out = json_new_text(arena, text, len);
        return *out == NULL ? fail(r, ERR_NOMEM, event, err_text(ERR_NOMEM)) : ERR_OK;
    }
    enum err e = scalar_resolve(arena, text, len, out);
    if (e == ERR_SYNTAX)
        return fail(r, e, event, "a number with leading zeros may mean two things: take them away, or use quotes");
    return e == ERR_OK ? ERR_OK : fail(r, e, event, err_text(e));
}

static enum err scalar(struct reader *r, const yaml_event_t *event)
{
    const struct json *value = NULL;
    bool is_tagged = event->data.scalar.tag != NULL ||
                     (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.plain_implicit);
    if (event->data.scalar.anchor != NULL || is_tagged)
        return fail(r, ERR_SYNTAX, event, "anchors and tags are not read");
    enum err e = resolve(r, event, &value);
    if (e != ERR_OK)
        return e;
    return is_awaiting_key(r) ? take_key(r, event, value) : put(r, event, value);
}

static enum err open_container(struct reader *r, const yaml_event_t *event, bool is_mapping, bool is_marked)
{
    struct arena *arena = r->doc->arena;
    if (is_marked)
        return fail(r, ERR_SYNTAX, event, "anchors and tags are not read");
    if (is_awaiting_key(r))
        return fail(r, ERR_SYNTAX, event, "a key has to be text, not a list or a mapping");
    if (r->depth == YAML_MAX_DEPTH)
        return fail(r, ERR_DEPTH, event, err_text(ERR_DEPTH));
    struct json *container = is_mapping ? json_new_object(arena) : json_new_array(arena);
    enum err e = put(r, event, container);
    if (e == ERR_OK)
        r->frames[r->depth++] = (struct frame){.container = container, .is_mapping = is_mapping};
    return e;
}

static enum err document(struct reader *r, const yaml_event_t *event)
{
    bool has_directives =
        event->data.document_start.version_directive != NULL ||
        event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end;
    if (r->doc->root != NULL)
        return fail(r, ERR_SYNTAX, event, "a second document in the file");
    return has_directives ? fail(r, ERR_SYNTAX, event, "directives are not read") : ERR_OK;
}

static enum err take(struct reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return document(r, event);
    case YAML_ALIAS_EVENT:
        return fail(r, ERR_SYNTAX, event, "aliases are not read: write the value out");
    case YAML_SCALAR_EVENT:
        return scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(r, event, false,
                              event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL);
    case YAML_MAPPING_START_EVENT:
        return open_container(r, event, true,
                              event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return ERR_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return ERR_OK;
    }
    return ERR_OK;
}

static enum err read_events(struct reader *r, const char *text)
{
    enum err e = ERR_OK;
    for (bool is_end = false; e == ERR_OK && !is_end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return syntax(r, text);
        e = take(r, &event);
        is_end = event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT;
        yaml_event_delete(&event);
    }
    return e;
}

enum err yaml_parse_yaml(struct yaml *doc, const char *text, size_t len, struct fault *fault)
{
    struct reader r = {.doc = doc, .fault = fault};
    if (!yaml_parser_initialize(&r.parser))
        return fault_set(fault, ERR_NOMEM, "%s: %s", doc->name, err_text(ERR_NOMEM));
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    enum err e = read_events(&r, text);
    yaml_parser_delete(&r.parser);
    if (e == ERR_OK && doc->root == NULL)
        doc->root = json_new_null();
    return e;
}
