/*
 * approval_view.h - an approval (docs/wire.md), shown to the person who answers it.
 *
 * Invariant: what is decisive (which tool, what it may reach, who asks, how long there is) stands in a place of its
 * own that the agent's text cannot reach; the id, which people paste into a shell, is shown only when it is one.
 * Hostile: the whole approval.
 */
#ifndef CLI_APPROVAL_VIEW_H
#define CLI_APPROVAL_VIEW_H

#include <stdbool.h>

#include "cli/cli.h"
#include "evidence/json.h"

/* The approval's id: "apr-" and letters, digits or '-', at most 64 bytes. NULL when it has another form. */
const char *approval_view_id(const struct json *approval);

/* Whether it still waits for an answer. */
bool approval_view_is_pending(const struct json *approval);

/* A block of a few lines in a list; each fits into the terminal's width. */
void approval_view_block(const struct cli *cli, const struct json *approval);

/* Everything, one fact a line, the arguments, and the commands that answer it. */
void approval_view_whole(const struct cli *cli, const struct json *approval);

/* "  TOOL: SUMMARY" in one line of the terminal, with the newline. */
void approval_view_line(const struct term *t, const struct json *approval);

#endif
