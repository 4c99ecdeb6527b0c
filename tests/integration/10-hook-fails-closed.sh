#!/usr/bin/env bash
# Whatever becomes of the hook, of the signer or of the line between them: a call that was not clearly allowed is refused,
# for Gemini as well as for a person who reads why.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh
. tests/integration/hook.sh

read_hook_env
gate=$(command_of BeforeTool --wait 20)
brief=$(command_of BeforeTool --wait 1)

# --- an answer, so that the refusals below mean something ----------------------------------------------------------

start_signer allow
gemini "$gate"
expect 'an allow lets the call run' ALLOW
check 'an allow is {} and exit code 0' test "$(cat "$work/out")$(cat "$work/err")$exit_code" = '{}0'
start_signer noisy-allow
gemini "$gate"
expect 'an allow with a note lets the call run' ALLOW
start_signer deny
gemini "$gate"
expect 'a deny refuses it' DENY
check 'a deny is passed on as it is' grep -qxF '{"decision":"deny","reason":"fake_signer says no"}' "$work/out"
check 'a deny is said on standard error too' grep -qxF 'fake_signer says no' "$work/err"
check 'a deny is exit code 2 as well' test "$exit_code" = 2
start_signer longest
gemini "$gate"
expect 'the longest answer refuses it' DENY
check 'the longest answer arrives whole' test "$(wc -c <"$work/out")" -eq 4096
start_signer slow
gemini "$gate"
expect 'an answer that comes byte after byte counts' ALLOW
start_signer trailing
gemini "$gate"
expect 'what follows an answer does not matter' ALLOW

# --- nobody there, or the wrong one --------------------------------------------------------------------------------

stop_signer
gemini "$gate"
expect_own_deny 'no socket' 'the signer does not run'
check 'the reason names the socket' grep -qF "$socket" "$work/out"
check 'the reason says how to start the signer' grep -qF 'tracekit up' "$work/out"
: >"$socket"
gemini "$gate"
expect_own_deny 'the socket is a file' 'the signer does not run'
rm -f "$socket"
mkdir "$socket"
gemini "$gate"
expect_own_deny 'the socket is a directory' 'the signer does not run'
rmdir "$socket"
mkfifo "$socket"
gemini "$gate"
expect_own_deny 'the socket is a fifo' 'the signer does not run'
rm -f "$socket"
ln -s agent.sock "$socket"
gemini "$gate"
expect_own_deny 'the socket is a link to itself' 'may not be opened from here'
rm -f "$socket"
gemini "$(command_of BeforeTool --socket /dev/null/agent.sock)"
expect_own_deny 'the socket lies below a file' 'the signer does not run'

start_signer allow
kill -KILL "$signer_pid"
wait "$signer_pid" 2>/dev/null || true
gemini "$gate"
expect_own_deny 'a socket that a dead signer left' 'the signer does not run'

start_signer allow
gemini "$(command_of BeforeTool --signer-uid $((uid + 1)))"
expect_own_deny 'the signer is of another user' "uid $uid listens on"
check 'the reason names the expected user' grep -qF "uid $((uid + 1))" "$work/out"

if [ "$uid" -eq 0 ] && command -v setpriv >/dev/null; then
  mkdir -m 755 "$work/open"
  cp "$hook" "$work/open/tracekit-hook"
  mkdir -m 700 "$work/closed"
  chmod 711 "$work"
  line=$(command_of BeforeTool --hook "$work/open/tracekit-hook" --socket "$work/closed/agent.sock")
  gemini "exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -c $(printf %q "$line")"
  expect_own_deny 'a socket that this user may not open' 'may not be opened from here'
  chmod 700 "$work"
else
  skip 'a socket that this user may not open' 'needs root'
fi

# --- answers that are none ------------------------------------------------------------------------------------------

for behaviour in garbage wrong-magic wrong-kind wrong-kind-deny unknown-kind unknown-flag reserved oversize-length \
  huge-length truncated-text missing-error-text deny-with-allow-text deny-empty deny-two-decisions; do
  start_signer $behaviour
  gemini "$gate"
  expect_own_deny "answer: $behaviour" "the signer's answer is not usable"
done
for behaviour in truncated-head close close-unread; do
  start_signer $behaviour
  gemini "$gate"
  expect_own_deny "answer: $behaviour" 'the signer hung up without an answer'
done
start_signer allow-with-deny-text
gemini "$gate"
expect 'answer: allow-with-deny-text' DENY

# --- no answer in time ----------------------------------------------------------------------------------------------

