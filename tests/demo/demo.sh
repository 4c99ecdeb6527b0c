#!/usr/bin/env bash
# `make demo`: one session of an agent, from its hooks to a verified record, on this machine and without the agent.
#
# The payloads are those that the real Gemini CLI sent (tests/vectors/payloads); each goes through the very command line
# that `tracekit hook-definition` prints for its settings. Exits 0 only if everything happened as told.
#
#   KEEP=DIR make demo    leaves run.tkb, run-EDITED.tkb and trust.json in DIR
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${TRACEKIT_BIN:-$PWD/build/bin}
tools=${TRACEKIT_TOOLS:-$PWD/build/release/tools}
payloads=tests/vectors/payloads
work=$(mktemp -d)
data=$work/data
signer=
held=

clean_up() {
  for pid in $held $signer; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
chapter() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '  %s\n' "$*"; }
indent() { sed 's/^/    /'; }
fail() {
  printf '\nThe demo FAILED: %s\n' "$*" >&2
  exit 1
}
tracekit() { "$bin/tracekit" "$@" --data "$data"; }

# hook EVENT PAYLOAD-FILE: what Gemini does with the definition's command. Standard output, standard error and the exit
# status are left in $work/out, $work/err and $status.
hook() {
  local command
  command=$("$bin/tracekit" hook-definition --agent gemini --data "$data" --command "$1")
  status=0
  env BASH_ENV= LD_PRELOAD= bash -c "$command" <"$2" >"$work/out" 2>"$work/err" || status=$?
}
expect() { # expect STATUS TEXT: how the last hook ended
  [ "$status" -eq "$1" ] || fail "the hook exited $status, not $1: $(cat "$work/out" "$work/err")"
  grep -qF -- "$2" "$work/out" || fail "the hook's answer does not hold '$2': $(cat "$work/out")"
}
# Waits until one approval is pending and puts its id into $id.
wait_for_approval() {
  for _ in $(seq 100); do
    id=$(tracekit approvals list --json | grep -o '"id":"apr-[0-9a-f]*"' | head -1 | cut -d'"' -f4 || true)
    [ -z "$id" ] || return 0
    sleep 0.05
  done
  fail "no call was held"
}
# hold PAYLOAD-FILE: a BeforeTool hook in the background, as Gemini would have it waiting.
hold() {
  (
    hook BeforeTool "$1"
    echo "$status" >"$work/held.status"
    mv "$work/out" "$work/held.out"
  ) &
  held=$!
  wait_for_approval
}
held_ended() { # held_ended STATUS TEXT
  wait "$held" || fail "the waiting hook failed"
  held=
  [ "$(cat "$work/held.status")" -eq "$1" ] || fail "the held call ended with $(cat "$work/held.status"), not $1"
  grep -qF -- "$2" "$work/held.out" || fail "the held call's answer is $(cat "$work/held.out")"
}

chapter "1. A signer, in a directory of its own"
"$bin/tracekit-signer" --dev --data "$data" 2>"$work/signer.log" &
signer=$!
for _ in $(seq 100); do
  [ -S "$data/run/control.sock" ] && break
  kill -0 "$signer" 2>/dev/null || fail "the signer did not start: $(cat "$work/signer.log")"
  sleep 0.05
done
say "tracekit-signer runs as its own process with its own keys. The agent reaches it through one socket only."

chapter "2. The agent's session begins, and it runs a plain command"
hook SessionStart "$payloads/SessionStart-shell.json"
[ "$status" -eq 0 ] || fail "SessionStart: exit $status"
hook BeforeTool "$payloads/BeforeTool-shell-plain.json"
expect 0 '{}'
hook AfterTool "$payloads/AfterTool-shell-plain.json"
say "The payload is what Gemini CLI really sent. The hook asked, the signer recorded its decision, and only then came: allow."

