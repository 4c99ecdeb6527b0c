/*
 * run_maker.h - the records of a usual run, for tests: valid under the event schema, in the order in which a signer
 * writes them. Each call appends one record to the log and returns its seq. `run` is the run id, of tenant "default".
 */
#ifndef TESTS_TOOLS_RUN_MAKER_H
#define TESTS_TOOLS_RUN_MAKER_H

#include <stdint.h>

#include "tests/tools/log_maker.h"

/* `data` are further members of the data, `more` further members of the event; each may be NULL. */
uint64_t run_maker_register(struct log_maker *log, const char *run, const char *data, const char *more);
/* The decision ("allow", "deny", "ask", "flag") on a tool call, made by the hook at tier T1. */
uint64_t run_maker_decide(struct log_maker *log, const char *run, const char *call, const char *decision);
uint64_t run_maker_result(struct log_maker *log, const char *run, const char *call);
/* A held call: the request for an approval, its answer (with further members of the data), and its use. */
uint64_t run_maker_ask(struct log_maker *log, const char *run, const char *call);
uint64_t run_maker_answer(struct log_maker *log, const char *run, const char *call, const char *decision,
                          const char *data);
uint64_t run_maker_consume(struct log_maker *log, const char *run, const char *call);
uint64_t run_maker_gap(struct log_maker *log, const char *run, const char *kind, const char *reason);
uint64_t run_maker_close(struct log_maker *log, const char *run);
/* run.final with this coverage, or the usual one (NULL). */
uint64_t run_maker_final(struct log_maker *log, const char *run, const char *coverage);

/* signer.epoch, then run "run-a" with one allowed call, ended, between the records of an open run "run-b". Seqs: epoch 0;
 * run-a 1, 3, 5, 6, 7; run-b 2, 4, 8. */
void run_maker_two_runs(struct log_maker *log);

#endif
