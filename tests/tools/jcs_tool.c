/*
 * jcs_tool - writes each JSON value of its input in canonical form.
 *
 *   jcs_tool <lines >lines
 *
 * One JSON text a line goes in, one line comes out: its canonical form, or "error NAME" for a text that json_parse or
 * jcs_write refuses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/arena.h"
#include "evidence/buf.h"
#include "evidence/jcs.h"
#include "evidence/json.h"

enum { LINE_BYTES = 1 << 20, MEMORY_BYTES = 64 << 20 };

static void die(const char *what)
{
    fprintf(stderr, "jcs_tool: %s: %s\n", what, strerror(errno));
    exit(1);
}

static enum err canonical(const char *text, size_t len, struct buf *out)
{
    const struct json *value = NULL;
    struct arena *arena = arena_new(MEMORY_BYTES);
    if (arena == NULL)
        return ERR_NOMEM;
    enum err e = json_parse(arena, text, len, &value, NULL);
    if (e == ERR_OK)
        e = jcs_write(out, value);
    arena_free(arena);
    return e;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    struct buf out;

    buf_init(&out, LINE_BYTES);
    while ((len = getline(&line, &room, stdin)) > 0) {
        if (line[len - 1] == '\n')
            len--;
        buf_reset(&out);
        enum err e = canonical(line, (size_t)len, &out);
        if (e != ERR_OK)
            printf("error %s\n", err_name(e));
        else if (fwrite(out.data, 1, out.len, stdout) != out.len || putchar('\n') == EOF)
            die("cannot write");
    }
    if (ferror(stdin) || fflush(stdout) != 0)
        die("cannot read or write");
    buf_wipe(&out);
    free(line);
    return 0;
}
