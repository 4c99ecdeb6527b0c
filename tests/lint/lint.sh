#!/usr/bin/env bash
# The rules of the tree that no compiler checks.
#
#   tests/lint/lint.sh [RULE]...     all rules, or those named; prints TAP and last "N passed, N failed"
#   tests/lint/lint.sh --write       writes the layout of all C files instead
#
# A finding reads FILE:LINE: what is wrong; what to do. What must stay is listed in tests/lint/allow with its count.
# The rules `symbols`, `link`, `hardening` and `manual` look at the release build. tests/lint/bites.sh shows that each rule
# bites.
# LINT_ROOT is the tree to look at, by default this one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "${LINT_ROOT:-$here/../..}" || exit 1

rules=(edges fences linux calls output typedefs unfinished headers sizes symbols format shell mutants link hardening manual mandoc)
rooms=(evidence wire policy harness signer hook cli verify)
programs=(tracekit tracekit-hook tracekit-signer tracekit-verify)

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The C files of the rooms, or with `all` those of tests and bench too.
c_files() {
  local dirs=("${rooms[@]}") dir
  [ "${1:-}" != all ] || dirs+=(tests bench)
  for dir in "${dirs[@]}"; do [ ! -d "$dir" ] || find "$dir" -name '*.[ch]'; done | sort
}

# Lines of code (no comments, no strings) as FILE:LINE:TEXT, of the files whose path matches $1.
code() {
  [ -e "$work/code" ] || c_files all | xargs -r awk -f "$here/strip.awk" >"$work/code"
  grep -E "^($1)" "$work/code"
}
any='[a-z]'
room='(evidence|wire|policy|harness|signer|hook|cli|verify)/'

# finding PATTERN MESSAGE: what of standard input matches, as "FILE:LINE: MESSAGE"; \2, \3 are the pattern's groups.
finding() {
  sed -nE "s#^([^:]+:[0-9]+):$1.*#\\1: $2#p"
}

# --- rules on the source --------------------------------------------------------------------------------------------

# Which rooms may include which. Tests and benches may include anything.
may_include() { # may_include ROOM ROOM
  case $1 in
    evidence) [[ $2 == evidence ]] ;;
    wire | policy | harness) [[ $2 == "$1" || $2 == evidence ]] ;;
    signer) [[ $2 =~ ^(signer|harness|wire|policy|evidence)$ ]] ;;
    hook) [[ $2 =~ ^(hook|wire)$ ]] ;;
    cli) [[ $2 =~ ^(cli|harness|wire|policy|evidence|verify)$ ]] ;;
    verify) [[ $2 =~ ^(verify|evidence)$ ]] ;;
    *) true ;;
  esac
}

