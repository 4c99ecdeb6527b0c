/*
 * daemon_log.h - the data directory as a start sees it: made when it is missing, locked against other starts, and with
 * the log in it.
 *
 * Invariant: DATA/signer.log is a regular file of ours that nobody else may read, opened for appending; a start that
 * finds it longer than DAEMON_LOG_MAX_BYTES makes it signer.log.1, in place of the one before. Hostile: what lies there.
 */
#ifndef CLI_DAEMON_LOG_H
#define CLI_DAEMON_LOG_H

#include <stdint.h>

#include "evidence/buf.h"
#include "evidence/err.h"

#define DAEMON_LOG_NAME "signer.log"

enum { DAEMON_LOG_MAX_BYTES = 1 << 20, DAEMON_LOG_LINES = 10 };

/* Makes the directory (absolute path) with mode 0700, with its parents, or checks the one that is there as the signer
 * does, and locks it against other starts until *directory is closed; waits for them at most `timeout_ms`. Errors: PATH
 * (with what to do), IO, TIMEOUT. */
enum err daemon_log_enter(const char *path, int timeout_ms, int *directory, struct fault *fault) MUST_USE;

/* Opens the log, from a fresh file when the old one is too long. *from is where the next line will begin. Errors: PATH,
 * IO. */
enum err daemon_log_open(int directory, int *log, int64_t *from, struct fault *fault) MUST_USE;

/* Appends the last lines (DAEMON_LOG_LINES, and what `out` holds at most) of the file behind the offset `from`. Nothing
 * when there are none, or the file is not to be read. */
void daemon_log_tail(const char *path, int64_t from, struct buf *out);

#endif
