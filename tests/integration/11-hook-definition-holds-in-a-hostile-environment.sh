#!/usr/bin/env bash
# The definition that tracekit prints keeps the gate shut when a project's .env file attacks the shell around the hook; and
# the paths in it reach the hook unchanged, or are refused.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh
. tests/integration/hook.sh

read_hook_env
with_env=("${hook_env[@]}")

# --- the environment ------------------------------------------------------------------------------------------------

stop_signer # so every call must be refused
gate=$(command_of BeforeTool --wait 5)

# in_environment VARIABLE=VALUE...: puts them before the definition's env, which wins as it does in Gemini.
in_environment() {
  local wish
  hook_env=()
  for wish in "$@"; do hook_env+=(--env "$wish"); done
}

# attack NAME VARIABLE=VALUE...: without the definition's env the call runs, which shows that the attack works; with it the
# call is refused.
attack() {
  in_environment "${@:2}"
  gemini "$gate"
  expect "$1: works on a command without the env" ALLOW
  hook_env+=("${with_env[@]}")
  gemini "$gate"
  expect_own_deny "$1: the env closes it" 'the signer does not run'
}

echo 'exit 0' >"$work/bash_env"
attack BASH_ENV "BASH_ENV=$work/bash_env"
attack SHELLOPTS SHELLOPTS=noexec
attack LD_DEBUG LD_DEBUG=help
# Functions that a shell has exported, in place of the commands behind the hook; text behind its refusal undoes that.
attack 'a function [' 'BASH_FUNC_[%%=() { builtin echo more; builtin exit 0; }'
attack 'a function exit' 'BASH_FUNC_exit%%=() { builtin echo more; builtin exit 0; }'

# A client that no shell started: bash, with a socket as standard input, takes itself for one that rshd started.
mkdir "$work/home"
echo 'exit 0' >"$work/home/.bashrc"
attack 'no SHLVL' SHLVL=0 "HOME=$work/home"

# A library that ends whoever loads it.
cat >"$work/quit.c" <<'C'
#include <unistd.h>
unsigned la_version(unsigned v);
unsigned la_version(unsigned v) { return v; }
__attribute__((constructor)) static void quit(void) { _exit(0); }
C
if command -v "${CC:-gcc}" >/dev/null && "${CC:-gcc}" -shared -fPIC -o "$work/quit.so" "$work/quit.c" 2>/dev/null; then
  attack LD_PRELOAD "LD_PRELOAD=$work/quit.so"
  attack LD_AUDIT "LD_AUDIT=$work/quit.so"
  # A library of bash's own, with the names that bash wants of it.
  shell=$(command -v bash)
  other=$(ldd "$shell" | sed -n 's/^[[:space:]]*\(libtinfo[^ ]*\) =>.*/\1/p' | head -n 1)
  nm -D "$shell" | sed -n 's/.* [A-Z] \([A-Za-z0-9_]*\)@NCURSES.*/char \1[8];/p' >>"$work/quit.c"
  mkdir "$work/libs"
  if [ -n "$other" ] && "${CC:-gcc}" -shared -fPIC -o "$work/libs/$other" "$work/quit.c"; then
    attack LD_LIBRARY_PATH "LD_LIBRARY_PATH=$work/libs"
  else
    skip LD_LIBRARY_PATH 'bash links no library that this script knows'
  fi
else
  skip 'LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH' 'needs a C compiler'
fi
if [ "$uid" -ne 0 ]; then
  attack 'SHELLOPTS and PS4' SHELLOPTS=xtrace 'PS4=$(kill -KILL $$)'
fi

# What no env can close, because the loader asks only whether the variable is there: bash lists its libraries and ends.
# The definition keeps it out of a project's .env by another setting.
in_environment LD_TRACE_LOADED_OBJECTS=
hook_env+=("${with_env[@]}")
gemini "$gate"
expect 'known limit: LD_TRACE_LOADED_OBJECTS opens the gate, set to anything' ALLOW

check 'but the definition keeps it out of a .env file' grep -qF \
  '"advanced": { "excludedEnvVars": [ "LD_TRACE_LOADED_OBJECTS" ] }' <(definition | tr -s '\n ' ' ')

start_signer allow
for wish in "LC_ALL=tr_TR.UTF-8" POSIXLY_CORRECT=1 'GLIBC_TUNABLES=glibc.malloc.check=3' BASH_COMPAT=31 LD_BIND_NOW=1; do
  in_environment "$wish"
  hook_env+=("${with_env[@]}")
  gemini "$gate"
  expect "$wish does no harm: an allow still arrives" ALLOW
done

