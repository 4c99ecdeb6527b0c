#include "cli/trust.h"

#include <string.h>

#include "cli/link.h"
#include "cli/output_file.h"
#include "evidence/buf.h"
#include "evidence/ed25519.h"
#include "evidence/jcs.h"
#include "evidence/note.h"
#include "evidence/trust.h"

static bool read_key(const struct json *text, struct note_vkey *out)
{
    struct fault fault;
    const char *vkey = json_cstr(text);
    return vkey != NULL && note_vkey_parse(vkey, out, &fault) == ERR_OK && out->type == NOTE_TYPE_ED25519;
}

/* Whether the reply names keys that a trust file can pin. */
static bool are_keys(const struct json *logs)
{
    struct note_vkey key;
    size_t count = json_count(logs);
    if (!json_is(logs, JSON_ARRAY) || count == 0 || count > TRUST_MAX_KEYS)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_key(json_at(logs, i), &key))
            return false;
    return true;
}

static enum err write_trust(struct buf *out, struct arena *arena, const struct json *logs)
{
    struct json *trust = json_new_object(arena), *algs = json_new_array(arena);
    json_add(arena, algs, json_new_string(arena, "ed25519"));
    if (trust == NULL)
        return ERR_NOMEM;
    json_set(arena, trust, "logs", logs);
    json_set(arena, trust, "witnesses", json_new_array(arena));
    json_set(arena, trust, "algs", algs);
    json_set_int(arena, trust, "witnesses_required", 0);
    enum err e = jcs_write(out, trust);
    buf_putc(out, '\n');
    return e != ERR_OK ? e : buf_err(out);
}

/* What the file is, what it proves, and what to compare. */
static void explain(const struct term *t, const struct json *logs)
{
    for (size_t i = 0; i < json_count(logs); i++) {
        struct note_vkey key;
        char fingerprint[DIGEST_TEXT_BYTES];
        if (!read_key(json_at(logs, i), &key))
            continue;
        ed25519_kid(key.pub, fingerprint);
        term_fact(t, "log", key.name, strlen(key.name));
        term_fact(t, "fingerprint", fingerprint, strlen(fingerprint));
    }
    fputs(
        "This key comes from the machine that keeps the record. Taken from there alone it proves that the record fits\n"
        "itself, not that it is the true one. Compare the fingerprint with one that came to you by another way.\n",
        t->out);
}

static int write_file(const struct cli *cli, const char *path, bool force, const struct buf *text)
{
    struct output_file *file = NULL;
    struct fault fault = {""};
    enum err e = output_file_open(path, force, &file, &fault);
    if (e == ERR_OK && fwrite(text->data, 1, text->len, output_file_stream(file)) != text->len)
        e = fault_set(&fault, ERR_IO, "cannot write %s. Is there room on the disk?", path);
    if (e == ERR_OK)
        e = output_file_commit(file, &fault);
    output_file_close(file);
    return e == ERR_OK ? CLI_DONE : cli_fail(cli, e, fault.text, NULL);
}

static int put_trust(struct link *link, const struct json *reply, const char *path, bool force)
{
    const struct cli *cli = link->cli;
    const struct json *logs = json_get(reply, "logs");
    bool to_stdout = strcmp(path, "-") == 0;
    struct buf text;
    int code = CLI_DONE;
    if (!are_keys(logs))
        return link_garbled(link, "no usable log keys");
    buf_init(&text, TRUST_MAX_BYTES);
    enum err e = write_trust(&text, link->arena, logs);
    if (e != ERR_OK) {
        code = cli_fail(cli, e, err_text(e), NULL);
    } else if (to_stdout) {
        fwrite(text.data, 1, text.len, cli->out.out);
    } else {
        code = write_file(cli, path, force, &text);
    }
    buf_wipe(&text);
    if (code != CLI_DONE)
        return code;
    if (cli->json && !to_stdout)
        return link_print_json(link, reply);
    if (!to_stdout) {
        fputs("Wrote ", cli->out.out);
        term_text(&cli->out, path, strlen(path), SIZE_MAX);
        fputs(", which pins:\n", cli->out.out);
    }
    explain(to_stdout ? &cli->err : &cli->out, logs);
    return CLI_DONE;
}

int trust_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"-o FILE [--force]",
                                           "Writes the log's public key as a trust file for `tracekit verify --trust "
                                           "FILE`; -o - prints it. Trust that comes\n"
                                           "from the machine under audit proves only that the record fits itself: "
                                           "compare the fingerprint by another way.\n",
                                           0};
    const char *path = NULL;
    bool force = false;
    const struct options_spec own[] = {
        {"output", 'o', "FILE", "where to write the trust file, or - for standard output", &path, NULL},
        {"force", 0, NULL, "replace FILE when it is there", NULL, &force},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    struct link link;
    const struct json *reply = NULL;
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    if (path == NULL)
        return cli_misuse(cli, "say where to write the trust file: -o FILE, or -o -");
    code = link_open(cli, &link);
    if (code != CLI_DONE)
        return code;
    code = link_call(&link, link_request(&link, "trust"), false, NULL, &reply);
    if (code == CLI_DONE)
        code = put_trust(&link, reply, path, force);
    link_close(&link);
    return code;
}
