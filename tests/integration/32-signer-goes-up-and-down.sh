#!/usr/bin/env bash
# `tracekit up` leaves one signer behind, whatever happens at the same time, and nothing of ours in it; `tracekit down`
# stops that process and no other; `tracekit status` says how things stand. Without systemd, and with a systemctl of ours.
# shellcheck disable=SC2016 # what eval gets is meant for it
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
set +e # each check below looks at what it ran
umask 022
unset NO_COLOR XDG_DATA_HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME NOTIFY_SOCKET
export HOME=$work/home PATH=/usr/bin:/bin
mkdir -m 700 "$HOME"
data=$HOME/.local/share/tracekit-c
pids=()

# What `up` left behind is no child of ours; its id is noted, and it is ended while its name is still that of a signer.
end_signers() {
  local pid
  for pid in ${pids[@]+"${pids[@]}"}; do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != tracekit-signer ] || kill -KILL "$pid"
  done
}
trap 'end_signers; clean_up' EXIT

# tk ARGUMENT...: its exit code is in $code, a signer's process in $pid when it names one.
tk() {
  code=0
  timeout 60 "$bin/tracekit" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  pid=$(sed -nE 's/.*process ([0-9]+).*/\1/p; s/.*"pid":([0-9]+).*/\1/p' "$work/out" | head -1)
  [ -z "$pid" ] || pids+=("$pid")
}

verdict() { # verdict STATUS NAME
  result "$2" "$1" "exit code $code" "$(sed 's/^/out| /' "$work/out" | cat -v)" "$(sed 's/^/err| /' "$work/err" | cat -v)"
}
code_is() { [ "$code" -eq "$1" ]; }
out_has() { grep -qF -- "$1" "$work/out"; }
err_has() { grep -qF -- "$1" "$work/err"; }
quiet() { [ ! -s "$work/err" ]; }
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
descriptor() { readlink "/proc/$1/fd/$2"; }
environment() { tr '\0' '\n' <"/proc/$1/environ"; }

# --- detached ---------------------------------------------------------------------------------------------------------

tk status
code_is 3 && out_has 'Signer: not reachable' && out_has 'tracekit up' && quiet
verdict $? 'without a signer, status is exit code 3'
tk down
code_is 0 && out_has 'No signer runs.' && [ ! -e "$data" ]
verdict $? 'and down has nothing to do'

exec 7<"$0" 8>"$work/kept"
SECRET_TOKEN=x LD_LIBRARY_PATH=/nowhere NOTIFY_SOCKET=$work/none LANG=C tk up
code_is 0 && out_has 'The signer is started: process ' && out_has "$data" && quiet
verdict $? 'up starts it'
first=$pid
# From the shell that started `up` nothing is held, so its end is seen at once; what comes after is the signer's own.
readable=1
descriptor "$first" 0 >/dev/null || readable=0
if [ "$readable" -eq 1 ]; then
  check 'standard input is /dev/null' [ "$(descriptor "$first" 0)" = /dev/null ]
  check 'so is standard output' [ "$(descriptor "$first" 1)" = /dev/null ]
  check 'standard error is the log' [ "$(descriptor "$first" 2)" = "$data/signer.log" ]
  check 'no other descriptor of ours is there' eval '! ls -l "/proc/$first/fd" | grep -qE "signer-goes-up|kept|pipe:"'
  check 'its directory is /' [ "$(readlink "/proc/$first/cwd")" = / ]
  check 'its environment has what it needs' eval 'environment "$first" | grep -qxF "HOME=$HOME" && environment "$first" | grep -q "^LANG="'
  check 'and nothing else' eval '! environment "$first" | grep -qE "SECRET_TOKEN|LD_LIBRARY_PATH|NOTIFY_SOCKET"'
else
  skip 'its descriptors, directory and environment' 'they are nobody else'"'"'s to see'
fi
exec 7<&- 8>&-
check 'its umask is 077' grep -qE '^Umask:.0?077$' "/proc/$first/status"
# Fields of /proc/PID/stat behind the name: state, parent, group, session, terminal.
read -r _ _ group session terminal _ < <(sed 's/.*) //' "/proc/$first/stat")
check 'it has no terminal, and is not the leader of its session' eval \
  '[ "$terminal" -eq 0 ] && [ "$session" -ne "$first" ] && [ "$session" -ne "$(ps -o sid= -p $$)" ]'
check 'the log is private' [ "$(stat -c %a "$data/signer.log")" = 600 ]
check 'so is the data directory' [ "$(stat -c %a "$data")" = 700 ]
check 'the output of up ends with it, not with the signer' eval \
  '[ -n "$(timeout 10 sh -c "$bin/tracekit --data $work/pipe up --json | cat")" ]'
tk --data "$work/pipe" down --json
code_is 0 && out_has '"changed":true' && out_has '"running":false'
verdict $? 'down says what it did, for programs'

tk up
code_is 0 && out_has "The signer runs already: process $first." && quiet
verdict $? 'a second up says that it runs'
tk status
code_is 1 && out_has 'Signer: running' && out_has "process     $first, without a service manager" && out_has 'not installed' &&
  out_has 'What this does not protect' && out_has 'docs/gemini.md' && quiet
