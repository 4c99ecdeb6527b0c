#!/usr/bin/env bash
# `tracekit init` puts our hooks into Gemini's settings and `tracekit uninstall` takes them out: nothing else in the file
# changes, nothing is written without a yes, and files that are not plainly ours are left alone.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh
set +e

unset XDG_DATA_HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME DBUS_SESSION_BUS_ADDRESS GEMINI_CLI_HOME
export HOME=$work/home
file=$HOME/.gemini/settings.json
project=$work/project

# A signer that init started is ours to end.
end_signer() {
  local lock=$1/lock pid
  [ -s "$lock" ] || return 0
  read -r pid <"$lock"
  [[ $(readlink "/proc/$pid/exe" 2>/dev/null) == "$bin/tracekit-signer"* ]] || return 0
  kill -TERM "$pid" 2>/dev/null || true
  wait_for 10 test ! -d "/proc/$pid"
}
trap 'end_signer "$work/home/.local/share/tracekit-c"; end_signer "$work/d"; clean_up' EXIT

# tk ARG...: without a terminal. Puts exit code and output into $code, out and err.
tk() {
  code=0
  setsid -w "$bin/tracekit" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
}
init() { tk init --dev --agent gemini "$@"; }
uninstall() { tk uninstall --agent gemini "$@"; }
ok() { result "$1" "$2" "exit code $code" "$(cat "$work/out" "$work/err")"; }
err_has() { grep -qF -- "$1" "$work/err"; }
out_has() { grep -qF -- "$1" "$work/out"; }

