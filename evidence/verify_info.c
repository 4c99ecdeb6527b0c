#include <inttypes.h>
#include <string.h>

#include "evidence/verify_internal.h"

enum { REASON_SHOWN = 200, PERSON_SHOWN = 256, KIND_SHOWN = 64 };

/* Gaps that other lines judge (witnesses, keys, args source), or that say nothing against the run's own records. */
static const char *const quiet_kinds[] = {"witness_late", "witness_failed",  "degraded_unanchored",
                                          "clock_skew",   "format_upgrade",  "key_retired",
                                          "args_coerced", "approval_expired"};

/* Record types that another verifier checks against each other; this one names them. */
static const struct {
    const char *type, *what;
} unread_types[] = {
    {"why.finding", "findings"},
    {"review", "reviews"},
    {"constraint.added", "live constraints"},
    {"incident.opened", "incidents"},
    {"incident.updated", "incidents"},
    {"run.held", "incidents"},
    {"run.quarantined", "incidents"},
    {"run.resumed", "incidents"},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static bool is_quiet(const struct json *kind)
{
    for (size_t i = 0; i < COUNT(quiet_kinds); i++) {
        if (json_equal_cstr(kind, quiet_kinds[i]))
            return true;
    }
    return false;
}

static void add_reason(struct report_problems *p, const struct verify_record *r)
{
    struct verify_text reason = verify_text(json_get(r->data, "reason"), REASON_SHOWN);
    report_problems_add(p, "seq %" PRId64 ": %s", r->seq, reason.s);
}

/* One signed gap, tamper or mismatch record. */
static void add_gap(struct verify_info *info, const struct verify_record *r, const char *kind,
                    const struct json *reason)
{
    struct verify_text text = verify_text(reason, REASON_SHOWN);
    verify_text_count(&info->gap_kinds, kind);
    report_problems_add(&info->gaps, "seq %" PRId64 ": %s: %s", r->seq, kind, text.s);
}

static void take_gap(struct verify_info *info, const struct verify_record *r)
{
    const struct json *kind = json_get(r->data, "kind");
    if (json_equal_cstr(kind, "executed_against_policy")) {
        add_reason(&info->against, r);
    } else if (json_equal_cstr(kind, "held_call_unresolved")) {
        add_reason(&info->unresolved, r);
    } else if (json_equal_cstr(kind, "decision_mismatch")) {
        add_reason(&info->mismatched, r);
    } else if (json_equal_cstr(kind, "observer_lost")) {
        add_reason(&info->lost, r);
    } else if (!is_quiet(kind)) {
        struct verify_text name = verify_text(kind, KIND_SHOWN);
        add_gap(info, r, name.s, json_get(r->data, "reason"));
    }
}

static void take_mismatch(struct verify_info *info, const struct verify_record *r)
{
    struct verify_text id = verify_text(json_get(r->data, "approval_id"), REASON_SHOWN);
    struct verify_text call = verify_text(json_get(r->data, "tool_use_id"), REASON_SHOWN);
    verify_text_count(&info->gap_kinds, r->type);
    report_problems_add(&info->gaps, "seq %" PRId64 ": %s: call %s came with other arguments than approval %s is for",
                        r->seq, r->type, call.s, id.s);
}

static void take_approval(struct verify_info *info, const struct verify_record *r)
{
    const struct json *d = r->data;
    info->self_approved |= json_true(json_get(d, "self_approved"));
    if (json_equal_cstr(json_get(d, "decision"), "approve") && json_equal_cstr(json_get(d, "approver_kind"), "agent"))
        verify_text_count(&info->unread, "approvals by agents");
    if (!json_true(json_get(d, "break_glass")))
        return;
    struct verify_text decision = verify_text(json_get(d, "decision"), KIND_SHOWN);
    struct verify_text id = verify_text(json_get(d, "approval_id"), REASON_SHOWN);
    struct verify_text approver = verify_text(json_get(d, "approver"), PERSON_SHOWN);
    struct verify_text reason = verify_text(json_get(d, "reason"), REASON_SHOWN);
    report_problems_add(&info->glass, "seq %" PRId64 ": %s of %s by %s: %s", r->seq, decision.s, id.s, approver.s,
                        reason.s);
}

static void take_external(struct verify_info *info, const struct verify_record *r)
{
    struct verify_text system = verify_text(json_get(r->data, "system"), VERIFY_NAME_CHARS);
    verify_text_count(&info->systems, system.s);
    info->external_verified += json_equal_cstr(json_get(r->data, "signature"), "verified");
}

static void take_reconcile(struct verify_info *info, const struct verify_record *r)
{
    struct verify_text detail = verify_text(json_get(r->data, "detail"), REASON_SHOWN);
    struct verify_text call = verify_text(json_get(r->event, "tool_call_id"), REASON_SHOWN);
    verify_text_count(&info->unreconciled_kinds, r->type + strlen("reconcile."));
    report_problems_add(&info->unreconciled, "seq %" PRId64 ": %s, call %s: %s", r->seq, r->type, call.s, detail.s);
}

/* The coverage of the newest record; the last one of the run counts. */
static void take_coverage(struct verify_info *info, const struct verify_record *r)
{
    const struct json *coverage = json_get(r->data, "coverage"), *layers = json_get(coverage, "layers");
    struct verify_coverage c = {.present = coverage != NULL};
    for (size_t i = 0; i < json_count(layers); i++) {
        const char *name = json_cstr(json_at(layers, i));
        if (name != NULL && name[0] == 'L' && name[1] >= '1' && name[1] <= '6' && name[2] == '\0')
            c.layers |= 1u << (name[1] - '0');
    }
    if (!json_int(json_get(coverage, "reconciled"), &c.reconciled))
        c.reconciled = 0;
    if (!json_int(json_get(r->data, "paired_by_args"), &c.paired))
        c.paired = 0;
    if (json_get(r->data, "matrix") != NULL)
        verify_text_count(&info->unread, "coverage matrix");
    info->coverage = c;
}

static void take_rules(struct verify_info *info, const struct verify_record *r)
{
    const struct json *ids = json_get(r->data, "rule_ids");
    for (size_t i = 0; json_is(ids, JSON_ARRAY) && i < json_count(ids); i++) {
        if (json_equal_cstr(json_at(ids, i), "TK-CONSTRAINT")) {
            verify_text_count(&info->unread, "live constraints");
            return;
        }
    }
}

static void take_by_type(struct verify_info *info, const struct verify_record *r)
{
    const char *type = r->type;
    if (strcmp(type, "capture.gap") == 0)
        take_gap(info, r);
    else if (strcmp(type, "trace.tamper") == 0)
        add_gap(info, r, type, json_get(r->data, json_get(r->data, "reason") != NULL ? "reason" : "path"));
    else if (strcmp(type, "approval.binding_mismatch") == 0)
        take_mismatch(info, r);
    else if (strcmp(type, "approval") == 0)
        take_approval(info, r);
    else if (strcmp(type, "policy.decision") == 0)
        take_rules(info, r);
    else if (strcmp(type, "policy.external") == 0)
        take_external(info, r);
    else if (strncmp(type, "reconcile.", strlen("reconcile.")) == 0)
        take_reconcile(info, r);
    else if (strcmp(type, "run.final") == 0)
        take_coverage(info, r);
    else if (strcmp(type, "content.accessed") == 0)
        info->accessed++;
    else if (strcmp(type, "content.erased") == 0)
        info->erased++;
    for (size_t i = 0; i < COUNT(unread_types); i++) {
        if (strcmp(type, unread_types[i].type) == 0)
            verify_text_count(&info->unread, unread_types[i].what);
    }
}

static void take_fail_modes(struct verify_info *info, const struct json *modes)
{
    for (size_t i = 0; json_is(modes, JSON_OBJECT) && i < json_count(modes); i++) {
        if (json_equal_cstr(json_at(modes, i), "open"))
            verify_text_count(&info->fail_open, json_key(modes, i, NULL));
    }
}

/* What the first record says about the whole run. */
static void take_first(struct verify_info *info, const struct verify_record *r)
{
    bool registered = strcmp(r->type, "run.registered") == 0;
    const struct json *d = registered ? r->data : NULL;
    const struct json *isolation = json_get(d, "signer_isolation"), *harness = json_get(d, "harness");
    const struct json *principal = registered ? json_get(r->event, "principal") : NULL;
    struct verify_text name = verify_text(isolation, VERIFY_NAME_CHARS);
    verify_text_count(&info->isolation, isolation == NULL ? "unreported" : name.s);
    if (principal != NULL) {
        info->has_principal = true;
        info->principal = verify_text(principal, PERSON_SHOWN);
        info->principal_attested = json_true(json_get(r->event, "principal_attested"));
    }
    if (harness != NULL) {
        info->has_harness = true;
        info->harness = verify_text(json_get(harness, "name"), VERIFY_NAME_CHARS);
    }
    take_fail_modes(info, json_get(d, "fail_modes"));
}

static void take_args_source(struct verify_info *info, const struct json *source)
{
    if (source == NULL)
        return;
    info->args_sources++;
    info->args_raw += json_equal_cstr(source, "raw");
    info->args_parsed += json_equal_cstr(source, "parsed");
    info->args_coerced += json_equal_cstr(source, "coerced");
}

void verify_info_any(struct verify *v, const struct verify_record *r)
{
    const struct json *alg = json_get(r->value, "alg");
    if (json_is(alg, JSON_STRING)) {
        struct verify_text name = verify_text(alg, VERIFY_NAME_CHARS);
        verify_text_count(&v->info.algs, name.s);
    }
    const struct json *ext = json_get(r->event, "ext");
    for (size_t i = 0; json_is(ext, JSON_OBJECT) && i < json_count(ext); i++)
        verify_text_count(&v->info.ext, json_key(ext, i, NULL));
    if (strcmp(r->type, "ext") == 0) {
        struct verify_text name = verify_text(json_get(r->data, "name"), VERIFY_NAME_CHARS);
        verify_text_count(&v->info.ext, name.s);
    }
}

enum err verify_info_record(struct verify *v, const struct verify_record *r)
{
    struct verify_info *info = &v->info;
    if (v->run.count == 0)
        take_first(info, r);
    verify_info_any(v, r);
    info->coverage = (struct verify_coverage){0};
    take_by_type(info, r);
    take_args_source(info, json_get(r->event, "args_source"));
    return verify_calls_add(&info->calls, r->event, (uint32_t)v->run.count);
}

void verify_info_wipe(struct verify_info *info)
{
    struct report_problems *lists[] = {&info->against,      &info->unresolved, &info->gaps, &info->mismatched,
                                       &info->unreconciled, &info->lost,       &info->glass};
    for (size_t i = 0; i < COUNT(lists); i++)
        report_problems_wipe(lists[i]);
    verify_calls_wipe(&info->calls);
}