verdict $? 'status names the missing gate, with exit code 1'
mkdir "$HOME/.gemini"
{ echo '// ours'; "$bin/tracekit" hook-definition --agent gemini 2>/dev/null; } >"$HOME/.gemini/settings.json"
tk status
code_is 0 && out_has 'in the settings' && quiet
verdict $? 'with the gate in the settings it is exit code 0'
tk status --json
code_is 0 && out_has '"gate":"yes"' && out_has '"manager":"detached"' && out_has "\"pid\":$first" && out_has '"isolation":"same-user"' &&
  out_has '"paused":null' && out_has '"unasked":[]' && out_has "\"data_dir\":\"$data\""
verdict $? 'and as JSON'
echo '{' >"$HOME/.gemini/settings.json"
tk status
code_is 1 && out_has 'cannot be read'
verdict $? 'settings that cannot be read are no gate'
tk status --colour
code_is 2
verdict $? 'an unknown option is wrong use'

# --- held calls -------------------------------------------------------------------------------------------------------

payload='{"session_id":"s-1","transcript_path":"/t","cwd":"/w","hook_event_name":"BeforeTool","timestamp":"2026-11-30T00:00:00.000Z","tool_name":"run_shell_command","tool_input":{"command":"echo hi","additional_permissions":{"network":true}}}'
echo "$payload" | "$bin/tracekit-hook" gemini --event BeforeTool --socket "$data/run/agent.sock" --signer-uid "$(id -u)" --wait 60 >"$work/hook" 2>&1 &
hook=$!
children+=("$hook")
waits() { "$bin/tracekit" status --json | grep -q '"hooks_waiting":1'; }
wait_for 10 waits
check 'status knows of the held call' waits
tk down
code_is 1 && err_has '1 call waits for an answer, and stopping the signer denies it' && err_has 'give --yes' && ! gone "$first"
verdict $? 'down does not deny it without being told to'
tk down --yes
code_is 0 && out_has "The signer is stopped (process $first)." && out_has 'denied now: 1' && gone "$first"
verdict $? 'with --yes it does'
wait "$hook"
check 'and the hook denied' grep -qF '"decision":"deny"' "$work/hook"
tk down
code_is 0 && out_has 'No signer runs.'
verdict $? 'a second down says that there is none'

# --- killed, raced, in the way ------------------------------------------------------------------------------------------

tk up
killed=$pid
kill -KILL "$killed"
wait_for 10 gone "$killed"
check 'a killed signer leaves its socket' [ -S "$data/run/control.sock" ]
tk up
code_is 0 && out_has 'The signer is started' && [ "$pid" != "$killed" ]
verdict $? 'up starts it again over the stale socket'
tk down

for n in 1 2 3; do "$bin/tracekit" up --json >"$work/race-$n" 2>&1 </dev/null & children+=("$!"); done
wait
cat "$work"/race-? >"$work/out"
for n in 1 2 3; do pids+=("$(sed -nE 's/.*"pid":([0-9]+).*/\1/p' "$work/race-$n")"); done
check 'three at the same moment: all succeed' [ "$(grep -c '"running":true' "$work/out")" -eq 3 ]
check 'one of them started it' [ "$(grep -c '"changed":true' "$work/out")" -eq 1 ]
check 'and all name the same process' [ "$(grep -o '"pid":[0-9]*' "$work/out" | sort -u | wc -l)" -eq 1 ]
tk down

head -c 1100000 /dev/zero | tr '\0' 'x' >"$data/signer.log"
tk up
code_is 0 && [ "$(stat -c %s "$data/signer.log")" -lt 4096 ] && [ "$(stat -c %s "$data/signer.log.1")" -eq 1100000 ]
verdict $? 'a log over 1 MiB is put aside'
tk down
echo 'kept' >"$data/signer.log"
tk up
code_is 0 && [ "$(head -1 "$data/signer.log")" = kept ]
verdict $? 'a shorter one goes on'
tk down
mv "$data/signer.log" "$work/elsewhere"
ln -s "$work/elsewhere" "$data/signer.log"
tk up
code_is 1 && err_has 'signer.log'
verdict $? 'a link in its place is refused'
rm "$data/signer.log"

mv "$data/run" "$work/run"
printf 'in the \033[2J way' >"$data/run"
tk up
code_is 1 && err_has "The signer's last words:" && err_has '  | tracekit-signer: ' && err_has 'ended at once'
verdict $? 'a signer that ends says why'
rm "$data/run"
chmod 755 "$data"
tk up
code_is 1 && err_has "run: chmod 700 $data"
verdict $? 'a data directory that is open to others is refused'
chmod 700 "$data"
printf 'ledger' >"$work/ledger"
mkdir -m 700 "$work/broken"
cp "$work/ledger" "$work/broken/ledger.db"
tk --data "$work/broken" up
code_is 1 && err_has 'ledger.db' && [ -z "$pid" ]
verdict $? 'so is a ledger that is none, in its own words'

