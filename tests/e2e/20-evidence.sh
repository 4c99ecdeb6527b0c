#!/usr/bin/env bash
# What the real client did is in the bundle, record by record, and the public project's released verifier accepts it.
cd "$(dirname "$0")/../.."
. tests/e2e/lib.sh

peer_program=$PWD/build/e2e/venv/bin/tracekit

# types BUNDLE: the types of its run's records, in one line.
types() {
  "$python" "$here/bundle.py" types "$1" | paste -sd ' '
}

# same_report BUNDLE: both verifiers say the same of it.
same_report() {
  "$python" "$here/peer.py" compare "$bin/tracekit-verify" "$1" "$at/trust.json"
}

# --- one held call --------------------------------------------------------------------------------------------------

place held
start_client "$network_call"
check 'a call is held' wait_held
check 'its run is exported while it is held' export_to "$at/open.tkb"
answer approve "$approval"
wait_client
expect 'it is approved and runs' ran
check 'the run ends with the session' wait_for 20 run_is_final
check 'the run is exported' export_to "$at/held.tkb"
"$bin/tracekit-verify" "$at/held.tkb" --trust "$at/trust.json" >"$at/report" && code=0 || code=$?
check 'tracekit-verify: exit status 0' test "$code" -eq 0
check 'tracekit-verify: VERIFIED' grep -qx 'Integrity: VERIFIED\.' "$at/report"
check 'tracekit-verify: the approval was by the same user' grep -q '^Assurance: dev; .*; approvals: self' "$at/report"
check 'every step of the call is in the run, in its order' test "$(types "$at/held.tkb")" = \
  "run.registered user.prompt policy.decision approval.request approval approval.consumed tool.result run.closing run.final"
check 'the bundle of a held call ends with its request' test "$(types "$at/open.tkb")" = \
  "run.registered user.prompt policy.decision approval.request"
"$bin/tracekit-verify" "$at/open.tkb" --trust "$at/trust.json" >"$at/report" && code=0 || code=$?
check 'it is VERIFIED TO HEAD' grep -qx 'Integrity: VERIFIED TO HEAD 3 (open)\.' "$at/report"

# --- the released verifier ------------------------------------------------------------------------------------------

"$peer_program" verify "$at/held.tkb" --trust "$at/trust.json" >"$at/report" && code=0 || code=$?
check 'the released verifier: exit status 0' test "$code" -eq 0
check 'the released verifier: VERIFIED' grep -qx 'Integrity: VERIFIED\.' "$at/report"
check 'its lines, integrity and assurance are ours' same_report "$at/held.tkb"
check 'so they are for a run that goes on' same_report "$at/open.tkb"

first_failure() {
  grep -m 1 -o '^\[FAIL\] [a-z ]*[a-z]' "$1"
}

# rejected COMMAND CHECK INTEGRITY: both refuse a copy, with the same first failing line.
rejected() {
  local copy=$at/$1.copy
  "$python" "$here/bundle.py" "$1" "$at/held.tkb" "$copy"
  "$bin/tracekit-verify" "$copy" --trust "$at/trust.json" >"$at/ours" && code=0 || code=$?
  "$peer_program" verify "$copy" --trust "$at/trust.json" >"$at/theirs" && theirs=0 || theirs=$?
  check "$1: ours and the released verifier exit alike, not with 0" test "$code" -ne 0 -a "$code" -eq "$theirs"
  check "$1: both say $3" test "$(grep -hx "Integrity: $3\." "$at/ours" "$at/theirs" | wc -l)" -eq 2
  check "$1: both fail at $2" test "$(first_failure "$at/ours"), $(first_failure "$at/theirs")" = "[FAIL] $2, [FAIL] $2"
  check "$1: both reports have the same lines" same_report "$copy"
}
rejected edit signatures FAILED
rejected flip 'bundle readable' 'UNUSABLE BUNDLE'

# --- several calls at once ------------------------------------------------------------------------------------------

place parallel
start_client '{"command":"echo 1 > one"}' '{"command":"echo 2 > two","additional_permissions":{"network":true}}' \
  '{"command":"echo 3 > three"}'
check 'of three calls one is held' wait_held
answer approve "$approval"
wait_client
for file in one two three; do expect "of three calls, $file runs" ran $file; done
check 'their run ends' wait_for 20 run_is_final
export_to "$at/parallel.tkb"
check 'three decisions, one approval, three results' test "$(types "$at/parallel.tkb" | tr ' ' '\n' | sort | uniq -c |
  awk '{ print $1 $2 }' | paste -sd ' ')" = \
  '1approval 1approval.consumed 1approval.request 3policy.decision 1run.closing 1run.final 1run.registered 3tool.result 1user.prompt'
check 'both verifiers accept it' same_report "$at/parallel.tkb"

# --- the records ----------------------------------------------------------------------------------------------------

for schema in evidence/schema tests/vectors/upstream; do
  check "every record follows $schema/tracekit.event.v2.json, as jsonschema reads it" "$python" "$here/schema.py" \
    "$schema/tracekit.event.v2.json" "$work"/*/*.tkb
done

stop_signer
finish
