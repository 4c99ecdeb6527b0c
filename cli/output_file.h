/*
 * output_file.h - a file that appears whole or not at all.
 *
 * Invariant: until output_file_commit there is only a temporary file beside the wanted one (NAME.tmp-XXXXXX, made
 * with O_EXCL); it takes the wanted name after its bytes are on the disk, and is removed when anything goes wrong. An
 * existing file is replaced only when that was asked for, and never one that is not a regular file: the check is made
 * again by the kernel when the name is taken.
 *
 * The file's mode is 0600, less what the umask takes away: a bundle tells who ran what and when, and its owner decides
 * who else may read it. Hostile: the path.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "evidence/err.h"

struct output_file;

/* Makes the temporary file for `path`. Errors: PATH (with what to do about it), IO, NOMEM, each with a fault. */
enum err output_file_open(const char *path, bool replace, struct output_file **out, struct fault *fault) MUST_USE;

/* Where to write; seekable. Borrowed: stays the file's. */
FILE *output_file_stream(struct output_file *f);

/* Syncs the bytes, gives the file its name, syncs the directory. Errors: PATH (the name was taken meanwhile), IO, SYNC,
 * each with a fault; then the temporary file is gone after output_file_close. */
enum err output_file_commit(struct output_file *f, struct fault *fault) MUST_USE;

/* Frees it; removes the temporary file unless it was committed. NULL is fine. */
void output_file_close(struct output_file *f);

#endif