# Another program on the control socket.
mkdir -m 700 "$work/other" "$work/other/run"
other() { # other REPLY ARGUMENT...
  printf '%s\n' "$1" >"$work/script"
  shift
  code=0
  "$tools/fake_control" "$work/other/run/control.sock" "$work/script" "$work/log" "$bin/tracekit" --data "$work/other" "$@" \
    >"$work/out" 2>"$work/err" </dev/null || code=$?
}
other garbage up
code_is 1 && err_has 'cannot be used' && [ ! -e "$work/other/signer.log" ]
verdict $? 'up starts nothing where another program listens'
other 'reply {}' up
code_is 1 && err_has 'not as a signer does'
verdict $? 'nor where one answers that is no signer'
other $'reply {"version":"9","hooks_waiting":0}\nreply {"version":"9","hooks_waiting":0}' down
[ "$code" -ne 125 ] && code_is 1 && err_has 'is not called tracekit-signer'
verdict $? 'down stops nothing that is not called as a signer'
other $'reply {"version":"9\\u001b[2J","pid":1,"data_dir":"\\u001b]0;x","started_at":"\\n\\nSigner: fine","log_id":7}' status
! LC_ALL=C grep -q $'\033' "$work/out" && out_has '\x1b[2J' && ! grep -q '^Signer: fine' "$work/out"
verdict $? 'what a signer says of itself is made visible'

# --- systemd ----------------------------------------------------------------------------------------------------------

# A systemctl that writes down what it is asked, and starts and stops what the unit says.
mkdir "$work/fake"
cat >"$work/fake/systemctl" <<'FAKE'
#!/usr/bin/env bash
here=$(dirname "$0")
echo "$*" >>"$here/asked"
[ -z "${SECRET_TOKEN:-}" ] || echo "SECRET" >>"$here/asked"
case "$2" in
  is-system-running) cat "$here/runs" ;;
  show) cat "$here/pid" 2>/dev/null || echo 0 ;;
  enable)
    [ ! -e "$here/broken" ] || { printf 'Job failed\033[2J\n' >&2; exit 1; }
    eval "command=($(sed -n 's/^ExecStart=//p' "$XDG_RUNTIME_DIR/../home/.config/systemd/user/$4"))"
    "${command[@]}" </dev/null >/dev/null 2>&1 &
    echo $! >"$here/pid"
    ;;
  disable)
    [ ! -e "$here/pid" ] || { kill "$(cat "$here/pid")"; rm "$here/pid"; }
    ;;
esac
FAKE
chmod 755 "$work/fake/systemctl"
echo running >"$work/fake/runs"
mkdir -m 700 "$work/runtime"
unit=$HOME/.config/systemd/user/tracekit-signer.service
export PATH=$work/fake:/usr/bin:/bin
asked() { grep -qxF -- "--user $1" "$work/fake/asked"; }

tk up
code_is 0 && out_has 'The signer is started' && [ ! -e "$work/fake/asked" ] && [ ! -e "$unit" ]
verdict $? 'without XDG_RUNTIME_DIR systemctl is not asked'
tk down
export XDG_RUNTIME_DIR=$work/runtime
echo offline >"$work/fake/runs"
tk up
code_is 0 && asked is-system-running && [ ! -e "$unit" ] && [ -S "$work/runtime/tracekit-c/control.sock" ]
verdict $? 'a manager that does not run is not used'
tk down
echo running >"$work/fake/runs"
SECRET_TOKEN=x tk up
code_is 0 && out_has 'looked after by systemd' && asked daemon-reload && asked 'enable --now tracekit-signer.service' &&
  ! grep -q SECRET "$work/fake/asked"
verdict $? 'one that runs gets the unit'
check 'which names the program by its absolute path' grep -qxF "ExecStart=\"$(readlink -f "$bin")/tracekit-signer\" --dev" "$unit"
check 'and is private' [ "$(stat -c %a "$unit")" = 600 ]
tk status
out_has 'looked after by the systemd unit tracekit-signer.service'
verdict $? 'status names it'
tk up
code_is 0 && out_has 'runs already'
verdict $? 'a second up says that it runs'
tk down
code_is 0 && asked 'disable --now tracekit-signer.service' && gone "$(sed -n 's/.*(process \([0-9]*\)).*/\1/p' "$work/out")"
verdict $? 'down disables and stops it'
touch "$work/fake/broken"
tk up
code_is 1 && err_has 'Job failed\x1b[2J' && err_has 'journalctl --user -n 20 -u tracekit-signer.service'
verdict $? 'what systemctl says is made visible'
rm "$work/fake/broken"
printf '[Service]\nExecStart=/bin/true\n' >"$unit"
tk up
code_is 1 && err_has "$unit is there and not ours" && grep -q /bin/true "$unit"
verdict $? "somebody else's unit is left"
rm "$unit"
tk --data "$work/data dir" up
code_is 0 && grep -qF -- "--dev --data \"$work/data dir\"" "$HOME"/.config/systemd/user/tracekit-signer-????????.service
verdict $? 'a data directory of its own has a unit of its own'
tk --data "$work/data dir" down
code_is 0 && out_has 'is stopped'
verdict $? 'which is stopped by it'
finish
