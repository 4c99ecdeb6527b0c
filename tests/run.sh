#!/usr/bin/env bash
# Runs test programs and scripts and counts their results.
#
#   tests/run.sh [HEADING: | PROGRAM]...
#
# A program takes no arguments, runs from the top folder and prints TAP ("1..N", "ok 1 - name", "not ok 2 - name";
# cmocka's programs do). An argument that ends in a colon is a heading. At most two programs run at once, each for at
# most $TEST_TIMEOUT seconds (300).
#
# Prints one line for each program, with what it skipped or notes ("# note: ..."); what a failed one said; and last a line
# that reads "N passed, N failed". A program that dies, hangs, prints no plan or fewer results than its plan says counts
# as failed even if every result that it printed was good. "# SKIP" behind a result, or behind a plan of 1..0, counts as
# neither.
# Exit status: 0 when something passed and nothing failed, else 1.
set -u
cd "$(dirname "$0")/.." || exit 1

limit=${TEST_TIMEOUT:-300}
jobs=2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CMOCKA_MESSAGE_OUTPUT=TAP

# Prints "PASSED FAILED SKIPPED WHY" for the TAP in file $1 of a program that exited with $2.
judge() {
  awk -v status="$2" -v limit="$limit" '
    /^[ \t]*1\.\.0.*# *[Ss][Kk][Ii][Pp]/ { plan++; plans++; skipped++; next } # the whole program
    /^[ \t]*1\.\.[0-9]+/                  { sub(/^[ \t]*1\.\./, ""); plan += $0 + 0; plans++; next }
    /^[ \t]*(not )?ok [0-9]+.*# *[Ss][Kk][Ii][Pp]/ { skipped++; next }
    /^[ \t]*ok [0-9]+/                    { passed++; next }
    /^[ \t]*not ok [0-9]+/                { failed++; next }
    END {
      results = passed + failed + skipped
      why = ""
      if (status == 124 || status == 137) why = "stopped after " limit " s"
      else if (status > 128)              why = "died of signal " (status - 128)
      else if (!plans)                    why = "printed no plan"
      else if (results != plan)           why = "planned " plan " results and gave " results
      else if (status != 0 && !failed)    why = "exit status " status " although no result failed"
      else if (status == 0 && failed)     why = "exit status 0 although a result failed"
      else if (results == 0)              why = "tested nothing"
      print passed + 0, failed + (why != "" ? 1 : 0), skipped + 0, why
    }' "$1"
}

# Runs program $2, number $1: writes how it went to $work/$1.line and its counts to $work/$1.counts.
run_one() {
  local out=$work/$1.out status=0 passed failed skipped why begin=$SECONDS
  { timeout -k 5 "$limit" "$2" >"$out" 2>&1 </dev/null; } 2>/dev/null || status=$?
  read -r passed failed skipped why <<<"$(judge "$out" "$status")"
  {
    if [ "$failed" -eq 0 ]; then printf '  ok    '; else printf '  FAIL  '; fi
    printf '%-50s %4d passed' "$2" "$passed"
    [ "$failed" -eq 0 ] || printf ', %d failed' "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    [ $((SECONDS - begin)) -lt 5 ] || printf ', %d s' $((SECONDS - begin))
    [ -z "$why" ] || printf ' (%s)' "$why"
    printf '\n'
    if [ "$failed" -eq 0 ]; then
      sed -nE '/# *[Ss][Kk][Ii][Pp]|^# note:/s/^/        | /p' "$out"
    elif [ -z "$why" ]; then
      sed -nE '/^[ \t]*ok [0-9]/!s/^/        | /p' "$out"
    else
      sed 's/^/        | /' "$out"
    fi
  } >"$work/$1.line"
  echo "$passed $failed" >"$work/$1.new" && mv "$work/$1.new" "$work/$1.counts"
}

# Only this process prints, in the order of the programs.
started=0 printed=0 total_passed=0 total_failed=0
print_finished() {
  local passed failed
  while [ -e "$work/$((printed + 1)).counts" ]; do
    printed=$((printed + 1))
    cat "$work/$printed.line"
    read -r passed failed <"$work/$printed.counts"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
  done
}

wait_all() {
  wait
  print_finished
  while [ "$printed" -lt "$started" ]; do
    printed=$((printed + 1)) total_failed=$((total_failed + 1))
    echo "  FAIL  program number $printed left no result"
    print_finished
  done
}

for item in "$@"; do
  if [[ $item == *: ]]; then
    wait_all
    echo "$item"
    continue
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
    wait -n
    print_finished
  done
  started=$((started + 1))
  run_one "$started" "$item" &
done
wait_all
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ] && [ "$total_passed" -gt 0 ]
