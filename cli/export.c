#include "cli/export.h"

#include <inttypes.h>
#include <string.h>

#include "cli/export_parts.h"
#include "cli/link.h"
#include "cli/output_file.h"
#include "evidence/buf.h"
#include "evidence/visible.h"

enum { RUN_WORD_BYTES = 800, SUMMARY_BYTES = 1 << 16 };

/* What the person asked for. */
struct wish {
    const char *run, *path;
    bool force;
};

static int print_json(const struct export_parts *x, const struct wish *wish)
{
    struct json *o = json_new_object(x->arena);
    struct buf path;
    buf_init(&path, SUMMARY_BYTES);
    /* A path need not be UTF-8, JSON must. */
    if (cli_sendable(wish->path, SUMMARY_BYTES))
        buf_puts(&path, wish->path);
    else
        visible_write(&path, wish->path, strlen(wish->path), SIZE_MAX);
    if (o != NULL && buf_err(&path) == ERR_OK) {
        json_set(x->arena, o, "bundle", json_new_text(x->arena, (const char *)path.data, path.len));
        json_set_string(x->arena, o, "run", x->run);
        json_set_int(x->arena, o, "records", x->records);
        json_set_int(x->arena, o, "tree_size", x->size);
        json_set(x->arena, o, "state", json_get(x->begin, "state"));
    }
    buf_wipe(&path);
    return link_print_json(x->link, o);
}

static int say_what_was_written(const struct export_parts *x, const struct wish *wish)
{
    struct cli plain = *x->link->cli;
    const struct term *t = &plain.out;
    if (plain.json)
        return print_json(x, wish);
    fputs("Wrote ", t->out);
    term_text(t, wish->path, strlen(wish->path), SIZE_MAX);
    fprintf(t->out, ": %" PRId64 " records of run ", x->records);
    term_text(t, x->run, strlen(x->run), 200);
    fprintf(t->out, ", tree size %" PRId64 ".\n", x->size);
    if (!json_equal_cstr(json_get(x->begin, "state"), "final"))
        fputs("The run has not ended: the bundle shows it up to this point.\n", t->out);
    fputs("Who checks it needs the log's key, by another way than the bundle:\n  ", t->out);
    cli_print_command(&plain, t, "trust -o", "trust.json");
    fputs("and then:\n  ", t->out);
    /* The check needs neither signer nor data directory. */
    plain.data = plain.socket = NULL;
    cli_print_command(&plain, t, "verify --trust trust.json", wish->path);
    return CLI_DONE;
}

/* Writes the bundle into the temporary file. */
static int fill(struct export_parts *x, struct output_file *file)
{
    enum err e = bundle_writer_new(output_file_stream(file), &x->bundle);
    if (e != ERR_OK)
        return export_parts_fail(x, e);
    int code = export_parts_write(x);
    if (code == CLI_DONE && (e = bundle_writer_finish(x->bundle)) != ERR_OK)
        code = export_parts_fail(x, e);
    bundle_writer_free(x->bundle);
    return code;
}

static int export_to(struct link *link, const struct wish *wish, struct output_file *file)
{
    struct export_parts x = {.link = link};
    struct fault fault = {""};
    int code = export_parts_begin(&x, wish->run);
    if (code == CLI_DONE)
        code = fill(&x, file);
    if (code == CLI_DONE) {
        enum err e = output_file_commit(file, &fault);
        if (e != ERR_OK)
            code = cli_fail(link->cli, e, fault.text, NULL);
    }
    if (code == CLI_DONE)
        code = say_what_was_written(&x, wish);
    export_parts_wipe(&x);
    return code;
}

static int run(struct cli *cli, const struct wish *wish)
{
    struct output_file *file = NULL;
    struct fault fault = {""};
    struct link link;
    enum err e = output_file_open(wish->path, wish->force, &file, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, e, fault.text, NULL);
    int code = link_open(cli, &link);
    if (code == CLI_DONE) {
        code = export_to(&link, wish, file);
        link_close(&link);
    }
    output_file_close(file);
    return code;
}

int export_command(struct cli *cli, int argc, char **argv)
{
    static const struct cli_usage usage = {"RUN -o FILE [--force]",
                                           "Writes a run's records, keys, proofs and policies into FILE, which anybody "
                                           "can check offline (tracekit verify).\n"
                                           "RUN is a run's id or its beginning, a session id, or latest. FILE is "
                                           "readable by you alone at first: it tells who\n"
                                           "ran what and when.\n",
                                           1};
    struct wish wish = {NULL, NULL, false};
    const struct options_spec own[] = {
        {"output", 'o', "FILE", "where to write the bundle", &wish.path, NULL},
        {"force", 0, NULL, "replace FILE when it is there", NULL, &wish.force},
        {NULL, 0, NULL, NULL, NULL, NULL},
    };
    int code = CLI_DONE;
    if (!cli_parse(cli, &usage, own, argc, argv, &code))
        return code;
    wish.run = argv[1];
    if (wish.path == NULL)
        return cli_misuse(cli, "say where to write the bundle: -o FILE");
    if (strcmp(wish.path, "-") == 0)
        return cli_misuse(cli, "a bundle goes into a file, not to standard output");
    if (!cli_sendable(wish.run, RUN_WORD_BYTES))
        return cli_misuse(cli, "this is no run");
    return run(cli, &wish);
}
