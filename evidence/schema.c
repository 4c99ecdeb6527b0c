#include "evidence/schema.h"

#include <stdlib.h>

#include "evidence/schema_internal.h"

/* The path is relative to the root of the source tree, where make runs. */
__asm__(".pushsection .rodata\n"
        "schema_text:\n"
        ".incbin \"evidence/schema/tracekit.event.v2.json\"\n"
        "schema_text_end:\n"
        ".popsection\n");

extern const char schema_text[] __attribute__((visibility("hidden")));
extern const char schema_text_end[] __attribute__((visibility("hidden")));

enum err schema_new(struct schema **out)
{
    return schema_load(schema_text, (size_t)(schema_text_end - schema_text), out, NULL);
}

void schema_free(struct schema *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->pattern_count; i++)
        pattern_free(s->patterns[i]);
    arena_free(s->arena);
    free(s);
}
