#include "harness/folders.h"

#include <string.h>

#include "evidence/visible.h"

enum level { LEVEL_FOLDER, LEVEL_PARENT, LEVEL_NOT };

struct rule {
    const char *path; /* normalized */
    enum level level;
};

struct rules {
    size_t count;
    struct rule list[FOLDERS_RULES];
};

static void drop_last(char *path, size_t *len)
{
    while (*len > 0 && path[*len - 1] != '/')
        (*len)--;
    *len -= *len > 0 ? 1 : 0;
}

static bool put_parts(const char *path, char *out, size_t *len)
{
    for (size_t n = 0; *path != '\0'; path += n) {
        path += strspn(path, "/");
        n = strcspn(path, "/");
        if (n == 2 && memcmp(path, "..", 2) == 0)
            drop_last(out, len);
        if (n == 0 || (n == 1 && *path == '.') || (n == 2 && memcmp(path, "..", 2) == 0))
            continue;
        if (*len + 1 + n >= FOLDERS_PATH_BYTES)
            return false;
        out[(*len)++] = '/';
        memcpy(out + *len, path, n);
        *len += n;
    }
    return true;
}

enum err folders_normalize(const char *folder, const char *path, char out[static FOLDERS_PATH_BYTES])
{
    char made[FOLDERS_PATH_BYTES];
    size_t len = 0;
    if (path[0] != '/' && !put_parts(folder, made, &len))
        return ERR_PATH;
    if (!put_parts(path, made, &len))
        return ERR_PATH;
    if (len == 0)
        made[len++] = '/';
    for (size_t i = 0; i < len; i++)
        out[i] = made[i] == '\\' ? '/' : made[i];
    out[len] = '\0';
    return ERR_OK;
}

/* In UTF-16 code units, which is what Gemini counts. */
static size_t length_of(const char *path)
{
    size_t units = 0, len = strlen(path);
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)path + at, len - at, &code);
        units += code > 0xffff ? 2 : 1;
        at += n > 0 ? n : 1;
    }
    return units;
}

static bool is_at_or_above(const char *path, const char *folder)
{
    size_t len = strlen(path);
    if (strcmp(path, "/") == 0)
        return true;
    return strncmp(path, folder, len) == 0 && (folder[len] == '\0' || folder[len] == '/');
}

static bool applies(const struct rule *rule, const struct folders_place *place)
{
    char path[FOLDERS_PATH_BYTES], real[FOLDERS_PATH_BYTES];
    size_t len = strlen(rule->path);
    memcpy(path, rule->path, len + 1);
    if (rule->level == LEVEL_PARENT) {
        drop_last(path, &len);
        path[len] = '\0';
        if (len == 0)
            memcpy(path, "/", 2);
    }
    return is_at_or_above(place->resolve(place->context, path, real) ? real : path, place->folder);
}

static bool read_level(const struct json *value, enum level *out)
{
    static const char *const names[] = {
        [LEVEL_FOLDER] = "TRUST_FOLDER", [LEVEL_PARENT] = "TRUST_PARENT", [LEVEL_NOT] = "DO_NOT_TRUST"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (json_equal_cstr(value, names[i])) {
            *out = (enum level)i;
            return true;
        }
    }
    return false;
}

/* A path that stands twice keeps its place and takes the later level. */
static void put_rule(struct rules *rules, const char *path, enum level level)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (strcmp(rules->list[i].path, path) == 0) {
            rules->list[i].level = level;
            return;
        }
    }
    rules->list[rules->count++] = (struct rule){path, level};
}

static enum err read_rules(struct arena *arena, const struct settings_node *root, const struct settings_file *file,
                           const struct folders_place *place, struct rules *rules, struct fault *fault)
{
    char path[FOLDERS_PATH_BYTES];
    for (const struct settings_node *n = root->first; n != NULL; n = n->next) {
        enum level level = LEVEL_NOT;
        if (n->kind != SETTINGS_VALUE || !read_level(n->value, &level))
            return fault_set(fault, ERR_CONFIG, "%.200s: a value is none of TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST",
                             file->path);
        /* A NUL in a path makes Gemini's look-up fail: the rule is for nothing. */
        if (memchr(n->key, '\0', n->key_len) != NULL)
            continue;
        if (rules->count == FOLDERS_RULES || folders_normalize(place->folder, n->key, path) != ERR_OK)
            return fault_set(fault, ERR_TOO_LARGE, "%.200s: more than %d rules, or a path that is too long", file->path,
                             FOLDERS_RULES);
        const char *kept = arena_copy(arena, path, strlen(path));
        if (kept == NULL)
            return ERR_NOMEM;
        put_rule(rules, kept, level);
    }
    return ERR_OK;
}

static enum folders_answer judge(const struct rules *rules, const struct folders_place *place)
{
    enum folders_answer answer = FOLDERS_UNKNOWN;
    size_t longest = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];
        size_t length = length_of(rule->path);
        if (length < longest || !applies(rule, place))
            continue;
        enum folders_answer said = rule->level == LEVEL_NOT ? FOLDERS_NO : FOLDERS_YES;
        answer = length == longest && answer != said ? FOLDERS_NO : said;
        longest = length;
    }
    return answer;
}

enum err folders_judge(struct arena *arena, const struct settings_file *file, const struct folders_place *place,
                       enum folders_answer *out, struct fault *fault)
{
    struct settings_node *root = NULL;
    enum err e = effective_read(arena, file, SETTINGS_USER, NULL, &root, fault);
    if (e != ERR_OK || root == NULL) {
        if (e == ERR_OK)
            *out = FOLDERS_UNKNOWN;
        return e;
    }
    struct rules *rules = arena_alloc(arena, sizeof *rules);
    if (rules == NULL)
        return ERR_NOMEM;
    rules->count = 0;
    e = read_rules(arena, root, file, place, rules, fault);
    if (e == ERR_OK)
        *out = judge(rules, place);
    return e;
}
