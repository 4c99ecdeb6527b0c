#define _GNU_SOURCE
#include "signer/ids.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "evidence/digest.h"

static enum err random_bytes(uint8_t *out, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = getrandom(out + done, len - done, 0);
        if (n < 0 && errno != EINTR)
            return ERR_RANDOM;
        if (n > 0)
            done += (size_t)n;
    }
    return ERR_OK;
}

enum err ids_hex(char out[static IDS_HEX_BYTES])
{
    uint8_t bytes[16];
    enum err e = random_bytes(bytes, sizeof bytes);
    if (e == ERR_OK)
        digest_hex(bytes, sizeof bytes, out);
    return e;
}

enum err ids_prefixed(const char *prefix, char out[static IDS_PREFIXED_BYTES])
{
    char hex[IDS_HEX_BYTES];
    enum err e = ids_hex(hex);
    if (e == ERR_OK)
        snprintf(out, IDS_PREFIXED_BYTES, "%.6s%s", prefix, hex);
    return e;
}
