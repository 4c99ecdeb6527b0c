/* ids.h - the random identifiers of the format: 128 bits from the kernel, in lower-case hexadecimal. */
#ifndef SIGNER_IDS_H
#define SIGNER_IDS_H

#include "evidence/err.h"

enum {
    IDS_HEX_BYTES = 33,      /* 32 digits and NUL */
    IDS_PREFIXED_BYTES = 40, /* "call-", "dec-" or "apr-", 32 digits, NUL */
};

/* Errors: RANDOM; *out is untouched then. */
enum err ids_hex(char out[static IDS_HEX_BYTES]) MUST_USE;
/* `prefix` ("apr-", at most six characters) and 32 digits. */
enum err ids_prefixed(const char *prefix, char out[static IDS_PREFIXED_BYTES]) MUST_USE;

#endif
