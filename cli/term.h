/*
 * term.h - what reaches a person's terminal.
 *
 * Invariant: text of unknown origin gets there only through term_text, term_fit, term_wrap, term_fact and term_json,
 * which make it visible (evidence/visible.h): it cannot move the cursor, hide, reorder or colour anything. term_fit
 * keeps it within the rest of one line, term_wrap and term_fact put our own mark before each line of it, so it cannot
 * pass itself off as a line of ours either. Colours come from us alone, only on a terminal, and never when the person
 * does not want them. Hostile: the texts.
 *
 * Widths are counted in columns, on the safe side: a code point from U+1100 on counts as two.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "evidence/err.h"
#include "evidence/json.h"

enum {
    TERM_WIDTH_DEFAULT = 100, /* when `out` is no terminal or does not say */
    TERM_WIDTH_MIN = 40,
    TERM_WIDTH_MAX = 400,
    TERM_DURATION_BYTES = 48,
    TERM_LABEL_COLUMNS = 14, /* of term_fact, with the space before and behind */
};

enum term_style { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_GREEN, TERM_YELLOW };

struct term {
    FILE *out; /* borrowed */
    bool is_tty;
    bool color;
    size_t width; /* columns */
};

/* `want_color` false: none even on a terminal. */
void term_init(struct term *t, FILE *out, bool want_color);

/* Prints our own words in a style. Never for text of unknown origin. */
void term_styled(const struct term *t, enum term_style style, const char *words);

/* Prints a text of unknown origin, made visible; cut after `max_chars` characters (SIZE_MAX: never). */
void term_text(const struct term *t, const char *text, size_t len, size_t max_chars);

/* The same in at most `columns` columns, cut with "..."; returns the columns it took. */
size_t term_fit(const struct term *t, const char *text, size_t len, size_t columns);

/* Prints a text line by line: `indent` spaces and '|' before each of its lines, ':' before what goes on from the line
 * above. A text without bytes gives one line. Returns how many lines were printed. */
size_t term_wrap(const struct term *t, unsigned indent, const char *text, size_t len);

/* Prints "  LABEL   text" and a newline; what does not fit goes on in lines of its own with ':' before it, below the
 * text. `label` is ours, "" for one more text under the label above. */
void term_fact(const struct term *t, const char *label, const char *text, size_t len);

/* Prints a value as JSON and a newline: in its canonical form, but on a terminal with each character that is not plain
 * as a \u escape, which is the same value. Errors: NOMEM, TOO_LARGE. */
enum err term_json(const struct term *t, const struct json *value) MUST_USE;

/* "8s", "59m", "3h 5m", "2d 4h": what is left of `seconds`, never more than that. "0s" for less than a second. */
void term_duration(int64_t seconds, char out[static TERM_DURATION_BYTES]);

#endif
