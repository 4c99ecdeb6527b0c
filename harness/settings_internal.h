/*
 * settings_internal.h - what the settings*.c files share. See settings.h.
 */
#ifndef HARNESS_SETTINGS_INTERNAL_H
#define HARNESS_SETTINGS_INTERNAL_H

#include "evidence/buf.h"
#include "harness/settings.h"
#include "harness/span.h"

enum {
    SETTINGS_ARENA_BYTES = 256 << 20, /* for the values of one text */
    SETTINGS_UNIT_BYTES = 16,
};

struct settings {
    struct buf text; /* as it would be written */
    char *plain;     /* the same with comments blanked */
    char *first;     /* as it was opened */
    size_t first_len;
    const char *newline;            /* of the file */
    char unit[SETTINGS_UNIT_BYTES]; /* one step of indentation */
    bool fresh;                     /* from settings_new, and nothing added yet */
    bool bare;
};

/* Fails at a place of the present text. */
enum err settings_fail(const struct settings *s, enum err e, size_t offset, struct fault *fault,
                       const char *what) MUST_USE;

/* Brings `plain` up to date. Errors: NOMEM, TOO_LARGE. */
enum err settings_refresh(struct settings *s, struct fault *fault) MUST_USE;

struct span settings_top(const struct settings *s);

/* A value's text as a value. Errors: NOMEM, TOO_LARGE. */
enum err settings_value(const struct settings *s, struct span at, struct arena *arena, const struct json **out,
                        struct fault *fault) MUST_USE;

/* What a key's value has to be. */
enum settings_shape { SETTINGS_OBJECT, SETTINGS_ARRAY, SETTINGS_ANY };

/* Looks a key up in an object. *found false: it is not there, *out is untouched. Errors: DUPLICATE_KEY, CONFIG when its value has
 * another shape, both with a fault. `path` names the key for people. */
enum err settings_look(const struct settings *s, struct span object, const char *path, enum settings_shape shape,
                       struct span_item *out, bool *found, struct fault *fault) MUST_USE;

/* settings_edit.c: adds an item at the end of a container. `item` is a value in two-space indentation with LF, in an
 * object with its key before it. */
enum err settings_edit_add(struct settings *s, struct span container, const char *item, struct fault *fault) MUST_USE;
/* Replaces a value. */
enum err settings_edit_replace(struct settings *s, struct span value, const char *text, struct fault *fault) MUST_USE;
/* Removes the item that begins at `from`. *hollow: the container is empty now, and it was made by settings_edit_add. */
enum err settings_edit_drop(struct settings *s, struct span container, size_t from, bool *hollow,
                            struct fault *fault) MUST_USE;

/* Appends `"key": {` or `[`, the text one step deeper, and the closing bracket. */
void settings_edit_wrap(struct buf *out, const char *key, char open, const char *inner);

#endif
