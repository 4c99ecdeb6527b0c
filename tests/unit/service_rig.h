/*
 * service_rig.h - a service in a directory of its own, driven through service.h alone, with a clock that tests move.
 *
 * rig_teardown checks the whole ledger as a third party would: every record opens, verifies, is a valid event and continues
 * the chain. Everything here fails the test by itself when something does not go as it must.
 */
#ifndef TESTS_UNIT_SERVICE_RIG_H
#define TESTS_UNIT_SERVICE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/schema.h"
#include "signer/service.h"

#define RIG_SHELL "\"tool_name\":\"run_shell_command\",\"tool_input\":"
#define RIG_PLAIN "{\"command\":\"echo hi\"}"
#define RIG_NETWORK "{\"command\":\"echo hi\",\"additional_permissions\":{\"network\":true}}"
#define RIG_MORE \
    "{\"command\":\"echo hi\",\"additional_permissions\":{\"network\":true,\"fileSystem\":{\"write\":[\"/etc\"]}}}"

/* A test with a world of its own. */
#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

enum { RIG_ID_BYTES = 64, RIG_REPLY_BYTES = FRAME_MAX_REPLY + 1 };

struct rig {
    char dir[64];
    struct config config;
    struct clock now;
    struct service *service;
    uint64_t token;   /* of the newest hook */
    uid_t uid;        /* whose hooks and requests come next; 1000 at first */
    uint32_t wait_ms; /* how long the next hooks wait; 60000 at first */
    struct schema *schema;
    char reply[RIG_REPLY_BYTES]; /* the newest reply */
};

int rig_setup(void **state);
int rig_teardown(void **state);
void rig_open(struct rig *w);             /* the service, which must not be open */
void rig_pass(struct rig *w, int64_t ms); /* time */
void rig_tick(struct rig *w);

/* --- hooks --- */

struct rig_hook {
    bool parked, allow;
    char out[1024]; /* standard output of the answer */
    uint64_t token;
};

/* Any payload. */
struct rig_hook rig_payload(struct rig *w, const char *event, const char *payload, size_t len);
/* A payload of session s-1 with these further members, in /w or elsewhere. */
struct rig_hook rig_call(struct rig *w, const char *event, const char *rest);
struct rig_hook rig_call_in(struct rig *w, const char *event, const char *rest, const char *cwd);
/* The answer that a parked hook has by now, put into *hook; false when it has none. */
bool rig_answered(struct rig *w, struct rig_hook *hook);
/* The next answer of whichever hook; false when there is none. An allow stays undelivered until service_delivered. */
bool rig_next_answer(struct rig *w, struct rig_hook *hook);

/* --- requests --- */

/* Whether the request was served; the reply is in w->reply. */
bool rig_ask(struct rig *w, const char *request);
bool rig_ask_as(struct rig *w, uid_t uid, const char *request);
bool rig_answer(struct rig *w, const char *id, const char *decision);    /* approve or reject */
void rig_pending_id(struct rig *w, int n, char id[static RIG_ID_BYTES]); /* of the n-th pending approval */
int rig_pending_count(struct rig *w);
/* A call (as for rig_call) that is held, and that a person lets go. */
void rig_hold_and_approve(struct rig *w, const char *rest);
/* A held call whose wait ended without an answer; its approval's id. */
void rig_hold_and_miss(struct rig *w, char id[static RIG_ID_BYTES]);

/* --- the ledger; each closes the service and opens it again --- */

/* All types in order, each with a space before it. */
void rig_assert_types(struct rig *w, const char *expected);
/* The newest record of a type holds a text, or does not. */
void rig_assert_record(struct rig *w, const char *type, const char *text);
void rig_assert_no_record(struct rig *w, const char *type, const char *text);

/* --- files --- */

void rig_sql(const struct rig *w, const char *sql); /* on the database of a closed service */
void rig_change(struct rig *w, const char *sql);    /* closes it, and opens it again */

/* Whether any file below the data directory holds these bytes. */
bool rig_files_hold(const struct rig *w, const char *text);
void rig_copy(const struct rig *w, const char *from, const char *to); /* names below the data directory */
void rig_remove(const struct rig *w, const char *name);               /* with all below it; may be absent */

#endif
