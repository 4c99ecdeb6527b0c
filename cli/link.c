#include "cli/link.h"

#include <stdio.h>
#include <string.h>

#include "cli/paths.h"

int link_open(const struct cli *cli, struct link *out)
{
    char path[PATHS_MAX];
    struct fault fault = {""};
    struct client *client = NULL;
    enum err e = paths_control_socket(cli->data, cli->socket, path, &fault);
    if (e != ERR_OK)
        return cli_fail(cli, ERR_CONNECT, fault.text, NULL);
    e = client_open(path, (uid_t)-1, &client, &fault);
    if (e == ERR_NOMEM)
        return cli_fail(cli, e, err_text(e), NULL);
    if (e != ERR_OK) {
        bool elsewhere = e == ERR_CONNECT && cli->data != NULL && cli->socket == NULL;
        cli_fail(cli, e, fault.text, elsewhere ? "It must be given the same --data" : NULL);
        return CLI_UNREACHABLE;
    }
    *out = (struct link){cli, client, NULL};
    return CLI_DONE;
}

void link_close(struct link *link)
{
    client_close(link->client);
    arena_free(link->arena);
    link->client = NULL;
    link->arena = NULL;
}

struct json *link_request(struct link *link, const char *op)
{
    arena_free(link->arena);
    /* Without an arena everything built in it is NULL, and link_call says that memory ran out. */
    link->arena = arena_new(LINK_MEMORY_BYTES);
    struct json *request = json_new_object(link->arena);
    if (request != NULL)
        json_set_string(link->arena, request, "op", op);
    return request;
}

int link_call(struct link *link, const struct json *request, bool changes, const char *next, const struct json **reply)
{
    struct fault fault = {""};
    if (request == NULL || arena_failed(link->arena))
        return cli_fail(link->cli, ERR_NOMEM, err_text(ERR_NOMEM), NULL);
    enum err e = client_call(link->client, request, LINK_TIMEOUT_MS, link->arena, reply, &fault);
    if (e == ERR_OK)
        return CLI_DONE;
    const char *what = fault.text[0] != '\0' ? fault.text : err_text(e);
    /* Only a refusal says that nothing was done. */
    if (err_kind(e) != ERR_KIND_STATE)
        next = changes ? "Whether it was done is not known" : NULL;
    return cli_fail(link->cli, e, what, next);
}

struct arena *link_keep(struct link *link)
{
    struct arena *arena = link->arena;
    link->arena = NULL;
    return arena;
}

int link_print_json(const struct link *link, const struct json *reply)
{
    enum err e = term_json(&link->cli->out, reply);
    return e == ERR_OK ? CLI_DONE : cli_fail(link->cli, e, err_text(e), NULL);
}

int link_garbled(const struct link *link, const char *what)
{
    char text[200];
    snprintf(text, sizeof text, "the signer's reply cannot be used: %s", what);
    return cli_fail(link->cli, ERR_PROTOCOL, text, "tracekit and tracekit-signer should be of one version");
}