chapter "3. A command asks for the network (rule TK-A004): it is held"
hold "$payloads/BeforeTool-shell-network-only.json"
tracekit approvals list | indent
say "Gemini waits. From another terminal a person looks and approves:"
say "\$ tracekit approvals approve $id"
tracekit approvals approve "$id" --reason "the demo needs it" | indent
held_ended 0 '{}'
hook AfterTool "$payloads/AfterTool-shell-network-only.json"
say "The waiting hook got its allow, once, for exactly these arguments in this directory."

chapter "4. A command asks for the network and for paths: rejected"
hold "$payloads/BeforeTool-shell-full.json"
tracekit approvals show "$id" | indent
tracekit approvals reject "$id" --reason "not on this machine" | indent
held_ended 2 'rejected this call'
say "What the model is told:"
indent <"$work/held.out"
echo

chapter "5. Arguments that two programs could read differently: denied"
sed 's/"tool_input":{/"tool_input":{"command":"true",/' "$payloads/BeforeTool-shell-plain.json" >"$work/twice.json"
hook BeforeTool "$work/twice.json"
expect 2 'TK-ARGS-INVALID'
indent <"$work/out"
echo

chapter "6. The signer is gone: denied"
{ kill -KILL "$signer" && wait "$signer"; } 2>/dev/null || true
signer=
hook BeforeTool "$payloads/BeforeTool-shell-plain.json"
expect 2 '"decision":"deny"'
indent <"$work/out"
echo
say "Killed without warning, and nothing was lost: it starts again on the same ledger."
"$bin/tracekit-signer" --dev --data "$data" 2>>"$work/signer.log" &
signer=$!
for _ in $(seq 100); do
  tracekit runs list --json >/dev/null 2>&1 && break
  sleep 0.05
done
hook SessionEnd "$payloads/SessionEnd-shell.json"
for _ in $(seq 200); do
  tracekit runs list --json | grep -q '"state":"final"' && break
  sleep 0.05
done
tracekit runs list | indent

chapter "7. The record leaves this machine"
tracekit export latest -o "$work/run.tkb" | indent
tracekit trust -o "$work/trust.json" | indent
say "Whoever has these two files checks them offline, with one static program:"
say "\$ tracekit-verify run.tkb --trust trust.json"
"$bin/tracekit-verify" "$work/run.tkb" --trust "$work/trust.json" >"$work/report" || fail "verify: $(cat "$work/report")"
indent <"$work/report"
grep -qx 'Integrity: VERIFIED.' "$work/report" || fail "the bundle is not VERIFIED"

chapter "8. Somebody edits the record: another approver, one byte"
uid=$(id -u)
forged=$((uid % 10 == 9 ? uid - 1 : uid + 1))
seq=$("$tools/bundle_edit" "$work/run.tkb" "$work/run-EDITED.tkb" approval "\"approver\":\"uid:$uid\"" "\"approver\":\"uid:$forged\"")
say "In record seq $seq uid:$uid became uid:$forged, and the bundle's manifest was made to fit."
status=0
"$bin/tracekit-verify" "$work/run-EDITED.tkb" --trust "$work/trust.json" >"$work/report" || status=$?
grep -A3 -E '^\[FAIL\]|^Integrity' "$work/report" | indent
[ "$status" -eq 1 ] || fail "verify of the edited bundle exited $status, not 1"
grep -qx 'Integrity: FAILED.' "$work/report" || fail "the edited bundle is not FAILED"
grep -q "seq $seq:" "$work/report" || fail "the report does not name record seq $seq"

chapter "What this shows, and what it does not"
say "Every call was asked about before it ran, a person could answer, and the record shows any later change."
say "In this mode the signer runs as you, like the agent: that is why the assurance line says 'dev' and 'approvals: self'."
say "Calls that never reach a hook are not recorded. README.md says which, and how to close what can be closed."

if [ -n "${KEEP:-}" ]; then
  mkdir -p "$KEEP"
  cp "$work/run.tkb" "$work/run-EDITED.tkb" "$work/trust.json" "$KEEP/"
  say "Left in $KEEP: run.tkb, run-EDITED.tkb (the forgery), trust.json"
fi
printf '\nThe demo passed.\n'
