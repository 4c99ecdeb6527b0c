#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/verify_internal.h"

enum { LINE_BYTES = 32 << 10, MAX_EXT_LINES = 20 };

/* A warning with the problems gathered for it, when there are any. */
static void warn(struct verify *v, const char *check, const char *what, struct report_problems *p)
{
    if (p->count == 0)
        return;
    report_line(v->lines, REPORT_WARN, check, "%zu %s", p->count, what);
    report_problem_list(v->lines, p);
}

/* --- policy snapshots: each named by the SHA-256 of its bytes --- */

struct snapshot {
    const char *name;
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct snapshot *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void snapshot_line(struct verify *v, const struct snapshot *s)
{
    char hex[DIGEST_HEX_BYTES], right[sizeof "policies/.json" + DIGEST_HEX_BYTES];
    digest_hex(v->hashes[s->index], DIGEST_BYTES, hex);
    snprintf(right, sizeof right, "policies/%s.json", hex);
    bool good = strcmp(s->name, right) == 0;
    report_line(v->lines, good ? REPORT_PASS : REPORT_FAIL, "policy snapshot", "%s", s->name);
    if (!good)
        report_problem(v->lines, "the SHA-256 of its bytes is %s", hex);
}

static enum err snapshot_lines(struct verify *v)
{
    size_t count = 0, total = zip_count(v->zip);
    struct snapshot *list = calloc(total, sizeof *list);
    if (list == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < total; i++) {
        const char *name = zip_at(v->zip, i)->name;
        if (strncmp(name, "policies/", strlen("policies/")) == 0)
            list[count++] = (struct snapshot){.name = name, .index = i};
    }
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++)
        snapshot_line(v, &list[i]);
    free(list);
    return ERR_OK;
}

/* --- what the signer says went wrong --- */

static void gaps_line(struct verify *v)
{
    struct buf kinds;
    if (v->info.gaps.count == 0)
        return;
    buf_init(&kinds, LINE_BYTES);
    verify_text_tally(&v->info.gap_kinds, &kinds);
    report_line(v->lines, REPORT_WARN, "gaps", "%zu record(s) of the signer about a gap, tampering or a mismatch: %s",
                v->info.gaps.count, verify_text_of(&kinds));
    report_problem_list(v->lines, &v->info.gaps);
    buf_wipe(&kinds);
}

static void external_line(struct verify *v)
{
    struct verify_info *info = &v->info;
    struct buf systems;
    if (info->systems.total == 0 && info->mismatched.count == 0)
        return;
    buf_init(&systems, LINE_BYTES);
    verify_text_tally(&info->systems, &systems);
    report_line(v->lines, info->mismatched.count == 0 ? REPORT_PASS : REPORT_WARN, "external decisions",
                "%" PRIu64 " from other systems (%s), %" PRIu64 " with a signature that the signer verified; %zu "
                "contradict the signer",
                info->systems.total, verify_text_of(&systems), info->external_verified, info->mismatched.count);
    report_problem_list(v->lines, &info->mismatched);
    buf_wipe(&systems);
}

/* --- capture --- */

static void write_layers(const struct verify_coverage *c, struct buf *out)
{
    const char *separator = "layers ";
    for (unsigned i = 1; i <= 6; i++) {
        if ((c->layers & 1u << i) == 0)
            continue;
        buf_printf(out, "%sL%u", separator, i);
        separator = "+";
    }
    if (c->layers == 0)
        buf_puts(out, "no layers");
    if ((c->layers & 1u << 3) == 0)
        buf_puts(out, " (without L3)");
}

/* Counted from the reconcile.* records, not from what run.final sums up. */
static void coverage_line(struct verify *v)
{
    struct verify_info *info = &v->info;
    struct buf text;
    if (!info->coverage.present && info->unreconciled_kinds.total == 0)
        return;
    buf_init(&text, LINE_BYTES);
    write_layers(&info->coverage, &text);
    buf_printf(&text, "; reconciled calls: %" PRId64, info->coverage.reconciled);
    if (info->coverage.paired != 0)
        buf_printf(&text, ", of these by their arguments only: %" PRId64, info->coverage.paired);
    buf_puts(&text, "; unreconciled: ");
    verify_text_tally(&info->unreconciled_kinds, &text);
    report_line(v->lines, info->unreconciled_kinds.total == 0 ? REPORT_PASS : REPORT_WARN, "coverage", "%s",
                verify_text_of(&text));
    report_problem_list(v->lines, &info->unreconciled);
    buf_wipe(&text);
}

static void vault_line(struct verify *v)
{
    if (v->info.accessed + v->info.erased > 0)
        report_line(v->lines, REPORT_PASS, "content vault",
                    "retained content was read %" PRIu64 " time(s) and erased %" PRIu64 " time(s), as signed",
                    v->info.accessed, v->info.erased);
}

