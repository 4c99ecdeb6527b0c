#!/usr/bin/env bash
# The control socket does not serve a process of our own user in namespaces of its own, as an agent's sandboxed command is;
# and a signer whose ledger was taken away under it lets nothing run any more.
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
data=$work/data

start_signer() {
  "$bin/tracekit-signer" --dev --data "$data" 2>>"$work/log" &
  signer=$!
  children+=("$signer")
  for _ in $(seq 200); do
    "$bin/tracekit" runs list --data "$data" --json >/dev/null 2>&1 && return 0
    sleep 0.02
  done
  return 1
}
call() { # call NAME: one call of that tool; what was answered
  "$tools/storm" "$data/run/agent.sock" session "$1" 1
}
ended() { # ended: the signer is gone; its status is in $status
  status=0
  wait "$signer" || status=$?
}

check 'the signer starts' start_signer
check 'a person is served' "$bin/tracekit" approvals list --data "$data"

for namespace in --mount --pid --user; do
  inside=(unshare "$namespace")
  case $namespace in
    --pid) inside+=(--fork) ;;
    --user) inside+=(--map-root-user) ;;
  esac
  [ "$(id -u)" -eq 0 ] || [ "$namespace" = --user ] || inside+=(--user --map-root-user)
  if ! "${inside[@]}" true 2>/dev/null; then
    skip "from a namespace of its own ($namespace)" 'this system makes none'
    continue
  fi
  status=0
  "${inside[@]}" "$bin/tracekit" approvals list --data "$data" >"$work/out" 2>&1 || status=$?
  check "from a namespace of its own ($namespace): not served (status $status)" [ "$status" -ne 0 ]
done
check 'a person still is' "$bin/tracekit" approvals list --data "$data"

check 'a call is allowed' [ "$(call before-0)" = 'before-0-0 allow' ]
mv "$data/ledger.db" "$data/elsewhere.db"
check 'the ledger is moved away: nothing is answered' [ -z "$(call moved)" ]
ended
check "and the signer ends with status 1 (got $status)" [ "$status" -eq 1 ]
check 'and says why' grep -q 'removed, replaced or cut' "$work/log"

mv "$data/elsewhere.db" "$data/ledger.db"
check 'with its ledger back it starts' start_signer
check 'and allows again' [ "$(call after)" = 'after-0 allow' ]
: >"$data/ledger.db-wal"
check 'the log is cut: nothing is answered' [ -z "$(call cut)" ]
ended
check "and the signer ends with status 1 (got $status)" [ "$status" -eq 1 ]
finish
