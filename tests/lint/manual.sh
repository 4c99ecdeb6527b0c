# The rules `manual` and `mandoc`: docs/man/ against what the programs say about themselves. Sourced by lint.sh.
#
# A program and its commands explain their options with --help. In a page the options stand as `.It Fl` lines: those of a
# command below its `.Ss`, those of the program (and so of all its commands) in the section OPTIONS.

manual_sections=(NAME SYNOPSIS DESCRIPTION FILES "EXIT STATUS" EXAMPLES "SEE ALSO" "SECURITY CONSIDERATIONS")

manual_pages() {
  [ ! -d docs/man ] || find docs/man -name '*.[1-8]' | sort
}

# Puts the help of a program and of each of its commands into $work/help/, called OPTIONS and like the command.
collect_help() { # collect_help PROGRAM [COMMAND]...
  local name=${*:2} command
  name=${name:-OPTIONS}
  if ! timeout 10 "build/bin/$1" "${@:2}" --help >"$work/help/$name" 2>/dev/null </dev/null; then
    echo "build/bin/$1:1: \`$* --help\` fails; let it explain itself"
  fi
  while read -r command; do
    # `help` explains the others.
    if [ "$command" = help ]; then : >"$work/help/help"; else collect_help "$@" "$command"; fi
  done < <(sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' "$work/help/$name")
}

# The command that prints the help NAME.
help_of() { # help_of PROGRAM NAME
  if [ "$2" = OPTIONS ]; then echo "\`$1 --help\`"; else echo "\`$1 $2 --help\`"; fi
}

# The options that a help text names in its usage and explains below.
help_options() {
  awk '/^$/ { explains = 1 } !explains { print } explains && /^  -/ { sub(/^  /, ""); sub(/  .*/, ""); print }' "$1" |
    grep -oE -- '(^|[^A-Za-z0-9-])--?[a-z][a-z0-9-]*' | sed 's/^[^-]*//' | sort -u
}

help_statuses() {
  cat "$work"/help/* | awk '/^$/ { statuses = 0 } /^Exit (status|codes)/ { statuses = 1 } statuses' | grep -owE '[0-9]+' | sort -un
}

# A page's headings, options and exit statuses: SECTION<tab>LINE<tab>WHAT, where WHAT of a heading is empty.
read_page() {
  awk '
    /^\.S[hs] / { section = substr($0, 5); gsub(/"/, "", section); print section "\t" FNR "\t"; next }
    section == "EXIT STATUS" && /^\.It [0-9]+$/ { print section "\t" FNR "\t" $2; next }
    section == "SYNOPSIS" || (/^\.It / && /Fl /) {
      sub(/^\./, "")
      for (i = 1; i < NF; i++) if ($i == "Fl") print section "\t" FNR "\t-" $(i + 1)
    }' "$1"
}

# What the page lacks: commands, options and exit statuses of the program.
manual_lacks() { # manual_lacks PROGRAM PAGE
  local help name line word
  for help in "$work"/help/*; do
    name=${help##*/}
    line=$(awk -F '\t' -v name="$name" '$1 == name && $3 == "" { print $2 }' "$work/page")
    if [ -z "$line" ] && ! grep -q '^Commands:$' "$help"; then
      echo "$2:1: nothing about what $(help_of "$1" "$name") explains; give it a .Ss (a program: .Sh OPTIONS)"
      continue
    fi
    help_options "$help" | while read -r word; do
      grep -qP "^(\Q$name\E|OPTIONS)\t[0-9]+\t\Q$word\E\$" "$work/page" ||
        echo "$2:${line:-1}: $word of $(help_of "$1" "$name") is missing here; give it an .It Fl"
    done
  done
  help_statuses | while read -r word; do
    grep -qP "^EXIT STATUS\t[0-9]+\t$word\$" "$work/page" ||
      echo "$2:1: exit status $word of \`$1 --help\` is missing; give it an .It in EXIT STATUS"
  done
}

# What the page has beyond the program.
manual_invents() { # manual_invents PROGRAM PAGE
  local help name line word
  for help in "$work"/help/*; do help_options "$help"; done | sort -u >"$work/options"
  help_statuses >"$work/statuses"
  while IFS=$'\t' read -r name line word; do
    case $name:$word in
      'EXIT STATUS:'?*)
        grep -qxF -- "$word" "$work/statuses" || echo "$2:$line: no help of $1 names exit status $word; take it out, or add it there"
        ;;
      SYNOPSIS:?*)
        grep -qxF -- "$word" "$work/options" || echo "$2:$line: no help of $1 names $word; take it out, or add it there"
        ;;
      *:?*)
        [ ! -e "$work/help/$name" ] || help_options "$work/help/$name" | grep -qxF -- "$word" ||
          echo "$2:$line: $(help_of "$1" "$name") does not name $word; take it out, or add it there"
        ;;
    esac
  done <"$work/page"
  # Every .Ss is a command.
  awk '/^\.Ss / { print FNR "\t" substr($0, 5) }' "$2" | while IFS=$'\t' read -r line name; do
    [ -e "$work/help/$name" ] || echo "$2:$line: $1 has no command \"$name\"; take it out, or let --help list it"
  done
}

# The configuration's keys: in the table that reads them, and in the page about them.
manual_keys() {
  local source=signer/config_load.c page=docs/man/tracekit-signer.yaml.5 key
  [ -e "$source" ] || return 0
  [ -e "$page" ] || { echo "$page:1: there is no such page; write it in mdoc"; return; }
  grep -oE '\{"[a-z_]+", take_' "$source" | cut -d'"' -f2 | sort -u >"$work/keys"
  sed -nE 's/^\.It Cm ([a-z_]+) :.*/\1/p' "$page" | sort -u >"$work/told"
  comm -23 "$work/keys" "$work/told" | while read -r key; do echo "$page:1: the key $key is missing; give it an .It Cm"; done
  comm -13 "$work/keys" "$work/told" | while read -r key; do echo "$page:1: $source reads no key $key; take it out"; done
}

rule_manual() {
  local program page section line name
  for program in "${programs[@]}"; do
    page=$(manual_pages | grep -E "/$program\.[1-8]\$")
    [ -n "$page" ] || { echo "docs/man/$program.1:1: there is no such page; write it in mdoc"; continue; }
    [ -e "build/bin/$program" ] || { echo "build/bin/$program:1: not built; run make all first"; continue; }
    rm -rf "$work/help" && mkdir "$work/help"
    collect_help "$program"
    read_page "$page" >"$work/page"
    manual_lacks "$program" "$page"
    manual_invents "$program" "$page"
  done
  manual_pages | while read -r page; do
    for section in "${manual_sections[@]}"; do
      grep -qx "\.Sh $section" "$page" || echo "$page:1: no section $section; write it"
    done
    # Our own pages that it refers to.
    awk '/^\.Xr tracekit/ { print FNR, $2 "." $3 }' "$page" | while read -r line name; do
      [ -e "docs/man/$name" ] || echo "$page:$line: there is no docs/man/$name; write it, or correct the reference"
    done
  done
  manual_keys
}

rule_mandoc() {
  command -v mandoc >/dev/null || {
    echo "# skipped: the manual pages' mdoc was not checked, because mandoc is not here (apt-get install mandoc)"
    return
  }
  manual_pages | xargs -r mandoc -T lint -W warning 2>&1 |
    sed -nE 's/^mandoc: ([^:]+):([0-9]+):[0-9]+: (.*)/\1:\2: \3; mandoc(1) explains it/p; t
             s/^mandoc: ([^:]+): (.*)/\1:1: \2; mandoc(1) explains it/p'
}
