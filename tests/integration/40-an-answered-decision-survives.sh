#!/usr/bin/env bash
# Whatever was answered is in the ledger: when the signer is killed at any moment, and when the disk stops confirming
# writes. Rounds of kill -9: $KILLS (100).
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
data=$work/data
kills=${KILLS:-100}
seed=${TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "# seed $seed"

# start_signer [NAME=VALUE]...: leaves its pid in $signer once it serves; fails when it does not.
start_signer() {
  env "$@" "$bin/tracekit-signer" --dev --data "$data" 2>>"$work/log" &
  signer=$!
  children+=("$signer")
  for _ in $(seq 200); do
    kill -0 "$signer" 2>/dev/null || return 1
    "$bin/tracekit" runs list --data "$data" --json >/dev/null 2>&1 && return 0
    sleep 0.02
  done
  return 1
}

# Every answered name of $1 is a tool of a policy.decision in the record lines on standard input.
all_recorded() {
  sed -nE 's/.*"tool":"([^"]+)".*"type":"policy.decision".*/\1/p' | sort >"$work/recorded"
  cut -d' ' -f1 "$1" | sort >"$work/answered"
  comm -23 "$work/answered" "$work/recorded" >"$work/missing"
  head -5 "$work/missing" | sed 's/^/# answered and not recorded: /'
  [ -s "$work/answered" ] && [ ! -s "$work/missing" ]
}

verified() { # verified SESSION: its run is exported, verifies, and its lines are left in $work/lines
  "$bin/tracekit" export "$1" --data "$data" -o "$work/$1.tkb" --force >/dev/null &&
    "$bin/tracekit-verify" "$work/$1.tkb" --trust "$work/trust.json" >"$work/report" &&
    grep -q '^Integrity: VERIFIED' "$work/report" && "$tools/bundle_cat" "$work/$1.tkb" >"$work/lines"
}

storms() { # storms ROUND COUNT: four clients, until the signer is gone or each has made its calls
  local s
  running=()
  for s in 1 2 3 4; do
    "$tools/storm" "$data/run/agent.sock" "storm-$s" "s$s-r$1" "$2" >>"$work/answers-$s" &
    running+=("$!")
  done
}

started=0
for round in $(seq "$kills"); do
  start_signer || break
  started=$((started + 1))
  storms "$round" 100000
  sleep "0.0$((RANDOM % 90 + 10))"
  kill -KILL "$signer"
  wait "$signer" 2>/dev/null || true
  wait "${running[@]}" || true
done
check "the signer starts again after each of $kills kills" [ "$started" -eq "$kills" ]
check "and once more" start_signer
"$bin/tracekit" trust --data "$data" -o "$work/trust.json" >/dev/null
for s in 1 2 3 4; do
  check "session $s: the run of all rounds verifies" verified "storm-$s"
  check "session $s: each of $(wc -l <"$work/answers-$s") answered decisions is recorded" all_recorded "$work/answers-$s" <"$work/lines"
done
check "a stop in good order" kill -TERM "$signer"
wait "$signer" || true

# A disk that stops confirming: nobody is told yes after that, and the signer ends instead of guessing.
start_signer LD_PRELOAD="$tools/sync_shim.so" SYNC_FAIL_FROM=40
: >"$work/answers-5"
"$tools/storm" "$data/run/agent.sock" storm-5 s5-r0 1000 >"$work/answers-5"
status=0
wait "$signer" || status=$?
check "a signer whose disk does not confirm ends with status 1 (got $status)" [ "$status" -eq 1 ]
check "it answered some, and not all ($(wc -l <"$work/answers-5") of 1000)" [ "$(wc -l <"$work/answers-5")" -lt 1000 ]
check "and starts again on a good disk" start_signer
check "session 5: the run verifies" verified storm-5
check "session 5: what was answered before is recorded" all_recorded "$work/answers-5" <"$work/lines"
kill -TERM "$signer"
wait "$signer" || true

# A slow disk: the answer waits for it.
start_signer LD_PRELOAD="$tools/sync_shim.so" SYNC_DELAY_MS=400
before=$(date +%s%N)
"$tools/storm" "$data/run/agent.sock" storm-6 s6-r0 1 >"$work/answers-6"
took=$((($(date +%s%N) - before) / 1000000))
check "an answer waits for the disk (400 ms; took $took ms)" [ "$took" -ge 400 ]
finish
