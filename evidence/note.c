#include "evidence/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/visible.h"

#define DASH "\xe2\x80\x94 " /* U+2014 and a space: how a signature line begins */

enum {
    DASH_BYTES = sizeof DASH - 1,
    ID_BYTES = 4,
    TIME_BYTES = 8,
    SIZE_DIGITS = 20,
    BODY_LINES = 3,
    /* origin, size and root with their newlines, and what a witness puts before them */
    COSIGNED_BYTES = 64 + NOTE_NAME_BYTES + SIZE_DIGITS + 1 + BASE64_TEXT_BYTES(DIGEST_BYTES),
};

struct span {
    const char *text;
    size_t len;
};

/* Who signed, as the line says. */
struct signer {
    struct span name;
    uint8_t id[ID_BYTES];
};

struct opening {
    struct span body;
    const struct note_vkey *logs, *witnesses;
    size_t log_count, witness_count;
    struct fault *fault;
    uint8_t *raw; /* room for any decoded signature of this note */
    size_t line;  /* the signature line at hand, from 1 */
    struct signer seen[NOTE_MAX_SIGNATURES];
    bool log_signed;
    struct note note; /* what is known so far */
};

/* The characters that Unicode calls white space; those below U+0020 are refused anyway. */
static bool is_space(uint32_t c)
{
    return c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool note_is_name(const char *name, size_t len)
{
    if (len == 0 || len >= NOTE_NAME_BYTES)
        return false;
    for (size_t i = 0; i < len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)name + i, len - i, &code);
        if (n == 0 || code < 0x20 || code == '+' || is_space(code))
            return false;
        i += n;
    }
    return true;
}

enum err note_body(struct buf *out, const char *origin, uint64_t size, const uint8_t root[static DIGEST_BYTES])
{
    char text[BASE64_TEXT_BYTES(DIGEST_BYTES)];

    if (!note_is_name(origin, strlen(origin)))
        return ERR_NOTE;
    base64_encode(root, DIGEST_BYTES, text);
    buf_printf(out, "%s\n%" PRIu64 "\n%s\n", origin, size, text);
    return buf_err(out);
}

void note_signature_line(struct buf *out, const struct note_vkey *key,
                         const uint8_t sig[static ED25519_SIGNATURE_BYTES])
{
    uint8_t raw[ID_BYTES + ED25519_SIGNATURE_BYTES];
    char text[BASE64_TEXT_BYTES(sizeof raw)];

    memcpy(raw, key->id, ID_BYTES);
    memcpy(raw + ID_BYTES, sig, ED25519_SIGNATURE_BYTES);
    base64_encode(raw, sizeof raw, text);
    buf_printf(out, DASH "%s %s\n", key->name, text);
}

/* The text up to `end`; moves *rest behind it. False, and nothing moved, when there is no `end`. */
static bool take_until(struct span *rest, char end, struct span *out)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->text, end, rest->len);
    if (at == NULL)
        return false;
    out->text = rest->text;
    out->len = (size_t)(at - rest->text);
    rest->text += out->len + 1;
    rest->len -= out->len + 1;
    return true;
}

static enum err check_characters(struct span note, struct fault *fault)
{
    for (size_t i = 0; i < note.len;) {
        uint32_t code = 0;
        size_t n = visible_decode((const uint8_t *)note.text + i, note.len - i, &code);
        if (n == 0)
            return fault_set(fault, ERR_NOTE, "byte %zu: not valid UTF-8", i);
        if (code < 0x20 && code != '\n')
            return fault_set(fault, ERR_NOTE, "byte %zu: a control character", i);
        i += n;
    }
    if (note.len == 0 || note.text[note.len - 1] != '\n')
        return fault_set(fault, ERR_NOTE, "does not end in a newline");
    return ERR_OK;
}

/* Splits at the first empty line: the body keeps the newline before it. */
static enum err split(struct span note, struct span *body, struct span *signatures, struct fault *fault)
{
    for (size_t i = 1; i < note.len; i++) {
        if (note.text[i - 1] != '\n' || note.text[i] != '\n')
            continue;
        *body = (struct span){note.text, i};
        *signatures = (struct span){note.text + i + 1, note.len - i - 1};
        return ERR_OK;
    }
    return fault_set(fault, ERR_NOTE, "no empty line before the signatures");
}

