/*
 * settings_file.h - one of Gemini's settings files on the disk: read once, replaced whole or not at all.
 *
 * Invariant: only a regular file is read or replaced, in a real directory ".gemini", both of ours and open to nobody
 * else's changes; symbolic links are refused. A new text is on the disk under another name before it takes the file's name,
 * with the file's mode and group, and only if the file still is what was read (Gemini writes it too; between the last
 * look and the rename there is a moment that nothing closes). What was there is kept beside it first. Hostile: what lies
 * at the path.
 */
#ifndef CLI_SETTINGS_FILE_H
#define CLI_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/paths.h"
#include "evidence/buf.h"
#include "evidence/err.h"

enum { SETTINGS_FILE_NAME_BYTES = 64 };

struct settings_file {
    char path[PATHS_MAX]; /* of the file */
    int base, folder;     /* descriptors: of the directory that holds ".gemini", and of ".gemini"; -1: not there */
    bool exists;
    struct buf text;
    struct stat st;                        /* when it exists */
    char backup[SETTINGS_FILE_NAME_BYTES]; /* the name of the copy that was kept, "" for none */
};

/* The directory that holds ".gemini": the present one for a project, else $GEMINI_CLI_HOME or $HOME. Errors: PATH. */
enum err settings_file_base(bool project, char out[static PATHS_MAX], struct fault *fault) MUST_USE;

/* Opens BASE/.gemini/settings.json and reads it; that it is not there is no error. Errors: PATH (with what to do), IO,
 * TOO_LARGE, NOMEM, each with a fault. On failure there is nothing to close. */
enum err settings_file_open(const char *base, struct settings_file *out, struct fault *fault) MUST_USE;

/* Keeps a copy and puts the new text into the file's place; makes file (0600) and directory (0700) when they are not
 * there. Errors: STATE (it was changed meanwhile), IO, SYNC, PATH, each with a fault; then the file is as it was, but
 * for a SYNC: then the new text may be there. */
enum err settings_file_replace(struct settings_file *f, const char *text, size_t len, struct fault *fault) MUST_USE;

/* Removes the file. Errors: STATE, IO, SYNC, each with a fault. */
enum err settings_file_remove(struct settings_file *f, struct fault *fault) MUST_USE;

void settings_file_close(struct settings_file *f);

#endif