hook_env=("${with_env[@]}")

# The hook needs nothing of the environment; Gemini may redact nearly all of it.
status=0
env -i "$hook" gemini --event BeforeTool --socket "$socket" --signer-uid "$uid" --wait 5 </dev/null >"$work/out" || status=$?
check 'the hook works in an empty environment' test "$status$(cat "$work/out")" = '42{}'
verdict=$(env -i "PATH=$PATH" "$tools/gemini_run" --command "$gate" </dev/null | cut -d ' ' -f 1 | head -n 1)
expect 'so does its command' ALLOW

# --- the definition -------------------------------------------------------------------------------------------------

# is_json FILE: Gemini would read it with JSON.parse.
is_json() {
  [ "$("$tools/gemini_run" --command 'cat; exit 2' <"$1" | head -c 5)" = ALLOW ]
}
definition >"$work/definition"
check 'the definition is JSON' is_json "$work/definition"
for event in SessionStart BeforeAgent BeforeTool Notification AfterTool SessionEnd; do
  check "the definition has $event once" test "$(grep -c "\"$event\": \[" "$work/definition")" = 1
  definition --event $event >"$work/one"
  check "--event $event alone is JSON" is_json "$work/one"
  check "--event $event holds that event alone" test "$(grep -c '"command": ' "$work/one")" = 1
done
check 'BeforeTool has ten minutes' grep -q '"timeout": 600000,' <(definition --event BeforeTool)
check 'the others have ten seconds' test "$(grep -c '"timeout": 10000,' "$work/definition")" = 5
check 'all hooks have names of one installation' test \
  "$(sed -n 's/.*"name": "tracekit \([0-9a-f]\{6\}\): .*/\1/p' "$work/definition" | sort | uniq -c | sed 's/ [0-9a-f]*$//')" -eq 6
check 'the gate waits 540 s' grep -q -- '--wait 540;' <(command_of BeforeTool)
check 'the others wait 8 s' grep -q -- '--wait 8; exit 0$' <(command_of AfterTool)
check '--wait is for the gate' grep -q -- '--wait 8; exit 0$' <(command_of AfterTool --wait 30)
check 'the signer is the present user' grep -q -- "--signer-uid $uid " <(command_of BeforeTool)
check 'the hook is the one beside tracekit' grep -q "^'$hook' gemini" <(command_of BeforeTool)
check 'the gate ends in the guard' grep -qF \
  ' --wait 540; [ $? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2' <(command_of BeforeTool)

# Default sockets.
where() {
  env "$@" "$bin/tracekit" hook-definition --agent gemini --command AfterTool |
    sed "s/.*--socket '\(.*\)' --signer-uid.*/\1/"
}
check 'socket: in XDG_RUNTIME_DIR' test "$(where XDG_RUNTIME_DIR=/run/user/7)" = /run/user/7/tracekit-c/agent.sock
check 'socket: without it, below XDG_DATA_HOME' test \
  "$(where -u XDG_RUNTIME_DIR XDG_DATA_HOME=/d)" = /d/tracekit-c/run/agent.sock
check 'socket: without both, below HOME' test \
  "$(where -u XDG_RUNTIME_DIR -u XDG_DATA_HOME HOME=/h)" = /h/.local/share/tracekit-c/run/agent.sock
check 'socket: relative and empty values are ignored' test \
  "$(where XDG_RUNTIME_DIR=run XDG_DATA_HOME= HOME=/h)" = /h/.local/share/tracekit-c/run/agent.sock
check 'socket: --data wins' test "$(XDG_RUNTIME_DIR=/run/x "$bin/tracekit" hook-definition --agent gemini --data /d \
  --command AfterTool | grep -c "'/d/run/agent.sock'")" = 1
check 'socket: a relative --data counts from here' grep -qF -e "--socket '$work/d/run/agent.sock'" \
  <(cd "$work" && "$bin/tracekit" hook-definition --agent gemini --data d --command AfterTool)

# odd NAME PATH: the hook lies below that directory and the socket too, and an allow comes through.
odd() {
  local dir=$work/$2
  mkdir -p "$dir"
  cp "$hook" "$dir/tracekit-hook"
  stop_signer
  socket=$dir/s
  start_signer allow
  gemini "$(command_of BeforeTool --hook "$dir/tracekit-hook" --wait 5)"
  expect "a path with $1 works" ALLOW
  definition --hook "$dir/tracekit-hook" >"$work/one"
  check "a path with $1 gives JSON" is_json "$work/one"
  stop_signer
  gemini "$(command_of BeforeTool --hook "$dir/tracekit-hook" --wait 5)"
  expect_own_deny "a path with $1 is no way around" 'the signer does not run'
  socket=$work/agent.sock
}
odd 'spaces' ' a  b '
odd 'single quotes' "it's'"
odd 'double quotes and backslashes' 'a"b\c\'
odd 'shell characters' 'a;b&c|d`e(f)g<h>*?[i]!#~%^{j}=k'
odd 'letters beyond ASCII' "$(printf '\303\274\346\227\245')"
odd 'a leading dash' '-rf'

