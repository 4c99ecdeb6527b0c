#include "hook/options.h"

#include <stddef.h>
#include <string.h>

#include "wire/peer.h"

static const char GATE[] = "BeforeTool";

/* The events of Gemini CLI that gate nothing here. */
static const char *const OTHER_EVENTS[] = {
    "AfterTool",  "BeforeAgent", "AfterAgent", "Notification",        "SessionStart",
    "SessionEnd", "PreCompress", "AfterModel", "BeforeToolSelection", "BeforeModel",
};

/* The options as they stand there; NULL when missing. */
enum { EVENT, SOCKET, SIGNER_UID, WAIT, OPTION_COUNT };
static const char *const NAMES[OPTION_COUNT] = {"--event", "--socket", "--signer-uid", "--wait"};

struct given {
    const char *values[OPTION_COUNT];
    const char *wrong; /* the first mistake */
    bool event_twice;
};

static bool is_other_event(const char *event)
{
    for (size_t i = 0; i < sizeof OTHER_EVENTS / sizeof OTHER_EVENTS[0]; i++)
        if (strcmp(event, OTHER_EVENTS[i]) == 0)
            return true;
    return false;
}

/* A decimal number without sign, at most `max`. */
static bool read_number(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;
    size_t len = strlen(text);
    if (len == 0 || len > 10)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    if (v > max)
        return false;
    *out = v;
    return true;
}

static void complain(struct given *g, const char *sentence)
{
    if (g->wrong == NULL)
        g->wrong = sentence;
}

static int find_option(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return i;
    return -1;
}

/* Goes on after a mistake: an event further on still tells whether we may be silent. */
static void collect(int argc, char **argv, struct given *g)
{
    if (argc < 2 || strcmp(argv[1], "gemini") != 0)
        complain(g, "the first argument must be gemini");
    for (int i = 2; i < argc; i++) {
        int option = find_option(argv[i]);
        if (option < 0) {
            complain(g, "there is an unknown argument");
            continue;
        }
        if (i + 1 == argc) {
            complain(g, "the last option has no value");
            return;
        }
        if (g->values[option] != NULL) {
            complain(g, "an option stands there twice");
            g->event_twice |= option == EVENT;
        }
        g->values[option] = argv[++i];
    }
}

const char *options_read(int argc, char **argv, struct options *out)
{
    struct given g = {0};
    struct sockaddr_un address;
    uint64_t uid = 0, wait = 0;
    collect(argc, argv, &g);

    const char *event = g.values[EVENT], *path = g.values[SOCKET];
    bool silent = event != NULL && !g.event_twice && is_other_event(event);
    if (event == NULL || (!silent && strcmp(event, GATE) != 0))
        complain(&g, "--event must name a hook event of Gemini CLI");
    /* A relative path would be looked up in the agent's own directory. */
    if (path == NULL || path[0] != '/' || peer_address(path, &address) != 0)
        complain(&g, "--socket must be an absolute path of at most 107 bytes");
    if (g.values[SIGNER_UID] == NULL || !read_number(g.values[SIGNER_UID], UINT32_MAX - 1, &uid))
        complain(&g, "--signer-uid must be a numeric user id");
    if (g.values[WAIT] == NULL || !read_number(g.values[WAIT], OPTIONS_MAX_WAIT_S, &wait) || wait < OPTIONS_MIN_WAIT_S)
        complain(&g, "--wait must be 1 to 590 seconds");

    *out = (struct options){.harness = "gemini",
                            .event = event,
                            .socket = path,
                            .signer_uid = (uid_t)uid,
                            .wait_s = (int)wait,
                            .silent = silent};
    return g.wrong;
}
