/*
 * bundle.h - names and numbers of `tracekit.bundle.v2` that both its writer and its verifier use (upstream's
 * format-v2.md section 9).
 */
#ifndef EVIDENCE_BUNDLE_H
#define EVIDENCE_BUNDLE_H

#include "evidence/err.h"

#define BUNDLE_FORMAT "tracekit.bundle.v2"
#define BUNDLE_VERIFIER_MIN_VERSION "1.0.0" /* what our bundles need */
#define BUNDLE_VERIFIER_VERSION "1.0.0"     /* what our verifier knows; newer bundles are UNVERIFIABLE, not wrong */

enum { BUNDLE_RUN_NAME_BYTES = 48 };

/* "runs/<first 32 hex of SHA-256(tenant/run_id)>.jsonl". Errors: NOMEM. */
enum err bundle_run_name(const char *tenant, const char *run_id, char out[static BUNDLE_RUN_NAME_BYTES]) MUST_USE;

#endif
