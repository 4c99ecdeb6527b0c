#!/usr/bin/env bash
# The command line shows what the signer says, whatever it says, without letting it act on the terminal; it answers
# exactly what it has read; it writes bundles whole or not at all. Against canned replies (tests/tools/fake_control.c).
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
set +e # each check below looks at what it ran
unset NO_COLOR XDG_DATA_HOME XDG_RUNTIME_DIR
export HOME=$work LC_ALL=C.UTF-8 TERM=xterm
vectors=$PWD/tests/vectors

# verdict STATUS NAME: one result about the last command.
verdict() {
  result "$2" "$1" "exit code $code" \
    "$(sed 's/^/out| /' "$work/out" | head -40 | cat -v)" "$(sed 's/^/err| /' "$work/err" | head -10 | cat -v)" \
    "$(sed 's/^/log| /' "$work/log" | cut -c1-300 | head -10 | cat -v)"
}

# script LINE...: the replies that the next command gets.
script() { printf '%s\n' "$@" >"$work/script"; }

# tk ARG...: runs tracekit against the script; its exit code is in $code.
tk() {
  : >"$work/log"
  code=0
  "$tools/fake_control" "$work/sock" "$work/script" "$work/log" "$bin/tracekit" --socket "$work/sock" "$@" \
    >"$work/out" 2>"$work/err" </dev/null || code=$?
}

# alone ARG...: runs it without a signer.
alone() {
  : >"$work/log"
  code=0
  "$bin/tracekit" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
}

code_is() { [ "$code" -eq "$1" ]; }
out_has() { grep -qF -- "$1" "$work/out"; }
out_lacks() { ! grep -qF -- "$1" "$work/out"; }
err_has() { grep -qF -- "$1" "$work/err"; }
err_is() { [ "$(cat "$work/err")" = "$1" ]; }
log_is() { printf '%s\n' "$@" | cmp -s - "$work/log"; }
quiet() { [ ! -s "$work/err" ]; }
# Nothing but printable text and newlines on both outputs; no bidirectional or zero-width characters.
plain() {
  ! cat "$work/out" "$work/err" | LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' &&
    ! cat "$work/out" "$work/err" | grep -qP '[\x{80}-\x{9f}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{e0000}-\x{e007f}]'
}
narrow() { ! awk 'length($0) > 100' "$work/out" | grep -q .; }

