/*
 * purge.h - destroys a data directory: the ledger, the keys, and what lies around them.
 *
 * Invariant: only files that the signer makes are removed, by their names inside of directories that were opened without
 * following a symbolic link; when anything else lies there, nothing is removed, and it is named. Never while a signer
 * holds the directory's lock. Hostile: what lies in the directory; what the signer says of its runs.
 */
#ifndef CLI_PURGE_H
#define CLI_PURGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/paths.h"

enum { PURGE_VERSION_BYTES = 64 };

/* What would be destroyed. */
struct purge {
    char data[PATHS_MAX];
    bool exists;                 /* the data directory */
    bool asked;                  /* the signer told about runs and records */
    bool more;                   /* there are more runs than it told about */
    int64_t records, runs, open; /* open: runs that have not ended */
};

/* Looks, and asks the signer if it runs. Refuses when strangers lie in the directory. Returns an exit code. */
int purge_look(struct cli *cli, struct purge *out) MUST_USE;

/* Tells a person what would be destroyed. */
void purge_show(const struct cli *cli, const struct purge *p, FILE *out);

/* Removes the directory. The signer has to be stopped. Returns an exit code. */
int purge_run(struct cli *cli, const struct purge *p) MUST_USE;

#endif
