#include "cli/hook_command.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "evidence/visible.h"

const struct hook_event HOOK_COMMAND_EVENTS[] = {
    {"SessionStart", "record", 10000, 8, false},
    {"BeforeAgent", "record", 10000, 8, false},
    {"BeforeTool", "held? run: tracekit approvals list", 600000, 540, true},
    {"Notification", "record", 10000, 8, false},
    {"AfterTool", "record", 10000, 8, false},
    {"SessionEnd", "record", 10000, 8, false},
    {NULL, NULL, 0, 0, false},
};

/* A project's .env file can set what is not set yet, and each of these ends the shell, or runs a stranger's code in it,
 * before it comes to the hook; then the call runs. Empty they do nothing. LC_ALL keeps the shell from loading a locale,
 * and with it a character set, from where LOCPATH and GCONV_PATH say. SHLVL keeps bash from reading ~/.bashrc, which it
 * does when its standard input is a socket and nothing tells it that a shell started it. The last three are functions
 * that a shell has exported, by the names of what the command line calls. */
const struct hook_variable HOOK_COMMAND_ENVIRONMENT[] = {
    {"BASH_ENV", ""},         {"SHELLOPTS", ""}, {"BASHOPTS", ""},      {"LD_PRELOAD", ""},
    {"LD_LIBRARY_PATH", ""},  {"LD_AUDIT", ""},  {"LD_DEBUG", ""},      {"GLIBC_TUNABLES", ""},
    {"LC_ALL", "C"},          {"SHLVL", "1"},    {"BASH_FUNC_[%%", ""}, {"BASH_FUNC_exit%%", ""},
    {"BASH_FUNC_echo%%", ""}, {NULL, NULL},
};

const struct hook_event *hook_command_event(const char *name)
{
    for (const struct hook_event *e = HOOK_COMMAND_EVENTS; e->name != NULL; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

enum err hook_command_check_path(const char *path, struct fault *fault)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)path + i, len - i, &code);
        if (n == 0)
            return fault_set(fault, ERR_PATH,
                             "the path %.160s is not UTF-8, which settings.json has to be; use another path", path);
        if (!visible_is_plain(code))
            return fault_set(fault, ERR_PATH,
                             "the path %.160s holds a character that cannot be shown; use another path", path);
        if (code == '$')
            return fault_set(fault, ERR_PATH,
                             "the path %.160s holds a $, which Gemini replaces in its settings; use another path",
                             path);
        i += n;
    }
    return ERR_OK;
}

/* One word for the shell, whatever is in it. */
static void put_quoted(struct buf *out, const char *word)
{
    buf_putc(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, (uint8_t)*word);
    }
    buf_putc(out, '\'');
}

void hook_command_write(struct buf *out, const struct hook_command *c)
{
    put_quoted(out, c->hook);
    buf_printf(out, " gemini --event %s --socket ", c->event->name);
    put_quoted(out, c->socket);
    buf_printf(out, " --signer-uid %ju --wait %d; ", (uintmax_t)c->signer_uid, c->wait_s);
    buf_puts(out, c->event->gates ? "[ $? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2" : "exit 0");
}
