#include "evidence/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *data; /* scratch memory of the matches */
    pcre2_match_context *context;
};

/* DOLLAR_ENDONLY, because "$" would also stand before a last newline; NEVER_UCP, so that no "(*UCP)" in a pattern gives
 * \d another meaning; NEVER_BACKSLASH_C, because \C could split a code point. */
static const uint32_t compile_options =
    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;

static enum err compile(const char *text, pcre2_code **out, struct fault *fault)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    char why[128] = "";

    size_t len = strnlen(text, PATTERN_MAX_BYTES + 1);
    if (len > PATTERN_MAX_BYTES)
        return fault_set(fault, ERR_PATTERN, "the pattern is longer than %d bytes", PATTERN_MAX_BYTES);
    *out = pcre2_compile((PCRE2_SPTR)text, len, compile_options, &code, &offset, NULL);
    if (*out != NULL)
        return ERR_OK;
    if (code == PCRE2_ERROR_NOMEMORY)
        return fault_set(fault, ERR_NOMEM, "out of memory for a pattern");
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return fault_set(fault, ERR_PATTERN, "pattern, byte %zu: %s", (size_t)offset, why);
}

enum err pattern_new(const char *text, struct pattern **out, struct fault *fault)
{
    enum err e = ERR_NOMEM;

    struct pattern *p = calloc(1, sizeof *p);
    if (p == NULL)
        goto out;
    e = compile(text, &p->code, fault);
    if (e != ERR_OK)
        goto out;
    e = ERR_NOMEM;
    p->data = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (p->data == NULL || p->context == NULL)
        goto out;
    pcre2_set_match_limit(p->context, PATTERN_MATCH_LIMIT);
    pcre2_set_heap_limit(p->context, PATTERN_HEAP_LIMIT_KIB);
    *out = p;
    return ERR_OK;
out:
    pattern_free(p);
    return e;
}

void pattern_free(struct pattern *p)
{
    if (p == NULL)
        return;
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    free(p);
}

static bool is_ascii(const char *text, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

enum err pattern_match(const struct pattern *p, const char *text, size_t len, bool *matched)
{
    uint32_t options = is_ascii(text, len) ? PCRE2_NO_UTF_CHECK : 0;
    int rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, 0, options, p->data, p->context);
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH) {
        *matched = rc >= 0;
        return ERR_OK;
    }
    if (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21)
        return ERR_UTF8;
    return rc == PCRE2_ERROR_NOMEMORY ? ERR_NOMEM : ERR_TOO_LARGE;
}