ID=apr-00000000000000000000000000000001
DIGEST=sha256:$(printf '0%.0s' {1..64})
FACTS='"state":"pending","run":"5e55","session":"s-1","tool":"run_shell_command","rule_ids":["TK-A004"],"reasons":["asks for more rights"],"grants":["network","read:/etc"],"cwd":"/home/user/project","requester":"uid:1000","created_at":"2026-11-30T12:00:00.000000Z","expires_at":"2026-11-30T13:00:00.000000Z","expires_in_s":3541,"waiting":true,"wait_left_s":529'
GONE=${FACTS/\"grants\":\[*\],\"cwd\"/\"grants\":[],\"cwd\"}
ONE="{\"id\":\"$ID\",$FACTS,\"summary\":\"npm install\"}"
WHOLE="{\"id\":\"$ID\",$FACTS,\"summary\":\"npm install\",\"args\":{\"command\":\"npm install\"},\"tool_call_id\":\"call-1\",\"policy_hash\":\"$DIGEST\",\"binding_digest\":\"$DIGEST\"}"

# --- help and wrong use ---------------------------------------------------------------------------------------------

alone --help
code_is 0 && out_has 'Exit codes: 0 done' && out_has 'approvals' && out_has '--socket PATH' && quiet
verdict $? 'help names the commands and the exit codes'
cp "$work/out" "$work/help"
alone help
code_is 0 && cmp -s "$work/out" "$work/help"
verdict $? 'help and --help are the same'
alone --version
code_is 0 && [ "$(wc -l <"$work/out")" -eq 1 ] && out_has 'tracekit '
verdict $? 'the version is one line'
alone
code_is 2 && [ ! -s "$work/out" ] && err_has 'usage: tracekit COMMAND'
verdict $? 'no command is wrong use'
alone nosuch
code_is 2 && err_is 'tracekit: there is no command nosuch. See `tracekit --help`.'
verdict $? 'an unknown command is named'
alone approvals list --colour
code_is 2 && err_is 'tracekit: there is no option --colour. See `tracekit approvals list --help`.'
verdict $? 'an unknown option is named, with where to read on'
alone --json approvals list --json
code_is 2 && err_is 'tracekit: --json is given twice. See `tracekit approvals list --help`.'
verdict $? 'a repeated option is refused, wherever it stands'
alone approvals show
code_is 2 && err_has 'something is missing: tracekit approvals show ID'
verdict $? 'a missing word is named'
alone approvals approve "$ID" --reason ''
code_is 2 && err_has 'the reason must be'
verdict $? 'an empty reason is refused'
alone approvals show "$(printf 'apr-\377')"
code_is 2 && err_has "no approval's id"
verdict $? 'an id that is not UTF-8 is refused'
alone $'ev\e[2Jil'
code_is 2 && err_has 'ev\x1b[2Jil' && plain
verdict $? 'the words of the command line are made visible'
for c in 'approvals' 'approvals list' 'approvals show' 'approvals approve' 'approvals reject' 'runs' 'runs list' export trust; do
  # shellcheck disable=SC2086 # two words
  alone $c --help
  code_is 0 && out_has "usage: tracekit $c" && out_has '--json' && quiet
  verdict $? "$c explains itself"
done

# --- the signer is away ---------------------------------------------------------------------------------------------

for c in 'approvals list' "approvals approve $ID" 'runs list' 'trust -o -' "export latest -o $work/away.tkb"; do
  # shellcheck disable=SC2086
  alone --socket "$work/nobody" $c
  code_is 3 && err_has "no signer listens on $work/nobody; start it with \`tracekit up\`" && [ ! -s "$work/out" ]
  verdict $? "without a signer: ${c%% -o*}"
done
[ -z "$(ls "$work"/away.tkb* 2>/dev/null)" ]
verdict $? 'without a signer no file is left'
alone --data "$work/data" approvals list
code_is 3 && err_has "$work/data/run/control.sock"
verdict $? '--data says where the socket is'
script close
tk approvals list
code_is 3 && err_has 'closed the connection'
verdict $? 'a connection that ends is exit code 3'
script "short {\"approvals\":[]}"
tk approvals list
code_is 3 && [ ! -s "$work/out" ]
verdict $? 'half a reply is no reply'
script garbage
tk approvals list
code_is 1 && err_has 'does not speak as a signer does' && plain
verdict $? 'what is no frame is refused'
script 'reply [1'
tk approvals list
code_is 1 && err_has "the signer's reply at byte 2"
verdict $? 'what is no JSON is refused'
for r in '{}' '{"approvals":{}}' '{"approvals":[1]}' '{"approvals":[{"id":"apr-x; rm -rf /"}]}'; do
  script "reply $r"
  tk approvals list
  code_is 1 && err_has "the signer's reply cannot be used" && out_lacks 'rm -rf'
  verdict $? "a reply of another form is refused: $r"
done

# --- list -----------------------------------------------------------------------------------------------------------

script 'reply {"approvals":[],"more":false}'
tk approvals list
code_is 0 && out_has 'No call waits for an answer.' && quiet && log_is '{"op":"approvals.list"}'
verdict $? 'an empty list says so'
script "reply {\"approvals\":[$ONE],\"more\":false}"
tk approvals list
code_is 0 && out_has "$ID" && out_has 'npm install' && out_has '2: network, read:/etc' && out_has 'TK-A004' &&
  out_has 'uid:1000' && out_has '59m left to answer, the call waits 8m more' &&
  out_has "tracekit --socket $work/sock approvals show $ID" && quiet && narrow
verdict $? 'a list shows what decides'
script "reply {\"more\":false, \"approvals\":[$ONE]}"
tk approvals list --json
printf '%s\n' "$(cat "$work/out")" >"$work/json"
code_is 0 && grep -qE '^\{"approvals":\[\{"created_at":.*"more":false\}$' "$work/out" && [ "$(wc -l <"$work/out")" -eq 1 ]
verdict $? '--json prints the reply in canonical form'
script "reply {\"approvals\":[$ONE],\"more\":true}"
tk approvals list
code_is 0 && out_has 'More are waiting'
verdict $? 'a list says when there are more'

HOSTILE='\u001b[2J\u001b]0;title\u0007\r\n'"$ID"'\n  time   1h left\u009b31m\u202e\u2066\u200b\u2028\udb40\udc41\u0000\u007f'
EVIL="{\"id\":\"$ID\",\"state\":\"pending\",\"run\":\"$HOSTILE\",\"session\":\"$HOSTILE\",\"tool\":\"$HOSTILE\",\"rule_ids\":[\"$HOSTILE\"],\"reasons\":[\"$HOSTILE\"],\"grants\":[\"network\",\"$HOSTILE\"],\"cwd\":\"$HOSTILE\",\"requester\":\"$HOSTILE\",\"created_at\":\"$HOSTILE\",\"expires_at\":\"$HOSTILE\",\"expires_in_s\":10,\"waiting\":false,\"wait_left_s\":null,\"summary\":\"$HOSTILE\",\"args\":{\"command\":\"$HOSTILE\",\"$HOSTILE\":[\"$HOSTILE\"]},\"tool_call_id\":\"$HOSTILE\",\"policy_hash\":\"$HOSTILE\",\"binding_digest\":\"$HOSTILE\"}"
script "reply {\"approvals\":[$EVIL],\"more\":false}"
tk approvals list
code_is 0 && plain && out_has '\x1b[2J' && out_has 'no call waits for it now' && narrow &&
  [ "$(grep -c "^$ID" "$work/out")" -eq 1 ] && [ "$(grep -c '^  time ' "$work/out")" -eq 1 ]
verdict $? 'a hostile list cannot act, hide or imitate'
script "reply {\"approval\":$EVIL}"
tk approvals show "$ID"
code_is 0 && plain && narrow && [ "$(grep -c '^  tool ' "$work/out")" -eq 1 ] && ! grep -qE '^apr-' "$work/out" &&
  [ "$(grep -c '^To refuse it' "$work/out")" -eq 1 ]
verdict $? 'a hostile approval cannot act, hide or imitate'
printf 'reply {"approvals":[{"id":"%s",%s,"summary":"%s"}],"more":false}\n' "$ID" "$FACTS" \
  "$(head -c 400000 /dev/zero | tr '\0' x)" >"$work/script"
tk approvals list
code_is 0 && narrow && out_has 'xxx...' && [ "$(wc -c <"$work/out")" -lt 1000 ]
verdict $? 'a huge summary stays in its line'
{
  printf '{"approvals":['
  for i in {1..199}; do printf '%s,' "$ONE"; done
  printf '%s],"more":true}' "$ONE"
} >"$work/list.json"
script "file $work/list.json"
tk approvals list
code_is 0 && [ "$(grep -c "^$ID" "$work/out")" -eq 200 ]
verdict $? 'two hundred are shown'

# --- show -----------------------------------------------------------------------------------------------------------

script "reply {\"approval\":$WHOLE}"
tk approvals show apr-0000
code_is 0 && out_has '  tool        run_shell_command' && out_has '  grants      network' && out_has '              read:/etc' &&
  out_has '  binding     sha256:' && grep -qx '    | npm install' "$work/out" && out_has 'uid:1000' &&
  grep -qx "  tracekit --socket $work/sock approvals approve $ID" "$work/out" &&
  grep -qx "  tracekit --socket $work/sock approvals reject $ID" "$work/out" && log_is '{"id":"apr-0000","op":"approvals.show"}'
verdict $? 'show prints every fact and the commands that answer'
script "reply {\"approval\":$WHOLE}"
tk approvals show "$ID" --json
code_is 0 && grep -q '^{"approval":{"args":{"command":"npm install"},' "$work/out"
verdict $? 'show --json prints the reply'
script "reply {\"approval\":{\"id\":\"$ID\",${GONE/pending/expired},\"summary\":\"\"}}"
tk approvals show "$ID"
code_is 0 && out_has 'no longer waits' && out_has 'The arguments are gone' && out_lacks 'none are asked for' && out_lacks 'approvals approve'
verdict $? 'what has ended offers no answer'
LONG=$(printf 'line\\n%.0s' {1..60})
script "reply {\"approval\":{\"id\":\"$ID\",$FACTS,\"summary\":\"x\",\"args\":{\"command\":\"$LONG\"},\"binding_digest\":\"$DIGEST\"}}"
tk approvals show "$ID"
code_is 0 && out_has 'The arguments fill 62 lines' && [ "$(grep -cx '    | line' "$work/out")" -eq 60 ]
verdict $? 'long arguments are shown whole, and that is said'
script "error {\"error\":\"AMBIGUOUS\",\"message\":\"apr-0000 begins several: apr-00001, apr-00002\"}"
tk approvals show apr-0000
code_is 1 && err_is 'tracekit: apr-0000 begins several: apr-00001, apr-00002. See what waits: `tracekit approvals list`.'
verdict $? 'an ambiguous id is refused with the candidates'
script 'error {"error":"NOT_FOUND","message":"gone\u001b[2J\nok"}'
tk approvals show "$ID"
code_is 1 && plain && err_has 'gone\x1b[2J\nok'
verdict $? "the signer's errors are made visible"
script "reply {\"approval\":${WHOLE/0001/0002}}"
tk approvals show "$ID"
code_is 1 && err_has 'another approval'
verdict $? 'another approval than the one asked for is refused'

# --- approve, reject ------------------------------------------------------------------------------------------------

# did DECISION DELIVERY SELF
did() { printf 'reply {"id":"%s","decision":"%s","delivery":"%s","self_approved":%s}' "$ID" "$1" "$2" "$3"; }

script "reply {\"approval\":$WHOLE}" "$(did approve waiting true)"
tk approvals approve 0000 --reason 'it is fine'
code_is 0 && out_has "Approved $ID" && out_has 'run_shell_command: npm install' && out_has 'The waiting call goes on now.' &&
  out_has 'the same user' && quiet && log_is '{"id":"0000","op":"approvals.show"}' \
  "{\"binding_digest\":\"$DIGEST\",\"decision\":\"approve\",\"id\":\"$ID\",\"op\":\"approvals.answer\",\"reason\":\"it is fine\"}"
verdict $? 'approve answers what was shown, by its binding'
script "reply {\"approval\":$WHOLE}" "$(did approve kept false)"
tk approvals approve "$ID"
code_is 0 && out_has 'Within five minutes an identical call of its session goes on, once.' && out_lacks 'the same user'
verdict $? 'approve says when nobody waits'
script "reply {\"approval\":$WHOLE}" "$(did reject waiting false)"
tk approvals reject "$ID"
code_is 0 && out_has 'The waiting call is stopped now.' && grep -q '"decision":"reject"' "$work/log"
verdict $? 'reject stops the waiting call'
script "reply {\"approval\":$WHOLE}" "$(did approve waiting true)"
tk approvals approve "$ID" --json
code_is 0 && [ "$(cat "$work/out")" = "{\"decision\":\"approve\",\"delivery\":\"waiting\",\"id\":\"$ID\",\"self_approved\":true}" ]
verdict $? 'approve --json prints the reply alone'
script "reply {\"approval\":$WHOLE}" 'error {"error":"FORBIDDEN","message":"you are inside the session that asks"}'
tk approvals approve "$ID"
code_is 1 && err_has 'you are inside the session that asks. Nothing was answered.' && [ ! -s "$work/out" ]
verdict $? 'a refused answer says why, and that nothing was answered'
script "reply {\"approval\":$WHOLE}" close
tk approvals approve "$ID"
code_is 3 && err_has 'Whether it was done is not known.'
verdict $? 'a lost answer is not taken for a failure'
script "reply {\"approval\":$WHOLE}" garbage
tk approvals approve "$ID"
code_is 1 && err_has 'Whether it was done is not known.'
verdict $? 'nor is one that cannot be read'
script "reply {\"approval\":$WHOLE}" "$(did reject waiting false)"
tk approvals approve "$ID"
code_is 1 && err_has 'names another decision'
verdict $? 'an answer that was turned around is noticed'
script "reply {\"approval\":{\"id\":\"$ID\",$FACTS,\"summary\":\"x\"}}"
tk approvals approve "$ID"
code_is 1 && err_has 'no usable binding digest' && [ "$(wc -l <"$work/log")" -eq 1 ]
verdict $? 'without a binding nothing is answered'
script "reply {\"approval\":${EVIL/\"binding_digest\":*/\"binding_digest\":\"$DIGEST\"\}}}" "$(did approve waiting false)"
tk approvals approve "$ID"
code_is 0 && plain && narrow && [ "$(wc -l <"$work/out")" -eq 3 ]
verdict $? 'approving a hostile call prints three plain lines'

# --- on a terminal --------------------------------------------------------------------------------------------------

# on_tty ARG...: runs it with its output on a terminal of its own; what that got is in $work/out.
on_tty() {
  : >"$work/log"
  : >"$work/err"
  code=0
  script -qec "$(printf '%q ' "$tools/fake_control" "$work/sock" "$work/script" "$work/log" "$bin/tracekit" \
    --socket "$work/sock" "$@")" /dev/null >"$work/out" </dev/null || code=$?
}
if command script --version >/dev/null 2>&1; then
  script() { if [ "$1" = -qec ]; then command script "$@"; else printf '%s\n' "$@" >"$work/script"; fi; }
  script "reply {\"approvals\":[$ONE],\"more\":false}"
  on_tty approvals list
  code_is 0 && grep -qF $'\e[1m'"$ID"$'\e[0m' "$work/out"
  verdict $? 'a terminal gets colours'
  script "reply {\"approvals\":[$ONE],\"more\":false}"
  NO_COLOR=1 on_tty approvals list
  code_is 0 && out_has "$ID" && out_lacks $'\e'
  verdict $? 'NO_COLOR is respected'
  script "reply {\"approvals\":[$EVIL],\"more\":false}"
  on_tty approvals list --json
  tr -d '\r' <"$work/out" >"$work/out.new" && mv "$work/out.new" "$work/out"
  code_is 0 && plain && out_has '\u202e' && out_has '\u009b'
  verdict $? '--json on a terminal is harmless'
else
  skip 'a terminal gets colours' 'no script(1)'
  skip 'NO_COLOR is respected' 'no script(1)'
  skip '--json on a terminal is harmless' 'no script(1)'
fi

# --- runs -----------------------------------------------------------------------------------------------------------

RUN='{"run":"5e55","tenant":"default","session":"s-1","harness":"gemini","state":"open","records":12,"started_at":"2026-11-30T12:00:00.000000Z","pending":1}'
script "reply {\"runs\":[$RUN]}"
tk runs list --limit 7
code_is 0 && out_has '5e55  open, 12 records, 1 waiting for an answer' && out_has '2026-11-30T12:00:00.000000Z' &&
  log_is '{"limit":7,"op":"runs.list"}'
verdict $? 'runs are listed'
script 'reply {"runs":[]}'
tk runs list
code_is 0 && out_has 'No runs yet.' && log_is '{"limit":50,"op":"runs.list"}'
verdict $? 'no runs are said to be none'
script "reply {\"runs\":[$RUN]}"
tk runs list --json
code_is 0 && grep -q '^{"runs":\[{"harness":"gemini",' "$work/out"
verdict $? 'runs list --json prints the reply'
script "reply {\"runs\":[{\"run\":\"$HOSTILE\",\"session\":\"$HOSTILE\",\"harness\":\"$HOSTILE\",\"state\":\"$HOSTILE\",\"records\":1,\"started_at\":\"$HOSTILE\",\"ended_at\":\"$HOSTILE\"}]}"
tk runs list
code_is 0 && plain && narrow && [ "$(wc -l <"$work/out")" -eq 5 ]
verdict $? 'a hostile run cannot act or imitate'
for n in 0 501 -1 x ''; do
  alone runs list --limit="$n"
  code_is 2 && err_has '--limit must be a number from 1 to 500'
  verdict $? "a limit of '$n' is refused"
done

# --- trust ----------------------------------------------------------------------------------------------------------

VKEY=$(cat "$vectors/example_export/vkey")
script "reply {\"logs\":[\"$VKEY\"]}"
tk trust -o "$work/trust.json"
code_is 0 && [ "$(cat "$work/trust.json")" = "{\"algs\":[\"ed25519\"],\"logs\":[\"$VKEY\"],\"witnesses\":[],\"witnesses_required\":0}" ] &&
  out_has 'Compare the fingerprint' && out_has 'example.test/tracekit' && [ "$(stat -c %a "$work/trust.json")" = 600 ]
verdict $? 'trust is written, with what it does not prove'
key=${VKEY#*+}
SPKI=$(printf '302a300506032b6570032100%s' "$(printf %s "${key#*+}" | base64 -d | od -An -v -tx1 | tr -d ' \n' | cut -c3-)" |
  sed 's/../\\x&/g' | xargs -0 printf '%b' | sha256sum | cut -d' ' -f1)
out_has "fingerprint sha256:$SPKI"
verdict $? "the fingerprint is the SHA-256 of the key's SPKI"
script "reply {\"logs\":[\"$VKEY\"]}"
tk trust -o "$work/trust.json"
code_is 1 && err_has 'is there already' && err_has '--force'
verdict $? 'an existing file is not replaced'
script "reply {\"logs\":[\"$VKEY\"]}"
tk trust -o "$work/trust.json" --force
code_is 0
verdict $? '--force replaces it'
script "reply {\"logs\":[\"$VKEY\"]}"
tk trust -o -
code_is 0 && cmp -s "$work/out" "$work/trust.json" && err_has 'fingerprint' && err_has 'Compare'
verdict $? 'trust goes to standard output alone'
for r in '{"logs":[]}' '{"logs":["x"]}' "{\"logs\":[\"${VKEY/St/Su}x\"]}" '{}'; do
  script "reply $r"
  tk trust -o "$work/bad.json"
  code_is 1 && [ ! -e "$work/bad.json" ] && err_has 'no usable log keys'
  verdict $? "unusable keys are refused: ${r:0:20}"
done

# --- export ---------------------------------------------------------------------------------------------------------

quoted() { sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/' | paste -sd,; }
LINES=$vectors/example_export/records.jsonl
POLICY='{"rules":[]}'
PHASH=$(printf %s "$POLICY" | sha256sum | cut -d' ' -f1)
NOTE=$(sed ':a;N;$!ba;s/\n/\\n/g' "$vectors/example_export/note")'\n'
KEYS=$(sed -n 1p "$LINES" | quoted)
# begin KEY VALUE: the reply to export.begin, with one member of another value.
begin() {
  local run='"run-a"' tenant='"default"' state='"final"' records=7 origin='"example.test/tracekit"' size=8
  local proof_seqs='[0,1,7]' policies="[\"sha256:$PHASH\"]"
  [ $# -eq 0 ] || local "$1=$2"
  printf 'reply {"run":%s,"tenant":%s,"state":%s,"records":%s,"origin":%s,"size":%s,"note":"%s","key_records":[%s],"proof_seqs":%s,"policies":%s}' \
    "$run" "$tenant" "$state" "$records" "$origin" "$size" "$NOTE" "$KEYS" "$proof_seqs" "$policies"
}
PAGE1="reply {\"lines\":[$(sed -n 2,4p "$LINES" | quoted)],\"next\":3}"
PAGE2="reply {\"lines\":[$(sed -n 5,8p "$LINES" | quoted)],\"next\":null}"
PROOFS="reply $(cat "$vectors/example_export/proofs.json")"
SNAPSHOT="reply {\"policy\":\"$(printf %s "$POLICY" | sed 's/"/\\"/g')\"}"
# refused NAME WORDS: the export failed with these words and left nothing.
refused() {
  code_is 1 && err_has "$2" && [ ! -s "$work/out" ] && [ -z "$(ls "$work"/run.tkb* 2>/dev/null)" ]
  verdict $? "$1"
}

script "$(begin)" "$PAGE1" "$PAGE2" "$PROOFS" "$SNAPSHOT"
tk export latest -o "$work/run.tkb"
code_is 0 && out_has '7 records of run run-a, tree size 8' && out_has "tracekit verify --trust trust.json $work/run.tkb" && quiet
verdict $? 'a run is exported'
log_is '{"op":"export.begin","run":"latest"}' '{"from":0,"op":"export.records","run":"run-a","size":8}' \
  '{"from":3,"op":"export.records","run":"run-a","size":8}' '{"op":"export.proofs","seqs":[0,1,7],"size":8}' \
  "{\"hash\":\"sha256:$PHASH\",\"op\":\"export.policy\"}"
verdict $? 'page by page'
[ "$(stat -c %a "$work/run.tkb")" = 600 ] && [ -z "$(ls "$work"/run.tkb.* 2>/dev/null)" ]
verdict $? "it is the person's own, and no temporary file is left"
alone verify "$work/run.tkb" --trust "$work/trust.json"
cp "$work/out" "$work/report"
grep -q '^\[PASS\] manifest' "$work/report" && grep -q '^\[PASS\] inclusion' "$work/report" &&
  grep -q '^\[PASS\] signatures' "$work/report" && ! grep -q '^\[FAIL\]' "$work/report"
verdict $? 'tracekit verify accepts the bundle'
cp "$work/run.tkb" "$work/first.tkb"
script "$(begin)" "$PAGE1" "$PAGE2" "$PROOFS" "$SNAPSHOT"
tk export latest -o "$work/run.tkb"
code_is 1 && err_has 'is there already' && cmp -s "$work/run.tkb" "$work/first.tkb" && [ ! -s "$work/log" ]
verdict $? 'an existing bundle is not replaced, and the signer not asked'
script "$(begin state '"open"')" "$PAGE1" "$PAGE2" "$PROOFS" "$SNAPSHOT"
tk export run-a -o "$work/run.tkb" --force --json
code_is 0 && [ "$(cat "$work/out")" = "{\"bundle\":\"$work/run.tkb\",\"records\":7,\"run\":\"run-a\",\"state\":\"open\",\"tree_size\":8}" ] &&
  cmp -s "$work/run.tkb" "$work/first.tkb"
verdict $? '--force replaces it; equal evidence gives equal bytes'
rm -f "$work/run.tkb"
mkdir "$work/run.tkb"
tk export run-a -o "$work/run.tkb" --force
code_is 1 && err_has 'not a regular file'
verdict $? 'a directory is never replaced'
rmdir "$work/run.tkb"
ln -s first.tkb "$work/run.tkb"
tk export run-a -o "$work/run.tkb" --force
code_is 1 && err_has 'not a regular file' && [ -L "$work/run.tkb" ]
verdict $? 'a symbolic link is never replaced'
rm "$work/run.tkb"
alone --socket "$work/nobody" export run-a -o "$work/none/run.tkb"
code_is 1 && err_has "cannot make a file in $work/none"
verdict $? 'a directory that is not there is named'

script 'error {"error":"NOT_FOUND","message":"no run begins with x"}'
tk export x -o "$work/run.tkb"
refused 'a run that is not there is refused' 'tracekit: no run begins with x.'
script "$(begin)" "$PAGE1" "${PAGE2/\"next\":null/\"next\":7}"
tk export run-a -o "$work/run.tkb"
[ "$code" -ne 0 ] && [ -z "$(ls "$work"/run.tkb* 2>/dev/null)" ]
verdict $? 'a last page that promises another leaves nothing'
script "$(begin)" 'reply {"lines":[],"next":0}'
tk export run-a -o "$work/run.tkb"
refused 'pages that never advance are noticed' 'do not follow each other'
script "$(begin)" "${PAGE1/\"next\":3/\"next\":4}"
tk export run-a -o "$work/run.tkb"
refused 'pages with a gap are noticed' 'do not follow each other'
script "$(begin)" "${PAGE1/\"next\":3/\"next\":null}"
tk export run-a -o "$work/run.tkb"
refused 'fewer records than announced are noticed' 'fewer records'
script "$(begin records 5)" "$PAGE1" "$PAGE2"
tk export run-a -o "$work/run.tkb"
refused 'more records than announced are noticed' 'more records'
script "$(begin)" 'reply {"lines":["{}\n{}"],"next":1}'
tk export run-a -o "$work/run.tkb"
refused 'two records in one line are noticed' 'is no record'
script "$(begin origin '"evil.test/log"')"
tk export run-a -o "$work/run.tkb"
refused 'a note of another log is noticed' 'no checkpoint note of this log'
script "$(begin size 9)"
tk export run-a -o "$work/run.tkb"
refused 'a note of another size is noticed' 'no checkpoint note of this log'
script "$(begin proof_seqs '[7,1,0,1]')" "$PAGE1" "$PAGE2" "$PROOFS" "$SNAPSHOT"
tk export run-a -o "$work/run.tkb"
code_is 0 && grep -qF '"seqs":[0,1,7]' "$work/log" && cmp -s "$work/run.tkb" "$work/first.tkb"
verdict $? 'the order of the proofs is ours'
rm -f "$work/run.tkb"
for seqs in '[]' '[8]' '[-1]' '["1"]' '{}'; do
  script "$(begin proof_seqs "$seqs")"
  tk export run-a -o "$work/run.tkb"
  refused "a list of proofs that is none is noticed: $seqs" 'no list of records that need a proof'
done
script "$(begin)" "$PAGE1" "$PAGE2" 'reply {"inclusion":{"0":["eA=="],"1":[],"7":[]}}'
tk export run-a -o "$work/run.tkb"
refused 'what is no proof is noticed' 'an inclusion proof is missing or none'
script "$(begin policies '["../../evil"]')" "$PAGE1" "$PAGE2" "$PROOFS"
tk export run-a -o "$work/run.tkb"
refused 'the name of a policy must be a hash' 'no hash'
script "$(begin)" "$PAGE1" "$PAGE2" "$PROOFS" 'reply {"policy":"{}"}'
tk export run-a -o "$work/run.tkb"
refused 'a policy must have the hash of its name' 'not the one of its hash'
script "$(begin)" "$PAGE1" close
tk export run-a -o "$work/run.tkb"
code_is 3 && [ -z "$(ls "$work"/run.tkb* 2>/dev/null)" ]
verdict $? 'a signer that goes away leaves no file'
script "$(begin)" "$PAGE1" stall
: >"$work/log"
code=0
"$tools/fake_control" "$work/sock" "$work/script" "$work/log" timeout 1 "$bin/tracekit" --socket "$work/sock" \
  export run-a -o "$work/run.tkb" >"$work/out" 2>"$work/err" </dev/null || code=$?
code_is 124 && [ "$(wc -l <"$work/log")" -eq 3 ] && [ -z "$(ls "$work"/run.tkb* 2>/dev/null)" ]
verdict $? 'an export that is broken off leaves no file'
script "$(begin tenant "\"$HOSTILE\"")"
tk export run-a -o "$work/run.tkb"
refused 'a hostile tenant does no harm' 'no run, tenant or origin'

finish
