/*
 * verify_rig.h - a bundle and a trust file in a directory of their own, verified. Each helper fails the test by itself.
 */
#ifndef UNIT_VERIFY_RIG_H
#define UNIT_VERIFY_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evidence/report.h"
#include "tests/tools/bundle_cases.h"

extern const char *const verify_rig_bundle, *const verify_rig_trust; /* the two paths */

/* Group set-up and tear-down (cmocka's CMFixtureFunction). */
int verify_rig_make(void **state);
int verify_rig_drop(void **state);

/* Verifies what lies at the two paths. The caller frees the report. */
struct report *verify_rig_verify(void);
const struct bundle_case *verify_rig_case(const struct bundle_case *table, const char *name);
/* Writes a case's files and verifies them. The caller frees the report. */
struct report *verify_rig_verify_case(const struct bundle_case *table, const char *name);

void verify_rig_write(const char *path, const void *bytes, size_t len);
size_t verify_rig_read(const char *path, uint8_t *bytes, size_t max);
/* Writes a trust file that pins the log and witness 0. */
void verify_rig_write_trust(const struct log_maker *log, unsigned required);

/* The first line of that status, or NULL. */
const char *verify_rig_first(const struct report *r, enum report_status wanted);
bool verify_rig_has(const struct report *r, const char *name, enum report_status wanted);
/* The report as people read it. The caller frees it. */
char *verify_rig_text(const struct report *r);
void verify_rig_assert_says(const struct report *r, const char *words);

#endif