head -c 16777216 /dev/zero >"$work/huge"
in_time() {
  [ "$ms" -ge 900 ] && [ "$ms" -lt 8000 ]
}
for behaviour in silence truncated-then-silence drip no-accept; do
  start_signer $behaviour
  gemini "$brief"
  expect_own_deny "answer: $behaviour" 'no answer came within 1 seconds'
  check "answer: $behaviour, and the deadline is kept" in_time
done
start_signer silence-unread
payload=$work/huge
gemini "$brief"
unset payload
expect_own_deny 'a signer that does not read' 'no answer came within 1 seconds'
check 'a signer that does not read, and the deadline is kept' in_time

start_signer allow --delay 1500
gemini "$brief"
expect_own_deny 'an allow that comes too late' 'no answer came within 1 seconds'
gemini "$brief" --timeout 300
check 'when Gemini gives up first, the hook still ends by itself' test "$gave_up" = 0
longest=$(definition --event BeforeTool --wait 590 | grep -o '"timeout": [0-9]*' | tr -dc 0-9)
check 'the longest --wait ends before the timeout of the definition' test "$longest" -ge $(((590 + 5) * 1000))
check 'a longer --wait is refused' test "$(definition --wait 591 >/dev/null 2>&1 || echo $?)" = 2

# Standard input that nobody closes.
start_signer allow
mkfifo "$work/fifo"
began=$(date +%s%3N)
exec 9<>"$work/fifo"
rm -f "$work/in"
ln -s /dev/fd/9 "$work/in"
alone gemini --event BeforeTool --socket "$socket" --signer-uid "$uid" --wait 1
exec 9>&-
rm "$work/in"
ms=$(($(date +%s%3N) - began))
expect_own_deny 'standard input that does not end' 'could not be read to its end'
check 'standard input that does not end, and the deadline is kept' in_time

# --- the hook itself ------------------------------------------------------------------------------------------------

mkdir "$work/fake"
fake=$work/fake/tracekit-hook
cp "$hook" "$fake"
with_fake=$(command_of BeforeTool --hook "$fake" --wait 20)
start_signer allow
rm "$fake"
gemini "$with_fake"
expect 'the hook is missing' DENY
cp "$hook" "$fake"
chmod 644 "$fake"
gemini "$with_fake"
expect 'the hook is not executable' DENY
rm "$fake"
mkdir "$fake"
gemini "$with_fake"
expect 'the hook is a directory' DENY
rmdir "$fake"
ln -s tracekit-hook "$fake"
gemini "$with_fake"
expect 'the hook is a link to itself' DENY
rm "$fake"
head -c 3000 "$hook" >"$fake"
chmod 755 "$fake"
gemini "$with_fake"
expect 'the hook is cut short' DENY

# script NAME LINE: the hook is a script of that one line.
script() {
  rm -f "$fake"
  printf '#!/bin/sh\n%s\n' "$2" >"$fake"
  chmod 755 "$fake"
  gemini "$with_fake"
  expect "$1" DENY
}
rm "$fake"
: >"$fake"
chmod 755 "$fake"
gemini "$with_fake"
expect 'the hook is an empty file' DENY
script 'the hook says nothing, exit 0' 'exit 0'
script 'the hook says nothing, exit 1' 'exit 1'
script 'the hook says nothing, exit 2' 'exit 2'
script 'the hook prints blanks, exit 0' 'echo; echo; exit 0'
script 'the hook prints text, exit 0' 'echo fine; exit 0'
script 'the hook prints half a deny, exit 0' 'printf "{\"decision\":\"de"'
for name in KILL SEGV ABRT TERM PIPE; do
  script "the hook dies of SIG$name" "ulimit -c 0; kill -$name \$\$"
done

# The real hook, ended while it waits.
hook_waits() {
  grep -q '^pid=' "$work/log" 2>/dev/null
}
for name in KILL SEGV ABRT TERM; do
  start_signer silence --log "$work/log"
  (
    wait_for 10 hook_waits
    kill -$name "$(sed -n 's/^pid=\([0-9]*\) .*/\1/p' "$work/log")"
  ) &
  killer=$!
  gemini "ulimit -c 0; $gate"
  wait "$killer"
  expect "SIG$name while the hook waits" DENY
  check "SIG$name while the hook waits: it was the signal" test "$ms" -lt 15000
  rm -f "$work/log"
done
start_signer silence --log "$work/log"
(
  wait_for 10 hook_waits
  kill -PIPE "$signer_pid" # any signal would do; of this one the shell does not speak
) &
killer=$!
gemini "$gate"
wait "$killer"
expect_own_deny 'the signer dies while the hook waits' 'the signer hung up without an answer'

# --- standard descriptors -------------------------------------------------------------------------------------------

