# Sourced by the scripts of this folder, after `cd` to the top folder: sessions of the real Gemini CLI, offline, each with
# a home, a workspace and a signer of its own. tests/e2e/run.sh has installed the client and the Python side.

. tests/integration/lib.sh

gemini=$PWD/build/e2e/gemini/node_modules/.bin/gemini
python=$PWD/build/e2e/venv/bin/python
here=tests/e2e
client_seconds=120
export PYTHONDONTWRITEBYTECODE=1
signer=
client=
client_env=(SHLVL=1) # what a client has from the shell that a person types it into

# A client is ended by SIGTERM to its `timeout`, which passes it on to all that the client started.
end_client() {
  [ -z "$client" ] || kill -TERM "$client" 2>/dev/null || true
  [ -z "$client" ] || wait "$client" || true
  client=
}
trap 'end_client; clean_up' EXIT

# --- places ---------------------------------------------------------------------------------------------------------

# place NAME [OPTION]...: a fresh home, workspace and data directory, with a signer; the options are for `define`.
place() {
  stop_signer
  at=$work/$1 home=$work/$1/home space=$work/$1/space data=$work/$1/data
  mkdir -p "$home/.gemini" "$space"
  start_signer
  define "${@:2}"
}

start_signer() {
  "$bin/tracekit-signer" --dev --data "$data" </dev/null >>"$at/signer.log" 2>&1 &
  signer=$!
  children+=("$signer")
  wait_for 10 signer_answers
}

signer_answers() {
  tracekit approvals list >/dev/null 2>&1
}

stop_signer() {
  [ -n "$signer" ] || return 0
  kill -TERM "$signer" 2>/dev/null || true
  wait "$signer" || true
  signer=
}

# As a crash of it would be.
kill_signer() {
  kill -KILL "$signer"
  wait "$signer" 2>/dev/null || true
  signer=
}

# tracekit ARGUMENT...: our command line, at this place's signer.
tracekit() {
  "$bin/tracekit" "$@" --data "$data"
}

# define [OPTION]...: settings.json with our hooks. Options of `tracekit hook-definition`, or --no-env alone.
define() {
  local settings=()
  if [ "${1:-}" = --no-env ]; then
    settings=(--no-env)
    shift
  fi
  tracekit hook-definition --agent gemini "$@" >"$at/definition.json"
  "$python" "$here/client.py" settings ${settings[@]+"${settings[@]}"} <"$at/definition.json" >"$home/.gemini/settings.json"
}

# --- the client -----------------------------------------------------------------------------------------------------

# start_client CALL... [then CALL...]...: a session in which the model wants these calls (JSON of run_shell_command's
# arguments) at once, and when it has their results, those.
start_client() {
  "$python" "$here/client.py" model "$@" >"$at/model"
  rm -rf "$home/.gemini/tmp"
  (cd "$space" && exec env -i PATH="$PATH" HOME="$home" GEMINI_CLI_HOME="$home" GEMINI_API_KEY=x \
    TERM=xterm-256color LC_ALL=C.UTF-8 ${client_env[@]+"${client_env[@]}"} timeout -k 5 "$client_seconds" "$gemini" \
    -m gemini-2.5-flash --fake-responses "$at/model" --skip-trust --yolo -p hi </dev/null >"$at/client.out" 2>"$at/client.err") &
  client=$!
}

# Waits for the client's end; its exit status goes to $code, what the model was told to the file told.
wait_client() {
  code=0
  wait "$client" || code=$?
  client=
  "$python" "$here/client.py" responses "$home"/.gemini/tmp/*/chats/session-*.jsonl >"$at/told"
}

run_client() {
  start_client "$@"
  wait_client
}

# session_ended: the client came to its last answer.
session_ended() {
  [ "$code" -eq 0 ] && grep -qx 'done' "$at/client.out"
}

# is_told TEXT: the model was told this.
is_told() {
  grep -qF -- "$1" "$at/told"
}

say_session() {
  echo "client: exit status $code"
  head -c 1500 "$at/client.err"
  echo "the model was told:"
  head -c 1500 "$at/told"
  echo "signer:"
  tail -n 5 "$at/signer.log"
}

# expect NAME COMMAND...: of the last session.
expect() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  result "$name" "$status" "failed: $*" "$(say_session)"
}

ran() { [ -e "$space/${1:-made}" ]; }
did_not_run() { [ ! -e "$space/${1:-made}" ]; }

# refused NAME TEXT: the last session came to its end, its call did not run, and the model was told why.
refused() {
  expect "$1: the call did not run" did_not_run
  expect "$1: the client goes on" session_ended
  expect "$1: the model is told why" is_told "$2"
}

# --- approvals, runs, bundles ---------------------------------------------------------------------------------------

# field EXPRESSION <JSON
field() {
  "$python" "$here/client.py" field "$1"
}

lists_approval() {
  tracekit approvals list --json >"$at/list.json" && grep -q '"id":"apr-' "$at/list.json"
}

# wait_held: until a call is held; its approval's id goes to $approval.
wait_held() {
  approval=none
  wait_for 60 lists_approval || return 1
  approval=$(field 'v["approvals"][0]["id"]' <"$at/list.json")
}

# quiet COMMAND...: its output goes to a file.
quiet() {
  "$@" >"$at/quiet.out" 2>&1
}

# answer approve|reject ID [OPTION]...
answer() {
  quiet tracekit approvals "$@"
}

# export_to FILE: the latest run, and the trust file beside it.
export_to() {
  quiet tracekit export latest -o "$1" --force && quiet tracekit trust -o "$at/trust.json" --force
}

run_is_final() {
  tracekit runs list --json | grep -q '"state":"final"'
}

# A session with one call that asks for the network, which a person approves; the run goes to held.tkb and trust.json.
network_call='{"command":"echo made > made","additional_permissions":{"network":true}}'
record_held_call() {
  start_client "$network_call"
  wait_held
  answer approve "$approval"
  wait_client
  wait_for 20 run_is_final
  export_to "$at/held.tkb"
}
