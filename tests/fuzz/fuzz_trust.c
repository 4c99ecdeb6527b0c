/*
 * fuzz_trust.c - the input is a trust file.
 *
 * Property: what is read pins at least one log, no list is over its limit, each key is of the type of its list and is
 * written to a text that parses again. A refusal has words.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "evidence/trust.h"

static void check_key(const struct note_vkey *key, uint8_t type)
{
    struct note_vkey again;
    char text[NOTE_VKEY_BYTES];
    FUZZ_CHECK(key->type == type && note_is_name(key->name, strlen(key->name)));
    note_vkey_write(key, text);
    FUZZ_CHECK(note_vkey_parse(text, &again, NULL) == ERR_OK);
    FUZZ_CHECK(memcmp(again.pub, key->pub, sizeof again.pub) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trust *t = NULL;
    struct fault fault = {""};
    enum err e = trust_parse(data, size, &t, &fault);
    if (e != ERR_OK) {
        FUZZ_CHECK((e == ERR_TRUST || e == ERR_TOO_LARGE) && fault.text[0] != '\0' && t == NULL);
        return 0;
    }
    FUZZ_CHECK(t->log_count > 0 && t->log_count <= TRUST_MAX_KEYS && t->witness_count <= TRUST_MAX_KEYS);
    for (size_t i = 0; i < t->log_count; i++)
        check_key(&t->logs[i], NOTE_TYPE_ED25519);
    for (size_t i = 0; i < t->witness_count; i++) {
        check_key(&t->witnesses[i], NOTE_TYPE_COSIGNATURE);
        FUZZ_CHECK(strcmp(trust_class_name(t->witness_classes[i]), "unknown") != 0);
    }
    trust_free(t);
    return 0;
}
