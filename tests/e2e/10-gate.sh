#!/usr/bin/env bash
# The gate holds with the real client: what is not allowed does not run, and whatever is wrong with us, nothing runs.
cd "$(dirname "$0")/../.."
. tests/e2e/lib.sh

plain_call='{"command":"echo made > made"}'

# --- plain calls ----------------------------------------------------------------------------------------------------

place plain
run_client "$plain_call"
expect 'a plain call runs' ran
expect 'a plain call: the client goes on' session_ended
check 'a plain call is recorded' eval 'tracekit runs list --json | grep -q "\"records\":[4-9]"'

# --- held calls -----------------------------------------------------------------------------------------------------

place approved
start_client "$network_call"
check 'a call that asks for the network is held' wait_held
check 'the list names the tool, the command, the grant and the rule' test "$(field '(lambda a: [a["tool"], a["summary"],
  a["grants"], a["rule_ids"], a["waiting"]])(v["approvals"][0])' <"$at/list.json")" = \
  "['run_shell_command', 'echo made > made', ['network'], ['TK-A004'], True]"
check 'it does not run while it is held' did_not_run
check 'another process approves it' answer approve "$approval"
wait_client
expect 'an approved call runs' ran
expect 'an approved call: the client goes on' session_ended
check 'an approved call is listed no more' eval '! lists_approval'

place rejected
start_client "$network_call"
check 'a call to be rejected is held' wait_held
check 'another process rejects it' answer reject "$approval" --reason 'not on my watch'
wait_client
refused 'a rejected call' 'a person rejected this call'
expect 'a rejected call: the model is told what the person said' is_told 'not on my watch'

place late --wait 5
start_client "$network_call"
check 'a call that nobody answers is held' wait_held
first=$approval
wait_over() { lists_approval && grep -q '"waiting":false' "$at/list.json"; }
check 'it is held no longer than the hook waits' wait_for 10 wait_over
check 'its approval can still be answered' answer approve "$first"
wait_client
refused 'a call that nobody answers' 'no answer yet'
start_client "$network_call"
check 'the late answer is not for another session: its call is held anew' wait_held
check 'under another approval' test "$approval" != "$first"
wait_client
refused 'the same call in another session' 'no answer yet'

# The same call again in the same session, while nobody has answered yet: it waits for the same answer.
place again --wait 10
was_told() { grep -qs 'no answer yet' "$home"/.gemini/tmp/*/chats/session-*.jsonl; }
start_client "$network_call" 'then' "$network_call"
check 'a call is held, and wanted again after its wait' wait_held
first=$approval
check 'the model is told that there is no answer yet' wait_for 60 was_told
check 'the call is held again' wait_held
check 'under the same approval' test "$approval" = "$first"
check 'that can be approved' answer approve "$first"
wait_client
expect 'then it runs' ran

# Two calls that nothing tells apart: one answer is for one of them.
place twins
twin_call='{"command":"echo made >> made","additional_permissions":{"network":true}}'
start_client "$twin_call" "$twin_call"
two_held() { lists_approval && [ "$(field 'len(v["approvals"])' <"$at/list.json")" = 2 ]; }
check 'two equal calls at once are held one by one' wait_for 60 two_held
check 'one is approved' answer approve "$(field 'v["approvals"][0]["id"]' <"$at/list.json")"
check 'the other is rejected' answer reject "$(field 'v["approvals"][1]["id"]' <"$at/list.json")"
wait_client
expect 'of two equal calls, one approved, one runs' test "$(cat "$space/made")" = made
expect 'of two equal calls, one rejected, the model is told' is_told 'a person rejected this call'

# --- what is wrong with us ------------------------------------------------------------------------------------------

place stopped
stop_signer
run_client "$plain_call"
refused 'no signer' 'the signer does not run'

place missing
cp "$bin/tracekit-hook" "$at/tracekit-hook"
define --hook "$at/tracekit-hook"
rm "$at/tracekit-hook"
run_client "$plain_call"
refused 'no hook program' 'tracekit: hook failed'

place killed
start_client "$network_call"
check 'a call is held when the signer dies' wait_held
kill_signer
wait_client
refused 'the signer dies while a call is held' 'the signer hung up without an answer'

# --- what surrounds the hook's shell --------------------------------------------------------------------------------

# Ends the hook's shell before it has asked anybody, and no other shell.
ambush='case $BASH_EXECUTION_STRING in *tracekit-hook*) exit 0 ;; esac'

# closed NAME: with no signer the call is refused; and the ambush works, which shows that this can fail.
closed() {
  run_client "$plain_call"
  refused "$1" 'the signer does not run'
  define --no-env
  run_client "$plain_call"
  expect "$1: without the definition's env the same call runs" ran
}

place workspace
stop_signer
echo "$ambush" >"$space/ambush"
echo "BASH_ENV=$space/ambush" >"$space/.env"
closed 'BASH_ENV in the .env of the workspace'

place bashrc
stop_signer
echo "$ambush" >"$home/.bashrc"
client_env=()
closed 'a .bashrc, and a client that no shell started'

place functions
stop_signer
client_env=(SHLVL=1 'BASH_FUNC_[%%=() { builtin echo more; builtin exit 0; }')
closed 'an exported function in place of the guard'

# --- started through tracekit ---------------------------------------------------------------------------------------

place launcher
client_env=(SHLVL=1 "PATH=${gemini%/*}:$(dirname "$(command -v node)"):/usr/bin:/bin")
printf '#!/bin/sh\nexec "%s" gemini "$@"\n' "$bin/tracekit" >"$at/launch"
chmod +x "$at/launch"
gemini=$at/launch
run_client "$plain_call"
expect 'through tracekit: the call runs' ran
expect 'through tracekit: the client comes to its end' session_ended
rm -f "$space/made"
client_env+=(GEMINI_RESTRICTED_MODE=true)
start_client "$plain_call"
wait "$client" || true
client=
expect 'through tracekit: with a void gate nothing is started' grep -q '^tracekit: GEMINI_RESTRICTED_MODE' "$at/client.err"
expect 'through tracekit: and so nothing runs' did_not_run

stop_signer
finish
