/*
 * storm - hooks that call without pause until their signer goes away.
 *
 *   storm SOCKET SESSION PREFIX COUNT
 *
 * Sends BeforeTool calls one after the other, each with a tool name of its own (PREFIX and a number), at most COUNT. Prints
 * the name of each call that was answered, and the answer ("allow" or "deny"), as soon as the whole answer is there.
 * Ends quietly when the signer is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/frame.h"
#include "wire/peer.h"

enum { WAIT_MS = 5000 };

static int call(const char *socket, const char *session, const char *tool, uint8_t *flags)
{
    char payload[512];
    uint8_t head_bytes[FRAME_HEAD_BYTES], meta_bytes[FRAME_MAX_META], answer[2 * FRAME_MAX_OUT];
    const struct frame_meta meta = {.wait_ms = WAIT_MS, .harness = "gemini", .event = "BeforeTool"};
    int64_t deadline = peer_now_ms() + WAIT_MS;
    int len = snprintf(payload, sizeof payload,
                       "{\"session_id\":\"%s\",\"cwd\":\"/w\",\"hook_event_name\":\"BeforeTool\",\"tool_name\":\"%s\","
                       "\"tool_input\":{\"command\":\"true\"}}",
                       session, tool);
    size_t meta_len = frame_meta_write(&meta, meta_bytes);
    struct frame_head head = {.kind = FRAME_HOOK, .a = (uint32_t)meta_len, .b = (uint32_t)len};

    int fd = peer_connect(socket, deadline);
    if (fd < 0)
        return -1;
    frame_head_write(&head, head_bytes);
    int bad = peer_write(fd, head_bytes, sizeof head_bytes, deadline) != 0 ||
              peer_write(fd, meta_bytes, meta_len, deadline) != 0 ||
              peer_write(fd, payload, (size_t)len, deadline) != 0 ||
              peer_read(fd, head_bytes, sizeof head_bytes, deadline) != 0 || frame_head_read(head_bytes, &head) != 0 ||
              head.kind != FRAME_ANSWER || peer_read(fd, answer, head.a + head.b, deadline) != 0;
    close(fd);
    *flags = head.flags;
    return bad ? -1 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: storm SOCKET SESSION PREFIX COUNT\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IONBF, 0);
    long count = strtol(argv[4], NULL, 10);
    for (long i = 0; i < count; i++) {
        char tool[128];
        uint8_t flags = 0;
        snprintf(tool, sizeof tool, "%s-%ld", argv[3], i);
        if (call(argv[1], argv[2], tool, &flags) != 0)
            return 0;
        printf("%s %s\n", tool, (flags & FRAME_ALLOW) != 0 ? "allow" : "deny");
    }
    return 0;
}
