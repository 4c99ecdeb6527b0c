#include <stdlib.h>
#include <string.h>

#include "evidence/bundle.h"
#include "evidence/verify_internal.h"

enum { VERSION_PARTS = 3 };

static const char manifest_name[] = "manifest.json";

/* Reads "1", "1.2" or "1.2.3", each number of 1 to 9 digits. */
static bool parse_version(const char *text, unsigned long out[static VERSION_PARTS])
{
    unsigned long parts[VERSION_PARTS] = {0};
    for (size_t i = 0; i < VERSION_PARTS; i++) {
        size_t digits = strspn(text, "0123456789");
        if (digits < 1 || digits > 9)
            return false;
        parts[i] = strtoul(text, NULL, 10);
        text += digits;
        if (*text == '\0') {
            memcpy(out, parts, sizeof parts);
            return true;
        }
        if (*text++ != '.')
            return false;
    }
    return false;
}

static enum err check_version(const struct json *manifest, struct fault *fault)
{
    unsigned long need[VERSION_PARTS] = {0}, have[VERSION_PARTS] = {0};
    const char *text = json_get_cstr(manifest, "verifier_min_version");
    if (text == NULL || !parse_version(text, need))
        return fault_set(fault, ERR_BUNDLE, "manifest.json: verifier_min_version is not a version number");
    if (!parse_version(BUNDLE_VERIFIER_VERSION, have))
        return fault_set(fault, ERR_BUNDLE, "this verifier does not know its own version");
    for (size_t i = 0; i < VERSION_PARTS; i++) {
        if (need[i] > have[i])
            return fault_set(fault, ERR_VERSION, "needs tracekit >= %s", text);
        if (need[i] < have[i])
            break;
    }
    return ERR_OK;
}

/* "runs/<something>.part-<digits>.jsonl". */
static bool is_part(const char *name)
{
    size_t len = strlen(name), tail = strlen(".jsonl");
    if (strncmp(name, "runs/", 5) != 0 || len < tail || strcmp(name + len - tail, ".jsonl") != 0)
        return false;
    size_t at = len - tail;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < len - tail && at >= strlen("runs/x.part-") && strncmp(name + at - 6, ".part-", 6) == 0;
}

/* What only another verifier can read, so that neither VERIFIED nor FAILED would be honest. */
static enum err check_layout(const struct verify *v, struct fault *fault)
{
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        const char *name = zip_at(v->zip, i)->name;
        if (strcmp(name, "registry/run-set.json") == 0)
            return fault_set(fault, ERR_VERSION, "needs a verifier that reads run-sets");
        if (is_part(name))
            return fault_set(fault, ERR_VERSION, "needs a verifier that reads runs in parts");
    }
    return ERR_OK;
}

enum err verify_manifest_read(struct verify *v, struct fault *fault)
{
    struct buf text;
    struct json_fault where = {0};
    size_t index = 0;
    buf_init(&text, VERIFY_MAX_MANIFEST_BYTES);

    enum err e = ERR_OK;
    if (!verify_entry_find(v, manifest_name, &index))
        e = fault_set(fault, ERR_BUNDLE, "the zip has no manifest.json");
    if (e == ERR_OK)
        e = verify_entry_read(v, index, &text, fault);
    if (e != ERR_OK)
        goto out;
    e = json_parse(v->arena, text.data == NULL ? (const uint8_t *)"" : text.data, text.len, &v->manifest, &where);
    if (e != ERR_OK && e != ERR_NOMEM)
        e = fault_set(fault, ERR_BUNDLE, "manifest.json line %zu column %zu: %s", where.line, where.column,
                      err_text(e));
    if (e != ERR_OK)
        goto out;
    if (!json_equal_cstr(json_get(v->manifest, "format"), BUNDLE_FORMAT))
        e = fault_set(fault, ERR_BUNDLE, "manifest.json: the format is not " BUNDLE_FORMAT);
    if (e == ERR_OK)
        e = check_version(v->manifest, fault);
    if (e == ERR_OK)
        e = check_layout(v, fault);
out:
    buf_wipe(&text);
    return e;
}

/* --- the line --- */

struct listed {
    const char *name;
    size_t len;
    const struct json *hash;
    bool seen;
};

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool hash_matches(const struct json *listed, const uint8_t hash[static DIGEST_BYTES])
{
    char hex[DIGEST_HEX_BYTES];
    digest_hex(hash, DIGEST_BYTES, hex);
    return json_equal_cstr(listed, hex);
}

/* What is wrong with the files of the bundle, one problem each. */
static void compare(const struct verify *v, struct listed *list, size_t count, struct report_problems *bad)
{
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        const char *name = zip_at(v->zip, i)->name;
        if (strcmp(name, manifest_name) == 0)
            continue;
        struct listed key = {.name = name, .len = strlen(name)};
        struct listed *found = count == 0 ? NULL : bsearch(&key, list, count, sizeof *list, by_name);
        if (found == NULL) {
            report_problems_add(bad, "%s is not listed", name);
            continue;
        }
        found->seen = true;
        if (!hash_matches(found->hash, v->hashes[i]))
            report_problems_add(bad, "%s has another SHA-256 than listed", name);
    }
    for (size_t i = 0; i < count; i++) {
        if (!list[i].seen)
            report_problems_add(bad, "%.255s is listed and not in the bundle", list[i].name);
    }
}

enum err verify_manifest_line(struct verify *v, struct report *report)
{
    struct report_problems bad = {0};
    const struct json *files = json_get(v->manifest, "files");
    if (!json_is(files, JSON_OBJECT)) {
        report_line(report, REPORT_FAIL, "manifest", "manifest.json has no list of files");
        return ERR_OK;
    }
    size_t count = json_count(files);
    struct listed *list = calloc(count + 1, sizeof *list);
    if (list == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        list[i].name = json_key(files, i, &list[i].len);
        list[i].hash = json_at(files, i);
    }
    qsort(list, count, sizeof *list, by_name);
    compare(v, list, count, &bad);
    free(list);
    if (bad.count == 0)
        report_line(report, REPORT_PASS, "manifest", "lists each of the %zu file(s) with its SHA-256", count);
    else
        report_line(report, REPORT_FAIL, "manifest", "%zu file(s) differ from the list", bad.count);
    report_problem_list(report, &bad);
    return ERR_OK;
}
