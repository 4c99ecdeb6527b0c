/*
 * export_parts.h - the files of a bundle, fetched from the signer page by page.
 *
 * Invariant: no name in the bundle is made from a text of the signer that was not checked; pages always advance, so a
 * signer that never ends is noticed; as many records are written as were announced. Hostile: every reply.
 */
#ifndef CLI_EXPORT_PARTS_H
#define CLI_EXPORT_PARTS_H

#include <stdint.h>

#include "cli/bundle_writer.h"
#include "cli/link.h"

/* One export under way. */
struct export_parts {
    struct link *link;
    struct bundle_writer *bundle;
    struct arena *arena;               /* holds the reply to export.begin; owned */
    const struct json *begin;          /* that reply */
    const char *run, *tenant, *origin; /* borrowed from it */
    int64_t records, size;             /* records of the run, records in the tree */
    int64_t *seqs;                     /* records that need a proof, in order; owned */
    size_t seq_count;
    int64_t started_ms; /* CLOCK_MONOTONIC */
    bool shown;         /* a progress line stands on the terminal */
};

/* Asks the signer for a checkpoint and what belongs to the run. Returns an exit code; errors are printed. */
int export_parts_begin(struct export_parts *x, const char *run) MUST_USE;

/* Writes all files of the bundle but the manifest. Returns an exit code; errors are printed. */
int export_parts_write(struct export_parts *x) MUST_USE;

/* Says why writing failed; returns the exit code. */
int export_parts_fail(const struct export_parts *x, enum err e);

void export_parts_wipe(struct export_parts *x);

#endif