static void args_source_line(struct verify *v)
{
    const struct verify_info *info = &v->info;
    if (info->args_sources > 0)
        report_line(v->lines, REPORT_PASS, "args source",
                    "of %" PRIu64 " record(s), raw %" PRIu64 ", parsed %" PRIu64 ", coerced %" PRIu64,
                    info->args_sources, info->args_raw, info->args_parsed, info->args_coerced);
}

/* --- who ran it --- */

static void origin_lines(struct verify *v)
{
    const struct verify_info *info = &v->info;
    struct buf names;
    buf_init(&names, LINE_BYTES);
    verify_text_names(&info->isolation, ", ", &names);
    report_line(v->lines, REPORT_PASS, "isolation", "as the signer reports it: %s", verify_text_of(&names));
    if (info->has_principal)
        report_line(v->lines, REPORT_PASS, "principals", "%s (%s)", info->principal.s,
                    info->principal_attested ? "attested" : "as the application says");
    if (info->has_harness)
        report_line(v->lines, REPORT_PASS, "harness", "as the signer attests it: %s", info->harness.s);
    buf_wipe(&names);
}

static void fail_open_line(struct verify *v)
{
    struct buf names;
    bool none = v->info.fail_open.total == 0;
    buf_init(&names, LINE_BYTES);
    verify_text_names(&v->info.fail_open, ", ", &names);
    report_line(v->lines, none ? REPORT_PASS : REPORT_WARN, "fail-open classes", "%s", verify_text_of(&names));
    if (!none)
        report_problem(v->lines, "while the signer was away, calls that the agent puts into these classes may have run "
                                 "without a record");
    buf_wipe(&names);
}

enum err verify_lines_run(struct verify *v, struct fault *fault)
{
    struct verify_info *info = &v->info;
    enum err e = verify_entry_rest(v, fault);
    if (e == ERR_OK)
        e = snapshot_lines(v);
    if (e != ERR_OK)
        return e;
    warn(v, "policy", "tool call(s) ran although they were denied, or held and not approved", &info->against);
    warn(v, "held calls", "decided tool call(s) ended without a result", &info->unresolved);
    gaps_line(v);
    external_line(v);
    coverage_line(v);
    warn(v, "observers", "time(s) an observer fell silent, restarted or lost events during the run", &info->lost);
    vault_line(v);
    verify_calls_line(&info->calls, v->lines);
    args_source_line(v);
    origin_lines(v);
    fail_open_line(v);
    report_line(v->lines, REPORT_PASS, "key assurance", "asserted: the log itself declares its record keys");
    return ERR_OK;
}

/* --- what this verifier leaves to others --- */

/* Whether the content of this entry was read above. */
static bool is_read(const struct verify *v, size_t index)
{
    static const char *const files[] = {"manifest.json", "keys/records.jsonl", "proofs/records.json"};
    const char *name = zip_at(v->zip, index)->name;
    if (index == v->note_index || strncmp(name, "runs/", 5) == 0 || strncmp(name, "policies/", 9) == 0)
        return true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(name, files[i]) == 0)
            return true;
    }
    return false;
}

static void find_unread(const struct verify *v, struct report_problems *p)
{
    const struct verify_tally *records = &v->info.unread;
    for (size_t i = 0; i < records->count; i++)
        report_problems_add(p, "%s: %" PRIu64 " of them, known only as signed records", records->item[i].name,
                            records->item[i].n);
    if (v->trust->pins_rekor)
        report_problems_add(p, "the trust file pins Rekor: anchors are not checked");
    if (v->trust->pins_monitors)
        report_problems_add(p, "the trust file pins monitors: no monitor's report is read");
    for (size_t i = 0; i < zip_count(v->zip); i++) {
        if (!is_read(v, i))
            report_problems_add(p, "the file %s", zip_at(v->zip, i)->name);
    }
}

/* A line for each extension, up to the format's 20. */
static void ext_lines(struct verify *v)
{
    const struct verify_tally *ext = &v->info.ext;
    size_t shown = ext->count < MAX_EXT_LINES ? ext->count : MAX_EXT_LINES;
    for (size_t i = 0; i < shown; i++)
        report_line(v->lines, REPORT_WARN, "not interpreted",
                    "ext.%s on %" PRIu64 " record(s): signed and chained like the others, its meaning unknown here",
                    ext->item[i].name, ext->item[i].n);
    if (ext->count > shown)
        report_line(v->lines, REPORT_WARN, "not interpreted", "and %zu or more further extensions", ext->count - shown);
}

void verify_lines_end(struct verify *v)
{
    struct report_problems unread = {0};
    warn(v, "break-glass approvals", "approval(s) were given in the break-glass role", &v->info.glass);
    ext_lines(v);
    find_unread(v, &unread);
    if (unread.count > 0) {
        report_line(v->lines, REPORT_WARN, "not checked",
                    "%zu thing(s) in the bundle or the trust file are beyond this verifier", unread.count);
        report_problem_list(v->lines, &unread);
    }
}
