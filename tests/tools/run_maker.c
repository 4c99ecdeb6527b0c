#include "tests/tools/run_maker.h"

#include <stdio.h>
#include <string.h>

enum { DATA_BYTES = 4096 };

#define HEX64 "abababababababababababababababababababababababababababababababab"
#define NONCE "00000000000000000000000000000005"
#define LATER "2026-11-30T13:00:00.000000Z"

static uint64_t add(struct log_maker *log, const char *run, const char *type, const char *source, const char *data,
                    const char *more)
{
    return log_maker_add(
        log, &(struct log_maker_event){.run_id = run, .type = type, .source = source, .data = data, .more = more});
}

static uint64_t add_for_call(struct log_maker *log, const char *run, const char *type, const char *call,
                             const char *data)
{
    char more[DATA_BYTES];
    snprintf(more, sizeof more, "\"tool_call_id\":\"%s\",\"attempt\":0", call);
    return add(log, run, type, "signer", data, more);
}

uint64_t run_maker_register(struct log_maker *log, const char *run, const char *data, const char *more)
{
    char all[DATA_BYTES], members[DATA_BYTES];
    snprintf(all, sizeof all,
             "{\"agent\":{\"name\":\"gemini-cli\",\"version\":\"0.30.0\"},\"identity\":{\"scheme\":\"uid\","
             "\"subject\":\"1000\",\"attested\":true},\"signer_isolation\":\"same-user\"%s%s}",
             data == NULL ? "" : ",", data == NULL ? "" : data);
    snprintf(members, sizeof members, "\"tier\":\"T1\",\"tenant_attested\":true%s%s", more == NULL ? "" : ",",
             more == NULL ? "" : more);
    return add(log, run, "run.registered", "hook", all, members);
}

uint64_t run_maker_decide(struct log_maker *log, const char *run, const char *call, const char *decision)
{
    char data[DATA_BYTES], more[DATA_BYTES];
    snprintf(data, sizeof data,
             "{\"tool_use_id\":\"%s\",\"tool\":\"run_shell_command\",\"decision_id\":\"dec-%s\",\"policy_hash\":"
             "\"sha256:" HEX64 "\",\"args_commitment\":\"hmac-sha256:" HEX64 "\",\"nonce\":\"" NONCE
             "\",\"decision\":\"%s\",\"rule_ids\":[%s]}",
             call, call, decision, strcmp(decision, "allow") == 0 ? "" : "\"TK-A004\"");
    snprintf(more, sizeof more,
             "\"tool_call_id\":\"%s\",\"attempt\":0,\"tier\":\"T1\",\"args_source\":\"parsed\",\"args_commitment\":"
             "\"hmac-sha256:" HEX64 "\"",
             call);
    return add(log, run, "policy.decision", "hook", data, more);
}

uint64_t run_maker_result(struct log_maker *log, const char *run, const char *call)
{
    char data[DATA_BYTES], more[DATA_BYTES];
    snprintf(data, sizeof data,
             "{\"tool_use_id\":\"%s\",\"ok\":true,\"output\":{\"hash\":\"hmac-sha256:" HEX64
             "\",\"size\":18,\"redacted\":false},\"decision_id\":\"dec-%s\"}",
             call, call);
    snprintf(more, sizeof more, "\"tool_call_id\":\"%s\",\"attempt\":0,\"tier\":\"T1\"", call);
    return add(log, run, "tool.result", "hook", data, more);
}

uint64_t run_maker_ask(struct log_maker *log, const char *run, const char *call)
{
    char data[DATA_BYTES];
    snprintf(data, sizeof data,
             "{\"approval_id\":\"apr-%s\",\"decision_id\":\"dec-%s\",\"policy_hash\":\"sha256:" HEX64
             "\",\"rule_ids\":[\"TK-A004\"],\"expires_at\":\"" LATER
             "\",\"requester\":\"uid:1000\",\"binding\":{\"v\":1,\"approval_id\":\"apr-%s\",\"tenant\":\"default\","
             "\"run_id\":\"%s\",\"tool_call_id\":\"%s\",\"attempt\":0,\"tool\":\"run_shell_command\","
             "\"args_commitment\":\"hmac-sha256:" HEX64 "\",\"args_source\":\"parsed\",\"policy_hash\":\"sha256:" HEX64
             "\",\"nonce\":\"" NONCE "\",\"expires_at\":\"" LATER "\"},\"binding_digest\":\"sha256:" HEX64 "\"}",
             call, call, call, run, call);
    return add_for_call(log, run, "approval.request", call, data);
}

uint64_t run_maker_answer(struct log_maker *log, const char *run, const char *call, const char *decision,
                          const char *data)
{
    char all[DATA_BYTES];
    snprintf(all, sizeof all,
             "{\"tool_use_id\":\"%s\",\"approval_id\":\"apr-%s\",\"decision\":\"%s\",\"approver\":\"uid:1001\","
             "\"channel\":\"control\"%s%s}",
             call, call, decision, data == NULL ? "" : ",", data == NULL ? "" : data);
    return add_for_call(log, run, "approval", call, all);
}

uint64_t run_maker_consume(struct log_maker *log, const char *run, const char *call)
{
    char data[DATA_BYTES];
    snprintf(data, sizeof data, "{\"approval_id\":\"apr-%s\"}", call);
    return add_for_call(log, run, "approval.consumed", call, data);
}

uint64_t run_maker_gap(struct log_maker *log, const char *run, const char *kind, const char *reason)
{
    char data[DATA_BYTES];
    snprintf(data, sizeof data, "{\"kind\":\"%s\",\"reason\":\"%s\"}", kind, reason);
    return add(log, run, "capture.gap", "signer", data, NULL);
}

uint64_t run_maker_close(struct log_maker *log, const char *run)
{
    return add(log, run, "run.closing", "signer", "{\"reason\":\"close_run\"}", NULL);
}

uint64_t run_maker_final(struct log_maker *log, const char *run, const char *coverage)
{
    char data[DATA_BYTES];
    const struct log_maker_record *last = NULL;
    for (size_t i = 0; i < log->count; i++) {
        if (strcmp(log->records[i].run_id, run) == 0)
            last = &log->records[i];
    }
    LOG_MAKER_MUST(last != NULL);
    snprintf(data, sizeof data, "{\"head_run_seq\":%llu,\"head_hash\":\"%s\",\"coverage\":%s}",
             (unsigned long long)last->run_seq, last->hash,
             coverage == NULL ? "{\"layers\":[\"L2\"],\"reconciled\":0,\"unreconciled\":{}}" : coverage);
    return add(log, run, "run.final", "signer", data, NULL);
}

void run_maker_two_runs(struct log_maker *log)
{
    log_maker_epoch(log, 0, NULL);
    run_maker_register(log, "run-a", NULL, NULL);
    run_maker_register(log, "run-b", NULL, NULL);
    run_maker_decide(log, "run-a", "t1", "allow");
    run_maker_decide(log, "run-b", "t1", "deny");
    run_maker_result(log, "run-a", "t1");
    run_maker_close(log, "run-a");
    run_maker_final(log, "run-a", NULL);
    run_maker_gap(log, "run-b", "decision_flip", "example");
}
