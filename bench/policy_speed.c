/*
 * policy_speed - how long does the policy take to decide about a call?
 *
 *   policy_speed PAYLOAD
 *
 * Prints the median of a decision in microseconds, with an arena of its own each as in the signer, and the verdict.
 */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "policy/policy.h"

enum { ROUNDS = 200, PER_ROUND = 500, ARENA_BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    struct buf text;
    struct policy *policy = NULL;
    const struct json *payload = NULL;
    double times[ROUNDS];
    struct decision d = {.verdict = VERDICT_ALLOW};
    if (argc != 2)
        bench_die("usage: policy_speed PAYLOAD");
    bench_read(argv[1], &text);
    struct arena *payload_arena = arena_new(ARENA_BYTES);
    if (policy_builtin(&policy) != ERR_OK || json_parse(payload_arena, text.data, text.len, &payload, NULL) != ERR_OK)
        bench_die("the payload is not strict JSON");
    const struct policy_call call = {.tool = json_get_cstr(payload, "tool_name"),
                                     .args = json_get(payload, "tool_input")};
    for (size_t i = 0; i < ROUNDS; i++) {
        double began = bench_cpu_us();
        for (size_t k = 0; k < PER_ROUND; k++) {
            struct arena *arena = arena_new(ARENA_BYTES);
            policy_decide(policy, arena, &call, &d);
            arena_free(arena);
        }
        times[i] = (bench_cpu_us() - began) / PER_ROUND;
    }
    printf("%.2f %s\n", bench_median(times, ROUNDS), policy_verdict_name(d.verdict));
    arena_free(payload_arena);
    policy_free(policy);
    buf_wipe(&text);
    return 0;
}
