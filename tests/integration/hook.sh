# Sourced behind lib.sh by the scripts about the hook: a signer that behaves as it is told, and hook commands that are run
# as Gemini runs them.

hook=$bin/tracekit-hook
socket=$work/agent.sock
uid=$(id -u)
signer_pid=

stop_signer() {
  [ -z "$signer_pid" ] || end_child "$signer_pid"
  signer_pid=
  rm -f "$socket"
}

# start_signer BEHAVIOUR [OPTION]...: a fake signer on $socket, instead of the one before.
start_signer() {
  stop_signer
  rm -f "$work/ready" # the one before said it too
  "$tools/fake_signer" "$socket" "$@" >"$work/ready" &
  signer_pid=$!
  children=("$signer_pid")
  wait_for 10 grep -qs ready "$work/ready"
}

# definition [OPTION]...: what tracekit prints; the last --socket or --hook wins by being the only one.
definition() {
  local option socket_option=(--socket "$socket")
  for option in "$@"; do [ "$option" != --socket ] || socket_option=(); done
  "$bin/tracekit" hook-definition --agent gemini ${socket_option[@]+"${socket_option[@]}"} "$@"
}

# command_of EVENT [OPTION]...
command_of() {
  definition --command "$@"
}

# Puts the definition's environment into the array hook_env, as options of gemini_run.
read_hook_env() {
  local pair
  hook_env=()
  while read -r pair; do
    hook_env+=(--env "$pair")
  done < <(definition --event BeforeTool | grep '"env"' | grep -o '"[A-Z_]*": "[^"]*"' | sed 's/^"\(.*\)": "\(.*\)"$/\1=\2/')
  [ ${#hook_env[@]} -gt 0 ]
}

# gemini COMMAND [OPTION]...: runs it; what Gemini makes of it goes to $verdict and $details, the streams to out and err.
gemini() {
  local line
  line=$("$tools/gemini_run" --command "$1" "${hook_env[@]}" --stdout "$work/out" --stderr "$work/err" "${@:2}" \
    <"${payload:-tests/vectors/payloads/BeforeTool-shell-plain.json}" | head -n 1)
  verdict=${line%% *}
  details=${line#* }
}

# detail NAME: exit, signal, timed_out, gave_up or ms of the last call.
detail() {
  local word
  for word in $details; do
    if [ "${word%%=*}" = "$1" ]; then echo "${word#*=}"; fi
  done
}

say_last() {
  echo "$verdict $details"
  echo "standard output: $(head -c 600 "$work/out" | tr -d '\0')"
  echo "standard error: $(head -c 600 "$work/err" | tr -d '\0')"
}

# expect NAME VERDICT: of the last call.
expect() {
  local status=0
  [ "$verdict" = "$2" ] || status=1
  result "$1" "$status" "expected $2" "$(say_last)"
}

# is_own_deny FILE: nothing but one JSON object in printable ASCII, its reason free of escapes and under 500 characters.
is_own_deny() {
  [ "$(wc -l <"$1")" -eq 0 ] && grep -qxE '\{"decision":"deny","reason":"[] !#-[^-~]{1,499}"\}' "$1"
}

# expect_own_deny NAME WORDS: the hook itself refused the last call, for the reason that holds WORDS, said in both streams.
expect_own_deny() {
  local status=0 reason
  reason=$(sed 's/^{"decision":"deny","reason":"//; s/"}$//' "$work/out")
  [ "$verdict" = DENY ] && [ "$(detail exit)" = 2 ] && is_own_deny "$work/out" || status=1
  [[ $reason == *"$2"* && $reason == *"Another way to the same effect is refused too"* ]] || status=1
  grep -qxF -- "$reason" "$work/err" || status=1
  result "$1" "$status" "expected a deny of the hook's own that says: $2" "$(say_last)"
}

hook_env=()
