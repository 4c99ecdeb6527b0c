#include "evidence/json_value.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 16 };

/* UTF-8 bytes sort like code points. UTF-16 differs in one thing: the surrogates of U+10000 and above (lead bytes
 * f0 to f4) sort before U+E000 to U+FFFF (lead bytes ee and ef). */
static int rank(uint8_t byte)
{
    return byte == 0xee || byte == 0xef ? byte + 0x10 : byte;
}

int json_key_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t len = a_len < b_len ? a_len : b_len;
    size_t i = 0;
    while (i < len && a[i] == b[i])
        i++;
    if (i < len)
        return rank((uint8_t)a[i]) - rank((uint8_t)b[i]);
    return (a_len > b_len) - (a_len < b_len);
}

static int compare(const struct json_member *members, uint32_t a, uint32_t b)
{
    return json_key_compare(members[a].key, members[a].key_len, members[b].key, members[b].key_len);
}

static void insertion_sort(const struct json_member *members, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moving = order[i];
        uint32_t at = i;
        for (; at > 0 && compare(members, order[at - 1], moving) > 0; at--)
            order[at] = order[at - 1];
        order[at] = moving;
    }
}

static void merge(const struct json_member *members, const uint32_t *left, const uint32_t *right, const uint32_t *end,
                  uint32_t *out)
{
    const uint32_t *l = left, *r = right;
    while (l < right && r < end)
        *out++ = compare(members, *l, *r) <= 0 ? *l++ : *r++;
    while (l < right)
        *out++ = *l++;
    while (r < end)
        *out++ = *r++;
}

enum err json_key_sort(const struct json_member *members, uint32_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t at = 0; at < count; at += FEW)
        insertion_sort(members, order + at, count - at < FEW ? (uint32_t)(count - at) : FEW);
    if (count <= FEW)
        return ERR_OK;
    uint32_t *spare = malloc(count * sizeof *spare);
    if (spare == NULL)
        return ERR_NOMEM;
    for (size_t run = FEW; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t middle = at + run < count ? at + run : count;
            size_t end = at + 2 * run < count ? at + 2 * run : count;
            merge(members, order + at, order + middle, order + end, spare + at);
        }
        memcpy(order, spare, count * sizeof *spare);
    }
    free(spare);
    return ERR_OK;
}

uint32_t json_key_find(const struct json_list *list, const char *key, size_t key_len, bool *found)
{
    uint32_t low = 0, high = list->count;
    *found = false;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct json_member *m = &list->members[list->order[mid]];
        int c = json_key_compare(m->key, m->key_len, key, key_len);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
