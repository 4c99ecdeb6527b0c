# Sourced by the scripts of this folder, after `cd` to the top folder: TAP on standard output, a work directory in $work
# that goes away at the end, and children that are ended by their process ids.
#
#   TRACEKIT_BIN, TRACEKIT_TOOLS   where the programs lie (build/bin, build/release/tools)

set -eu
export LC_ALL=C
bin=${TRACEKIT_BIN:-$PWD/build/bin}
tools=${TRACEKIT_TOOLS:-$PWD/build/release/tools}
work=$(mktemp -d)
children=()
results=0
failures=0

# Ends a child of ours and waits for it.
end_child() {
  kill -KILL "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

clean_up() {
  local pid
  for pid in ${children[@]+"${children[@]}"}; do end_child "$pid"; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# result NAME STATUS [LINE]...: one result; the lines tell about a failure.
result() {
  local name=$1 status=$2
  shift 2
  results=$((results + 1))
  if [ "$status" -eq 0 ]; then
    echo "ok $results - $name"
    return
  fi
  failures=$((failures + 1))
  echo "not ok $results - $name"
  if [ $# -gt 0 ]; then printf '%s\n' "$@" | sed 's/^/# /'; fi
}

# check NAME COMMAND...: the command must succeed.
check() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  result "$name" "$status" "failed: $*"
}

skip() {
  results=$((results + 1))
  echo "ok $results - $1 # SKIP $2"
}

# finish: prints the plan; the script's last line.
finish() {
  echo "1..$results"
  [ "$failures" -eq 0 ]
}

# wait_for SECONDS COMMAND...: tries every 20 ms until it succeeds.
wait_for() {
  local tries=$(($1 * 50))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.02
  done
}
