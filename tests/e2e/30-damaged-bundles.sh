#!/usr/bin/env bash
# Our verifier and the public project's judge damaged copies of a real run's bundle alike.
cd "$(dirname "$0")/../.."
. tests/e2e/lib.sh

copies=300

place held
record_held_call
check "$copies damaged copies: both verifiers agree, and what is VERIFIED holds the same events" "$python" "$here/differential.py" \
  "$bin/tracekit-verify" "$at/held.tkb" "$at/trust.json" "$copies"

stop_signer
finish
