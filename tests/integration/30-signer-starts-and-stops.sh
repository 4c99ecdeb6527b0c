#!/usr/bin/env bash
# The signer starts in a directory of its own, says where things lie, refuses what is unsafe with words that help, is the
# only one there, stays small, and leaves nothing behind when it is told to stop.
# shellcheck disable=SC2016 # what eval gets is meant for it
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh
umask 022
unset XDG_DATA_HOME XDG_RUNTIME_DIR NOTIFY_SOCKET
export HOME=$work
data=$work/data
signer=

# run ARGUMENT...: the signer, until it ends by itself (10 s at most): $status, $work/out and $work/err.
run() {
  status=0
  timeout 10 "$bin/tracekit-signer" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# start ARGUMENT...: the signer in the background, until it says that it is ready: $signer and $work/log.
start() {
  : >"$work/log"
  "$bin/tracekit-signer" "$@" 2>"$work/log" </dev/null &
  signer=$!
  children+=("$signer")
  wait_for 10 ready_or_gone && is_ready
}

is_ready() { grep -q '^tracekit-signer: ready, ' "$work/log"; }
ready_or_gone() { is_ready || ! kill -0 "$signer" 2>/dev/null; }

# stop SIGNAL: its exit status is in $status.
stop() {
  status=0
  kill -"$1" "$signer"
  wait "$signer" || status=$?
}

# refused NAME STATUS WORDS: the last run ended so, in one line (or one and where to read on).
refused() {
  local bad=0
  [ "$status" -eq "$2" ] && grep -qF -- "$3" "$work/err" && ! grep -q ready "$work/err" && [ ! -s "$work/out" ] || bad=1
  result "$1" "$bad" "expected status $2 and: $3" "got status $status and:" "$(cat "$work/err")"
}

holds() { # holds NAME COMMAND...
  local name=$1 bad=0
  shift
  "$@" || bad=1
  result "$name" "$bad" "failed: $*" "$(cat "$work/err" "$work/log" 2>/dev/null)"
}

mode_is() { [ "$(stat -c %a "$1")" = "$2" ]; }

# --- the command line -------------------------------------------------------------------------------------------------

run --help
holds '--help explains itself' eval '[ "$status" -eq 0 ] && grep -q -- "--config FILE" "$work/out" && [ ! -s "$work/err" ]'
run --version
holds '--version is one line' eval '[ "$status" -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && [ ! -s "$work/err" ]'
run
refused 'no option is wrong use' 2 'give either --dev or --config FILE'
run --dev --config "$work/none"
refused 'both options are wrong use' 2 'give either --dev or --config FILE'
run --dev --colour
refused 'an unknown option is named' 2 'there is no option "--colour"'
run --dev $'ev\e[2Jil'
refused 'and made visible' 2 'there is no argument "ev\x1b[2Jil"'
run --dev --data
refused 'a missing value is named' 2 '--data needs a value'
run --config "$work/none"
refused 'a configuration that is not there is named' 2 "No such file or directory): $work/none"
printf 'data: %s\ntenent: x\n' "$data" >"$work/signer.yaml"
run --config "$work/signer.yaml"
refused 'an unknown key is named with its place' 2 "$work/signer.yaml:2:1: unknown key \"tenent\""
chmod 666 "$work/signer.yaml"
run --config "$work/signer.yaml"
refused 'a configuration that others can write is refused' 2 "run: chmod go-w $work/signer.yaml"
long=$work/$(printf 'x%.0s' {1..100})
run --dev --data "$long"
refused 'a socket path that is too long is refused' 2 "a socket's path has at most 107 bytes"
holds 'and nothing was made' [ ! -e "$long" ]
env -u HOME timeout 10 "$bin/tracekit-signer" --dev >"$work/out" 2>"$work/err" && status=0 || status=$?
refused 'without HOME and --data there is no place' 2 'give --data DIR'

# --- start and stop ---------------------------------------------------------------------------------------------------

holds 'it starts in a new directory' start --dev --data "$data"
holds 'and says where things lie' grep -qxF "tracekit-signer: ready, dev mode (same-user), process $signer, data $data, \
agent socket $data/run/agent.sock, control socket $data/run/control.sock" "$work/log"
holds 'the data directory is private' mode_is "$data" 700
holds 'and the one of the sockets' mode_is "$data/run" 700
holds 'and the agent socket' mode_is "$data/run/agent.sock" 600
holds 'and the control socket' mode_is "$data/run/control.sock" 600
holds 'no file is open to others' eval '[ -z "$(find "$data" -perm /077 -type f)" ]'
rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$signer/status")
holds "idle, it is under 16 MiB resident ($rss KiB)" [ "$rss" -lt 16384 ]
holds 'it leaves no core dump' grep -q '^Max core file size *0 *0 ' "/proc/$signer/limits"

run --dev --data "$data"
refused 'a second one on the same directory is refused' 3 "another signer (process $signer) uses this data directory"
holds 'and did the first one no harm' [ -S "$data/run/agent.sock" ]

kill -HUP "$signer"
kill -PIPE "$signer"
sleep 0.1
holds 'SIGHUP and SIGPIPE do not end it' kill -0 "$signer"
stop TERM
holds 'SIGTERM ends it with status 0' [ "$status" -eq 0 ]
holds 'and it said so, in its second line' eval '[ "$(wc -l <"$work/log")" -eq 2 ] && tail -n 1 "$work/log" | grep -qx "tracekit-signer: stopped"'
holds 'both sockets are gone' eval '[ ! -e "$data/run/agent.sock" ] && [ ! -e "$data/run/control.sock" ]'

holds 'it starts again' start --dev --data "$data"
stop INT
holds 'SIGINT ends it with status 0' [ "$status" -eq 0 ]

# --- what lies there ---------------------------------------------------------------------------------------------------

start --dev --data "$data" || true
end_child "$signer"
holds 'a killed signer leaves its sockets' [ -S "$data/run/agent.sock" ]
holds 'which the next one replaces' start --dev --data "$data"
stop TERM
holds 'and removes' eval '[ "$status" -eq 0 ] && [ ! -e "$data/run/agent.sock" ]'

echo precious >"$data/run/agent.sock"
run --dev --data "$data"
refused 'a file in the way of a socket is refused' 2 'something that is not a socket is in the way'
holds 'and kept' grep -qx precious "$data/run/agent.sock"
rm "$data/run/agent.sock"

chmod 755 "$data"
run --dev --data "$data"
refused 'a data directory that is open to others is refused' 2 "run: chmod 700 $data"
holds 'and stays as it is' mode_is "$data" 755
chmod 700 "$data"
chmod 750 "$data/run"
run --dev --data "$data"
refused "so is the sockets' directory" 2 "run: chmod 700 $data/run"
chmod 700 "$data/run"
ln -s "$data" "$work/link"
run --dev --data "$work/link"
refused 'a symbolic link is refused' 2 'a symbolic link is not accepted'
touch "$work/file"
run --dev --data "$work/file"
refused 'a file is refused' 2 'Not a directory'

# --- other places -------------------------------------------------------------------------------------------------------

mkdir -m 700 "$work/runtime"
export XDG_DATA_HOME=$work/xdg XDG_RUNTIME_DIR=$work/runtime
holds 'the XDG directories are used' start --dev
holds 'for data' [ -d "$work/xdg/tracekit-c" ]
holds 'and sockets' [ -S "$work/runtime/tracekit-c/control.sock" ]
stop TERM
unset XDG_DATA_HOME XDG_RUNTIME_DIR
group=$(id -g)
printf 'data: %s\nsockets:\n  agent: %s\n  control: %s\n  agent_group: %s\n' "$work/system" "$work/sockets/a.sock" \
  "$work/private/c.sock" "$group" >"$work/system.yaml"
holds 'a configuration file is used' start --config "$work/system.yaml"
holds 'in system mode' grep -q '^tracekit-signer: ready, system mode, ' "$work/log"
holds 'the group may enter the directory' mode_is "$work/sockets" 750
holds 'and the agent socket' mode_is "$work/sockets/a.sock" 660
holds 'but not the control socket' eval 'mode_is "$work/private" 700 && mode_is "$work/private/c.sock" 600'
stop TERM
holds 'and stops' [ "$status" -eq 0 ]

# Descriptors 0 to 2 that are closed do not become the ledger's.
"$bin/tracekit-signer" --dev --data "$data" <&- >&- 2>&- &
signer=$!
children+=("$signer")
holds 'it starts without standard descriptors' wait_for 10 [ -S "$data/run/control.sock" ]
if [ "$(id -u)" -eq 0 ]; then
  holds 'which are /dev/null then' eval '[ "$(readlink "/proc/$signer/fd/2")" = /dev/null ]'
else
  skip 'which are /dev/null then' 'its descriptors are nobody else'"'"'s to see'
fi
stop TERM
holds 'and stops all the same' [ "$status" -eq 0 ]
finish
