#!/usr/bin/env bash
# `tracekit gemini` hands its words on unchanged when the gate will hold, and names what is wrong and starts nothing when it
# will not, or when something cannot be checked.
cd "$(dirname "$0")/../.."
. tests/integration/lib.sh

home=$work/home space=$work/space data=$work/data
user=$home/.gemini/settings.json
workspace=$space/.gemini/settings.json
mkdir -p "$home/.gemini" "$space/.gemini" "$work/bin" "$work/away"

cat >"$work/bin/gemini" <<'SH'
#!/bin/sh
printf '%s\n' "$#" "$@" >"$STARTED"
grep SigIgn /proc/self/status >"$STARTED.signals"
exit 7
SH
chmod +x "$work/bin/gemini"

"$bin/tracekit-signer" --dev --data "$data" </dev/null >"$work/signer.log" 2>&1 &
signer=$!
children+=("$signer")
wait_for 10 "$bin/tracekit" --data "$data" runs list >/dev/null 2>&1

# fresh: settings with our definition, and a folder that is trusted.
fresh() {
  rm -rf "$space/.env" "$space/.gemini" "$home/.gemini" "$work/started" "$work/sys"
  mkdir -p "$home/.gemini" "$space/.gemini"
  "$bin/tracekit" hook-definition --agent gemini --data "$data" >"$user"
  printf '{"%s":"TRUST_FOLDER"}\n' "$space" >"$home/.gemini/trustedFolders.json"
}

# with VARIABLE=VALUE... -- WORD...: `tracekit gemini WORD...` in the workspace, with a small environment.
with() {
  local variables=()
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  rm -f "$work/started" "$work/started.signals"
  code=0
  (cd "$space" && exec env -i PATH="$work/bin:/usr/bin:/bin" HOME="$home" STARTED="$work/started" \
    GEMINI_CLI_SYSTEM_SETTINGS_PATH="$work/sys/settings.json" ${variables[@]+"${variables[@]}"} \
    "$bin/tracekit" gemini "$@") </dev/null >"$work/out" 2>"$work/err" || code=$?
}

say() {
  echo "exit status $code"
  cat "$work/out" "$work/err"
}

# started NAME [WORD]...: Gemini got exactly these words.
started() {
  local name=$1 status=0
  shift
  { printf '%s\n' "$#" ${1+"$@"}; } >"$work/want"
  [ "$code" -eq 7 ] && [ ! -s "$work/err" ] && cmp -s "$work/want" "$work/started" || status=1
  result "$name" "$status" "$(say)"
}

# refused NAME TEXT: it was not started, and standard error names the reason.
refused() {
  local status=0
  [ "$code" -eq "${3:-1}" ] && [ ! -e "$work/started" ] && grep -qF -- "$2" "$work/err" || status=1
  result "$1" "$status" "$(say)"
}

# --- it starts ------------------------------------------------------------------------------------------------------

