/*
 * report.h - what a verification found: one line per check, then the verdict (upstream's verdicts.md).
 *
 * Invariant: exit code and verdict follow from the lines: a failed line means FAILED and exit 1; UNUSABLE BUNDLE and
 * UNVERIFIABLE mean exit 2; with --strict a warning means exit 3. A report that nobody gave an integrity is an UNUSABLE
 * BUNDLE, and one that lost a line for want of memory has failed. Text that came from the bundle is stripped of control,
 * bidirectional and zero-width characters before a person or a program sees it.
 */
#ifndef EVIDENCE_REPORT_H
#define EVIDENCE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "evidence/buf.h"
#include "evidence/err.h"

enum report_status { REPORT_PASS, REPORT_WARN, REPORT_FAIL };
enum { REPORT_MAX_PROBLEMS = 20 };

/* Problems that are gathered before their line is due. All zero is the empty list. Only the first REPORT_MAX_PROBLEMS
 * are kept, the rest are counted; so is one for which there was no memory. */
struct report_problems {
    size_t count;
    size_t kept;
    char *text[REPORT_MAX_PROBLEMS]; /* owned; text[0] .. text[kept - 1] */
};

void report_problems_add(struct report_problems *p, const char *format, ...) PRINTF_LIKE(2, 3);
void report_problems_wipe(struct report_problems *p); /* frees the texts; the list is empty again */

struct report;

struct report *report_new(void); /* NULL when out of memory */
void report_free(struct report *r);

/* Starts a line; report_problem adds to the newest line (only REPORT_MAX_PROBLEMS are kept, the rest are counted).
 * `check` must outlive the report. Out of memory is remembered and turns the verdict into FAILED: a report never loses a
 * line in silence. */
void report_line(struct report *r, enum report_status status, const char *check, const char *format, ...)
    PRINTF_LIKE(4, 5);
void report_problem(struct report *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* Moves a gathered list to the newest line, behind what it has; `p` is empty then. */
void report_problem_list(struct report *r, struct report_problems *p);
/* Something worth knowing that is no check of its own; only in the JSON form. */
void report_note(struct report *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* What stands behind "Integrity: " when no line failed, and behind "Assurance: " ("none" until it is set). */
void report_integrity(struct report *r, const char *format, ...) PRINTF_LIKE(2, 3);
void report_assurance(struct report *r, const char *format, ...) PRINTF_LIKE(2, 3);
void report_unusable(struct report *r); /* exit 2 whatever the lines say; the integrity stays as it was set */

/* Moves the lines and notes of `from` behind those of `r`, and `from`'s integrity and assurance when they were set.
 * `from` is empty then. */
void report_append(struct report *r, struct report *from);

size_t report_failures(const struct report *r);
size_t report_warnings(const struct report *r);
int report_exit_code(const struct report *r, bool strict);

/* One line, for tests and programs: the check's name, or NULL when there is no line `i`. */
const char *report_check(const struct report *r, size_t i, enum report_status *status);
/* "VERIFIED", "FAILED", ...; and the assurance. Borrowed until the report changes. */
const char *report_integrity_text(const struct report *r);
const char *report_assurance_text(const struct report *r);

/* As people read it: "[PASS] check - detail" lines (with an em dash), problems indented by eight spaces, a blank line,
 * "Integrity: X." and "Assurance: Y.". `color` wraps the status words in ANSI colours. */
void report_print(const struct report *r, FILE *out, bool color);
/* {"exit_code","checks":[{"check","status","detail","problems"}],"failures","warnings","integrity","assurance","notes"},
 * with a newline behind it. Errors: NOMEM, TOO_LARGE. */
enum err report_json(const struct report *r, bool strict, struct buf *out) MUST_USE;

#endif
