#!/usr/bin/env bash
# Measures the budgets as ratios: what we do against the least that it could cost, side by side in one run. bench/README.md
# has the budgets and says what each line means. A ratio over its budget is no failure.
#
#   BENCH_DIR=DIR make bench    puts the ledger on DIR's disk (/var/tmp; a disk in memory would make a sync free)
#   BENCH_CALLS, BENCH_ROUNDS   hook calls of each kind (300), rounds of everything else (5)
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
bin=${TRACEKIT_BIN:-$PWD/build/bin}
tools=${TRACEKIT_TOOLS:-$PWD/build/release/tools}
bench=${TRACEKIT_BENCH:-$PWD/build/release/bench}
payloads=tests/vectors/payloads
calls=${BENCH_CALLS:-300}
rounds=${BENCH_ROUNDS:-5}
clients=64
work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/tracekit-bench.XXXXXX")
data=$work/data
socket=$data/run/agent.sock
signer=
fake=
finished=

clean_up() {
  for pid in $fake $signer; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
  [ -n "$finished" ] || echo "bench: stopped before its end"
  exit 0 # whatever happened: no build depends on it
}
trap clean_up EXIT
trap 'exit 1' INT TERM

tracekit() { "$bin/tracekit" "$@" --data "$data"; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; } # calc FORMAT EXPRESSION
holds() { awk "BEGIN { exit !($1) }"; }       # holds CONDITION
median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

row() { printf '%-42s %12s %12s %7s  %-8s %s\n' "$@"; }
# judged WHAT OURS FLOOR RATIO SIGN BUDGET: a row with its verdict; the sign is <= or >=.
judged() {
  local verdict=over
  if holds "$4 $5 $6"; then verdict=within; fi
  row "$1" "$2" "$3" "$(calc %.2f "$4")" "$5 $6" "$verdict"
}
note() { printf '    %s\n' "$*"; }

# Waits until a Unix socket is there.
wait_for_socket() {
  for _ in $(seq 200); do
    [ ! -S "$1" ] || return 0
    sleep 0.05
  done
  echo "bench: nobody listens on $1: $(cat "$work/log")" >&2
  return 1
}

# hook_calls WHAT: the whole call as Gemini starts it, on the ledger as it is.
hook_calls() {
  local ours floor us floor_us process_us sync_us failed
  ours=$(tracekit hook-definition --agent gemini --command BeforeTool)
  floor=$(tracekit hook-definition --agent gemini --command BeforeTool --hook "$bench/noop")
  read -r us floor_us process_us sync_us failed < <("$bench/hook_calls" "$calls" \
    "$payloads/BeforeTool-shell-plain.json" "$data/sync" bash -c "$ours" -- bash -c "$floor")
  judged "hook call, $1" "$(calc '%.2f ms' "$us/1000")" "$(calc '%.2f ms' "$floor_us/1000")" "$us/$floor_us" '<=' 1.5
  note "medians of $calls; floor: guard and empty program $(calc %.2f "$process_us/1000"), synced append" \
    "$(calc %.2f "$sync_us/1000"); not allowed: $failed"
}

# cold_hook WHAT SOCKET: the hook without a shell, against an empty program.
cold_hook() {
  local us floor_us failed
  read -r us floor_us _ _ failed < <("$bench/hook_calls" "$calls" "$payloads/BeforeTool-shell-plain.json" - \
    "$bin/tracekit-hook" gemini --event BeforeTool --socket "$2" --signer-uid "$(id -u)" --wait 60 -- "$bench/noop")
  row "cold hook, $1" "$(calc '%.2f ms' "$us/1000")" "$(calc '%.2f ms' "$floor_us/1000")" \
    "$(calc %.2f "$us/$floor_us")" - -
  [ "$failed" -eq 0 ] || note "not allowed: $failed"
}

# throughput WHAT: many clients at once, against bare rows and bare signing. Each round has a ratio of its own.
throughput() {
  local each=100 total allowed us cpu slowest gave_up rows_us sign_us failed=0
  total=$((clients * each))
  : >"$work/rounds"
  for _ in $(seq "$rounds"); do
    cpu=$(signer_cpu)
    read -r allowed us slowest gave_up < <("$bench/clients" "$socket" decide storm "$clients" "$each")
    cpu=$(($(signer_cpu) - cpu)) failed=$((failed + gave_up))
    if [ ! -e "$work/decisions" ]; then
      bundle storm-0 small
      grep '"type":"policy.decision"' "$work/small.jsonl" >"$work/decisions"
    fi
    rows_us=$("$bench/bare_rows" "$work/bare.db" "$work/decisions" "$total" "$clients" "$clients")
    rm -f "$work"/bare.db*
    read -r sign_us _ < <("$bench/bare_ed25519" "$work/decisions" "$total")
    echo "$us $rows_us $sign_us $slowest $cpu" |
      awk -v n="$total" '{ print $1 / n, $2 / n, $3, $4 / 1000, ($2 / n + $3) / ($1 / n), $5 / (2 * n) }' >>"$work/rounds"
  done
  us=$(column 1) rows_us=$(column 2) sign_us=$(column 3)
  judged "$clients clients, $1" "$(calc '%.0f /s' "1e6/$us")" "$(calc '%.0f /s' "1e6/($rows_us+$sign_us)")" \
    "$(column 5)" '>=' 0.5
  note "medians of $rounds rounds of $total; floor: SQLite $(calc %.0f "1e6/$rows_us") /s, signing" \
    "$(calc %.0f "1e6/$sign_us") /s;" \
    "slowest call $(calc %.0f "$(column 4)") ms; gave up: $failed"
  note "processor time of the signer for a decision or a result: $(calc %.0f "$(column 6)") us"
}
column() { cut -d' ' -f"$1" "$work/rounds" | median; }

