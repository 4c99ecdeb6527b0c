/*
 * report_internal.h - what a report is made of, for the files that print it. Nobody else includes it.
 */
#ifndef EVIDENCE_REPORT_INTERNAL_H
#define EVIDENCE_REPORT_INTERNAL_H

#include "evidence/report.h"

enum {
    REPORT_TEXT_BYTES = 64 << 10, /* longest detail, problem or verdict; longer ones are cut */
    REPORT_MAX_NOTES = 16,
};

struct report_line {
    enum report_status status;
    const char *check;
    char *detail;
    struct report_problems problems;
};

struct report {
    struct report_line *lines;
    size_t count, cap;
    char *notes[REPORT_MAX_NOTES];
    size_t note_count;
    char *integrity, *assurance;
    bool unusable;
    bool lost; /* a line or a text is missing */
};

#endif