# fresh [TEXT]: an empty home, with that settings file.
fresh() {
  end_signer "$HOME/.local/share/tracekit-c"
  rm -rf "$HOME" "$project"
  mkdir -p "$HOME" "$project"
  [ $# -gt 0 ] || return 0
  mkdir -m 700 "$HOME/.gemini"
  printf %b "$1" >"$file"
  cp "$file" "$work/before"
}
names() { find "$HOME/.gemini" -mindepth 1 -printf '%f\n' | sort; }
untouched() { cmp -s "$file" "$work/before" && [ "$(names)" = settings.json ]; }

# refuses NAME CODE WORDS [ARG]...: of an init that must leave the file alone.
refuses() {
  init --yes "${@:4}"
  local status=0
  [ "$code" -eq "$2" ] && err_has "$3" && untouched || status=1
  ok "$1" $status
}

# --- use ------------------------------------------------------------------------------------------------------------

fresh '{}\n'
tk init --agent gemini --yes
[ $code -eq 2 ] && err_has '--dev is missing' && err_has 'system mode' && untouched
ok 'without --dev it says what is not there yet' $?
tk init --dev --agent claude --yes
[ $code -eq 2 ] && err_has 'no other agent is known yet' && untouched
ok 'another agent is refused' $?
tk init --dev --yes
[ $code -eq 2 ] && err_has '--agent must be gemini' && untouched
ok 'the agent has to be named' $?
init
[ $code -eq 2 ] && err_has 'Give --yes' && untouched
ok 'without a terminal and without --yes nothing is done' $?
init --yes --tool-sandbox --no-tool-sandbox
[ $code -eq 2 ] && untouched
ok 'options that exclude each other are refused' $?
uninstall
[ $code -eq 2 ] && err_has 'Give --yes' && untouched
ok 'uninstall asks too' $?

# --- there and back -------------------------------------------------------------------------------------------------

# round NAME TEXT: init, init, uninstall.
round() {
  local status=0 copy
  fresh "$2"
  chmod 640 "$file"
  init --yes
  [ $code -eq 0 ] && [ "$(grep -c 'tracekit-hook' "$file")" -eq 6 ] && [ "$(stat -c %a "$file")" = 640 ] || status=1
  copy=$(find "$HOME/.gemini" -name 'settings.json.tracekit-backup-*Z')
  [ -n "$copy" ] && cmp -s "$copy" "$work/before" && [ "$(stat -c %a "$copy")" = 600 ] || status=1
  cp "$file" "$work/with"
  init --yes --v2
  [ $code -eq 0 ] && cmp -s "$file" "$work/with" && out_has 'nothing to change' && [ "$(names | wc -l)" -eq 2 ] || status=1
  uninstall --yes
  [ $code -eq 0 ] && cmp -s "$file" "$work/before" && ! names | grep -q tmp || status=1
  ok "$1: there and back, byte for byte" $status
}
round 'an empty object' '{}'
round 'comments' '// mine\n{\n    "a": 1, // one\n    "b": [1, 2] /* two */\n} // end\n'
round 'CRLF and tabs' '{\r\n\t"hooks": {\r\n\t\t"BeforeTool": []\r\n\t}\r\n}\r\n'
round 'hooks of others' '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}\n'

fresh '{\r\n\t"a": 1\r\n}\r\n'
init --yes
[ "$(grep -c $'\r$' "$file")" -eq "$(wc -l <"$file")" ] && grep -q $'^\t\t"BeforeTool": \\[\r$' "$file"
ok 'line ends and indentation are those of the file' $?

fresh
init --yes
[ $code -eq 0 ] && [ "$(stat -c %a "$HOME/.gemini")" = 700 ] && [ "$(stat -c %a "$file")" = 600 ] && [ "$(names)" = settings.json ]
ok 'a file that was not there is made, for its owner alone' $?
id=$(sed -n 's/.*"name": "tracekit \([0-9a-f]*\): .*/\1/p' "$file" | sort -u)
[[ $id =~ ^[0-9a-f]{6}$ ]] && grep -qF "\"name\": \"tracekit $id: held? run: tracekit approvals list\"" "$file"
ok 'all hooks have one random part in their names' $?
sed -i 's/--wait 540/--wait 30/; s/"BASH_ENV": ""/"BASH_ENV": "x"/' "$file"
init --yes
[ $code -eq 0 ] && grep -q -- '--wait 540;' "$file" && ! grep -q '"BASH_ENV": "x"' "$file" &&
  [ "$(grep -c "\"tracekit $id: " "$file")" -eq 6 ] && [ "$(grep -c tracekit-hook "$file")" -eq 6 ]
ok 'hooks that are out of date are replaced and keep their names' $?
init --yes --data "$work/d"
[ $code -eq 0 ] && [ "$(grep -c "$work/d/run/agent.sock" "$file")" -eq 6 ] && [ "$(grep -c tracekit-hook "$file")" -eq 6 ]
ok '--data names the socket' $?
uninstall --yes --data "$work/d"
[ $code -eq 0 ] && [ ! -e "$file" ] && out_has 'Removed'
ok 'what is empty then, and was ours, goes' $?
uninstall --yes
[ $code -eq 0 ] && out_has 'no hooks of ours'
ok 'a second uninstall has nothing to do' $?

fresh
mkdir "$work/other"
GEMINI_CLI_HOME=$work/other init --yes
[ $code -eq 0 ] && [ -s "$work/other/.gemini/settings.json" ] && [ ! -e "$HOME/.gemini" ]
ok 'GEMINI_CLI_HOME is where Gemini looks' $?

fresh
(cd "$project" && setsid -w "$bin/tracekit" init --dev --agent gemini --project --yes >"$work/out" 2>"$work/err" </dev/null)
code=$?
[ $code -eq 0 ] && [ -s "$project/.gemini/settings.json" ] && [ ! -e "$HOME/.gemini" ]
ok '--project writes into the present folder' $?
(cd "$project" && setsid -w "$bin/tracekit" uninstall --agent gemini --project --yes >"$work/out" 2>"$work/err" </dev/null)
code=$?
[ $code -eq 0 ] && [ ! -e "$project/.gemini/settings.json" ]
ok 'and uninstall --project takes it out there' $?

# --- the tool sandbox -----------------------------------------------------------------------------------------------

fresh '{"security": {"toolSandboxing": false}}'
init --yes
grep -q '"toolSandboxing": false' "$file"
ok '--yes alone leaves the tool sandbox as it is' $?
if bwrap --ro-bind / / true 2>/dev/null; then
  init --yes --tool-sandbox
  [ $code -eq 0 ] && grep -q '"toolSandboxing": true' "$file"
  ok '--tool-sandbox switches it on' $?
  uninstall --yes
  [ $code -eq 0 ] && grep -q '"toolSandboxing": true' "$file" && out_has 'security.toolSandboxing'
  ok 'uninstall says that it stays on' $?
else
  skip '--tool-sandbox switches it on' 'bubblewrap does not work here'
  skip 'uninstall says that it stays on' 'bubblewrap does not work here'
fi
fresh '{}'
mkdir "$work/bad"
printf '#!/bin/sh\nexit 1\n' >"$work/bad/bwrap"
chmod 755 "$work/bad/bwrap"
PATH=$work/bad:$PATH refuses 'a bubblewrap that does not work is no tool sandbox' 1 'bwrap --ro-bind / / true' --tool-sandbox

# --- refusals -------------------------------------------------------------------------------------------------------

fresh '{\n  "a": 1,\n}\n'
refuses 'what Gemini would not read is left alone' 1 'settings.json, line 3, column 1: a comma before a closing bracket'
fresh '{"hooksConfig": {"enabled": false}}'
refuses 'hooks that are switched off are told' 1 'hooksConfig.enabled switches all hooks off'
fresh '{"hooks": {"BeforeTool": [{"matcher": 1}]}}'
refuses 'an event that is void is told' 1 'Gemini would void the whole event'
fresh '{"hooks": {}, "hooks": {}}'
refuses 'a doubled key is told' 1 'a second time'
fresh '{}'
chmod 666 "$file"
refuses 'a file that others may write is left alone' 1 'may be changed by others (mode 666)'
fresh '{}'
chmod 777 "$HOME/.gemini"
refuses 'a directory that others may write is left alone' 1 'may be changed by others (mode 777)'
fresh '{}'
mv "$file" "$HOME/real.json"
ln -s ../real.json "$file"
init --yes
[ $code -eq 1 ] && err_has 'is a symbolic link' && cmp -s "$HOME/real.json" "$work/before" && [ -L "$file" ]
ok 'a symbolic link is left alone' $?
fresh '{}'
mv "$HOME/.gemini" "$HOME/real"
ln -s real "$HOME/.gemini"
init --yes
[ $code -eq 1 ] && err_has 'is a symbolic link' && cmp -s "$HOME/real/settings.json" "$work/before"
ok 'so is one in place of the directory' $?
fresh
mkdir -m 700 "$HOME/.gemini"
mkfifo -m 600 "$file"
init --yes
[ $code -eq 1 ] && err_has 'is no regular file'
ok 'a pipe is left alone, and not waited for' $?
if [ "$(id -u)" -ne 0 ]; then
  fresh '{}'
  chmod 500 "$HOME/.gemini"
  refuses 'a directory that cannot be written leaves the file whole' 1 'cannot make a file beside'
  chmod 700 "$HOME/.gemini"
  skip 'the file of another user is left alone' 'needs root'
else
  skip 'a directory that cannot be written leaves the file whole' 'root may write everywhere'
  fresh '{}'
  chown 12345 "$file"
  refuses 'the file of another user is left alone' 1 'belongs to another user'
fi

# --- the evidence ---------------------------------------------------------------------------------------------------

data=$work/d
"$bin/tracekit-signer" --dev --data "$data" >"$work/signer" 2>&1 &
signer=$!
children+=("$signer")
wait_for 10 test -S "$data/run/control.sock"
fresh '{}'
touch "$data/notes.txt"
uninstall --yes --purge --data "$data"
[ $code -eq 1 ] && err_has 'holds notes.txt' && err_has 'Nothing was changed' && [ -s "$data/ledger.db" ]
ok 'purge refuses a directory with a stranger in it' $?
rm "$data/notes.txt"
ln -s /etc/passwd "$data/ledger.db-journal"
uninstall --yes --purge --data "$data"
[ $code -eq 1 ] && err_has 'holds ledger.db-journal' && [ -s "$data/ledger.db" ]
ok 'a symbolic link is a stranger whatever its name' $?
rm "$data/ledger.db-journal"
ln -s d "$work/link"
uninstall --yes --purge --data "$work/link"
[ $code -eq 1 ] && err_has 'symbolic link' && [ -s "$data/ledger.db" ]
ok 'purge follows no symbolic link' $?
uninstall --purge --data "$data"
[ $code -eq 2 ] && [ -s "$data/ledger.db" ]
ok 'purge needs a yes' $?
# Without `tracekit up` the signer is ended by hand.
kill -TERM "$signer"
wait "$signer" || true
uninstall --yes --purge --data "$data"
[ $code -eq 0 ] && [ ! -e "$data" ] && out_has 'DESTROYS' && out_has 'Export what you need first' && out_has 'The evidence is destroyed'
ok 'purge removes what the signer made, and nothing else' $?

# --- on a terminal --------------------------------------------------------------------------------------------------

# answer TEXT ARG...: runs it on a terminal of its own and types the text.
answer() {
  code=0
  printf %b "$1" | script -qec "$(printf '%q ' "$bin/tracekit" "${@:2}")" /dev/null >"$work/out" 2>"$work/err" || code=$?
}
if script --version >/dev/null 2>&1; then
  fresh '{}'
  answer 'n\n' init --dev --agent gemini --no-tool-sandbox
  [ $code -eq 1 ] && out_has 'nothing was changed' && untouched
  ok 'a no is a no' $?
  answer '\n' init --dev --agent gemini --no-tool-sandbox
  [ $code -eq 1 ] && untouched
  ok 'so is an empty line' $?
  answer 'y\n' init --dev --agent gemini --no-tool-sandbox
  [ $code -eq 0 ] && out_has 'hooks for SessionStart' && grep -q tracekit-hook "$file"
  ok 'a yes is asked for, and taken' $?
  answer 'y\n' uninstall --agent gemini --purge
  [ $code -eq 1 ] && grep -q tracekit-hook "$file"
  ok 'evidence is not destroyed by a yes' $?
  answer 'destroy\n' uninstall --agent gemini --purge
  [ $code -eq 0 ] && untouched_file=$(cmp "$file" "$work/before" && echo yes) && [ -n "$untouched_file" ]
  ok 'but by the word' $?
else
  for name in 'a no is a no' 'so is an empty line' 'a yes is asked for, and taken' 'evidence is not destroyed by a yes' \
    'but by the word'; do
    skip "$name" 'no script(1)'
  done
fi

finish
