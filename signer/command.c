#include "signer/command.h"

#include <stddef.h>
#include <string.h>

static enum err take_flag(bool *flag, const char *word, struct fault *fault)
{
    if (*flag)
        return fault_set(fault, ERR_USAGE, "%s is given twice", word);
    *flag = true;
    return ERR_OK;
}

/* Whether `word` is the option `name`; *value is what is attached to it ("--data=DIR"), or NULL. */
static bool is_option(const char *word, const char *name, const char **value)
{
    size_t len = strlen(name);
    if (strncmp(word, name, len) != 0 || (word[len] != '\0' && word[len] != '='))
        return false;
    *value = word[len] == '=' ? word + len + 1 : NULL;
    return true;
}

/* The option's value: attached, or the next word, which *i then counts as used. */
static enum err take_value(const char **out, char *const *argv, int *i, const char *attached, struct fault *fault)
{
    int len = (int)strcspn(argv[*i], "=");
    const char *word = argv[*i], *value = attached;
    if (*out != NULL)
        return fault_set(fault, ERR_USAGE, "%.*s is given twice", len, word);
    if (value == NULL && argv[*i + 1] != NULL && strncmp(argv[*i + 1], "--", 2) != 0)
        value = argv[++*i];
    if (value == NULL || value[0] == '\0')
        return fault_set(fault, ERR_USAGE, "%.*s needs a value", len, word);
    *out = value;
    return ERR_OK;
}

static enum err take_word(struct command *c, char *const *argv, int *i, struct fault *fault)
{
    const char *word = argv[*i], *attached = NULL;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return take_flag(&c->help, word, fault);
    if (strcmp(word, "--version") == 0)
        return take_flag(&c->version, word, fault);
    if (strcmp(word, "--dev") == 0)
        return take_flag(&c->dev, word, fault);
    if (is_option(word, "--data", &attached))
        return take_value(&c->data, argv, i, attached, fault);
    if (is_option(word, "--config", &attached))
        return take_value(&c->config, argv, i, attached, fault);
    return fault_set(fault, ERR_USAGE, "there is no %s \"%.100s\"", word[0] == '-' ? "option" : "argument", word);
}

enum err command_parse(int argc, char *const *argv, struct command *out, struct fault *fault)
{
    struct command c = {.help = false};
    for (int i = 1; i < argc; i++) {
        enum err e = take_word(&c, argv, &i, fault);
        if (e != ERR_OK)
            return e;
    }
    if (!c.help && !c.version) {
        if (c.dev == (c.config != NULL))
            return fault_set(fault, ERR_USAGE, "give either --dev or --config FILE");
        if (c.data != NULL && !c.dev)
            return fault_set(fault, ERR_USAGE, "--data goes with --dev; a configuration file has the key \"data\"");
    }
    *out = c;
    return ERR_OK;
}

const char *command_help(void)
{
    return "usage: tracekit-signer --dev [--data DIR]\n"
           "       tracekit-signer --config FILE\n"
           "\n"
           "Decides over an agent's tool calls, holds risky ones for a person, and signs a record of each.\n"
           "It stays in the foreground; SIGTERM or SIGINT stops it.\n"
           "\n"
           "  --dev           run as your own user, which is the agent's user too\n"
           "  --data DIR      keep keys, records and sockets in DIR (with --dev)\n"
           "  --config FILE   run as FILE says (YAML or JSON); it is read once, at the start\n"
           "  --help          print this\n"
           "  --version       print the version\n"
           "\n"
           "Exit status: 0 stopped, 1 failed, 2 wrong use or configuration, 3 another signer holds the data "
           "directory.\n";
}
