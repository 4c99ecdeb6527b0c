/*
 * bundle_cases.h - bundles with a known verdict: good ones, and one for each way of being bad that the format's own
 * negative corpus names (tests/vectors/upstream/negative-expected.json; without its run-sets).
 */
#ifndef TESTS_TOOLS_BUNDLE_CASES_H
#define TESTS_TOOLS_BUNDLE_CASES_H

#include <stddef.h>

#include "tests/tools/bundle_maker.h"
#include "tests/tools/log_maker.h"

/* What a case works on. The trust file pins witnesses 0 and 1 and asks for none, if the case says nothing else. */
struct bundle_work {
    struct log_maker log;
    struct bundle_maker bundle;
    unsigned pinned, required;       /* of the trust file */
    char trust[2048];                /* more members of the trust file, or "" */
    const char *min_version;         /* of the manifest; NULL: the case wrote the manifest itself */
    void (*patch)(const char *path); /* changes the finished zip, or NULL */
};

struct bundle_case {
    const char *name;
    void (*make)(struct bundle_work *w);
    int exit_code;
    const char *integrity;
    const char *first_failure; /* NULL: nothing fails */
    const char *warning;       /* a line that warns, or NULL */
    const char *assurance;     /* what it starts with, or NULL */
};

/* Each table ends with a case without a name. Broken: the files are not what they should be. Forged: the files are whole,
 * and what they say is not true, or not for this verifier. */
extern const struct bundle_case bundle_cases_good[];
extern const struct bundle_case bundle_cases_broken[];
extern const struct bundle_case bundle_cases_forged[];

/* Makes the case's bundle and trust file at these paths. */
void bundle_cases_write(const struct bundle_case *c, const char *bundle_path, const char *trust_path);

#endif
