#include "evidence/base64.h"

#include <sodium.h>
#include <stdbool.h>

void base64_encode(const uint8_t *bytes, size_t len, char *out)
{
    sodium_bin2base64(out, BASE64_TEXT_BYTES(len), bytes, len, sodium_base64_VARIANT_ORIGINAL);
}

/* The decoder takes many bytes above 0x7f for digits where char is signed (libsodium 1.0.18): they never get there. */
static bool is_ascii(const char *text, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

enum err base64_decode(const char *text, size_t text_len, uint8_t *out, size_t max, size_t *len)
{
    /* Without a place for its end, the decoder takes the whole text or fails. It checks padding and the unused bits. */
    size_t bytes = 0;
    if (!is_ascii(text, text_len))
        return ERR_BASE64;
    if (sodium_base642bin(out, max, text, text_len, NULL, &bytes, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        return ERR_BASE64;
    *len = bytes;
    return ERR_OK;
}
