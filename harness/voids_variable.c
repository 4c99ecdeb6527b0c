#include <string.h>

#include "harness/voids.h"

enum { TRIMMED_BYTES = 32 };

static const char UNSET[] = "unset it before Gemini starts";
static const char FUNCTION[] = "takes the place of a command in the hook's shell: calls may run without an answer";

static bool is_space(char c)
{
    return strchr(" \t\n\v\f\r", c) != NULL && c != '\0';
}

/* `value` without white space around it and in lower case, as Gemini compares it. False: it does not fit, or it holds
 * what is not ASCII (white space and letters that become ASCII in lower case lie there too). */
static bool trim(const char *value, char out[static TRIMMED_BYTES])
{
    size_t len = 0;
    while (is_space(*value))
        value++;
    size_t end = strlen(value);
    while (end > 0 && is_space(value[end - 1]))
        end--;
    for (; len < end; len++) {
        char c = value[len];
        if (len == TRIMMED_BYTES - 1 || (unsigned char)c > '~')
            return false;
        out[len] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[len] = '\0';
    return true;
}

static bool one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(text, *list) == 0)
            return true;
    return false;
}

static bool has_other_than_ascii(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value > '~')
            return true;
    return false;
}

/* With another name of a sandbox, or a word that is none, Gemini ends with an error of its own. */
static bool starts_sandbox(const char *value)
{
    static const char *const on[] = {"1", "true", "docker", "podman", "runsc", "lxc", "sandbox-exec", NULL};
    char text[TRIMMED_BYTES];
    return trim(value, text) ? one_of(text, on) : has_other_than_ascii(value);
}

static bool is_set(const char *value)
{
    (void)value;
    return true;
}

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0;
}

static bool is_false(const char *value)
{
    return strcmp(value, "false") == 0;
}

static bool is_seatbelt(const char *value)
{
    return strcmp(value, "sandbox-exec") == 0;
}

/* Options of node that run code of somebody's before Gemini's, or keep Gemini from starting processes. node takes an
 * underscore for a dash. */
static bool changes_node(const char *value)
{
    static const char *const options[] = {
        "require", "import", "loader", "experimental-loader", "permission", "experimental-permission"};
    for (const char *at = strchr(value, '-'); at != NULL; at = strchr(at + 1, '-')) {
        if (at[1] == 'r' && (at[2] == ' ' || at[2] == '=' || at[2] == '\0' || at[2] == '"'))
            return true;
        if (at[1] != '-')
            continue;
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            size_t i = 0;
            for (; options[o][i] != '\0'; i++)
                if (at[2 + i] != options[o][i] && !(options[o][i] == '-' && at[2 + i] == '_'))
                    break;
            if (options[o][i] == '\0')
                return true;
        }
    }
    return false;
}

static const struct {
    const char *name;
    bool (*voids)(const char *value);
    const char *why, *remedy;
} VARIABLES[] = {
    {"GEMINI_SANDBOX", starts_sandbox, "moves Gemini into a container whose copy of the settings has no hooks",
     "unset it, or set it to false; security.toolSandboxing confines the tools and keeps the hooks"},
    {"SANDBOX", is_seatbelt, "makes Gemini look for trusted folders elsewhere, and so leave the hooks out", UNSET},
    {"GEMINI_RESTRICTED_MODE", is_true, "makes Gemini trust no folder, and so leave the hooks of all settings out",
     UNSET},
    {"GEMINI_CLI_TRUST_WORKSPACE", is_false,
     "makes Gemini trust this folder not, and so leave the hooks of all settings out", UNSET},
    {"LD_TRACE_LOADED_OBJECTS", is_set, "ends the hook's shell before it runs anything: every call runs", UNSET},
    /* Up to glibc 2.35. */
    {"LD_TRACE_PRELINKING", is_set, "may end the hook's shell before it runs anything: every call runs", UNSET},
    /* Functions that a bash before 4.3 has exported, with the names that the hook's command line calls. What a newer one
     * has exported, the definition's env takes back. */
    {"BASH_FUNC_[()", is_set, FUNCTION, UNSET},
    {"BASH_FUNC_exit()", is_set, FUNCTION, UNSET},
    {"BASH_FUNC_echo()", is_set, FUNCTION, UNSET},
    {"NODE_OPTIONS", changes_node, "runs other code inside Gemini, or keeps it from starting hooks",
     "take --require, --import, --loader and --permission out of it"},
};

void voids_variable(struct voids *v, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++)
        if (strcmp(name, VARIABLES[i].name) == 0 && VARIABLES[i].voids(value))
            voids_add(v, name, VARIABLES[i].why, VARIABLES[i].remedy);
}
