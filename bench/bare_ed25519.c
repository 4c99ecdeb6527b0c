/*
 * bare_ed25519 - libsodium's Ed25519 and nothing else, over the signature messages of real records.
 *
 *   bare_ed25519 LINES COUNT
 *
 * Builds COUNT messages, of the record lines in turns, signs all of them with one key, and verifies all of them. Prints
 * two numbers: the processor time of one signature and of one verification, in microseconds.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "evidence/arena.h"
#include "evidence/json.h"
#include "evidence/record.h"

enum { LINE_ARENA_BYTES = 4 << 20, MESSAGE_BYTES = 64 << 10 };

struct message {
    struct buf text;
    uint8_t sig[crypto_sign_BYTES];
};

static void build(const char *line, struct message *out)
{
    const struct json *value = NULL;
    struct record r;
    struct arena *arena = arena_new(LINE_ARENA_BYTES);
    buf_init(&out->text, MESSAGE_BYTES);
    if (json_parse(arena, line, strlen(line), &value, NULL) != ERR_OK || record_open(value, &r) != ERR_OK ||
        record_message(&out->text, r.event, r.hash, r.alg, r.kid) != ERR_OK)
        bench_die("a line is no record");
    arena_free(arena);
}

static double sign_all(struct message *m, size_t count, const uint8_t *secret)
{
    double began = bench_cpu_us();
    for (size_t i = 0; i < count; i++)
        crypto_sign_detached(m[i].sig, NULL, m[i].text.data, m[i].text.len, secret);
    return (bench_cpu_us() - began) / (double)count;
}

static double verify_all(const struct message *m, size_t count, const uint8_t *pub)
{
    size_t good = 0;
    double began = bench_cpu_us();
    for (size_t i = 0; i < count; i++)
        good += crypto_sign_verify_detached(m[i].sig, m[i].text.data, m[i].text.len, pub) == 0;
    double took = (bench_cpu_us() - began) / (double)count;
    if (good != count)
        bench_die("a signature does not verify");
    return took;
}

int main(int argc, char **argv)
{
    struct bench_lines lines;
    uint8_t pub[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    if (argc != 3 || sodium_init() < 0)
        bench_die("usage: bare_ed25519 LINES COUNT");
    size_t count = bench_count(argv[2]);
    bench_read_lines(argv[1], &lines);
    struct message *messages = bench_alloc(count, sizeof *messages);
    for (size_t i = 0; i < count; i++)
        build(lines.line[i % lines.count], &messages[i]);
    crypto_sign_keypair(pub, secret);
    double sign_us = sign_all(messages, count, secret);
    printf("%.2f %.2f\n", sign_us, verify_all(messages, count, pub));
    for (size_t i = 0; i < count; i++)
        buf_wipe(&messages[i].text);
    free(messages);
    bench_lines_wipe(&lines);
    return 0;
}
