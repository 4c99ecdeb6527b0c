/*
 * deny.h - the text that makes Gemini refuse a call: {"decision":"deny","reason":"..."}.
 *
 * Invariant: a deny that this file built is one JSON object in printable ASCII whose reason needs no escape and is
 * shorter than 500 characters, whatever was said into it. A text that deny_is accepts is read as a deny by Gemini, also
 * beside an exit code that says nothing.
 *
 * Hostile: paths said into a reason; the text given to deny_is.
 */
#ifndef HOOK_DENY_H
#define HOOK_DENY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DENY_MAX_REASON = 499, DENY_BYTES = 512 + 32 };

struct deny {
    char text[DENY_BYTES]; /* after deny_end: the whole object, NUL-terminated */
    size_t len;
};

/* Starts a reason, adds to it (bytes that are not plain become '?', what does not fit is dropped), and closes it. */
void deny_begin(struct deny *d);
void deny_say(struct deny *d, const char *text);
void deny_say_number(struct deny *d, uint64_t number);
void deny_end(struct deny *d);

/* The reason inside a finished deny; not NUL-terminated. Borrowed from `d`. */
const char *deny_reason(const struct deny *d, size_t *len);

/* Is `text` such an object? The signer's own reasons may hold escapes, and a newline may follow. */
bool deny_is(const uint8_t *text, size_t len);

#endif