fresh
with --
started 'without arguments'
with -- -p 'hello  $(x) "y"' '' -y --model=x
started 'with arguments, unchanged' -p 'hello  $(x) "y"' '' -y --model=x
with -- -- --help
started 'behind -- everything goes to Gemini' --help
with -- -- --check
started 'our own words too' --check
with -- hello --check
started 'our words behind the first that is not ours go to Gemini' hello --check
with -- -p x -- -s
started 'a second -- is handed on' -p x -- -s
# Whoever runs this test may ignore others: a shell does that for what it starts in the background.
ignored=$(sed 's/.*[[:space:]]//' "$work/started.signals")
result 'SIGPIPE is not ignored' $((16#$ignored >> 12 & 1)) "SigIgn $ignored"
with -- --data "$data" x
started 'with a signer that answers' x
with -- --check
[ "$code" -eq 0 ] && [ ! -e "$work/started" ] && grep -q 'will hold' "$work/out"
result '--check says that it holds, and starts nothing' $? "$(say)"
with -- --check --json
[ "$code" -eq 0 ] && grep -q '"holds":true' "$work/out"
result '--check --json' $? "$(say)"
rm "$home/.gemini/trustedFolders.json"
with -- --skip-trust
started '--skip-trust stands for trust' --skip-trust
with GEMINI_CLI_TRUST_WORKSPACE=true -- x
started 'so does the environment' x

# --- arguments and environment --------------------------------------------------------------------------------------

fresh
with -- -s
refused '-s' 'tracekit: --sandbox: moves Gemini into a container'
with -- -ys -p x
refused 'bundled' '--sandbox'
with -- -r -- -s
refused 'behind a -- that is a value' '--sandbox'
with -- --acp
refused '--acp' '--acp: makes an editor'
with GEMINI_SANDBOX=docker --
refused 'GEMINI_SANDBOX' 'tracekit: GEMINI_SANDBOX: '
with GEMINI_SANDBOX=false -- x
started 'GEMINI_SANDBOX=false' x
with GEMINI_RESTRICTED_MODE=true --
refused 'GEMINI_RESTRICTED_MODE' 'GEMINI_RESTRICTED_MODE: '
with 'NODE_OPTIONS=--require /secret/x.js' --
refused 'NODE_OPTIONS' 'NODE_OPTIONS: '
! grep -q secret "$work/err"
result 'no value is shown' $? "$(say)"
with -- --check --json -s
[ "$code" -eq 1 ] && grep -q '"holds":false' "$work/out" && grep -q '"what":"--sandbox"' "$work/out" && [ ! -s "$work/err" ]
result 'findings as JSON' $? "$(say)"

# --- programs -------------------------------------------------------------------------------------------------------

mkdir -p "$work/nothing" "$work/open"
chmod 777 "$work/open"
with PATH="$work/nothing:/usr/bin:/bin" --
refused 'no gemini' 'there is no gemini in the directories of PATH'
with PATH="$work/bin" --
refused 'no bash' 'there is no bash in the directories of PATH'
with PATH=":$work/bin:/usr/bin:/bin" --
refused 'an empty directory in PATH' 'PATH (bash): names a directory that is not absolute'
with PATH="bin:$work/bin:/usr/bin:/bin" --
refused 'a relative one' 'PATH (gemini): names a directory that is not absolute'
with PATH="$work/open:$work/bin:/usr/bin:/bin" --
refused 'one that others may write to' 'others can put programs'
printf 'no program' >"$work/away/gemini"
chmod +x "$work/away/gemini"
with PATH="$work/away:/usr/bin:/bin" --
refused 'a gemini that cannot be started' 'cannot be started'

# --- settings -------------------------------------------------------------------------------------------------------

fresh
rm "$user"
with --
refused 'no settings' 'nothing asks the signer'
fresh
sed -i 's/exit 2"/exit 0"/' "$user"
with --
refused 'a guard that was changed' 'command line is not as it is printed'
fresh
sed -i 's/600000/6000/' "$user"
with --
refused 'a timeout below the wait' 'timeout'
fresh
printf '{"hooks":{"BeforeTool":[' >"$user"
with --
refused 'settings that cannot be parsed' "$user, line 1, column"
fresh
rm "$user"
mkfifo "$user"
with --
refused 'settings that are a pipe' 'is no regular file'
fresh
rm "$user"
mkdir "$user"
with --
refused 'settings that are a directory' 'is no regular file'
fresh
printf '{"hooksConfig":{"enabled":false}}' >"$workspace"
with --
refused 'a workspace that switches hooks off' 'hooksConfig.enabled (workspace settings): switches all hooks off'
grep -qF "workspace settings: $workspace" "$work/err"
result 'the file is named' $? "$(say)"
printf '{"%s":"DO_NOT_TRUST"}' "$space" >"$home/.gemini/trustedFolders.json"
with -- --skip-trust
started 'which has no say with --skip-trust alone' --skip-trust
with --
refused 'a folder that is not trusted' 'is not trusted by Gemini'
printf '{"%s":"trusted"}' "$space" >"$home/.gemini/trustedFolders.json"
with --
refused 'broken rules of trust' 'TRUST_PARENT'
fresh
printf '// c\n{"tools":{"sandbox":"docker"}}' >"$workspace"
with --
refused 'tools.sandbox' 'tools.sandbox (workspace settings)'
with -- --no-sandbox
started '--no-sandbox takes it back' --no-sandbox
fresh
mkdir "$work/sys"
printf '{"hooksConfig":{"enabled":false}}' >"$work/sys/settings.json"
with -- x
started 'system settings that others could have written do not count' x
mkdir -p "$work/else/.gemini"
with GEMINI_CLI_HOME="$work/else" --
refused 'another home of Gemini, without hooks' 'nothing asks the signer'

# --- .env -----------------------------------------------------------------------------------------------------------

fresh
printf '# GEMINI_SANDBOX=docker\nexport GEMINI_SANDBOX="docker"\n' >"$space/.env"
with --
refused '.env' 'GEMINI_SANDBOX (.env): moves'
grep -qF ".env: $space/.env" "$work/err"
result 'the file is named' $? "$(say)"
with GEMINI_SANDBOX= -- x
started 'a variable that is set already, even to nothing, is not taken from it' x
printf '# GEMINI_SANDBOX=docker\n' >"$space/.env"
with -- x
started 'a comment is nothing' x
printf 'LD_TRACE_LOADED_OBJECTS=1\n' >"$space/.env"
with -- x
started 'the printed settings keep LD_TRACE_LOADED_OBJECTS out of the .env of a project' x
mv "$space/.env" "$space/.gemini/.env"
with --
refused 'but not out of .gemini/.env' 'LD_TRACE_LOADED_OBJECTS (.env)'
rm "$space/.gemini/.env"
printf 'GEMINI_CLI_TRUST_WORKSPACE=false\n' >"$work/.env"
with --
refused 'a .env above the folder' 'GEMINI_CLI_TRUST_WORKSPACE (.env)'
rm "$work/.env"
printf 'GEMINI_RESTRICTED_MODE=true\n' >"$home/.env"
with --
refused 'the one at home' 'GEMINI_RESTRICTED_MODE (.env)'
rm "$home/.env"
mkdir "$space/.env"
with --
refused 'a .env that cannot be read' "$space/.env is no regular file"

# --- the signer -----------------------------------------------------------------------------------------------------

fresh
sed -i "s/--signer-uid $(id -u)/--signer-uid $(($(id -u) + 1))/" "$user"
with --
refused 'another signer than the settings name' 'is not the user that the settings name'
fresh
sed -i "s,$bin/tracekit-hook,$work/nothing/tracekit-hook," "$user"
with --
refused 'no hook program' 'there is no program'
fresh
with -- --json x
refused '--json without --check' '--json goes with --check' 2
end_child "$signer"
with --
refused 'no signer' 'no signer answers on' 3
with -- --data "$data" x
refused 'no signer at the control socket' 'no signer listens on' 3
finish
