#!/usr/bin/env bash
# Runs fuzz targets that were built with libFuzzer (`make fuzz`).
#
#   tests/fuzz/run.sh SECONDS NAME...
#
# Each target starts from tests/fuzz/corpus/NAME and collects what is new in build/fuzz/corpus/NAME. An input that breaks
# a property is kept as build/fuzz/found/NAME-*: give it a name that says what it is and put it into the corpus.
set -uo pipefail
cd "$(dirname "$0")/../.."

seconds=$1
shift
failed=0
mkdir -p build/fuzz/found
for name; do
  mkdir -p "build/fuzz/corpus/$name"
  log=build/fuzz/$name.log
  echo "fuzz $name for $seconds s"
  if build/fuzz/fuzz/"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */  inputs: /p' "$log"
  else
    failed=$((failed + 1))
    tail -40 "$log"
  fi
done
echo "$(($# - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
