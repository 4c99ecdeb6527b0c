#include "evidence/err.h"

#include <stdio.h>

const char *err_name(enum err e)
{
    switch (e) {
#define ERR_CASE(name, kind, text) \
    case ERR_##name: \
        return #name;
        ERR_TABLE(ERR_CASE)
#undef ERR_CASE
    }
    return "UNKNOWN";
}

enum err_kind err_kind(enum err e)
{
    switch (e) {
#define ERR_CASE(name, kind, text) \
    case ERR_##name: \
        return ERR_KIND_##kind;
        ERR_TABLE(ERR_CASE)
#undef ERR_CASE
    }
    return ERR_KIND_SYSTEM;
}

const char *err_text(enum err e)
{
    switch (e) {
#define ERR_CASE(name, kind, text) \
    case ERR_##name: \
        return text;
        ERR_TABLE(ERR_CASE)
#undef ERR_CASE
    }
    return "unknown error";
}

enum err fault_set(struct fault *fault, enum err e, const char *format, ...)
{
    if (fault == NULL)
        return e;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    if (n <= 0)
        snprintf(fault->text, sizeof fault->text, "%s", err_text(e));
    return e;
}