rule_edges() {
  local file number included
  code "$any" | sed -nE 's/^([^:]+):([0-9]+):[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1 \2 \3/p' |
    while read -r file number included; do
      if [[ $included != */* ]]; then
        echo "$file:$number: \"$included\" names no folder; write \"folder/$included\""
      elif [ ! -e "$included" ]; then
        echo "$file:$number: there is no $included; paths start at the top folder"
      elif ! may_include "${file%%/*}" "${included%%/*}"; then
        echo "$file:$number: ${file%%/*}/ may not use ${included%%/*}/; move what both need down, or turn the call around"
      elif [[ $file == hook/* && ! $included =~ ^(hook/|wire/(frame|peer)\.h$) ]] ||
        [[ $file =~ ^wire/(frame|peer)\. && ! $included =~ ^wire/(frame|peer)\.h$ ]]; then
        echo "$file:$number: the hook links only wire/frame.c, wire/peer.c and libc; \"$included\" is out of its reach"
      fi
    done
}

# Each outside library and the files that may know it.
fence() { # fence HEADER-PATTERN ALLOWED-FILES-PATTERN NAME
  code "$room" | grep -vE "^($2):" |
    finding "[ \t]*\#[ \t]*include[ \t]*<($1)>" "<\\2> stays in ${2//\\/}; call that module instead"
}

rule_fences() {
  fence 'sodium(/.*)?(\.h)?' 'evidence/(digest|base64|ed25519)[.]c|signer/(holder[a-z_]*|seal)[.]c'
  fence 'sqlite3(ext)?\.h' 'signer/store[a-z_]*[.][ch]'
  fence 'zlib\.h' 'evidence/zip[a-z_]*[.][ch]'
  fence 'pcre2(posix)?\.h' 'evidence/pattern[.]c'
  fence 'yaml\.h' 'policy/yaml[a-z_]*[.][ch]'
  fence '(jansson|zip|archive|seccomp|openssl/.*|curl/.*)\.h' 'another project'
}

rule_linux() {
  code "$any" | grep -vE '^(signer|wire|hook|tests|bench)/' >"$work/posix"
  finding '.*_((GNU|DEFAULT|BSD)_SOURCE)' '_\2 is more than POSIX; this belongs into signer/, wire/ or hook/' <"$work/posix"
  finding '[ \t]*\#[ \t]*include[ \t]*<(linux/.*|sys/(epoll|signalfd|timerfd|eventfd|inotify|prctl|syscall)\.h)>' \
    '<\2> is Linux; this belongs into signer/, wire/ or hook/' <"$work/posix"
}

# forbid CALLS REMEDY: CALLS are the alternatives of a pattern.
forbid() {
  finding "(.*[^A-Za-z0-9_>.]|)($1)[ \t]*\\(" "\\3 is not used here; $2"
}

rule_calls() {
  code "$any" | forbid 'v?sprintf' 'snprintf, or evidence/buf.h'
  code "$any" | forbid 'strcpy|strcat|strncpy|strncat|stpcpy' 'memcpy with a length that was checked, or evidence/buf.h'
  code "$any" | forbid 'gets|v?f?scanf|v?sscanf' 'read with a length'
  code "$any" | forbid 'atoi|atol|atoll|atof' 'strtol and its kin, with the end pointer and errno checked'
  code "$any" | forbid 'strtok(_r)?' 'walk the text with memchr or strcspn'
  code "$any" | forbid 'alloca' 'an array of a fixed size, or malloc'
  code "$any" | forbid 'mktemp|tmpnam|tempnam' 'mkstemp or mkdtemp'
  code "$any" | forbid 'system|popen|wordexp' 'fork and execve with a fixed path and environment'
  code "$room" | forbid 'rand|srand|random|srandom|rand_r|drand48' 'random numbers come from libsodium, behind signer/'
  code "$room" | forbid 'setjmp|sigsetjmp|longjmp|siglongjmp' 'return an enum err'
  code 'signer/(holder|seal|keyfile)[a-z_]*\.c' |
    forbid 'memcmp|strcmp|strncmp' 'sodium_memcmp, because its time says nothing about a secret'
}

# evidence/report_print.c writes to the stream that it is handed; cli/ prints to its own.
rule_output() {
  code "$room" | grep -vE '^(cli/|[a-z]+/main\.c|verify/command\.c)' >"$work/libraries"
  grep -v '^evidence/report_print\.c' "$work/libraries" |
    forbid 'v?printf|v?fprintf|v?dprintf|puts|fputs|putchar|fputc|putc|perror|v?warnx|v?errx' \
      'libraries return an error and a fault; main.c and cli/ print'
  forbid 'exit|_exit|_Exit|quick_exit|abort|atexit' 'libraries return; main.c ends the process' <"$work/libraries"
  forbid '(secure_)?getenv|setenv|putenv|unsetenv' 'main.c reads the environment and hands it over' <"$work/libraries"
  code 'cli/|verify/command\.c' | grep -v '/main\.c' |
    forbid 'exit|_exit|_Exit|quick_exit|abort|atexit' 'return a status; main.c ends the process'
}

rule_typedefs() {
  code "$room" | finding '[ \t]*typedef[^(]*$' 'a typedef; write struct or enum at its uses (function types may have one)'
}

rule_unfinished() {
  local words='\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b'
  for where in "${rooms[@]}" tests bench docs packaging .ci Makefile README.md; do
    [ ! -e "$where" ] || grep -rnIE --exclude-dir=corpus --exclude-dir=vectors "$words" "$where"
  done | sed -E 's/^([^:]+:[0-9]+):.*/\1: unfinished; do it now, or describe what is missing in the documents/'
}

rule_headers() {
  local file name guard
  c_files all | grep '\.h$' | while read -r file; do
    name=${file##*/}
    guard=${file#tests/*/}
    guard=$(printf '%s' "$guard" | tr 'a-z/.-' 'A-Z___')
    head -2 "$file" | tr '\n' ' ' | grep -qE "^/[ *]*${name/./[.]} - " ||
      echo "$file:1: no opening comment; start with \"$name - \", what it is, its invariant, what of it is hostile"
    grep -qE "^#ifndef ([A-Z]+_)*$guard\$" "$file" && grep -qE "^#define ([A-Z]+_)*$guard\$" "$file" ||
      echo "$file:1: no include guard; it is $guard"
  done
}

rule_sizes() {
  local file lines
  while read -r file; do
    lines=$(wc -l <"$file")
    if [[ $file == *.c && $lines -gt 500 ]]; then
      echo "$file:500: $lines lines; split it by nouns (500 at most, 400 reads well)"
    elif [[ $file == *.c && $lines -gt 400 && $file != tests/* ]]; then
      echo "# $file: $lines lines; is it still one noun?"
    elif [[ $file == *.h && $lines -gt 200 ]]; then
      echo "# $file: $lines lines of header"
    fi
    # A function starts with a brace in the first column and ends with one.
    awk -v file="$file" '/^\{/ { start = NR } /^\}/ && start { if (NR - start > 61)
      print "# " file ":" start ": a function of " NR - start - 1 " lines"; start = 0 }' "$file"
  done < <(c_files all)
}

rule_format() {
  local tool
  tool=$(clang_format) || {
    echo "# skipped: the layout was not checked, because clang-format 14 is not here (apt-get install clang-format-14)"
    return
  }
  c_files all | xargs -r "$tool" --dry-run 2>&1 | sed -nE 's/^([^:]+:[0-9]+):[0-9]+: warning:.*/\1: layout; run make format/p' |
    sort -u -t: -k1,1
}

# The one version whose layout is ours.
clang_format() {
  local tool
  for tool in clang-format-14 clang-format; do
    if "$tool" --version 2>/dev/null | grep -q 'version 14\.'; then
      command -v "$tool"
      return
    fi
  done
  return 1
}

rule_shell() {
  local file
  { find tests packaging bench .ci -name '*.sh' 2>/dev/null; ls .ci/run 2>/dev/null; } | sort | while read -r file; do
    bash -n "$file" 2>&1 | sed -E 's/^([^:]+): line ([0-9]+): (.*)/\1:\2: \3; mend the syntax/'
    head -1 "$file" | grep -qE '^#!' || [ ! -x "$file" ] || echo "$file:1: no #! line; name the shell"
    command -v shellcheck >/dev/null || continue
    # Not: variables that a sourced file sets or reads, cd without a check in scripts that stop at errors.
    shellcheck -S warning -s bash -e SC1090,SC1091,SC2034,SC2154,SC2164 -f gcc "$file" | sed -E 's/^([^:]+:[0-9]+):[0-9]+: /\1: /; s/$/; see the number in the ShellCheck wiki/'
  done
}

# A check that was moved must be found where it stands now: else nobody notices when it goes.
rule_mutants() {
  local line number=0 file='' count
  [ -e tests/mutants/list ] || return 0
  while IFS= read -r line; do
    number=$((number + 1))
    case $line in
      'file: '*) file=${line#file: } ;;
      'from: '*)
        count=$(grep -cF -- "${line#from: }" "$file" 2>/dev/null)
        [ "${count:-0}" -eq 1 ] ||
          echo "tests/mutants/list:$number: stands in ${count:-0} lines of $file; give the text of the one line that it is about"
        ;;
      'test: '*)
        [ -e "tests/${line#test: }" ] || [ -e "tests/${line#test: }.c" ] ||
          echo "tests/mutants/list:$number: no such test; name the one that sees it"
        ;;
    esac
  done <tests/mutants/list
}

# --- rules on the build ---------------------------------------------------------------------------------------------

# foo.c exports only foo_*; store_call.c may export store_* as well, being a part of store.
rule_symbols() {
  local file object
  for file in $(c_files | grep '\.c$'); do
    object=build/release/${file%.c}.o
    if [ ! -e "$object" ]; then
      echo "$file:1: not built; run make all unit first"
      continue
    fi
    nm -g --defined-only "$object" | awk -v file="$file" '
      BEGIN {
        stem = file; sub(/.*\//, "", stem); sub(/\.c$/, "", stem)
        count = split(stem, part, "_")
        for (i = 1; i <= count; i++) prefix[i] = i == 1 ? part[1] : prefix[i - 1] "_" part[i]
      }
      $2 ~ /^[A-Z]$/ && NF == 3 {
        good = stem == "main" && $3 == "main"
        for (i = 1; i <= count; i++) if (tolower($3) == prefix[i] || index(tolower($3), prefix[i] "_") == 1) good = 1
        if (!good) print file ":1: exports " $3 "; call it " stem "_..., or make it static"
      }'
  done
}

rule_link() {
  local program path
  for program in tracekit-hook tracekit-verify; do
    path=build/bin/$program
    [ -e "$path" ] || { echo "$path:1: not built; run make all first"; continue; }
    readelf -dW "$path" | grep -q '(NEEDED)' && echo "$path:1: needs shared libraries; link it with -static-pie"
    readelf -lW "$path" | grep -q INTERP && echo "$path:1: wants a dynamic loader; link it with -static-pie"
  done
  has_no build/bin/tracekit-hook 'sodium_|crypto_|sqlite3_|pcre2_|json_|arena_new|buf_|policy_|client_' 'it links libc, wire/frame.c and wire/peer.c only'
  # crypto_sign_ed25519_detached is not among them: libsodium's object that verifies needs the one that signs.
  has_no build/bin/tracekit-verify 'sqlite3_|policy_|frame_head|peer_connect|client_|holder_|store_|(socket|connect|bind|listen|accept)$|crypto_sign$|crypto_sign_detached$|crypto_sign_(ed25519_)?(seed_)?keypair$' \
    'the verifier has no socket, no database, no policy and no signing'
  has_no build/bin/tracekit 'sqlite3_|holder_|store_|ledger_' 'the command line talks to the signer over its socket'
  if [ -e build/bin/tracekit ] && readelf -dW build/bin/tracekit | grep -q 'NEEDED.*libsqlite3'; then
    echo "build/bin/tracekit:1: links SQLite; only the signer does"
  fi
}

# Symbols that a program must not hold.
has_no() { # has_no PROGRAM PATTERN WHY
  [ -e "$1" ] || return 0
  nm "$1" 2>/dev/null | awk -v path="$1" -v why="$3" -v pattern="^($2)" '
    $2 ~ /^[TtWw]$/ && $3 ~ pattern { print path ":1: holds " $3 "; " why }' | head -5
}

rule_hardening() {
  local program path
  for program in "${programs[@]}"; do
    path=build/bin/$program
    [ -e "$path" ] || { echo "$path:1: not built; run make all first"; continue; }
    readelf -hW "$path" | grep -qE 'Type: +DYN' || echo "$path:1: not position independent; link it with -pie or -static-pie"
    readelf -lW "$path" | grep -q GNU_RELRO || echo "$path:1: no RELRO; link it with -z relro"
    readelf -lW "$path" | grep -E 'GNU_STACK' | grep -qE ' RW +0x' || echo "$path:1: executable stack; link it with -z noexecstack"
    readelf -lW "$path" | grep -qE '^ +LOAD .* RWE ' && echo "$path:1: a segment is writable and executable; look at the link line"
    readelf -dW "$path" | grep -qE 'BIND_NOW|FLAGS_1.* NOW' || echo "$path:1: symbols are bound late; link it with -z now"
    nm "$path" 2>/dev/null | grep -q '__stack_chk_fail' || echo "$path:1: no stack protector; compile with -fstack-protector-strong"
  done
}

# --- rules on the manual pages --------------------------------------------------------------------------------------

# shellcheck source=tests/lint/manual.sh
. "$here/manual.sh"

# --- running them ---------------------------------------------------------------------------------------------------

# Takes out what tests/lint/allow expects of rule $1; the findings are in file $2. Notes ("# ...") pass through.
apply_allow() {
  awk -v rule="$1" -v list="tests/lint/allow" '
    BEGIN { while ((getline line < list) > 0) { split(line, f, /[ \t]+/); if (f[1] == rule) allowed[f[2]] = f[3] } }
    /^#/ { print; next }
    { file = $0; sub(/:.*/, "", file); count[file]++; text[file] = text[file] $0 "\n" }
    END {
      for (file in count) {
        if (!(file in allowed)) printf "%s", text[file]
        else if (count[file] != allowed[file])
          printf "%s%s:1: tests/lint/allow expects %d of %s; mend them, or the count\n", text[file], file, allowed[file], rule
      }
      for (file in allowed) if (!(file in count))
        print "tests/lint/allow:1: nothing of " rule " is left in " file "; take the entry out"
    }' "$2" | sort -t: -k1,1 -k2,2n
}

if [ "${1:-}" = --write ]; then
  tool=$(clang_format) || { echo "formatting needs clang-format 14: apt-get install clang-format-14" >&2; exit 1; }
  c_files all | xargs -r "$tool" -i
  exit
fi

[ $# -gt 0 ] || set -- "${rules[@]}"
echo "1..$#"
passed=0 failed=0
for rule; do
  declare -F "rule_$rule" >/dev/null || { echo "no rule '$rule'; there are: ${rules[*]}" >&2; exit 1; }
  "rule_$rule" >"$work/found"
  apply_allow "$rule" "$work/found" >"$work/left"
  skip=$(sed -n 's/^# skipped: //p' "$work/left")
  if grep -qv '^#' "$work/left"; then
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) - $rule"
  else
    passed=$((passed + 1))
    echo "ok $((passed + failed)) - $rule${skip:+ # SKIP $skip}"
  fi
  sed '/^# skipped: /d; s/^\([^#]\)/  \1/; s/^# /# note: /' "$work/left"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
