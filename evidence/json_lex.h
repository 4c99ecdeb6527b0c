/*
 * json_lex.h - the tokens of a JSON text. For evidence/json.c only.
 *
 * Invariant: `at` never passes `len`, and after a failure fault_at is the offset of what was refused. Hostile: the
 * text. json_lex_utf8 has to succeed before any token is read.
 */
#ifndef EVIDENCE_JSON_LEX_H
#define EVIDENCE_JSON_LEX_H

#include "evidence/json_value.h"

struct json_lex {
    const uint8_t *text;
    size_t len;
    size_t at;
    struct arena *arena; /* strings go there */
    bool loose;          /* forgive what has no canonical form */
    enum err noted;      /* loose: the first thing forgiven, and where */
    size_t noted_at;
    size_t fault_at;
};

/* Errors: UTF8. */
enum err json_lex_utf8(struct json_lex *lex) MUST_USE;

/* Skips white space and returns the byte behind it, or -1 at the end of the text. Takes nothing else. */
int json_lex_peek(struct json_lex *lex);

/* A string, a number, or one of the words true, false and null (`c` is what json_lex_peek returned). Errors: SYNTAX,
 * NON_FINITE, INT_RANGE, LONE_SURROGATE, NOMEM, TOO_LARGE. */
enum err json_lex_scalar(struct json_lex *lex, int c, struct json *out) MUST_USE;

/* Fails with `e` at an offset. */
enum err json_lex_fail(struct json_lex *lex, enum err e, size_t offset) MUST_USE;

/* Fails with `e` at an offset, or notes it and returns OK when loose. */
enum err json_lex_forgive(struct json_lex *lex, enum err e, size_t offset) MUST_USE;

#endif
