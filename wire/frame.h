/*
 * frame.h - frames between the hook and the signer, and between the command line and the signer (docs/wire.md).
 *
 * Invariant: a frame is a fixed head and then exactly the bytes that the head announces, each length checked against
 * its maximum before a byte of it is believed. All numbers are big-endian. This file needs nothing but libc, because the
 * hook links it. Hostile: both ends, for each other.
 *
 * Head, 16 bytes:  "TKC1"  kind u8  flags u8  reserved u16 = 0  a u32  b u32
 *
 *   HOOK      client -> agent socket    a = bytes of meta, b = bytes of payload; then meta, then payload
 *             meta: wait_ms u32, then harness and event, each as u8 length and bytes
 *   ANSWER    signer -> hook            a = bytes for standard output, b = bytes for standard error; flags: FRAME_ALLOW
 *   REQUEST   client -> control socket  a = 0, b = bytes of one JSON text
 *   REPLY     signer -> command line    a = 0, b = bytes of one JSON text; flags: FRAME_ERROR
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum {
    FRAME_HEAD_BYTES = 16,
    FRAME_MAX_PAYLOAD = 16 << 20, /* a hook's payload */
    FRAME_MAX_META = 64,
    FRAME_MAX_OUT = 4096, /* each of an ANSWER's two texts */
    FRAME_MAX_REQUEST = 64 << 10,
    FRAME_MAX_REPLY = 4 << 20,
    FRAME_MAX_NAME = 24, /* harness or event, in bytes */
};

enum frame_kind { FRAME_HOOK = 1, FRAME_ANSWER = 2, FRAME_REQUEST = 3, FRAME_REPLY = 4 };

enum {
    FRAME_ALLOW = 1,    /* ANSWER: let the call go on */
    FRAME_OVERSIZE = 2, /* HOOK: the payload was larger than FRAME_MAX_PAYLOAD and was left out (b = 0) */
    FRAME_ERROR = 4,    /* REPLY: the text is {"error": NAME, "message": TEXT} */
};

struct frame_head {
    uint8_t kind;
    uint8_t flags;
    uint32_t a, b;
};

struct frame_meta {
    uint32_t wait_ms; /* milliseconds until the hook must have answered, counted from when it sent this */
    char harness[FRAME_MAX_NAME + 1];
    char event[FRAME_MAX_NAME + 1];
};

void frame_head_write(const struct frame_head *head, uint8_t out[static FRAME_HEAD_BYTES]);
/* 0, or -1 for a bad magic, kind, reserved field, flag that this kind does not know, or length over its maximum. */
int frame_head_read(const uint8_t in[static FRAME_HEAD_BYTES], struct frame_head *head);

/* Writes at most FRAME_MAX_META bytes, returns how many; 0 when a name is empty, too long, or not [A-Za-z0-9_-]. */
size_t frame_meta_write(const struct frame_meta *meta, uint8_t out[static FRAME_MAX_META]);
/* 0, or -1 for anything that frame_meta_write would not have written, trailing bytes included. */
int frame_meta_read(const uint8_t *in, size_t len, struct frame_meta *meta);

#endif
