#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

/* What one word of the command line says about an option. */
struct word {
    const struct options_spec *spec;
    const char *attached; /* the value in the same word, or NULL */
};

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Finds the option that `word` names in one table. */
static bool find(const struct options_spec *table, const char *word, struct word *out)
{
    for (const struct options_spec *s = table; s != NULL && s->name != NULL; s++) {
        if (word[1] != '-') {
            if (s->letter != 0 && word[1] == s->letter) {
                *out = (struct word){s, word[2] != '\0' ? word + 2 : NULL};
                return true;
            }
            continue;
        }
        size_t len = strcspn(word + 2, "=");
        if (strlen(s->name) == len && memcmp(s->name, word + 2, len) == 0) {
            *out = (struct word){s, word[2 + len] == '=' ? word + 2 + len + 1 : NULL};
            return true;
        }
    }
    return false;
}

int options_words(const struct options_spec *table, char *const *argv)
{
    struct word w;
    if (!is_option(argv[0]) || !find(table, argv[0], &w))
        return 0;
    return w.spec->value != NULL && w.attached == NULL && argv[1] != NULL ? 2 : 1;
}

static enum err take_flag(const struct word *w, struct fault *fault)
{
    if (w->attached != NULL)
        return fault_set(fault, ERR_USAGE, "--%s takes no value", w->spec->name);
    if (*w->spec->flag)
        return fault_set(fault, ERR_USAGE, "--%s is given twice", w->spec->name);
    *w->spec->flag = true;
    return ERR_OK;
}

/* Takes the value from the same word or from `next`, the word behind it, and says through *used whether it took that.
 * */
static enum err take_value(const struct word *w, const char *next, bool *used, struct fault *fault)
{
    const char *value = w->attached != NULL ? w->attached : next;
    if (value == NULL || (w->attached == NULL && strncmp(value, "--", 2) == 0))
        return fault_set(fault, ERR_USAGE, "--%s needs a value: --%s=%s", w->spec->name, w->spec->name, w->spec->value);
    if (*w->spec->text != NULL)
        return fault_set(fault, ERR_USAGE, "--%s is given twice", w->spec->name);
    *w->spec->text = value;
    *used = w->attached == NULL;
    return ERR_OK;
}

static enum err unknown(const char *word, struct fault *fault)
{
    int len = (int)strcspn(word, "=");
    return fault_set(fault, ERR_USAGE, "there is no option %.*s", len > 100 ? 100 : len, word);
}

enum err options_parse(const struct options_spec *own, const struct options_spec *common, int *argc, char **argv,
                       struct fault *fault)
{
    int kept = 1;
    bool rest = false;
    for (int i = 1; i < *argc; i++) {
        struct word w = {NULL, NULL};
        if (rest || !is_option(argv[i])) {
            argv[kept++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            rest = true;
            continue;
        }
        if (!find(own, argv[i], &w) && !find(common, argv[i], &w))
            return unknown(argv[i], fault);
        bool used = false;
        enum err e = w.spec->value == NULL ? take_flag(&w, fault)
                                           : take_value(&w, i + 1 < *argc ? argv[i + 1] : NULL, &used, fault);
        if (e != ERR_OK)
            return e;
        i += used;
    }
    argv[kept] = NULL;
    *argc = kept;
    return ERR_OK;
}

void options_help(FILE *out, const struct options_spec *table)
{
    for (const struct options_spec *s = table; s->name != NULL; s++) {
        char left[64];
        const char *gap = s->value != NULL ? " " : "", *value = s->value != NULL ? s->value : "";
        if (s->letter != 0)
            snprintf(left, sizeof left, "-%c, --%s%s%s", s->letter, s->name, gap, value);
        else
            snprintf(left, sizeof left, "--%s%s%s", s->name, gap, value);
        fprintf(out, "  %-20s %s\n", left, s->help);
    }
}

enum err options_number(const char *option, const char *text, int64_t min, int64_t max, int64_t *out,
                        struct fault *fault)
{
    int64_t v = 0;
    size_t digits = strspn(text, "0123456789");
    /* 15 digits cannot overflow. */
    bool good = digits > 0 && digits <= 15 && text[digits] == '\0';
    for (size_t i = 0; good && i < digits; i++)
        v = v * 10 + (text[i] - '0');
    if (!good || v < min || v > max)
        return fault_set(fault, ERR_USAGE, "--%s must be a number from %" PRId64 " to %" PRId64, option, min, max);
    *out = v;
    return ERR_OK;
}
