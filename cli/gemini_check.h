/*
 * gemini_check.h - all that would make the gate void for a Gemini CLI that is started here, now and with these arguments.
 *
 * Invariant: without findings and faults all checks were made and held. Hostile: arguments, environment, files.
 */
#ifndef CLI_GEMINI_CHECK_H
#define CLI_GEMINI_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/gemini_files.h"
#include "harness/voids.h"

enum { GEMINI_CHECK_FAULTS = 4 };

struct gemini_check {
    struct voids voids;
    struct fault faults[GEMINI_CHECK_FAULTS]; /* what could not be checked, or keeps everything from running */
    size_t fault_count;
    bool no_signer;          /* one of the faults is that no signer answers, */
    char program[PATHS_MAX]; /* Gemini's; empty when it was not found */
    struct gemini_files files;
};

/* Makes all checks; `out` is zeroed before, and wiped with gemini_check_close. */
void gemini_check(struct gemini_check *out, size_t count, const char *const *arguments);
void gemini_check_close(struct gemini_check *c);

/* Whether the gate holds. */
bool gemini_check_holds(const struct gemini_check *c);

#endif
