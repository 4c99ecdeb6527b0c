#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/arena.h"

static void hands_out_aligned_memory(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 20);
    for (size_t size = 0; size < 3000; size = size * 2 + 1) {
        char *text = arena_copy(arena, "abc", size < 3 ? size : 3);
        assert_non_null(text);
        uint8_t *p = arena_alloc(arena, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        memset(p, 0xff, size);
        assert_memory_equal(text, "abc", size < 3 ? size : 3);
    }
    assert_false(arena_failed(arena));
    assert_int_equal(arena_err(arena), ERR_OK);
    arena_free(arena);
}

static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { PIECES = 400 };
    uint8_t *pieces[PIECES];
    struct arena *arena = arena_new(64 << 20);
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i % 7 == 0 ? i * 400 : i;
        pieces[i] = arena_alloc(arena, size);
        assert_non_null(pieces[i]);
        memset(pieces[i], (int)(i & 0xff), size);
    }
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i % 7 == 0 ? i * 400 : i;
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], i & 0xff);
    }
    arena_free(arena);
}

static void never_exceeds_its_maximum(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1000);
    assert_int_equal(arena_room(arena), 1000);
    assert_non_null(arena_alloc(arena, 600));
    assert_int_equal(arena_room(arena), 400);
    assert_non_null(arena_alloc(arena, 400));
    assert_null(arena_alloc(arena, 1));
    assert_true(arena_failed(arena));
    assert_int_equal(arena_err(arena), ERR_TOO_LARGE);
    arena_free(arena);
}

static void stays_failed(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1000);
    assert_null(arena_alloc(arena, 1001));
    assert_null(arena_alloc(arena, 1));
    assert_null(arena_copy(arena, "a", 1));
    assert_int_equal(arena_room(arena), 0);
    assert_int_equal(arena_err(arena), ERR_TOO_LARGE);
    arena_free(arena);
}

static void refuses_absurd_sizes(void **state)
{
    (void)state;
    struct arena *arena = arena_new(SIZE_MAX);
    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_int_equal(arena_err(arena), ERR_NOMEM);
    arena_free(arena);
    arena = arena_new(1000);
    assert_null(arena_copy(arena, "a", SIZE_MAX));
    assert_int_equal(arena_err(arena), ERR_TOO_LARGE);
    arena_free(arena);
}

static void accepts_no_arena(void **state)
{
    (void)state;
    arena_free(NULL);
    assert_null(arena_alloc(NULL, 1));
    assert_null(arena_copy(NULL, "a", 1));
    assert_true(arena_failed(NULL));
    assert_int_equal(arena_err(NULL), ERR_NOMEM);
    assert_int_equal(arena_room(NULL), 0);
}

static void copies_end_with_nul(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1000);
    char *copy = arena_copy(arena, "a\0b", 3);
    assert_non_null(copy);
    assert_memory_equal(copy, "a\0b", 4);
    copy = arena_copy(arena, NULL, 0);
    assert_non_null(copy);
    assert_string_equal(copy, "");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_out_aligned_memory),  cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(never_exceeds_its_maximum), cmocka_unit_test(stays_failed),
        cmocka_unit_test(refuses_absurd_sizes),      cmocka_unit_test(accepts_no_arena),
        cmocka_unit_test(copies_end_with_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
