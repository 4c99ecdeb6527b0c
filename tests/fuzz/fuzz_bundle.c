/*
 * fuzz_bundle.c - the input is a bundle, checked against the trust file of tests/tools/log_maker.h.
 *
 * An input that begins with "PK" is the zip file itself. Any other input is a list of entries, each "=== NAME" on a line
 * of its own and then its bytes; they are zipped, with a manifest that fits unless one is among them. So a changed byte
 * reaches the readers of JSON, records and notes, and does not end at a checksum.
 *
 * Property: the verifier gives a report with an exit code of 0 to 2; the JSON form is one strict JSON text; and it is 0
 * only when each line that VERIFIED rests on is there and passed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, memmem */
#endif
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evidence/digest.h"
#include "evidence/json.h"
#include "evidence/verify.h"
#include "evidence/zip.h"
#include "tests/tools/log_maker.h"

enum { ARENA_BYTES = 64 << 20, TEXT_BYTES = 16 << 20, MAX_INPUT = 4 << 20, MAX_ENTRIES = 32 };

struct entry {
    char name[ZIP_NAME_BYTES];
    const uint8_t *bytes;
    size_t len;
};

static char trust_path[64];

static int new_file(const char *name, char path[static 64])
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void write_trust(void)
{
    struct log_maker log;
    struct buf text;
    log_maker_init(&log);
    buf_init(&text, TEXT_BYTES);
    log_maker_trust(&log, 7, 0, NULL, &text);
    int fd = new_file("trust", trust_path);
    FUZZ_CHECK(write(fd, text.data, text.len) == (ssize_t)text.len);
    buf_wipe(&text);
    log_maker_wipe(&log);
}

/* --- the list of entries --- */

static size_t read_entries(const uint8_t *data, size_t size, struct entry out[static MAX_ENTRIES])
{
    size_t count = 0;
    const uint8_t *end = data + size;
    while (count < MAX_ENTRIES && end - data > 4 && memcmp(data, "=== ", 4) == 0) {
        const uint8_t *name = data + 4, *line = memchr(name, '\n', (size_t)(end - name));
        if (line == NULL || line - name >= ZIP_NAME_BYTES)
            return count;
        const uint8_t *begin = line + 1, *next = memmem(begin, (size_t)(end - begin), "\n=== ", 5);
        snprintf(out[count].name, ZIP_NAME_BYTES, "%.*s", (int)(line - name), (const char *)name);
        out[count].bytes = begin;
        out[count].len = next == NULL ? (size_t)(end - begin) : (size_t)(next - begin) + 1;
        data = begin + out[count].len;
        count++;
    }
    return count;
}

static bool put_entry(struct zip_writer *w, const char *name, const void *bytes, size_t len)
{
    return zip_writer_begin(w, name) == ERR_OK && (len == 0 || zip_writer_write(w, bytes, len) == ERR_OK) &&
           zip_writer_end(w) == ERR_OK;
}

static bool put_manifest(struct zip_writer *w, const struct entry *entries, size_t count)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    buf_puts(&text, "{\"format\":\"tracekit.bundle.v2\",\"verifier_min_version\":\"1.0.0\",\"files\":{");
    for (size_t i = 0; i < count; i++) {
        uint8_t hash[DIGEST_BYTES];
        char hex[DIGEST_HEX_BYTES];
        digest_sha256(entries[i].bytes, entries[i].len, hash);
        digest_hex(hash, sizeof hash, hex);
        buf_printf(&text, "%s\"%s\":\"%s\"", i == 0 ? "" : ",", entries[i].name, hex);
    }
    buf_puts(&text, "}}");
    bool good = put_entry(w, "manifest.json", text.data, text.len);
    buf_wipe(&text);
    return good;
}

/* False when the list cannot be zipped. */
static bool write_list(int fd, const uint8_t *data, size_t size)
{
    struct entry entries[MAX_ENTRIES];
    struct zip_writer *w = NULL;
    bool listed = false, good = true;
    size_t count = read_entries(data, size, entries);
    FILE *file = fdopen(dup(fd), "wb");
    FUZZ_CHECK(file != NULL && zip_writer_new(file, &w) == ERR_OK);
    for (size_t i = 0; i < count && good; i++) {
        listed |= strcmp(entries[i].name, "manifest.json") == 0;
        good = put_entry(w, entries[i].name, entries[i].bytes, entries[i].len);
    }
    good = good && (listed || put_manifest(w, entries, count)) && zip_writer_finish(w) == ERR_OK;
    zip_writer_free(w);
    return fclose(file) == 0 && good;
}

/* --- the property --- */

static bool passed(const struct report *r, const char *name)
{
    enum report_status status = REPORT_FAIL;
    const char *check = NULL;
    for (size_t i = 0; (check = report_check(r, i, &status)) != NULL; i++) {
        if (strcmp(check, name) == 0)
            return status == REPORT_PASS;
    }
    return false;
}

static void check_report(const struct report *r)
{
    static const char *const needed[] = {"manifest",   "checkpoint", "witness quorum", "keys",
                                         "signatures", "run chain",  "inclusion"};
    struct arena *arena = arena_new(ARENA_BYTES);
    const struct json *v = NULL;
    struct buf text;
    int code = report_exit_code(r, false);
    FUZZ_CHECK(code >= 0 && code <= 2);
    for (size_t i = 0; code == 0 && i < sizeof needed / sizeof needed[0]; i++)
        FUZZ_CHECK(passed(r, needed[i]));
    FUZZ_CHECK((code == 0) == (strncmp(report_integrity_text(r), "VERIFIED", 8) == 0));
    buf_init(&text, TEXT_BYTES);
    FUZZ_CHECK(report_json(r, false, &text) == ERR_OK);
    FUZZ_CHECK(json_parse(arena, text.data, text.len, &v, NULL) == ERR_OK);
    buf_wipe(&text);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (size > MAX_INPUT)
        return 0;
    if (trust_path[0] == '\0')
        write_trust();
    int fd = new_file("bundle", path);
    bool zipped = size >= 2 && memcmp(data, "PK", 2) == 0;
    bool good = zipped ? write(fd, data, size) == (ssize_t)size : write_list(fd, data, size);
    if (good) {
        struct report *report = report_new();
        FUZZ_CHECK(verify_bundle(path, trust_path, report) == ERR_OK);
        check_report(report);
        report_free(report);
    }
    close(fd);
    return 0;
}
