#!/usr/bin/env bash
# `make install` puts a working set of programs where it is told to, and `make uninstall` removes exactly that.
cd "$(dirname "$0")/../.." || exit 1
. tests/integration/lib.sh
set +e
root=$work/root prefix=$work/root/usr
unset MAKEFLAGS MFLAGS MAKELEVEL VARIANT DESTDIR PREFIX

# Only what is built already is installed: whoever tests with other programs tests nothing here.
if [ "$bin" != "$PWD/build/bin" ]; then
  skip 'install and uninstall' 'the programs under test are not those of this tree'
  finish
  exit
fi
placed() { make "$1" PREFIX=/usr DESTDIR="$root" >"$work/out" 2>&1; }
files() { find "$root" -type f | sort; }

mkdir -p "$prefix/bin" "$prefix/share/doc/tracekit"
echo mine >"$prefix/bin/other"
echo mine >"$prefix/share/doc/tracekit/notes"
check 'install succeeds' placed install
for p in tracekit tracekit-hook tracekit-signer tracekit-verify; do
  check "$p is there, and can be run by all" [ "$(stat -c %a "$prefix/bin/$p")" = 755 ]
done
check 'with manual pages' [ -s "$prefix/share/man/man1/tracekit.1" ]
check 'those of the daemon too' [ -s "$prefix/share/man/man8/tracekit-signer.8" ]
check 'and documents' [ -s "$prefix/share/doc/tracekit/gemini.md" ]
check 'and completion that bash reads' bash -n "$prefix/share/bash-completion/completions/tracekit"
check 'nothing is left half put' [ -z "$(find "$root" -name '*.new')" ]
export HOME=$work/home
mkdir "$HOME"
"$prefix/bin/tracekit" --version >"$work/version" 2>&1
check 'the installed program names its version' grep -q '^tracekit [0-9]' "$work/version"
"$prefix/bin/tracekit" hook-definition --agent gemini >"$work/definition" 2>&1
check 'and the hook beside it' grep -qF "$prefix/bin/tracekit-hook" "$work/definition"
check 'and finds the signer beside it' eval '"$prefix/bin/tracekit" --data "$work/data" up --json | grep -q "\"changed\":true"'
check 'which it stops' eval '"$prefix/bin/tracekit" --data "$work/data" down | grep -q "is stopped"'

files >"$work/before"
check 'a second install changes nothing' eval 'placed install && files | cmp -s - "$work/before"'
check 'uninstall succeeds' placed uninstall
check 'what is left was there before' [ "$(files)" = "$prefix/bin/other"$'\n'"$prefix/share/doc/tracekit/notes" ]
rm "$prefix/bin/other" "$prefix/share/doc/tracekit/notes"
placed install
placed uninstall
check 'and without that, nothing' [ -z "$(files)" ]
check 'nor the directory of the documents' [ ! -e "$prefix/share/doc/tracekit" ]
finish