static bool parse_size(struct span text, uint64_t *out)
{
    uint64_t v = 0;

    if (text.len == 0 || text.len > SIZE_DIGITS || (text.len > 1 && text.text[0] == '0'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        unsigned digit = (unsigned)(text.text[i] - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

static enum err read_body(struct opening *o)
{
    struct span rest = o->body, lines[BODY_LINES];
    size_t root_len = 0;

    for (size_t i = 0; i < BODY_LINES; i++)
        if (!take_until(&rest, '\n', &lines[i]))
            return fault_set(o->fault, ERR_NOTE, "a checkpoint has three lines: origin, tree size, root hash");
    if (rest.len != 0)
        return fault_set(o->fault, ERR_NOTE, "more than the three lines of a checkpoint");
    if (!note_is_name(lines[0].text, lines[0].len))
        return fault_set(o->fault, ERR_NOTE, "line 1: not a usable origin");
    memcpy(o->note.origin, lines[0].text, lines[0].len);
    if (!parse_size(lines[1], &o->note.size))
        return fault_set(o->fault, ERR_NOTE, "line 2: not a tree size");
    if (base64_decode(lines[2].text, lines[2].len, o->note.root, DIGEST_BYTES, &root_len) != ERR_OK ||
        root_len != DIGEST_BYTES)
        return fault_set(o->fault, ERR_NOTE, "line 3: not a root hash in canonical base64");
    return ERR_OK;
}

static enum err refuse_line(const struct opening *o, const char *why)
{
    return fault_set(o->fault, ERR_NOTE, "signature line %zu: %s", o->line, why);
}

/* The last of `keys` that this signer's name and id name; `count` when there is none. */
static size_t find_key(const struct note_vkey *keys, size_t count, const struct signer *s)
{
    for (size_t i = count; i-- > 0;)
        if (memcmp(keys[i].id, s->id, ID_BYTES) == 0 && strlen(keys[i].name) == s->name.len &&
            memcmp(keys[i].name, s->name.text, s->name.len) == 0)
            return i;
    return count;
}

static enum err check_log(struct opening *o, const struct note_vkey *key, const uint8_t *sig, size_t sig_len)
{
    if (sig_len != ED25519_SIGNATURE_BYTES || ed25519_verify(key->pub, o->body.text, o->body.len, sig) != ERR_OK)
        return refuse_line(o, "the signature of a pinned log key does not verify");
    if (strcmp(key->name, o->note.origin) == 0)
        o->log_signed = true;
    return ERR_OK;
}

static enum err check_witness(struct opening *o, size_t witness, const uint8_t *sig, size_t sig_len)
{
    char message[COSIGNED_BYTES];
    uint64_t time_s = 0;

    if (sig_len != TIME_BYTES + ED25519_SIGNATURE_BYTES)
        return refuse_line(o, "the cosignature of a pinned witness has the wrong length");
    for (size_t i = 0; i < TIME_BYTES; i++)
        time_s = time_s << 8 | sig[i];
    int head = snprintf(message, sizeof message, "cosignature/v1\ntime %" PRIu64 "\n", time_s);
    memcpy(message + head, o->body.text, o->body.len);
    if (ed25519_verify(o->witnesses[witness].pub, message, (size_t)head + o->body.len, sig + TIME_BYTES) != ERR_OK)
        return refuse_line(o, "the cosignature of a pinned witness does not verify");
    o->note.cosignatures[o->note.cosignature_count++] = (struct note_cosignature){.witness = witness, .time_s = time_s};
    return ERR_OK;
}

/* Reads one line's signer and decodes its signature (with the id before it) into o->raw. */
static enum err read_signer(struct opening *o, struct span line, struct signer *out, size_t *raw_len)
{
    if (line.len < DASH_BYTES || memcmp(line.text, DASH, DASH_BYTES) != 0)
        return refuse_line(o, "does not begin with a dash (U+2014) and a space");
    struct span rest = {line.text + DASH_BYTES, line.len - DASH_BYTES};
    if (!take_until(&rest, ' ', &out->name))
        return refuse_line(o, "not a name and a signature");
    if (!note_is_name(out->name.text, out->name.len))
        return refuse_line(o, "bad key name");
    if (base64_decode(rest.text, rest.len, o->raw, rest.len, raw_len) != ERR_OK)
        return refuse_line(o, "the signature is not canonical base64");
    if (*raw_len <= ID_BYTES)
        return refuse_line(o, "the signature is too short");
    memcpy(out->id, o->raw, ID_BYTES);
    return ERR_OK;
}

static bool is_seen(const struct opening *o, const struct signer *s)
{
    for (size_t i = 0; i + 1 < o->line; i++)
        if (o->seen[i].name.len == s->name.len && memcmp(o->seen[i].name.text, s->name.text, s->name.len) == 0 &&
            memcmp(o->seen[i].id, s->id, ID_BYTES) == 0)
            return true;
    return false;
}

static enum err check_line(struct opening *o, struct span line)
{
    struct signer signer;
    size_t raw_len = 0;

    enum err e = read_signer(o, line, &signer, &raw_len);
    if (e != ERR_OK)
        return e;
    if (is_seen(o, &signer))
        return refuse_line(o, "a second signature of one key");
    o->seen[o->line - 1] = signer;

    size_t witness = find_key(o->witnesses, o->witness_count, &signer);
    if (witness < o->witness_count)
        return check_witness(o, witness, o->raw + ID_BYTES, raw_len - ID_BYTES);
    size_t log = find_key(o->logs, o->log_count, &signer);
    if (log < o->log_count)
        return check_log(o, &o->logs[log], o->raw + ID_BYTES, raw_len - ID_BYTES);
    return ERR_OK;
}

static enum err check_lines(struct opening *o, struct span rest)
{
    struct span line;

    if (rest.len == 0)
        return fault_set(o->fault, ERR_NOTE, "no signatures");
    while (take_until(&rest, '\n', &line)) {
        if (o->line == NOTE_MAX_SIGNATURES)
            return fault_set(o->fault, ERR_NOTE, "more than %d signatures", NOTE_MAX_SIGNATURES);
        o->line++;
        enum err e = check_line(o, line);
        if (e != ERR_OK)
            return e;
    }
    return ERR_OK;
}

static enum err check_pins(const struct opening *o)
{
    for (size_t i = 0; i < o->log_count; i++)
        if (o->logs[i].type != NOTE_TYPE_ED25519)
            return fault_set(o->fault, ERR_NOTE, "pinned log key %zu is not of type 0x01", i);
    for (size_t i = 0; i < o->witness_count; i++)
        if (o->witnesses[i].type != NOTE_TYPE_COSIGNATURE)
            return fault_set(o->fault, ERR_NOTE, "pinned witness %zu is not of type 0x04", i);
    return ERR_OK;
}

enum err note_open(const void *bytes, size_t len, const struct note_vkey *logs, size_t log_count,
                   const struct note_vkey *witnesses, size_t witness_count, struct note *out, struct fault *fault)
{
    struct span note = {bytes, len}, signatures = {NULL, 0};
    struct opening o = {
        .logs = logs, .log_count = log_count, .witnesses = witnesses, .witness_count = witness_count, .fault = fault};

    if (len > NOTE_MAX_BYTES)
        return fault_set(fault, ERR_NOTE, "over %d bytes", NOTE_MAX_BYTES);
    enum err e = check_pins(&o);
    if (e == ERR_OK)
        e = check_characters(note, fault);
    if (e == ERR_OK)
        e = split(note, &o.body, &signatures, fault);
    if (e == ERR_OK)
        e = read_body(&o);
    if (e != ERR_OK)
        return e;
    o.raw = malloc(len);
    if (o.raw == NULL)
        return ERR_NOMEM;
    e = check_lines(&o, signatures);
    free(o.raw);
    if (e != ERR_OK)
        return e;
    if (!o.log_signed)
        return fault_set(fault, ERR_NOTE, "not signed by a pinned log key of its origin %.128s", o.note.origin);
    *out = o.note;
    return ERR_OK;
}
