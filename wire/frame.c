#include "wire/frame.h"

#include <stdbool.h>
#include <string.h>

static const uint8_t MAGIC[4] = {'T', 'K', 'C', '1'};

static void put_u32(uint8_t *out, uint32_t v)
{
    out[0] = (uint8_t)(v >> 24);
    out[1] = (uint8_t)(v >> 16);
    out[2] = (uint8_t)(v >> 8);
    out[3] = (uint8_t)v;
}

static uint32_t get_u32(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

void frame_head_write(const struct frame_head *head, uint8_t out[static FRAME_HEAD_BYTES])
{
    memcpy(out, MAGIC, sizeof MAGIC);
    out[4] = head->kind;
    out[5] = head->flags;
    out[6] = out[7] = 0;
    put_u32(out + 8, head->a);
    put_u32(out + 12, head->b);
}

/* What each kind allows: its flags and its two lengths. */
static bool is_allowed(const struct frame_head *head)
{
    switch (head->kind) {
    case FRAME_HOOK:
        return (head->flags & ~FRAME_OVERSIZE) == 0 && head->a <= FRAME_MAX_META && head->b <= FRAME_MAX_PAYLOAD &&
               (head->flags == 0 || head->b == 0);
    case FRAME_ANSWER:
        return (head->flags & ~FRAME_ALLOW) == 0 && head->a <= FRAME_MAX_OUT && head->b <= FRAME_MAX_OUT;
    case FRAME_REQUEST:
        return head->flags == 0 && head->a == 0 && head->b <= FRAME_MAX_REQUEST;
    case FRAME_REPLY:
        return (head->flags & ~FRAME_ERROR) == 0 && head->a == 0 && head->b <= FRAME_MAX_REPLY;
    default:
        return false;
    }
}

int frame_head_read(const uint8_t in[static FRAME_HEAD_BYTES], struct frame_head *head)
{
    struct frame_head h = {.kind = in[4], .flags = in[5], .a = get_u32(in + 8), .b = get_u32(in + 12)};
    if (memcmp(in, MAGIC, sizeof MAGIC) != 0 || in[6] != 0 || in[7] != 0 || !is_allowed(&h))
        return -1;
    *head = h;
    return 0;
}

static bool is_name_byte(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool is_name(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_name_byte(bytes[i]))
            return false;
    return len > 0 && len <= FRAME_MAX_NAME;
}

/* Appends a name behind its length byte; returns the new end, NULL when it is no name. */
static uint8_t *put_name(uint8_t *out, const char name[static FRAME_MAX_NAME + 1])
{
    size_t len = strnlen(name, FRAME_MAX_NAME + 1);
    if (!is_name((const uint8_t *)name, len))
        return NULL;
    *out++ = (uint8_t)len;
    memcpy(out, name, len);
    return out + len;
}

/* Takes a name from the front of what is left; 0 or -1. */
static int get_name(const uint8_t **in, size_t *left, char name[static FRAME_MAX_NAME + 1])
{
    if (*left == 0)
        return -1;
    size_t len = **in;
    if (len > *left - 1 || !is_name(*in + 1, len))
        return -1;
    memcpy(name, *in + 1, len);
    name[len] = '\0';
    *in += 1 + len;
    *left -= 1 + len;
    return 0;
}

size_t frame_meta_write(const struct frame_meta *meta, uint8_t out[static FRAME_MAX_META])
{
    _Static_assert(4 + 2 * (1 + FRAME_MAX_NAME) <= FRAME_MAX_META, "the longest meta fits");
    uint8_t *end = put_name(out + 4, meta->harness);
    if (end != NULL)
        end = put_name(end, meta->event);
    if (end == NULL)
        return 0;
    put_u32(out, meta->wait_ms);
    return (size_t)(end - out);
}

int frame_meta_read(const uint8_t *in, size_t len, struct frame_meta *meta)
{
    struct frame_meta m = {0};
    if (len < 4 || len > FRAME_MAX_META)
        return -1;
    m.wait_ms = get_u32(in);
    in += 4;
    len -= 4;
    if (get_name(&in, &len, m.harness) != 0 || get_name(&in, &len, m.event) != 0 || len != 0)
        return -1;
    *meta = m;
    return 0;
}
