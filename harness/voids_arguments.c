#include <stdint.h>
#include <string.h>

#include "harness/voids.h"

/* Gemini's parser (yargs) takes names in more spellings than the documented one: --experimentalAcp, ---acp, --acp-,
 * --sandbox.x. What is spelled in one of these ways counts as given, whatever its value is. */

enum flag { FLAG_SANDBOX, FLAG_ACP, FLAG_OLD_ACP, FLAG_SKIP_TRUST, FLAG_COUNT };

static const struct {
    const char *name;           /* lower case, without dashes */
    const char *usual, *usual2; /* behind the two dashes */
    const char *what, *why, *remedy;
} FLAGS[FLAG_COUNT] = {
    [FLAG_SANDBOX] = {"sandbox", "sandbox", "s", "--sandbox",
                      "moves Gemini into a container whose copy of the settings has no hooks",
                      "leave it out; security.toolSandboxing confines the tools and keeps the hooks"},
    [FLAG_ACP] = {"acp", "acp", "acp", "--acp", "makes an editor's session, in which no tool hook is run",
                  "leave it out; the gate holds in a terminal and with -p only"},
    [FLAG_OLD_ACP] = {"experimentalacp", "experimental-acp", "experimentalAcp", "--experimental-acp",
                      "makes an editor's session, in which no tool hook is run",
                      "leave it out; the gate holds in a terminal and with -p only"},
    /* Nothing void: `why` is NULL. */
    [FLAG_SKIP_TRUST] = {"skiptrust", "skip-trust", "skipTrust", "--skip-trust", NULL, NULL},
};

struct reading {
    bool given[FLAG_COUNT];
    bool on[FLAG_COUNT];     /* the last word on each */
    bool sticky[FLAG_COUNT]; /* spelled in a way that no later word takes back */
    bool takes_next;         /* the last word may have the next one as its value, even "--" */
    bool unsure;             /* a "--" may have been such a value, or the end of all flags */
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the first `len` bytes of `word` are `name` when case, dashes, underscores, and what follows a dot or the end of
 * a line (one of Unicode's, too) do not count. */
static bool resembles(const char *word, size_t len, const char *name)
{
    size_t at = 0;
    for (size_t i = 0; i < len && strchr(".\n\r\xe2", word[i]) == NULL; i++) {
        if (word[i] == '-' || word[i] == '_')
            continue;
        if (name[at] == '\0' || lower(word[i]) != name[at])
            return false;
        at++;
    }
    return name[at] == '\0';
}

static bool is(const char *word, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(word, text, len) == 0;
}

/* The flag that a long option's name means, or FLAG_COUNT. *usual: it is spelled as documented. */
static enum flag look_up(const char *name, size_t len, bool *usual)
{
    for (size_t f = 0; f < FLAG_COUNT; f++) {
        *usual = is(name, len, FLAGS[f].usual) || is(name, len, FLAGS[f].usual2);
        if (*usual || resembles(name, len, FLAGS[f].name))
            return (enum flag)f;
    }
    return resembles(name, len, "s") ? FLAG_SANDBOX : FLAG_COUNT;
}

static void set(struct reading *r, enum flag f, bool usual, bool on)
{
    if (f == FLAG_COUNT)
        return;
    r->given[f] = true;
    r->on[f] = on;
    if (!usual)
        r->sticky[f] = true;
}

static bool is_true(const char *text)
{
    return strcmp(text, "true") == 0;
}

/* --NAME, --NAME=VALUE, --no-NAME */
static void read_long(struct reading *r, const char *word, const char *next)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    bool usual = false;
    if (equals != NULL) {
        enum flag f = look_up(name, (size_t)(equals - name), &usual);
        set(r, f, usual, is_true(equals + 1));
        return;
    }
    bool negated = strncmp(name, "no-", 3) == 0;
    name += negated ? 3 : 0;
    enum flag f = look_up(name, strlen(name), &usual);
    set(r, f, usual, !negated && (next == NULL || strcmp(next, "false") != 0));
}

static bool is_word_character(char c)
{
    return lower(c) != c || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether all of it is a number, so that it is the value of the letter before it. */
static bool is_number(const char *text)
{
    size_t digits = strspn(text + (text[0] == '-'), "0123456789");
    return digits > 0 && strspn(text, "0123456789.e-") == strlen(text);
}

/* A bundle of letters. The last one may have its value in the next word. A word that begins with a digit may itself be the
 * value of the word before it, and so takes nothing back. */
static void read_short(struct reading *r, const char *word, const char *next)
{
    bool firm = word[1] < '0' || word[1] > '9';
    for (const char *at = word + 1; *at != '\0'; at++) {
        const char *rest = at + 1;
        bool last = *rest == '\0', ours = *at == 's';
        if (!last && *rest == '=' && rest[1] != '\0') {
            set(r, ours && (firm || is_true(rest + 1)) ? FLAG_SANDBOX : FLAG_COUNT, true, is_true(rest + 1));
            return;
        }
        if (ours && *rest == '.' && at == word + 1) {
            set(r, FLAG_SANDBOX, false, true);
            return;
        }
        if (!last && (is_number(rest) || (!is_word_character(*rest) && *rest != '='))) {
            set(r, ours && firm ? FLAG_SANDBOX : FLAG_COUNT, true, false);
            return;
        }
        bool on = !last || next == NULL || strcmp(next, "false") != 0;
        if (ours && (firm || on))
            set(r, FLAG_SANDBOX, true, on);
        /* Letters that take no value, or take none that begins with a dash. */
        r->takes_next = last && strchr("dsylvhmpieo", *at) == NULL;
    }
}

/* These do their work and start no agent. Only as the very first word: behind a flag they may be its value. */
static bool is_command(const char *word)
{
    static const char *const names[] = {"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

static void read_all(struct reading *r, size_t count, const char *const *arguments)
{
    if (count > 0 && is_command(arguments[0]))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *word = arguments[i], *next = i + 1 < count ? arguments[i + 1] : NULL;
        bool taken = r->takes_next;
        r->takes_next = false;
        if (strcmp(word, "--") == 0) {
            if (!taken)
                return;
            r->unsure = true;
            continue;
        }
        if (word[0] != '-' || word[1] == '\0')
            continue;
        if (word[1] == '-')
            read_long(r, word, next);
        else
            read_short(r, word, next);
    }
}

void voids_arguments(struct voids *v, size_t count, const char *const *arguments)
{
    struct reading r = {.takes_next = false};
    read_all(&r, count, arguments);
    for (size_t f = 0; f < FLAG_COUNT; f++)
        if (FLAGS[f].why != NULL && (r.on[f] || r.sticky[f]))
            voids_add(v, FLAGS[f].what, FLAGS[f].why, FLAGS[f].remedy);
}

void voids_flags(size_t count, const char *const *arguments, struct voids_flags *out)
{
    struct reading r = {.takes_next = false};
    read_all(&r, count, arguments);
    out->skip_trust = !r.unsure && r.on[FLAG_SKIP_TRUST] && !r.sticky[FLAG_SKIP_TRUST];
    out->no_sandbox = !r.unsure && r.given[FLAG_SANDBOX] && !r.on[FLAG_SANDBOX] && !r.sticky[FLAG_SANDBOX];
}