# direct NAME STATUS REDIRECTION: the hook alone, its streams redirected.
direct() {
  local line
  line=$(printf '%q gemini --event BeforeTool --socket %q --signer-uid %q --wait 5' "$hook" "$socket" "$uid")
  : >"$work/out"
  : >"$work/err"
  exit_code=0 verdict=none
  eval "$line <\"\$work/in\" >\"\$work/out\" 2>\"\$work/err\" $3" || exit_code=$?
  out_bytes=$(wc -c <"$work/out")
  last "$1: exit $2" $((exit_code != $2)) "exit code $2"
}
echo '{}' >"$work/in"
start_signer allow-open # an answer that went back to the signer would not fail
direct 'all open' 42 ''
direct 'standard input closed' 2 '<&-'
expect_own_deny 'standard input closed: the reason' 'could not be read to its end'
direct 'standard input is write-only' 2 "0>$work/other"
direct 'standard input is a directory' 2 '</tmp'
direct 'standard output closed' 2 '>&-'
check 'standard output closed: the reason is on standard error' grep -q 'could not be written' "$work/err"
direct 'standard output is full' 2 '>/dev/full'
direct 'standard error closed' 42 '2>&-'
direct 'all closed' 2 '<&- >&- 2>&-'
start_signer deny
direct 'a deny with all closed' 2 '<&- >&- 2>&-'
start_signer allow --delay 200
line=$(printf '%q gemini --event BeforeTool --socket %q --signer-uid %q --wait 5' "$hook" "$socket" "$uid")
status=$(
  exec 3>&1
  { eval "$line" <"$work/in" 2>"$work/err" || echo $? >&3; } | true
)
check 'nobody reads standard output: exit 2, not SIGPIPE' test "$status" = 2

# --- the command line -----------------------------------------------------------------------------------------------

start_signer allow
good=(gemini --event BeforeTool --socket "$socket" --signer-uid "$uid" --wait 5)

# usage NAME WORDS ARGUMENT...: refused, for a reason that holds WORDS.
usage() {
  alone "${@:3}"
  expect_own_deny "command line: $1" "$2"
}
usage 'empty' 'the first argument must be gemini'
usage 'another agent' 'the first argument must be gemini' claude "${good[@]:1}"
usage 'no event' '--event must name' gemini "${good[@]:3}"
usage 'unknown event' '--event must name' gemini --event BeforeTools "${good[@]:3}"
usage 'event in other letters' '--event must name' gemini --event aftertool "${good[@]:3}"
usage 'empty event' '--event must name' gemini --event '' "${good[@]:3}"
usage 'two events' 'stands there twice' "${good[@]}" --event AfterTool
usage 'two events, the other order' 'stands there twice' gemini --event AfterTool "${good[@]:1}"
usage 'event as the value of another option' 'unknown argument' gemini --socket --event AfterTool "${good[@]:5}"
usage 'unknown option' 'unknown argument' "${good[@]}" --force
usage 'option without value' 'has no value' "${good[@]}" --wait
usage '--help among others' 'unknown argument' "${good[@]}" --help
usage '--version among others' 'unknown argument' gemini --version
usage 'relative socket' '--socket must be an absolute path' gemini --event BeforeTool --socket agent.sock "${good[@]:5}"
usage 'empty socket' '--socket must be an absolute path' gemini --event BeforeTool --socket '' "${good[@]:5}"
long=/$(head -c 107 /dev/zero | tr '\0' s)
usage 'socket of 108 bytes' '--socket must be an absolute path' gemini --event BeforeTool --socket "$long" "${good[@]:5}"
usage 'socket of 107 bytes' 'the signer does not run' gemini --event BeforeTool --socket "${long%s}" "${good[@]:5}"
for value in '' -1 +1 1x 4294967295 18446744073709551616 ' 1'; do
  usage "--signer-uid '$value'" '--signer-uid must be a numeric user id' "${good[@]:0:5}" --signer-uid "$value" --wait 5
done
for value in '' 0 591 -1 5s 1e2 4294967297 18446744073709551621; do
  usage "--wait '$value'" '--wait must be 1 to 590 seconds' "${good[@]:0:7}" --wait "$value"
done
odd=$(printf '/tmp/a"b\\c\n\t\033[31m\303\274 $(id)')
usage 'odd bytes in a path are not echoed' 'the signer does not run' gemini --event BeforeTool --socket "$odd" "${good[@]:5}"
check 'the rest of such a path is shown' grep -qF '/tmp/a?b?c???[31m?? $(id)' "$work/out"

check '--help alone explains' grep -q 'usage: tracekit-hook' <("$hook" --help)
check '--version alone says which' grep -qx 'tracekit-hook [0-9.]*' <("$hook" --version)
gemini "'$hook' --help; [ \$? = 42 ] && exit 0; echo tracekit: hook failed >&2; exit 2"
expect '--help as a gate refuses' DENY

stop_signer
finish
