#!/usr/bin/env bash
# Takes the checks in tests/mutants/list out, one at a time, and expects the test that is named there to fail.
#
#   tests/mutants/run.sh [WORD]     only the mutants whose name or file holds WORD
#
# Works on a copy in build/mutants. A mutant that its test does not see has survived: the test proves nothing. A `from`
# that does not stand exactly once, a mutant that does not build, and a test that fails without any mutant are errors of
# the list. Prints TAP and last "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 1
list=$PWD/tests/mutants/list
wanted=${1:-}
tree=$PWD/build/mutants/tree
log=$PWD/build/mutants/log
passed=0 failed=0

rm -rf "$tree"
mkdir -p "$tree"
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$tree" || exit 1

# Builds what test $1 needs and runs it: 0 it passes, 1 it fails, 2 it does not build. The output goes to $log.
try() {
  local test=$1 status=0
  if [[ $test == unit/* ]]; then
    make -C "$tree" -s "build/release/$test" >"$log" 2>&1 || return 2
    (cd "$tree" && CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 120 "build/release/$test") >>"$log" 2>&1 || status=1
  else
    make -C "$tree" -s all tools >"$log" 2>&1 || return 2
    (cd "$tree" && TRACEKIT_BIN=$tree/build/bin TRACEKIT_TOOLS=$tree/build/release/tools \
      timeout -k 5 120 "tests/$test") >>"$log" 2>&1 || status=1
  fi
  return "$status"
}

result() { # result ok|"not ok" NAME [WHY]
  if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "$1 $((passed + failed)) - $2${3:+ ($3)}"
}

# Does this test pass as things are? Asked once for each; without that, its failing would mean nothing.
declare -A sound
is_sound() {
  if [ -z "${sound[$1]:-}" ]; then
    if try "$1"; then sound[$1]=yes; else sound[$1]=no; fi
  fi
  [ "${sound[$1]}" = yes ]
}

mutate() { # mutate NAME FILE FROM TO TEST
  local name="$1: $2" file=$tree/$2 from=$3 to=$4 test=$5 text count
  if [ ! -f "$file" ] || [ -z "$from" ] || { [ ! -e "$tree/tests/$test" ] && [ ! -e "$tree/tests/$test.c" ]; }; then
    result "not ok" "$name" "the list names a file or test that is not there"
    return
  fi
  text=$(cat "$file" && echo x) && text=${text%x}
  count=$(grep -cF -- "$from" "$file")
  if [ "$count" -ne 1 ]; then
    result "not ok" "$name" "its text stands in $count lines: $from"
    return
  fi
  if ! is_sound "$test"; then
    result "not ok" "$name" "$test fails without it"
    sed 's/^/# /' "$log" | tail -20
    return
  fi
  printf '%s' "${text/"$from"/"$to"}" >"$file"
  try "$test"
  case $? in
    0) result "not ok" "$name" "survived: $test passes without the check" ;;
    1) result ok "$name" ;;
    *)
      result "not ok" "$name" "does not build"
      grep -m 3 'error' "$log" | sed 's/^/# /'
      ;;
  esac
  printf '%s' "$text" >"$file"
}

name="" file="" from="" to="" test=""
finish_block() {
  if [ -n "$name$file$from$test" ] && [[ $name$file == *"$wanted"* ]]; then
    mutate "$name" "$file" "$from" "$to" "$test"
  fi
  name="" file="" from="" to="" test=""
}

while IFS= read -r line; do
  case $line in
    '#'*) ;;
    '') finish_block ;;
    'name: '*) name=${line#name: } ;;
    'file: '*) file=${line#file: } ;;
    'from: '*) from=${line#from: } ;;
    'to:'*) to=${line#to:} to=${to# } ;;
    'test: '*) test=${line#test: } ;;
    *)
      echo "tests/mutants/list: not understood: $line" >&2
      exit 1
      ;;
  esac
done <"$list"
finish_block

echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
