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
  done < <(definition --event BeforeTool | grep '"env"' | grep -o '"[^"]*": "[^"]*"' | sed 's/^"\(.*\)": "\(.*\)"$/\1=\2/')
  [ ${#hook_env[@]} -gt 0 ]
}

# gemini COMMAND [OPTION]...: runs it; what Gemini makes of it goes to $verdict, and how it went to $exit_code, $ms, $gave_up
# and the files out and err.
gemini() {
  local words word
  read -r -a words < <("$tools/gemini_run" --command "$1" "${hook_env[@]}" --stdout "$work/out" --stderr "$work/err" \
    "${@:2}" <"${payload:-tests/vectors/payloads/BeforeTool-shell-plain.json}")
  verdict=${words[0]}
  for word in "${words[@]:1}"; do
    case $word in
      exit=*) exit_code=${word#*=} ;;
      ms=*) ms=${word#*=} ;;
      gave_up=*) gave_up=${word#*=} ;;
      out=*) out_bytes=${word#*=} ;;
    esac
  done
}

# alone ARGUMENT...: runs the hook itself, without guard or Gemini, standard input from the file in.
alone() {
  exit_code=0 verdict=none
  "$hook" "$@" <"$work/in" >"$work/out" 2>"$work/err" || exit_code=$?
  out_bytes=$(wc -c <"$work/out")
}

say_last() {
  echo "# $verdict, exit code $exit_code"
  echo "# standard output: $(head -c 600 "$work/out" | tr -d '\0')"
  echo "# standard error: $(head -c 600 "$work/err" | tr -d '\0')"
}

# last NAME STATUS EXPECTED: a result about the last call.
last() {
  result "$1" "$2" "expected $3"
  [ "$2" -eq 0 ] || say_last
}

# expect NAME VERDICT: of the last call.
expect() {
  local status=0
  [ "$verdict" = "$2" ] || status=1
  last "$1" "$status" "$2"
}

# expect_own_deny NAME WORDS: the hook itself refused the last call. Standard output is one JSON object in printable ASCII
# and nothing else; its reason needs no escape, is shorter than 500 characters, holds WORDS, and stands on standard error too.
expect_own_deny() {
  local status=0 out err reason='' shape='^\{"decision":"deny","reason":"([] !#-[^-~]{1,499})"\}$'
  IFS= read -r -d '' out <"$work/out" || true
  IFS= read -r -d '' err <"$work/err" || true
  [[ $verdict != ALLOW && $exit_code == 2 && ${#out} -eq $out_bytes && $out =~ $shape ]] || status=1
  [ "$status" -ne 0 ] || reason=${BASH_REMATCH[1]}
  [[ $reason == *"$2"* && $reason == *'Another way to the same effect is refused too'* ]] || status=1
  [[ $err == "$reason"$'\n'* ]] || status=1
  last "$1" "$status" "a deny of the hook's own that says: $2"
}

hook_env=()
