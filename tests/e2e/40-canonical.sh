#!/usr/bin/env bash
# Our canonical JSON is that of RFC 8785, by two other implementations.
cd "$(dirname "$0")/../.."
. tests/e2e/lib.sh

check '20,000 numbers and 2,000 values: canonical as in the package rfc8785, numbers as in JavaScript' \
  "$python" "$here/canonical.py" "$tools/jcs_tool"

finish
