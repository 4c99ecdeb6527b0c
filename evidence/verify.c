#include "evidence/verify.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/bundle.h"
#include "evidence/verify_internal.h"

/* The checks in the format's order. What stops them is an error; what fails is a line. */
static enum err check_evidence(struct verify *v, struct fault *fault)
{
    bool opened = false;
    enum err e = verify_checkpoint_read(v, &opened, fault);
    if (e != ERR_OK || !opened)
        return e;
    e = verify_keys_read(v, fault);
    if (e == ERR_OK)
        e = verify_run_read(v, fault);
    if (e != ERR_OK)
        return e;
    verify_keys_lines(v);
    verify_run_lines(v);
    e = verify_lines_run(v, fault);
    if (e == ERR_OK)
        e = verify_checkpoint_assurance(v, fault);
    if (e == ERR_OK)
        verify_lines_end(v);
    return e;
}

/* All of it, so that afterwards every entry is hashed. */
static enum err check_bundle(struct verify *v, struct fault *fault)
{
    enum err e = verify_manifest_read(v, fault);
    if (e != ERR_OK)
        return e;
    e = check_evidence(v, fault);
    if (e == ERR_BUNDLE) {
        report_line(v->lines, REPORT_FAIL, "bundle structure", "malformed, so the rest could not be checked");
        report_problem(v->lines, "%s", fault->text);
        e = ERR_OK;
    }
    return e == ERR_OK ? verify_entry_rest(v, fault) : e;
}

/* Nothing was verified, and no other line would be worth anything. */
static void unusable(struct report *report, enum err e, const char *bundle_path, const struct fault *fault)
{
    if (e == ERR_VERSION) {
        report_line(report, REPORT_FAIL, "bundle readable", "UNVERIFIABLE (%s)", fault->text);
        report_problem(report,
                       "this verifier knows bundles up to version %s without run-sets; use the format's own "
                       "verifier, or a newer one of ours",
                       BUNDLE_VERIFIER_VERSION);
        report_integrity(report, "UNVERIFIABLE (%s)", fault->text);
    } else {
        report_line(report, REPORT_FAIL, "bundle readable", "%s: %s", bundle_path, fault->text);
    }
    report_unusable(report);
}

static enum err prepare(struct verify *v)
{
    size_t count = zip_count(v->zip);
    v->hashes = calloc(count + 1, sizeof *v->hashes);
    v->hashed = calloc(count + 1, sizeof *v->hashed);
    v->arena = arena_new(VERIFY_INDEX_ARENA_BYTES);
    v->lines = report_new();
    bool whole = v->hashes != NULL && v->hashed != NULL && v->arena != NULL && v->lines != NULL;
    return whole ? ERR_OK : ERR_NOMEM;
}

static void wipe(struct verify *v)
{
    verify_info_wipe(&v->info);
    verify_run_wipe(&v->run);
    verify_keys_wipe(&v->keys);
    report_free(v->lines);
    schema_free(v->schema);
    arena_free(v->arena);
    free(v->hashes);
    free(v->hashed);
    zip_close(v->zip);
}

static enum err check_with(const struct trust *trust, const char *bundle_path, struct report *report)
{
    struct fault fault = {"cannot be read"};
    struct verify *v = calloc(1, sizeof *v);
    if (v == NULL)
        return ERR_NOMEM;
    v->trust = trust;
    enum err e = zip_open(bundle_path, &v->zip, &fault);
    if (e == ERR_OK) {
        e = prepare(v);
        if (e == ERR_OK)
            e = check_bundle(v, &fault);
    }
    if (e == ERR_OK)
        e = verify_manifest_line(v, report);
    if (e == ERR_OK) {
        report_append(report, v->lines);
    } else if (e != ERR_NOMEM) {
        unusable(report, e, bundle_path, &fault);
        e = ERR_OK;
    }
    wipe(v);
    free(v);
    return e;
}

enum err verify_bundle(const char *bundle_path, const char *trust_path, struct report *report)
{
    struct trust *trust = NULL;
    struct fault fault = {""};
    enum err e = trust_load(trust_path, &trust, &fault);
    if (e == ERR_NOMEM)
        return e;
    if (e != ERR_OK) {
        report_line(report, REPORT_FAIL, "trust config", "%s: %s", trust_path,
                    fault.text[0] != '\0' ? fault.text : err_text(e));
        report_unusable(report);
        return ERR_OK;
    }
    e = check_with(trust, bundle_path, report);
    trust_free(trust);
    return e;
}
