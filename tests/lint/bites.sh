#!/usr/bin/env bash
# Shows that each rule of tests/lint/lint.sh bites: a small clean tree passes, and every violation of it is found, at its
# place. Prints TAP and last "N passed, N failed".
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LINT_ROOT=$work/tree
passed=0 failed=0

result() { # result WHAT OUTPUT, after a command whose status counts
  local status=$?
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
    echo "ok $((passed + failed)) - $1"
  else
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

# put FILE TEXT: a file of the tree. A C file gets the text behind what it needs to be clean.
put() {
  mkdir -p "$LINT_ROOT/$(dirname "$1")"
  printf '%s\n' "$2" >"$LINT_ROOT/$1"
}

put_header() { # put_header FILE TEXT
  local guard
  guard=$(printf '%s' "$1" | tr 'a-z/.-' 'A-Z___')
  put "$1" "/*
 * ${1##*/} - a part of the tree.
 */
#ifndef $guard
#define $guard

$2

#endif"
}

clean_tree() {
  local room
  rm -rf "$LINT_ROOT"
  for room in evidence wire policy harness signer hook cli verify; do
    put_header "$room/thing.h" "int thing_count(void);"
    put "$room/thing.c" "#include \"$room/thing.h\"

int thing_count(void)
{
    return 1; /* printf(\"%d\") and strcpy() stand in a comment */
}"
  done
  put wire/frame.h "$(sed 's/thing/frame/; s/THING/FRAME/' "$LINT_ROOT/wire/thing.h")"
  put signer/main.c 'int main(void)
{
    return 0;
}'
  put tests/run.sh '#!/bin/sh
echo 1..1'
  cp "$here/../../.clang-format" "$LINT_ROOT/.clang-format"
}

# bites RULE FILE LINE TEXT: with this text as its second line, the file is found by the rule at that line.
bites() {
  local rule=$1 file=$2 line=$3 out
  clean_tree
  if [ -e "$LINT_ROOT/$file" ]; then sed -i "${line}i\\
$4" "$LINT_ROOT/$file"; else put "$file" "$4"; fi
  out=$("$here/lint.sh" "$rule")
  [[ $out == *"not ok 1 - $rule"* && $out == *"$file:$line: "* ]]
  result "$rule: ${4%%$'\n'*} in $file" "$out"
}

# passes RULE FILE TEXT: with this text in it, the file is still clean.
passes() {
  local out
  clean_tree
  put "$2" "$3"
  out=$("$here/lint.sh" "$1")
  [[ $out == *"ok 1 - $1"* && $out != *"not ok"* ]]
  result "$1: ${3%%$'\n'*} may stand in $2" "$out"
}

source_rules=(edges fences linux calls output typedefs unfinished headers sizes format shell mutants)
clean_tree
out=$("$here/lint.sh" "${source_rules[@]}")
result "a clean tree passes" "$out"

bites edges evidence/thing.c 2 '#include "wire/thing.h"'
bites edges wire/thing.c 2 '#include "policy/thing.h"'
bites edges policy/thing.c 2 '#include "signer/thing.h"'
bites edges signer/thing.c 2 '#include "cli/thing.h"'
bites edges verify/thing.c 2 '#include "policy/thing.h"'
bites edges cli/thing.c 2 '#include "signer/thing.h"'
bites edges hook/thing.c 2 '#include "evidence/thing.h"'
bites edges hook/thing.c 2 '#include "wire/thing.h"'
bites edges wire/frame.h 6 '#include "evidence/thing.h"'
bites edges evidence/thing.c 2 '#include "thing.h"'
bites edges evidence/thing.c 2 '#include "evidence/none.h"'
passes edges tests/unit/test_thing.c '#include "signer/thing.h"'
passes edges cli/other.c '#include "verify/thing.h"'

bites fences evidence/thing.c 2 '#include <sodium.h>'
bites fences signer/thing.c 2 '#include <sodium/crypto_sign.h>'
bites fences evidence/thing.c 2 '#include <sqlite3.h>'
bites fences evidence/thing.c 2 '#include <zlib.h>'
bites fences policy/thing.c 2 '#include <pcre2.h>'
bites fences signer/thing.c 2 '#include <yaml.h>'
bites fences evidence/thing.c 2 '#include <jansson.h>'
passes fences signer/holder_key.c '#include <sodium.h>'
passes fences signer/store_call.c '#include <sqlite3.h>'

bites linux evidence/thing.c 1 '#define _GNU_SOURCE'
bites linux cli/thing.c 2 '#include <sys/epoll.h>'
passes linux signer/loop.c '#include <sys/epoll.h>'

for call in 'sprintf(a, "x")' 'strcpy(a, b)' 'strcat(a, b)' 'strncpy(a, b, 1)' 'gets(a)' 'sscanf(a, "x")' 'atoi(a)' \
  'strtok(a, b)' 'alloca(1)' 'mktemp(a)' 'system(a)' 'popen(a, b)' 'rand()' 'setjmp(a)'; do
  bites calls evidence/thing.c 2 "int x = $call;"
done
bites calls signer/seal.c 1 'int x = memcmp(a, b, 32);'
bites calls tests/unit/test_thing.c 1 'int x = strcpy(a, b);'
passes calls evidence/other.c 'int x = buf_sprintf(a) + p->system(a) + memcmp(a, b, 32);'

bites output evidence/thing.c 2 'int x = printf("x");'
bites output signer/thing.c 2 'int x = fputs("x", stderr);'
bites output policy/thing.c 2 'void x(void) { exit(1); }'
bites output wire/thing.c 2 'char *x = getenv("HOME");'
bites output cli/thing.c 2 'void x(void) { exit(1); }'
passes output cli/other.c 'int x = printf("x");'
passes output hook/main.c 'int x = getenv("HOME");'

bites typedefs evidence/thing.h 6 'typedef struct thing thing;'
passes typedefs evidence/other.c 'typedef int thing_visit(void *context);'

for word in TO""DO FIX""ME XX""X; do
  bites unfinished evidence/thing.c 2 "/* $word: later */"
  bites unfinished tests/run.sh 2 "# $word"
done
passes unfinished tests/run.sh 'mktemp -d name.XXXXXX'

bites headers evidence/bare.h 1 '#include <stddef.h>'
clean_tree
sed -i 's/THING_H/OTHER_H/' "$LINT_ROOT/evidence/thing.h"
out=$("$here/lint.sh" headers)
[[ $out == *"evidence/thing.h:1: no include guard"* ]]
result "headers: a guard of another name" "$out"

bites sizes evidence/long.c 500 "$(yes 'int x;' | head -501)"
passes sizes evidence/long.c "$(yes 'int x;' | head -500)"

bites shell tests/run.sh 2 'fi'
mutant='name: a mutant
file: evidence/thing.c
from: return 1;
to: return 2;
test: run.sh'
passes mutants tests/mutants/list "$mutant"
bites mutants tests/mutants/list 3 "${mutant/return 1/return 3}"
bites mutants tests/mutants/list 3 "${mutant/return 1;/thing}"
bites mutants tests/mutants/list 3 "${mutant/thing.c/none.c}"
bites mutants tests/mutants/list 5 "${mutant/run.sh/none.sh}"

clean_tree
put tests/none.sh 'echo no first line' && chmod +x "$LINT_ROOT/tests/none.sh"
out=$("$here/lint.sh" shell)
[[ $out == *"tests/none.sh:1: no #! line"* ]]
result "shell: a program that does not name its shell" "$out"

clean_tree
if "$here/lint.sh" format | grep -q SKIP; then
  passed=$((passed + 1))
  echo "ok $((passed + failed)) - format # SKIP clang-format 14 is not here"
else
  bites format evidence/thing.c 2 'int  x ;'
fi

# --- the allow list -------------------------------------------------------------------------------------------------

allowed() { # allowed COUNT EXPECTED WHAT: two findings in a file of which the list allows so many
  local out
  clean_tree
  put tests/lint/allow "calls evidence/thing.c $1 because"
  sed -i '2i int x = atoi(a);\nint y = atoi(b);' "$LINT_ROOT/evidence/thing.c"
  out=$("$here/lint.sh" calls)
  [[ $out == "1..1"$'\n'"$2 1 - calls"* ]]
  result "$3" "$out"
}
allowed 2 "ok" "allow: the exact count passes"
allowed 1 "not ok" "allow: one more than allowed is found"
allowed 3 "not ok" "allow: one fewer than allowed is found"
clean_tree
put tests/lint/allow "calls evidence/thing.c 1 because"
out=$("$here/lint.sh" calls)
[[ $out == *"take the entry out"* ]]
result "allow: an entry without a finding is found" "$out"

# --- rules on the build ---------------------------------------------------------------------------------------------

compile() { # compile OUTPUT TEXT FLAG...
  local output=$LINT_ROOT/$1 text=$2
  shift 2
  mkdir -p "$(dirname "$output")"
  printf '%s\n' "$text" | gcc -x c "$@" - -o "$output"
}

exports() { # exports OK-OR-NOT TEXT
  local out
  clean_tree
  find "$LINT_ROOT" -name '*.c' -delete
  put evidence/thing_part.c ''
  compile build/release/evidence/thing_part.o "$2" -c
  out=$("$here/lint.sh" symbols)
  [[ $out == "1..1"$'\n'"$1 1 - symbols"* ]]
  result "symbols: $2" "$out"
}
exports "not ok" 'int other(void) { return 1; }'
exports "not ok" 'int thinglike = 1;'
exports "ok" 'int thing_part_count(void) { return 1; } int thing_add(void) { return 1; } static int other = 1; int *thing_p = &other;'
clean_tree
out=$("$here/lint.sh" symbols)
[[ $out == *"not built"* ]]
result "symbols: an object that was not built is found" "$out"

protected='int main(int n, char **v) { char b[64]; for (int i = 0; i < n; i++) b[i % 64] = v[i][0]; return b[n % 64]; }'
good=(-O1 -fPIE -fstack-protector-strong -static-pie "-Wl,-z,relro,-z,now,-z,noexecstack")

programs() { # programs: all four, well linked
  local program
  clean_tree
  for program in tracekit tracekit-hook tracekit-signer tracekit-verify; do
    compile "build/bin/$program" "$protected" "${good[@]}"
  done
}

linked() { # linked RULE PROGRAM MESSAGE TEXT FLAG...
  local rule=$1 program=$2 message=$3 out
  compile "build/bin/$program" "$4" "${@:5}" 2>/dev/null
  out=$("$here/lint.sh" "$rule")
  [[ $out == *"not ok 1 - $rule"* && $out == *"build/bin/$program:1: "*"$message"* ]]
  result "$rule: $message" "$out"
  compile "build/bin/$program" "$protected" "${good[@]}"
}

programs
out=$("$here/lint.sh" link hardening)
result "well linked programs pass" "$out"
linked link tracekit-hook "needs shared libraries" "$protected" -O1 -fPIE -pie
linked link tracekit-verify "wants a dynamic loader" "$protected" -O1 -fPIE -pie
linked link tracekit-hook "holds json_parse" "void json_parse(void) {} $protected" "${good[@]}"
linked link tracekit-verify "holds sqlite3_open" "void sqlite3_open(void) {} $protected" "${good[@]}"
linked link tracekit-verify "holds crypto_sign_detached" "void crypto_sign_detached(void) {} $protected" "${good[@]}"
linked link tracekit-verify "holds connect" "#include <sys/socket.h>
int (*volatile c)(int, const struct sockaddr *, socklen_t) = connect; $protected" "${good[@]}"
linked link tracekit "holds holder_sign" "void holder_sign(void) {} $protected" "${good[@]}"
linked hardening tracekit "not position independent" "$protected" -O1 -no-pie -fno-pie -fstack-protector-strong
linked hardening tracekit-signer "no RELRO" "$protected" -O1 -fPIE -pie -fstack-protector-strong -Wl,-z,norelro,-z,now
linked hardening tracekit-signer "executable stack" "$protected" -O1 -fPIE -pie -fstack-protector-strong -Wl,-z,execstack,-z,now
linked hardening tracekit-signer "bound late" "$protected" -O1 -fPIE -pie -fstack-protector-strong -Wl,-z,lazy
linked hardening tracekit "no stack protector" "$protected" -O1 -fPIE -pie -fno-stack-protector -Wl,-z,now

# --- rules on the manual pages --------------------------------------------------------------------------------------

# explains PROGRAM [COMMAND] HELP: a program that prints this help when it is asked, one text for each command.
explains() {
  local file=$LINT_ROOT/build/bin/$1
  [ $# -gt 2 ] || printf '#!/bin/sh\n' >"$file"
  printf '[ "$*" = "%s--help" ] && exec cat <<"END"\n%s\nEND\n' "${3:+$2 }" "${!#}" >>"$file"
  chmod +x "$file"
}

page() { # page FILE OPTIONS-AND-COMMANDS
  local name=${1##*/} section
  name=${name%.*}
  {
    printf '.Dd November 30, 2026\n.Dt %s %s\n.Os\n.Sh NAME\n.Nm %s\n.Nd a part of the tree\n' "${name^^}" "${1##*.}" "$name"
    printf '.Sh SYNOPSIS\n.Nm\n.Fl -size Ar N\n.Sh DESCRIPTION\nIt is.\n%s\n' "$2"
    printf '.Sh FILES\nNone.\n.Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nGood.\n.It 12\nBad.\n.El\n'
    for section in EXAMPLES "SEE ALSO" "SECURITY CONSIDERATIONS"; do printf '.Sh %s\nNone.\n' "$section"; done
  } >"$LINT_ROOT/$1"
}

# Four programs, one of them with commands, their pages, and a configuration with one key.
manual_tree() {
  local program size='.Sh OPTIONS
.Bl -tag -width Ds
.It Fl -size Ar N
How large, not
.Fl -small .
.El' help='usage: program --size N

Is --large or not.

  --size N   how large, not --small

Exit status: 0 good,
12 bad.'
  clean_tree
  mkdir -p "$LINT_ROOT/build/bin" "$LINT_ROOT/docs/man"
  for program in tracekit tracekit-hook tracekit-signer tracekit-verify; do
    explains "$program" "$help"
    page "docs/man/$program.1" "$size"
  done
  page docs/man/tracekit-signer.yaml.5 '.Bl -tag -width Ds
.It Cm room : Ar N
How much.
.El'
  put signer/config_load.c 'static const struct key KEYS[] = {{"room", take_room}};'
  explains tracekit "$help

Commands:
  list    all of them
  help    this
"
  explains tracekit list 'usage: tracekit list [-a]

  -a, --all   really
  --size N    how large'
  page docs/man/tracekit.1 "$size
.Sh COMMANDS
.Ss list
Lists.
.Bl -tag -width Ds
.It Fl a , Fl -all
Really.
.El
.Ss help
Explains."
}

# unlike FILE FROM TO PLACE MESSAGE: with the text FROM replaced by TO in this file, rule `manual` finds MESSAGE at PLACE.
unlike() {
  local file=$LINT_ROOT/$1 text out
  manual_tree
  text=$(cat "$file")
  printf '%s\n' "${text/"$2"/"$3"}" >"$file"
  out=$("$here/lint.sh" manual)
  [[ $text == *"$2"* && $out == *"not ok 1 - manual"* && $out == *"$4: $5"* && $(grep -c ' docs/\| build/' <<<"$out") -eq 1 ]]
  result "manual: $5" "$out"
}

manual_tree
out=$("$here/lint.sh" manual mandoc)
[[ $out != *"not ok"* ]]
result "pages that say what the programs say pass" "$out"
unlike docs/man/tracekit-hook.1 '.It Fl -size Ar N' '.It Ar N' docs/man/tracekit-hook.1:12 '--size of `tracekit-hook --help` is missing'
unlike build/bin/tracekit-hook '  --size' '  --depth N  how deep
  --size' docs/man/tracekit-hook.1:12 '--depth of `tracekit-hook --help` is missing'
unlike docs/man/tracekit-hook.1 'How large' '.It Fl -depth
How large' docs/man/tracekit-hook.1:15 '`tracekit-hook --help` does not name --depth'
unlike docs/man/tracekit-verify.1 '.Fl -size Ar N' '.Fl -size Ar N | Fl q' docs/man/tracekit-verify.1:9 'no help of tracekit-verify names -q'
unlike docs/man/tracekit.1 ' , Fl -all' '' docs/man/tracekit.1:19 '--all of `tracekit list --help` is missing'
unlike docs/man/tracekit.1 ' , Fl -all' ' , Fl -all , Fl -few' docs/man/tracekit.1:22 '`tracekit list --help` does not name --few'
unlike docs/man/tracekit.1 'Explains.' 'Explains.
.Ss show' docs/man/tracekit.1:27 'tracekit has no command "show"'
unlike docs/man/tracekit.1 '.Ss help
' '' docs/man/tracekit.1:1 'nothing about what `tracekit help --help` explains'
unlike docs/man/tracekit-signer.1 '.It 12
' '' docs/man/tracekit-signer.1:1 'exit status 12 of `tracekit-signer --help` is missing'
unlike docs/man/tracekit-signer.1 '.It 12
' '.It 12
.It 3
' docs/man/tracekit-signer.1:25 'no help of tracekit-signer names exit status 3'
unlike docs/man/tracekit-signer.yaml.5 '.Sh FILES' '.Sh PLACES' docs/man/tracekit-signer.yaml.5:1 'no section FILES'
unlike docs/man/tracekit-verify.1 'None.' '.Xr tracekit-signer 8' docs/man/tracekit-verify.1:19 'there is no docs/man/tracekit-signer.8'
unlike docs/man/tracekit-signer.yaml.5 'Cm room' 'Ar room' docs/man/tracekit-signer.yaml.5:1 'the key room is missing'
unlike signer/config_load.c '{"room", take_room}' '' docs/man/tracekit-signer.yaml.5:1 'signer/config_load.c reads no key room'
manual_tree
sed -i 's/^  list .*/&\n  show    one/' "$LINT_ROOT/build/bin/tracekit"
sed -i 's/^\.Ss help/.Ss show\nShows.\n&/' "$LINT_ROOT/docs/man/tracekit.1"
out=$("$here/lint.sh" manual)
[[ $out == *'not ok 1 - manual'* && $out == *'build/bin/tracekit:1: `tracekit show --help` fails'* ]]
result "manual: a command that does not explain itself is found" "$out"
clean_tree
out=$("$here/lint.sh" manual)
[[ $out == *"docs/man/tracekit.1:1: there is no such page"* ]]
result "manual: a program without a page is found" "$out"

if command -v mandoc >/dev/null; then
  manual_tree
  sed -i '/^\.El$/d' "$LINT_ROOT/docs/man/tracekit.1"
  out=$("$here/lint.sh" mandoc)
  [[ $out == *"not ok 1 - mandoc"* && $out == *"docs/man/tracekit.1:17: "* ]]
  result "mandoc: a list without its end" "$out"
else
  passed=$((passed + 1))
  echo "ok $((passed + failed)) - mandoc # SKIP mandoc is not here"
fi

echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
