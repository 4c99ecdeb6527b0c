#!/usr/bin/env bash
# While a person has paused the gate, calls that policy would hold run; the record says so, and so does the verifier. A
# sandboxed command cannot pause it, and nothing without a terminal can by mistake.
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
data=$work/data
asks='{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls","additional_permissions":{"network":true}}}'

tracekit() {
  status=0
  "$bin/tracekit" "$@" --data "$data" </dev/null >"$work/out" 2>"$work/err" || status=$?
}
hook() { # hook: one call that asks for the network; its exit status, 42 when it may run
  status=0
  printf %s "$asks" | "$bin/tracekit-hook" gemini --event BeforeTool --socket "$data/run/agent.sock" \
    --signer-uid "$(id -u)" --wait 3 >"$work/out" 2>"$work/err" || status=$?
}
says() { grep -qF -- "$1" "$work/out"; }
complains() { grep -qF -- "$1" "$work/err"; }

"$bin/tracekit-signer" --dev --data "$data" 2>"$work/log" &
children+=("$!")
wait_for 10 test -S "$data/run/control.sock"

for wrong in '--for 15m' '--reason x' '--for 2h --reason x' '--for 0s --reason x' '--for 15 --reason x' '--for m --reason x' \
  '--for 15mm --reason x' '--for 99999s --reason x'; do
  # shellcheck disable=SC2086 # words
  tracekit pause --yes $wrong
  check "pause $wrong: wrong use (status $status)" [ "$status" -eq 2 ]
done
setsid_pause() { setsid -w "$bin/tracekit" pause --for 1m --reason x --data "$data" </dev/null >"$work/out" 2>"$work/err"; }
status=0
setsid_pause || status=$?
check "without a terminal and --yes: refused (status $status)" [ "$status" -eq 2 ]
check 'and says what to give' complains --yes

if unshare --user --map-root-user true 2>/dev/null; then
  status=0
  unshare --user --map-root-user "$bin/tracekit" pause --for 1m --reason x --yes --data "$data" >"$work/out" 2>&1 || status=$?
  check "from a sandbox: not served (status $status)" [ "$status" -ne 0 ]
  tracekit status --json
  check 'and not paused' says '"paused":null'
else
  skip 'from a sandbox' 'this system makes no user namespaces'
  skip 'and not paused' 'the same'
fi

tracekit pause --for 1m --reason 'building it all' --yes
check "it is paused (status $status)" [ "$status" -eq 0 ]
check 'and says how to end that' says 'tracekit resume'
hook
check "a call that asks for the network runs (status $status)" [ "$status" -eq 42 ]
tracekit status
check 'status shows it' says PAUSED
tracekit status --json
check 'to programs, too' says '"reason":"building it all"'
tracekit pause --for 1m --reason again --yes
check "a second pause is refused (status $status)" [ "$status" -eq 1 ]
tracekit resume
check "it is ended (status $status)" [ "$status" -eq 0 ]
check 'and says what ran' says '1 call ran'
hook
check "the gate holds again: no answer in time is a deny (status $status)" [ "$status" -eq 2 ]
tracekit resume
check "there is nothing more to end (status $status)" [ "$status" -eq 1 ]

tracekit export latest -o "$work/run.tkb"
tracekit trust -o "$work/trust.json"
status=0
"$bin/tracekit-verify" "$work/run.tkb" --trust "$work/trust.json" >"$work/out" 2>&1 || status=$?
check "the run verifies (status $status)" [ "$status" -eq 0 ]
check 'and its report says that the gate was paused' says 'the gate was paused'
finish
