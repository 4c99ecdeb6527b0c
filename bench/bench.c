#include "bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_COUNT = 10 * 1000 * 1000, MAX_FILE_BYTES = 256 << 20, PIECE_BYTES = 64 << 10 };

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

double bench_now_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_us(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

size_t bench_count(const char *text)
{
    char *end = NULL;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < 1 || n > MAX_COUNT)
        bench_die("a number from 1 to 10000000 is needed");
    return (size_t)n;
}

void bench_read(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;
    if (f == NULL)
        bench_fail(path);
    buf_init(out, MAX_FILE_BYTES);
    do {
        uint8_t *room = buf_reserve(out, PIECE_BYTES);
        if (room == NULL)
            bench_die("a file is too large");
        n = fread(room, 1, PIECE_BYTES, f);
        buf_commit(out, n);
    } while (n > 0);
    if (ferror(f) || fclose(f) != 0)
        bench_fail(path);
}

void bench_read_lines(const char *path, struct bench_lines *out)
{
    struct bench_lines lines = {.count = 0};
    bench_read(path, &lines.text);
    for (size_t i = 0; i < lines.text.len; i++)
        lines.count += lines.text.data[i] == '\n';
    if (lines.count == 0 || lines.text.data[lines.text.len - 1] != '\n')
        bench_die("a file of lines is needed");
    lines.line = bench_alloc(lines.count, sizeof *lines.line);
    char *at = (char *)lines.text.data;
    for (size_t i = 0; i < lines.count; i++) {
        lines.line[i] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    *out = lines;
}

void bench_lines_wipe(struct bench_lines *lines)
{
    buf_wipe(&lines->text);
    free(lines->line);
}

void *bench_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        bench_die("out of memory");
    return memory;
}

void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void bench_fail(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}
