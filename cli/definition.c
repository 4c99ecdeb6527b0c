#include "cli/definition.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evidence/arena.h"
#include "evidence/jcs.h"

enum { TEXT_BYTES = 16 << 10, MEMORY_BYTES = 64 << 10, ID_DIGITS = DEFINITION_ID_BYTES - 1 };

static const char NAME[] = "tracekit ";

enum err definition_new_id(char id[static DEFINITION_ID_BYTES], struct fault *fault)
{
    uint8_t bytes[ID_DIGITS / 2];
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    if (fd >= 0)
        close(fd);
    if (n != (ssize_t)sizeof bytes)
        return fault_set(fault, ERR_RANDOM, "%s", err_text(ERR_RANDOM));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return ERR_OK;
}

void definition_name(const struct hook_event *event, const char *id, char out[static DEFINITION_NAME_BYTES])
{
    snprintf(out, DEFINITION_NAME_BYTES, "%s%s: %s", NAME, id, event->label);
}

static enum err put_command(struct buf *out, const struct hook_command *c)
{
    struct arena *arena = arena_new(MEMORY_BYTES);
    struct buf line;
    buf_init(&line, TEXT_BYTES);
    hook_command_write(&line, c);
    enum err e = buf_err(&line);
    if (e == ERR_OK)
        e = jcs_write(out, json_new_text(arena, (const char *)line.data, line.len));
    buf_wipe(&line);
    arena_free(arena);
    return e;
}

enum err definition_write(struct buf *out, const struct hook_command *c, const char *id)
{
    char name[DEFINITION_NAME_BYTES];
    definition_name(c->event, id, name);
    buf_printf(out, "{\n  \"type\": \"command\",\n  \"name\": \"%s\",\n  \"command\": ", name);
    enum err e = put_command(out, c);
    buf_printf(out, ",\n  \"timeout\": %d,\n  \"env\": {", c->event->timeout_ms);
    for (const struct hook_variable *v = HOOK_COMMAND_ENVIRONMENT; v->name != NULL; v++)
        buf_printf(out, "%s\"%s\": \"%s\"", v == HOOK_COMMAND_ENVIRONMENT ? "" : ", ", v->name, v->value);
    buf_puts(out, "}\n}");
    return e != ERR_OK ? e : buf_err(out);
}

enum err definition_put(struct settings *s, const struct hook_command *c, const char *id, struct fault *fault)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    enum err e = definition_write(&text, c, id);
    buf_putc(&text, '\0');
    if (e == ERR_OK)
        e = buf_err(&text);
    e = e == ERR_OK ? settings_put_hook(s, c->event->name, (const char *)text.data, definition_is_ours, fault)
                    : fault_set(fault, e, "%s", err_text(e));
    buf_wipe(&text);
    return e;
}

bool definition_is_ours(const struct json *hook)
{
    static const char PROGRAM[] = "/tracekit-hook' gemini --event ";
    const char *name = json_get_cstr(hook, "name"), *command = json_get_cstr(hook, "command");
    return name != NULL && command != NULL && strncmp(name, NAME, sizeof NAME - 1) == 0 && command[0] == '\'' &&
           strstr(command, PROGRAM) != NULL;
}

bool definition_id(const struct json *hook, char id[static DEFINITION_ID_BYTES])
{
    const char *name = json_get_cstr(hook, "name");
    if (name == NULL || strncmp(name, NAME, sizeof NAME - 1) != 0)
        return false;
    name += sizeof NAME - 1;
    if (strspn(name, "0123456789abcdef") != ID_DIGITS || name[ID_DIGITS] != ':')
        return false;
    memcpy(id, name, ID_DIGITS);
    id[ID_DIGITS] = '\0';
    return true;
}
