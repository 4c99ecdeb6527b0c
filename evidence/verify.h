/*
 * verify.h - the verifier: from a bundle and a trust file to a report (upstream's format-v2.md section 11).
 *
 * Invariant: a report says VERIFIED only when every check of that section that a bundle of one run calls for was made and
 * passed. What this verifier cannot read at all (run-sets, runs in parts, findings and replay runs, certificates of record
 * keys, newer bundles) makes it UNVERIFIABLE; whatever else a bundle holds or a trust file pins that is not checked is
 * named in a WARN line. Entries are read once and hashed as they are parsed. Hostile: everything.
 *
 * Memory is bounded (evidence/verify_internal.h has the limits) and does not grow with the records of a run; for each
 * tool call about 100 bytes are kept.
 */
#ifndef EVIDENCE_VERIFY_H
#define EVIDENCE_VERIFY_H

#include "evidence/err.h"
#include "evidence/report.h"

/* Fills `report`, which is new. Errors: NOMEM only, and then the report is not to be relied on; everything wrong with the
 * files is in the report. Reads both files, blocking. */
enum err verify_bundle(const char *bundle_path, const char *trust_path, struct report *report) MUST_USE;

#endif
