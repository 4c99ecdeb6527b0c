#!/usr/bin/env bash
# Interactive sessions of the real client, in a pseudo-terminal, gated by what `tracekit init` writes: a person answers the hook
# in another terminal and Gemini in its own; what Gemini grants by itself afterwards is in the verified report.
cd "$(dirname "$0")/../.."
. tests/e2e/lib.sh
top=$PWD
outside=$(mktemp -d /var/tmp/tracekit-e2e.XXXXXX)
trap 'end_client; clean_up; rm -rf "$outside"' EXIT

# person NAME: a fresh home whose settings have comments, and what `tracekit init` makes of them.
person() {
  place "$1"
  {
    echo '// mine'
    "$python" "$here/client.py" settings <"$at/definition.json" |
      "$python" -c 'import json, sys; v = json.load(sys.stdin); del v["hooks"]; json.dump(v, sys.stdout, indent=2)'
  } >"$home/.gemini/settings.json"
  cp "$home/.gemini/settings.json" "$at/before.json"
  env -i PATH="$PATH" HOME="$home" "$bin/tracekit" init --dev --agent gemini --yes --data "$data" \
    </dev/null >"$at/init.out" 2>&1
}

# start_terminal [FLAG]... / STEP... -- CALL...: a session in a terminal (terminal.py), in the background.
start_terminal() {
  local flags=() steps=()
  while [ "$1" != / ]; do flags+=("$1") && shift; done
  shift
  while [ "$1" != -- ]; do steps+=("$1") && shift; done
  shift
  "$python" "$here/client.py" model "$@" >"$at/model"
  (cd "$space" && exec env -i PATH="$PATH" HOME="$home" GEMINI_CLI_HOME="$home" GEMINI_API_KEY=x TERM=xterm-256color \
    LC_ALL=C.UTF-8 SHLVL=1 "$python" "$top/$here/terminal.py" "$at/screen" "${steps[@]}" -- "$gemini" -m gemini-2.5-flash \
    --fake-responses "$at/model" ${flags[@]+"${flags[@]}"} </dev/null >"$at/client.out" 2>"$at/client.err") &
  client=$!
}
wait_terminal() {
  code=0
  wait "$client" || code=$?
  client=
  wait_for 20 run_is_final || true
}
say_terminal() {
  echo "terminal.py: exit status $code"
  cat "$at/client.err"
  tr -s ' \n' ' ' <"$at/screen" | tail -c 1500
  echo
  cat "$at/report" 2>/dev/null || true
}
holds() { # holds NAME COMMAND...: as check, and shows the session when it does not
  local name=$1 status=0
  shift
  "$@" || status=$?
  result "$name" "$status" "failed: $*" "$(say_terminal)"
}
came_true() { [ "$code" -ne 99 ]; }
# verify: the latest run's report goes to $at/report.
verify() {
  export_to "$at/run.tkb" || return 1
  code_of_report=0
  "$bin/tracekit-verify" "$at/run.tkb" --trust "$at/trust.json" >"$at/report" 2>&1 || code_of_report=$?
}
reports() { grep -qF -- "$1" "$at/report"; }
records() { # records TYPE: how many of them the exported run has
  "$tools/bundle_cat" "$at/run.tkb" | grep -ao "\"type\":\"$1\"" | wc -l
}

# --- the person answers twice: the hook elsewhere, Gemini here -------------------------------------------------------

person default
check 'init keeps the comment' grep -q '^// mine' "$home/.gemini/settings.json"
start_terminal --skip-trust -i hi / 'wait:held? run: tracekit' touch:"$at/held" 'wait:allow access to the following' sleep:1 \
  'send:\r' file:"$space/made" 'wait:done' term end -- "$network_call"
check 'default mode: the call is held' wait_held
check 'default mode: the screen names our hook, and what to type' wait_for 60 test -e "$at/held"
check 'default mode: it is approved from another terminal' answer approve "$approval"
wait_terminal
holds 'default mode: Gemini asks its own question, and the call runs' came_true
holds 'default mode: it ran' ran
verify
holds 'default mode: the run verifies' test "$code_of_report" -eq 0
holds 'default mode: it has no gap' eval '! reports "] gaps" && ! reports "] policy —"'
holds 'SIGTERM: however often SessionEnd comes, the run ends once' test "$(records run.closing) $(records run.final)" = '1 1'

# --- Gemini widens the sandbox by itself -----------------------------------------------------------------------------

person widened
start_terminal --skip-trust --yolo -i hi / 'wait:allow access to the following' sleep:1 'send:\r' file:"$outside/made" \
  'wait:done' term end -- "{\"command\":\"touch $outside/made\"}"
wait_terminal
holds 'a sandbox that Gemini widens: its dialog is answered with yes' came_true
holds 'a sandbox that Gemini widens: the command reaches outside' test -e "$outside/made"
verify
holds 'its run verifies' test "$code_of_report" -eq 0
holds 'the report warns that it ran against the policy' reports 'permissions were added or changed after the decision'
holds 'the report tells of the question' reports 'asked its user to widen the sandbox'
holds 'the released verifier gives the same lines' "$python" "$here/peer.py" compare "$bin/tracekit-verify" "$at/run.tkb" \
  "$at/trust.json"

# --- Esc does not release a held call --------------------------------------------------------------------------------

person escape
start_terminal --skip-trust --yolo -i hi / 'wait:held? run: tracekit' 'send:\e' 'wait:cancelled' touch:"$at/cancelled" \
  file:"$at/answered" sleep:3 term end -- "$network_call"
check 'Esc: a call is held' wait_held
check 'Esc: Gemini says that it is cancelled' wait_for 60 test -e "$at/cancelled"
check 'Esc: it is held all the same' lists_approval
check 'Esc: its approval can still be answered' answer approve "$approval"
touch "$at/answered"
wait_terminal
holds 'Esc: the session ends' came_true
holds 'Esc: what was cancelled does not run, approved or not' did_not_run
verify
holds 'Esc: the run verifies' test "$code_of_report" -eq 0
holds 'Esc: the report says that no end of the call was reported' reports 'decided_not_completed'

# --- a folder that nobody trusts -------------------------------------------------------------------------------------

person stranger
start_terminal -i hi / "wait:trust" sleep:1 touch:"$at/asked" term end -- "$network_call"
check 'an untrusted folder: Gemini asks its user first' wait_for 60 test -e "$at/asked"
wait_terminal
holds 'an untrusted folder: nothing ran before the answer' did_not_run
finish
