#include "signer/harness.h"

#include <string.h>

const struct harness *harness_find(const char *name)
{
    static const struct harness *const all[] = {&gemini_harness};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

void harness_ascii(const char *text, size_t max, char *out)
{
    size_t n = 0;
    for (; n < max && text[n] != '\0'; n++)
        out[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
    out[n] = '\0';
}
