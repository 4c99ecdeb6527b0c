/*
 * store_files.h - are the database's files still the ones that we have open?
 *
 * Invariant: nobody is answered from a database that is gone from its place: a file that was removed, replaced or cut
 * while it was open takes our writes without a word, and a start would not find them. Looked at before each commit.
 */
#ifndef SIGNER_STORE_FILES_H
#define SIGNER_STORE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    STORE_FILES = 2,                  /* the database and its write-ahead log */
    STORE_FILES_LOG_BYTES = 16 << 20, /* to what SQLite cuts the log again after a large transaction */
};

struct store_files {
    char *paths[STORE_FILES]; /* owned */
    bool seen[STORE_FILES];
    dev_t devices[STORE_FILES];
    ino_t inodes[STORE_FILES];
    /* The database never shrinks while it is open, the log never below STORE_FILES_LOG_BYTES. */
    off_t sizes[STORE_FILES];
};

/* Of the database at `path`. False when out of memory. */
bool store_files_init(struct store_files *f, const char *path);
void store_files_wipe(struct store_files *f);

/* Whether each file that was seen before is there, is the same, and has not shrunk. Takes note of what it sees. */
bool store_files_check(struct store_files *f);

#endif
