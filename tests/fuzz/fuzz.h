/*
 * fuzz.h - what each fuzz target defines.
 *
 * tests/fuzz/fuzz_NAME.c is built with libFuzzer by `make fuzz`, and with tests/fuzz/replay.c, which gives it the files
 * of tests/fuzz/corpus/NAME, by `make check`. A target aborts (assert, FUZZ_CHECK) when its property is broken.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Always 0. Keeps nothing between calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion that NDEBUG does not take away. */
#define FUZZ_CHECK(property) \
    ((property) ? (void)0 : (fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #property), abort()))

#endif
