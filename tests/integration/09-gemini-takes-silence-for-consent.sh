#!/usr/bin/env bash
# What Gemini CLI 0.61.0 was measured to make of a hook's behaviour, and that gemini_run, by which the other scripts judge,
# makes the same of it.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh

deny='{"decision":"deny","reason":"no"}'

# row VERDICT NAME COMMAND [OPTION]...
row() {
  local line status=0
  line=$("$tools/gemini_run" --command "$3" "${@:4}" <tests/vectors/payloads/BeforeTool-shell-plain.json | head -n 1)
  [ "${line%% *}" = "$1" ] || status=1
  result "$2: $1" "$status" "got $line"
}

row ALLOW 'exit 0, nothing' 'exit 0'
for code in 0 1 2 3 255; do
  row DENY "deny on standard output, exit $code" "echo '$deny'; exit $code"
done
row DENY 'deny, then SIGKILL' "echo '$deny'; kill -KILL \$\$"
row DENY 'block' "echo '{\"decision\":\"block\"}'"
row DENY 'deny on standard error only, exit 0' "echo '$deny' >&2"
row DENY 'deny on standard error only, exit 2' "echo '$deny' >&2; exit 2"
row DENY 'deny, and noise on standard error' "echo '$deny'; echo noise >&2"
row ALLOW 'deny on standard error, text on standard output' "echo '$deny' >&2; echo text"
row DENY 'pretty-printed deny' "printf '{\n  \"decision\":\n \"deny\"\n}\n\n'"
row DENY 'deny behind a byte order mark' "printf '\xef\xbb\xbf%s' '$deny'"
row DENY 'deny encoded twice' 'echo '\''"{\"decision\":\"deny\"}"'\'
row ALLOW 'deny encoded three times' 'echo '\''"\"{}\""'\'
for what in "text before:x $deny" "text behind:$deny x" "two objects:$deny $deny" 'trailing comma:{"decision":"deny",}' \
  "comment:$deny // x" 'truncated:{"decision":"de'; do
  row ALLOW "${what%%:*}, exit 0" "echo '${what#*:}'"
  row DENY "${what%%:*}, exit 2" "echo '${what#*:}'; exit 2"
done
row ALLOW 'truncated, exit 1' "echo '{\"decision\":\"de'; exit 1"
for what in '"decision":"DENY"' '"decision":"Deny"' '"decision":" deny"' '"Decision":"deny"' \
  '"hookSpecificOutput":{"decision":"deny"}' '"permissionDecision":"deny"' '"decision":"deny","decision":"allow"' \
  '"continue":"false"' '"decision":null' '"decision":"allow"'; do
  row ALLOW "{$what}, exit 2" "echo '{$what}'; exit 2"
done
row ALLOW 'deny inside an array' "echo '[$deny]'; exit 2"
for what in '{}' 42 null true; do
  row ALLOW "$what on standard output, exit 2" "echo '$what'; exit 2"
  row ALLOW "$what on standard error, exit 2" "echo '$what' >&2; exit 2"
done
row ALLOW 'blank output, exit 2' "printf ' \n\t'; exit 2"
for code in 1 2 127; do row ALLOW "no output, exit $code" "exit $code"; done
for code in 2 3 126 127; do
  row DENY "text on standard error, exit $code" "echo no >&2; exit $code"
  row DENY "text on standard output, exit $code" "echo no; exit $code"
done
row ALLOW 'text on standard error, exit 1' 'echo no >&2; exit 1'
row DENY 'missing program' /nonexistent/program
row DENY 'not executable' /etc/passwd
row DENY 'syntax error' 'if'
for name in SEGV ABRT KILL; do
  row ALLOW "dies of SIG$name" "echo text >&2; kill -$name \$\$"
  row DENY "dies of SIG$name below a shell" "bash -c 'ulimit -c 0; kill -$name \$\$'; exit \$?"
done
row ALLOW 'late' 'sleep 2' --timeout 200
row ALLOW 'late, although a deny was written' "echo '$deny'; exec sleep 2" --timeout 200
row ALLOW 'late, and a handler writes a deny' "trap 'echo \"\$DENY\"; exit 2' TERM; sleep 0.6; sleep 0.6" --timeout 200 \
  --env "DENY=$deny"
row DENY 'a child keeps the stream, not too long' "sleep 0.3 & echo '$deny'"
row ALLOW 'a child keeps the stream too long' "sleep 0.5 & echo '$deny'" --timeout 200
row ALLOW 'no bash on PATH' "echo '$deny'" --env PATH=/nonexistent
row STOP 'continue:false' "echo '{\"continue\":false}'"
row ASK 'ask' "echo '{\"decision\":\"ask\"}'"
row ALLOW 'the payload reaches standard input, which ends' 'grep -q tool_name'
row DENY 'a payload that nobody reads' "echo '$deny'"
finish
