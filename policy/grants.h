/*
 * grants.h - what a call's `additional_permissions` asks for.
 *
 * Invariant: whatever is not provably empty is a grant. False, null, empty arrays and empty objects ask for nothing. A
 * string is a grant, even the empty one and even one that holds JSON; so is a number, an element of a list that is no
 * path, a list that is not a list, and a key that this version does not know, whatever its value ("confined": false
 * may ask for much). Keys are compared byte by byte: "Network" is not `network`, and so is unknown.
 *
 *   network              "network" is anything but false, null, [] and {}
 *   read:<path>          an element of fileSystem.read;  write:<path> likewise
 *   unknown:<place>      anything else that is there, named by where it stands: additional_permissions, <key>,
 *                        fileSystem, fileSystem.<key>, fileSystem.read, fileSystem.read[0]
 *
 * Hostile: the value. Paths and keys come out as they are, but for a NUL, which is written \x00: whoever shows them
 * makes them visible first (evidence/visible.h). Implements docs/policy.md, "Grants".
 */
#ifndef POLICY_GRANTS_H
#define POLICY_GRANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/arena.h"
#include "evidence/err.h"
#include "evidence/json.h"

/* The argument that asks. */
#define GRANTS_ARGUMENT "additional_permissions"

enum {
    GRANTS_MAX = 256,             /* more in one call, repeats counted, is TOO_LARGE */
    GRANTS_MAX_PATH_BYTES = 4096, /* a longer path or key is TOO_LARGE */
};

enum grant_kind { GRANT_NETWORK, GRANT_READ, GRANT_WRITE, GRANT_UNKNOWN };

struct grant {
    enum grant_kind kind;
    const char *subject; /* a path or a key; "" for network. NUL-terminated, escaped where it held a NUL */
    const char *text;    /* the whole: "read:/etc" */
};

struct grants {
    size_t count;
    const struct grant *list;
};

/* The grants of a call's arguments (the value of its tool_input), each once, in the order network, read, write, unknown
 * and within a kind in that of the text. Arguments that are no object have none: who decides refuses those. The result
 * lives in the arena; on failure *out is untouched. Errors: TOO_LARGE, NOMEM. */
enum err grants_read(struct arena *arena, const struct json *args, struct grants *out) MUST_USE;

/* "network", "read", "write", "unknown". */
const char *grants_kind_name(enum grant_kind kind);

#endif
