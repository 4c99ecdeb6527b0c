#include "cli/init_common.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/definition.h"

int init_common_options(const struct cli *cli)
{
    if (cli->socket != NULL)
        return cli_misuse(cli, "--socket means nothing here; give --data DIR");
    if (cli->json)
        return cli_misuse(cli, "--json means nothing here");
    return CLI_DONE;
}

int init_settings_fail(const struct cli *cli, const struct init_settings *t, enum err e, const struct fault *fault)
{
    char what[PATHS_MAX + FAULT_TEXT_BYTES + 4];
    snprintf(what, sizeof what, "%s, %s", t->file.path, fault->text);
    return cli_fail(cli, e, what, "Nothing was changed");
}

int init_settings_open(struct cli *cli, bool project, bool make, struct init_settings *out)
{
    char base[PATHS_MAX];
    struct fault fault = {""};
    int code = CLI_DONE;
    out->settings = NULL;
    enum err e = settings_file_base(project, base, &fault);
    if (e == ERR_OK)
        e = settings_file_open(base, &out->file, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text, NULL);
    if (out->file.exists)
        e = settings_open(out->file.text.data, out->file.text.len, &out->settings, &fault);
    else if (make)
        e = settings_new(&out->settings);
    if (e != ERR_OK) {
        code = init_settings_fail(cli, out, e, &fault);
        init_settings_close(out);
    }
    return code;
}

void init_settings_close(struct init_settings *t)
{
    settings_free(t->settings);
    t->settings = NULL;
    settings_file_close(&t->file);
}

bool init_settings_differ(const struct init_settings *t)
{
    size_t len = 0;
    const char *text = settings_text(t->settings, &len);
    return !t->file.exists || len != t->file.text.len || memcmp(text, t->file.text.data, len) != 0;
}

void init_settings_say(const struct cli *cli, const struct init_settings *t, const char *before, const char *after)
{
    fputs(before, cli->out.out);
    term_text(&cli->out, t->file.path, strlen(t->file.path), SIZE_MAX);
    fprintf(cli->out.out, "%s.\n", after);
}

int init_settings_write(struct cli *cli, struct init_settings *t)
{
    struct fault fault = {""};
    size_t len = 0;
    enum err e = settings_verify(t->settings, definition_is_ours, DEFINITION_EXCLUDED, &fault);
    if (e != ERR_OK)
        return init_settings_fail(cli, t, e, &fault);
    const char *text = settings_text(t->settings, &len);
    bool removes = settings_is_bare(t->settings);
    e = removes ? settings_file_remove(&t->file, &fault) : settings_file_replace(&t->file, text, len, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text, NULL);
    init_settings_say(cli, t, removes ? "Removed " : "Wrote ", "");
    if (t->file.backup[0] != '\0')
        fprintf(cli->out.out, "What was there is beside it: %s\n", t->file.backup);
    return CLI_DONE;
}
