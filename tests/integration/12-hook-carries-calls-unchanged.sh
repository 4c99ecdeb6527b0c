#!/usr/bin/env bash
# What Gemini says reaches the signer byte for byte, with the event, and the signer's answer reaches Gemini; on events that
# gate nothing a failure does not show.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh
. tests/integration/hook.sh

read_hook_env
gate=$(command_of BeforeTool --wait 20)

# --- payloads -------------------------------------------------------------------------------------------------------

# carry NAME FILE VERDICT
carry() {
  rm -f "$work/got"
  payload=$2
  gemini "$gate"
  unset payload
  expect "$1" "$3"
  check "$1: byte for byte" cmp -s "$2" "$work/got"
}
start_signer allow --log "$work/log" --payload "$work/got"
for file in tests/vectors/payloads/BeforeTool-*.json; do
  carry "$(basename "$file")" "$file" ALLOW
done
: >"$work/empty"
carry 'an empty payload' "$work/empty" ALLOW
printf 'a\0b\377\n\r\n' >"$work/bytes"
carry 'bytes that are no text' "$work/bytes" ALLOW
for size in 1 65455 65456 65457 131071 1000000; do
  head -c $size /dev/urandom >"$work/random"
  carry "$size bytes" "$work/random" ALLOW
done
head -c 16777216 /dev/urandom >"$work/most"
carry '16 MiB' "$work/most" ALLOW
check '16 MiB: no flag' grep -q 'flags=0 length=16777216$' "$work/log"
cp "$work/most" "$work/more"
echo >>"$work/more"
: >"$work/log"
payload=$work/more
gemini "$gate"
expect_own_deny '16 MiB and a byte: an allow does not count' 'over 16 MiB'
check '16 MiB and a byte: the signer is told, without the payload' grep -q 'flags=2 length=0$' "$work/log"
start_signer deny
gemini "$gate"
unset payload
expect '16 MiB and a byte: a deny counts' DENY
check '16 MiB and a byte: it is the signer that refuses' grep -q 'fake_signer says no' "$work/out"

# A payload that comes in pieces.
start_signer allow --payload "$work/got"
status=0
{
  printf '{"a":'
  sleep 0.1
  printf '1'
  sleep 0.1
  printf '}'
} | "$hook" gemini --event BeforeTool --socket "$socket" --signer-uid "$uid" --wait 5 >"$work/out" || status=$?
check 'a payload in pieces' test "$status$(cat "$work/out" "$work/got")" = '42{}{"a":1}'

# --- what goes with it ----------------------------------------------------------------------------------------------

start_signer allow --log "$work/log"
for event in BeforeTool AfterTool SessionStart SessionEnd; do
  : >"$work/log"
  gemini "$(command_of $event)"
  check "$event: the event is named" grep -q "harness=gemini event=$event " "$work/log"
  check "$event: the answer arrives" test "$(cat "$work/out")" = '{}'
done
: >"$work/log"
gemini "$(command_of BeforeTool --wait 7)"
wait_ms=$(sed -n 's/.* wait_ms=\([0-9]*\) .*/\1/p' "$work/log")
check 'the signer learns how long the hook waits' test "$wait_ms" -gt 2000 -a "$wait_ms" -le 7000
: >"$work/log"
status=0
{ sleep 1; echo; } | "$hook" gemini --event BeforeTool --socket "$socket" --signer-uid "$uid" --wait 3 >"$work/out" || status=$?
wait_ms=$(sed -n 's/.* wait_ms=\([0-9]*\) .*/\1/p' "$work/log")
check 'the time that reading took is taken off' test "$wait_ms" -gt 0 -a "$wait_ms" -le 2100

# --- events that gate nothing ---------------------------------------------------------------------------------------

# silent NAME COMMAND: no output, exit 0.
silent() {
  local status=0
  gemini "$2"
  [ "$verdict" = ALLOW ] && [ "$exit_code" = 0 ] && [ ! -s "$work/out" ] && [ ! -s "$work/err" ] || status=1
  last "$1" "$status" 'no output and exit code 0'
}
for event in AfterTool SessionStart SessionEnd; do
  after=$(command_of $event)
  stop_signer
  silent "$event, no signer" "$after"
  start_signer allow
  silent "$event, another user's signer" "$(command_of $event --signer-uid $((uid + 1)))"
  for behaviour in garbage truncated-text huge-length close; do
    start_signer $behaviour
    silent "$event, answer: $behaviour" "$after"
  done
done
after=$(command_of AfterTool)
start_signer deny
gemini "$after"
check 'AfterTool: what the signer answers is passed on' grep -q 'fake_signer says no' "$work/out"
start_signer silence
short=${after/--wait 8/--wait 1}
silent 'AfterTool, no answer in time' "$short"
check 'AfterTool, no answer in time: within its own timeout' test "$ms" -lt 8000
for event in AfterTool BeforeAgent AfterAgent Notification SessionStart SessionEnd PreCompress BeforeModel AfterModel \
  BeforeToolSelection; do
  silent "$event, command line without its end" "'$hook' gemini --event $event --socket; exit 0"
done

# --- many at once ---------------------------------------------------------------------------------------------------

# crowd BEHAVIOUR VERDICT: 20 hooks, all under way before the first is answered.
crowd() {
  local i pids=() got=0
  start_signer "$1" --delay 300 --log "$work/log"
  : >"$work/log"
  for i in $(seq 20); do
    "$tools/gemini_run" --command "$gate" "${hook_env[@]}" <tests/vectors/payloads/BeforeTool-shell-plain.json \
      >"$work/crowd.$i" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  got=$(cat "$work"/crowd.* | grep -c "^$2 " || true)
  check "20 hooks at once, $1: all are $2" test "$got" -eq 20
  check "20 hooks at once, $1: the signer heard each" test "$(wc -l <"$work/log")" -eq 20
}
crowd allow ALLOW
crowd deny DENY

stop_signer
finish
