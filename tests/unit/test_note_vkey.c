/* Verifier keys and the names in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "evidence/base64.h"
#include "evidence/note.h"

static void names_are_strict(void **state)
{
    static const char *const good[] = {"a",   "tracekit.example.org/log/1", "\xc3\xa9",
                                       "a=b", "\xf0\x9f\x98\x80",           "\x7f"};
    static const char *const bad[] = {
        "",
        "a b",
        "a+b",
        "\x01",
        "a\n",
        "\x1f",
        "\xc2\x85",
        "\xc2\xa0",
        "\xe1\x9a\x80",
        "\xe2\x80\x80",
        "\xe2\x80\x8a",
        "\xe2\x80\xa8",
        "\xe2\x80\xa9",
        "\xe2\x80\xaf",
        "\xe2\x81\x9f",
        "\xe3\x80\x80",
        "\xff",
        "\xed\xa0\x80",
    };
    char longest[NOTE_NAME_BYTES + 1];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(note_is_name(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(note_is_name(bad[i], strlen(bad[i])));
    assert_false(note_is_name("a\0b", 3));
    memset(longest, 'a', sizeof longest);
    assert_true(note_is_name(longest, 255));
    assert_false(note_is_name(longest, 256));
}

/* The vector's log vkey with one part exchanged. */
static void vkeys_are_strict(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "not of the form name+id+key"},
        {"log", "not of the form name+id+key"},
        {"log+070965d6", "not of the form name+id+key"},
        {"+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "bad name"},
        {"a b+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "bad name"},
        {"log+070965d6+", "not of type"},
        {"log+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPx", "not canonical base64"},
        {"log+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPx\n", "not canonical base64"},
        {"log+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznA==", "public key of 30 bytes"},
        {"log+070965d6+AQ==", "public key of 0 bytes"},
        {"tracekit.example.org/log/0190f3a0-test+070965d6+AZsfhHkc\x80HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx",
         "not canonical base64"},
        {"log+070965d6+ApsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "not of type"},
        {"log+070965d6+/5sfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "hybrid keys (type 0xff) are not supported"},
        {"log+070965d6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "id does not match"},
        {"tracekit.example.org/log/0190f3a0-test+070965D6+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx",
         "id does not match"},
        {"tracekit.example.org/log/0190f3a0-test+070965d+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx",
         "id does not match"},
        {"tracekit.example.org/log/0190f3a0-test++AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx", "id does not match"},
        {"tracekit.example.org/log/0190f3a0-test+070965d60+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx",
         "id does not match"},
        {"tracekit.example.org/log/0190f3a0-test+070965d6+BJsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx",
         "id does not match"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct note_vkey vkey;
        struct fault fault = {""};
        memset(&vkey, 0x55, sizeof vkey);
        assert_int_equal(note_vkey_parse(cases[i].text, &vkey, &fault), ERR_VKEY);
        assert_int_equal(vkey.type, 0x55);
        if (strstr(fault.text, cases[i].why) == NULL)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].text, fault.text, cases[i].why);
    }
}

/* Upstream's hybrid keys are longer than ours: type, a label of 26 bytes and 32 bytes of key. */
static void a_real_hybrid_key_is_named_as_such(void **state)
{
    uint8_t raw[1 + 26 + 32] = {0xff};
    char key[BASE64_TEXT_BYTES(sizeof raw)], text[128];
    struct note_vkey vkey;
    struct fault fault = {""};
    (void)state;
    memcpy(raw + 1, "tracekit/slh-dsa-sha2-128s", 26);
    base64_encode(raw, sizeof raw, key);
    snprintf(text, sizeof text, "log+00000000+%s", key);
    assert_int_equal(note_vkey_parse(text, &vkey, &fault), ERR_VKEY);
    assert_non_null(strstr(fault.text, "hybrid keys (type 0xff) are not supported"));
}

static void made_vkeys_read_back(void **state)
{
    char name[NOTE_NAME_BYTES];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    static const uint8_t pub[ED25519_PUBLIC_BYTES] = {1, 2, 3};
    struct note_vkey made, back;
    char text[NOTE_VKEY_BYTES];
    assert_int_equal(note_vkey_make(name, NOTE_TYPE_COSIGNATURE, pub, &made), ERR_OK);
    note_vkey_write(&made, text);
    assert_int_equal(note_vkey_parse(text, &back, NULL), ERR_OK);
    assert_string_equal(back.name, name);
    assert_memory_equal(back.id, made.id, 4);
    assert_int_equal(back.type, NOTE_TYPE_COSIGNATURE);
    assert_memory_equal(back.pub, pub, sizeof pub);
    assert_int_equal(note_vkey_make("a b", NOTE_TYPE_ED25519, pub, &back), ERR_VKEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_strict),
        cmocka_unit_test(vkeys_are_strict),
        cmocka_unit_test(a_real_hybrid_key_is_named_as_such),
        cmocka_unit_test(made_vkeys_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