# Processor time that the signer has used, in microseconds.
signer_cpu() { awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1e6 / hz) }' "/proc/$signer/stat"; }

# bundle RUN NAME: exports it into NAME.tkb, its lines into NAME.jsonl, the size of the ledger into $size.
bundle() {
  size=$(tracekit export "$1" -o "$work/$2.tkb" --json | sed 's/.*"tree_size":\([0-9]*\).*/\1/')
  "$tools/bundle_cat" "$work/$2.tkb" >"$work/$2.jsonl"
}

# Fills the ledger over what one run holds, which is more than 40,000 records; leaves the full run's id in $full.
fill() {
  local allowed us slowest gave_up full_run='"records":[0-9]*,"run":"\([0-9a-f]*\)","session":"fill"[^}]*"state":"final"'
  full=
  for _ in 1 2 3; do
    read -r allowed us slowest gave_up < <("$bench/clients" "$socket" fill fill "$clients" 400)
    full=$(tracekit runs list --json | sed -n "s/.*$full_run.*/\1/p")
    [ -z "$full" ] || break
  done
  row "filling the ledger, one session" "$(calc '%.0f /s' "2e6*$allowed/$us")" - - - -
  note "$allowed decisions and results of $clients clients; slowest decision $(calc %.0f "$slowest/1000") ms; gave up: $gave_up"
  bundle "${full:-fill}" big
}

verify() {
  local us kib status count verify_us small_kib
  : >"$work/rounds"
  count=$(wc -l <"$work/big.jsonl")
  tracekit trust -o "$work/trust.json" >/dev/null
  for _ in $(seq "$rounds"); do
    read -r us kib status < <("$bench/cost" "$bin/tracekit-verify" "$work/big.tkb" --trust "$work/trust.json")
    [ "$status" -eq 0 ] || note "tracekit-verify exited $status"
    read -r _ verify_us < <("$bench/bare_ed25519" "$work/big.jsonl" "$count")
    echo "$us $verify_us $kib" | awk -v n="$count" '{ print $1 / n, $2, $2 / ($1 / n), $3 }' >>"$work/rounds"
  done
  kib=$(column 4)
  judged "verify, records a second and core" "$(calc '%.0f /s' "1e6/$(column 1)")" \
    "$(calc '%.0f /s' "1e6/$(column 2)")" "$(column 3)" '>=' 0.7
  note "medians of $rounds; bundle of $count records, $(($(wc -c <"$work/big.jsonl") / count)) bytes each"
  read -r _ small_kib status < <("$bench/cost" "$bin/tracekit-verify" "$work/small.tkb" --trust "$work/trust.json")
  judged "verify, peak memory, big and small bundle" "$kib KiB" "$small_kib KiB" "$kib/$small_kib" '<=' 1.2
  note "the small one has $(wc -l <"$work/small.jsonl") records; tracekit-verify exited $status"
}

# memory WHAT: of the signer, as it is now.
memory() {
  local now peak
  sleep 2
  now=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$signer/status")
  peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$signer/status")
  judged "signer, idle, $1" "$now KiB" "16384 KiB" "$now/16384" '<=' 1
  note "resident; the most so far, with whatever payloads it held at once: $peak KiB"
}

policy() {
  local us verdict
  read -r us verdict < <("$bench/policy_speed" "$payloads/BeforeTool-shell-full.json")
  row "policy decision, shell call with grants" "$us us" - - - -
  note "the verdict is: $verdict"
}

echo "$(nproc) processors, $(stat -f -c %T "$work") at ${work%/*}, load$(uptime | sed 's/.*load average:/ /')"
row "" ours floor ratio budget ""
"$bin/tracekit-signer" --dev --data "$data" 2>"$work/log" &
signer=$!
wait_for_socket "$socket"
memory "new ledger"
hook_calls "new ledger"
throughput "small ledger"
fill
hook_calls "ledger of $size"
throughput "ledger of $size"
verify
memory "ledger of $size"
cold_hook "decided and synced" "$socket"
"$tools/fake_signer" "$work/fake.sock" allow >/dev/null &
fake=$!
wait_for_socket "$work/fake.sock"
cold_hook "answered at once" "$work/fake.sock"
policy
echo "load$(uptime | sed 's/.*load average:/ /'), $SECONDS s"
finished=yes