# refused NAME WORDS ARGUMENT...: exit code 2, nothing on standard output, the reason on standard error.
refused() {
  local status=0
  "$bin/tracekit" hook-definition "${@:3}" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" -eq 2 ] && [ ! -s "$work/out" ] && grep -qF -- "$2" "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ] &&
    status=0 || status=1
  result "refused: $1" "$status" "$(cat "$work/out" "$work/err")"
}
g=(--agent gemini)
refused 'no agent' '--agent must be gemini'
refused 'another agent' '--agent must be gemini' --agent claude
refused 'a word too many' 'a word too many' "${g[@]}" now
refused 'unknown option' 'there is no option' "${g[@]}" --force
refused 'unknown event' 'is no event of ours' "${g[@]}" --event BeforeModel
refused '--event and --command' 'exclude each other' "${g[@]}" --event AfterTool --command AfterTool
refused '--socket and --data' 'exclude each other' "${g[@]}" --socket /s --data /d
refused 'wait 0' '--wait must be' "${g[@]}" --wait 0
refused 'wait 591' '--wait must be' "${g[@]}" --wait 591
refused 'uid -1' '--signer-uid' "${g[@]}" --signer-uid=-1
refused 'uid 2^32 - 1' '--signer-uid' "${g[@]}" --signer-uid 4294967295
refused 'socket with $' 'holds a $' "${g[@]}" --socket '/tmp/$HOME/s'
refused 'socket with a newline' 'cannot be shown' "${g[@]}" --socket "$(printf '/tmp/a\nb')"
refused 'socket with an escape' 'cannot be shown' "${g[@]}" --socket "$(printf '/tmp/\033[2Jb')"
refused 'socket with a C1 control' 'cannot be shown' "${g[@]}" --socket "$(printf '/tmp/\302\233b')"
refused 'socket with a reversing mark' 'cannot be shown' "${g[@]}" --socket "$(printf '/tmp/\342\200\256b')"
refused 'socket that is not UTF-8' 'is not UTF-8' "${g[@]}" --socket "$(printf '/tmp/\377b')"
refused 'socket over the limit' 'too long for a socket' "${g[@]}" --socket "/$(head -c 107 /dev/zero | tr '\0' s)"
refused 'data directory over the limit' 'too long for a socket' "${g[@]}" --data "/$(head -c 100 /dev/zero | tr '\0' d)"
refused 'data directory far over it' 'longer than' "${g[@]}" --data "/$(head -c 2000 /dev/zero | tr '\0' d)"
refused 'empty socket' 'empty' "${g[@]}" --socket=
refused 'hook that is missing' 'there is no' "${g[@]}" --hook "$work/none"
refused 'hook that is a directory' 'not a program' "${g[@]}" --hook "$work"
: >"$work/plain"
refused 'hook that is not executable' 'not a program' "${g[@]}" --hook "$work/plain"
mkdir "$work/\$d"
cp "$hook" "$work/\$d/"
refused 'hook below a path with $' 'holds a $' "${g[@]}" --hook "$work/\$d/tracekit-hook"
mkdir "$work/bin"
cp "$bin/tracekit" "$work/bin/"
status=0
"$work/bin/tracekit" hook-definition "${g[@]}" >"$work/out" 2>"$work/err" || status=$?
check 'no hook beside tracekit: exit 2' test "$status" = 2
check 'no hook beside tracekit: the reason names it' grep -qF "there is no $work/bin/tracekit-hook" "$work/err"
status=0
env -u XDG_RUNTIME_DIR -u XDG_DATA_HOME -u HOME "$bin/tracekit" hook-definition "${g[@]}" >"$work/out" 2>"$work/err" ||
  status=$?
check 'no HOME: exit 2' test "$status" = 2
check 'no HOME: what to do' grep -qF 'give --data DIR' "$work/err"
check '--help explains' grep -q 'Exit status' <("$bin/tracekit" hook-definition --help)
status=0
"$bin/tracekit" hook-definition "${g[@]}" >/dev/full 2>"$work/err" || status=$?
check 'a full disk is noticed' test "$status" = 1

finish
