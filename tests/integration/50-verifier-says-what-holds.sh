#!/usr/bin/env bash
# tracekit-verify: the exit code and the verdict agree, the report goes to standard output and nothing else does, and
# what is wrong with the command line is said on standard error. Against the bundles of tests/tools/make_cases.c.
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
set +e # each check below looks at what it ran
unset NO_COLOR
cases=$work/cases
mkdir "$cases"
"$tools/make_cases" "$cases" || exit 1

# verdict STATUS NAME: one result about the last command.
verdict() {
  result "$2" "$1" "exit code $code" "$(head -30 "$work/out" | cat -v)" "$(head -5 "$work/err" | cat -v)"
}

# verify ARG...: its exit code is in $code.
verify() {
  code=0
  "$bin/tracekit-verify" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
}

# on CASE ARG...: verifies a case's bundle with its trust file.
on() {
  local name=$1
  shift
  verify "$cases/$name.tkb" --trust "$cases/$name.trust.json" "$@"
}

code_is() { [ "$code" -eq "$1" ]; }
out_has() { grep -qF -- "$1" "$work/out"; }
err_has() { grep -qF -- "$1" "$work/err"; }
quiet() { [ ! -s "$work/err" ]; }
silent() { [ ! -s "$work/out" ]; }
no_color() { ! grep -q "$(printf '\033')" "$work/out"; }

# --- verdicts -------------------------------------------------------------------------------------------------------

on closed
code_is 0 && out_has 'Integrity: VERIFIED.' && out_has '[PASS] signatures' && quiet && no_color
verdict $? 'a good bundle is verified'

on open
code_is 0 && out_has 'Integrity: VERIFIED TO HEAD 2 (open).' && quiet
verdict $? 'an open run is verified to its head'

on record-edited
code_is 1 && out_has 'Integrity: FAILED.' && out_has '[FAIL] signatures' && out_has 'seq 5' && quiet
verdict $? 'an edited record fails and is named'

on zip-crc
code_is 2 && out_has 'Integrity: UNUSABLE BUNDLE.' && quiet
verdict $? 'a damaged file is unusable'

on beyond-run-set
code_is 2 && out_has 'Integrity: UNVERIFIABLE (needs a verifier that reads run-sets).' && quiet
verdict $? 'a run-set is left to another verifier'

on rotated --strict
code_is 3 && out_has 'Integrity: VERIFIED.' && out_has '[WARN] keys' && quiet
verdict $? 'with --strict a warning is exit code 3'

on rotated
code_is 0
verdict $? 'without it, it is not'

on closed --strict
code_is 0
verdict $? 'with --strict and no warning it is 0'

verify "$cases/closed.tkb" --trust "$cases/no-such-file"
code_is 2 && out_has '[FAIL] trust config' && out_has no-such-file && quiet
verdict $? 'a missing trust file is named'

# --- JSON -----------------------------------------------------------------------------------------------------------

on record-edited --json
code_is 1 && out_has '"exit_code": 1' && out_has '"integrity": "FAILED"' && out_has '"check": "signatures"' && quiet
verdict $? 'the same as JSON'

on rotated --json --strict
code_is 3 && out_has '"exit_code": 3'
verdict $? 'the JSON form has the exit code'

# --- the command line -----------------------------------------------------------------------------------------------

verify --strict "--trust=$cases/closed.trust.json" --no-color "$cases/closed.tkb"
code_is 0 && quiet
verdict $? 'options stand anywhere'

(cd "$cases" && cp closed.tkb ./-odd.tkb && "$bin/tracekit-verify" --trust closed.trust.json -- -odd.tkb >"$work/out" 2>"$work/err")
code=$?
code_is 0 && quiet
verdict $? 'after -- everything is a file name'

verify --frobnicate "$cases/closed.tkb"
code_is 2 && silent && err_has "--frobnicate" && err_has '--help'
verdict $? 'an unknown option is named'

verify "$(printf -- '--\033[2J')" x
code_is 2 && silent && ! grep -q "$(printf '\033')" "$work/err"
verdict $? 'an unknown option cannot act on the terminal'

verify "$cases/closed.tkb"
code_is 2 && silent && err_has '--trust'
verdict $? 'trust is never left out'

verify --trust "$cases/closed.trust.json"
code_is 2 && silent && err_has 'bundle'
verdict $? 'neither is the bundle'

verify "$cases/closed.tkb" "$cases/open.tkb" --trust "$cases/closed.trust.json"
code_is 2 && silent && err_has open.tkb
verdict $? 'one bundle at a time'

on closed --trust "$cases/open.trust.json"
code_is 2 && silent && err_has twice
verdict $? 'one trust file'

verify "$cases/closed.tkb" --trust
code_is 2 && silent && err_has 'file name'
verdict $? 'an option without its value'

verify --help
code_is 0 && out_has 'Exit codes:' && out_has '--strict' && out_has 'Example' && quiet
verdict $? 'help has options, exit codes and an example'

verify --version
code_is 0 && out_has 'tracekit-verify ' && quiet
verdict $? 'the version'

code=0
"$bin/tracekit-verify" "$cases/closed.tkb" --trust "$cases/closed.trust.json" >/dev/full 2>"$work/err" || code=$?
: >"$work/out"
code_is 2 && err_has 'could not be written'
verdict $? 'a report that could not be written is no success'

# --- colours --------------------------------------------------------------------------------------------------------

# on_terminal [VAR=VALUE]... ARG...: the same on a terminal of its own.
on_terminal() {
  code=0
  script -qec "$(printf '%q ' env "$@")" /dev/null >"$work/out" 2>"$work/err" </dev/null || code=$?
}

if command -v script >/dev/null; then
  on_terminal TERM=xterm "$bin/tracekit-verify" "$cases/closed.tkb" --trust "$cases/closed.trust.json"
  code_is 0 && ! no_color
  verdict $? 'colours on a terminal'
  on_terminal NO_COLOR=1 "$bin/tracekit-verify" "$cases/closed.tkb" --trust "$cases/closed.trust.json"
  code_is 0 && no_color
  verdict $? 'not with NO_COLOR'
  on_terminal NO_COLOR= "$bin/tracekit-verify" "$cases/closed.tkb" --trust "$cases/closed.trust.json" --no-color
  code_is 0 && no_color
  verdict $? 'not with --no-color'
else
  skip 'colours on a terminal' 'no script(1) here'
fi

finish
