/*
 * keyfile.h - 32 secret bytes in a file of their own.
 *
 * Invariant: a key file is a regular file of exactly KEYFILE_BYTES raw bytes that belongs to us and that nobody else may
 * read or write; a new one is on the disk, with its directory entry, before its bytes are used for anything.
 */
#ifndef SIGNER_KEYFILE_H
#define SIGNER_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "evidence/err.h"

enum { KEYFILE_BYTES = 32, KEYFILE_NAME_BYTES = 32 };

/* Reads directory/name into `key`. Errors: NOT_FOUND, CONFIG (wrong owner, mode, kind or size, with the remedy), IO. */
enum err keyfile_read(int directory, const char *name, uint8_t key[static KEYFILE_BYTES], struct fault *fault) MUST_USE;

/* Makes directory/name (mode 0600, never over an existing file) with these bytes and syncs file and directory. A file of
 * that name is whole from its first moment on: it is written as NAME.new, and what lies there is replaced. `name` and
 * ".new" fit into KEYFILE_NAME_BYTES. Errors: IO, SYNC; after a SYNC the file may be there, and whole. */
enum err keyfile_create(int directory, const char *name, const uint8_t key[static KEYFILE_BYTES],
                        struct fault *fault) MUST_USE;

#endif
