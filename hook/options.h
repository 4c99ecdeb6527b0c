/*
 * options.h - the hook's command line.
 *
 * Invariant: options that options_read accepted are complete and in range. Whatever is wrong with the rest, `silent` is
 * true only when --event stands there exactly once and names an event that gates nothing: a command line that cannot be
 * understood has to deny.
 */
#ifndef HOOK_OPTIONS_H
#define HOOK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { OPTIONS_MIN_WAIT_S = 1, OPTIONS_MAX_WAIT_S = 590 };

struct options {
    const char *harness; /* "gemini" */
    const char *event;
    const char *socket; /* an absolute path that fits into an address; borrowed from argv, as are the others */
    uid_t signer_uid;
    int wait_s;
    bool silent; /* not BeforeTool: a failure must not show */
};

/* Reads argv[1] and on. Returns NULL, or a static ASCII sentence about the first thing that is wrong; then only `silent`
 * may be used. */
const char *options_read(int argc, char **argv, struct options *out);

#endif
