/*
 * bench.h - what the programs of this folder share: clocks, medians, and the files that they measure with.
 *
 * Nothing here is hostile: bench/run.sh makes all of it. Whatever is wrong ends the program with a word about it.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>

#include "evidence/buf.h"

double bench_now_us(void); /* microseconds of CLOCK_MONOTONIC */
double bench_cpu_us(void); /* processor time of this process */

/* The middle one, or the mean of the middle two; sorts them. `count` is at least 1. */
double bench_median(double *values, size_t count);

/* A number from the command line, 1 to 10,000,000. */
size_t bench_count(const char *text);

/* A whole file. The caller wipes it. */
void bench_read(const char *path, struct buf *out);

/* The lines of a file, each ended by a NUL in place of its newline. */
struct bench_lines {
    struct buf text;
    const char **line; /* owned; the lines themselves stand in `text` */
    size_t count;
};
void bench_read_lines(const char *path, struct bench_lines *out);
void bench_lines_wipe(struct bench_lines *lines);

/* calloc that cannot fail. The caller frees it. */
void *bench_alloc(size_t count, size_t size);

/* Ends the program with a word about why; bench_fail adds what errno says. */
_Noreturn void bench_die(const char *what);
_Noreturn void bench_fail(const char *what);

#endif
