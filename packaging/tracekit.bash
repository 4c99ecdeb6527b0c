# bash completion for tracekit: commands and options, as `tracekit COMMAND --help` lists them.
_tracekit() {
  local word=${COMP_WORDS[COMP_CWORD]} before=() i help
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == [a-z]* ]] && before+=("${COMP_WORDS[i]}")
  done
  help=$(command tracekit ${before[@]+"${before[@]}"} --help 2>/dev/null </dev/null)
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '--[a-z][a-z-]*' <<<"$help" | sort -u)" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -o default -W "$(sed -n '/^Commands:$/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")" -- "$word")
  fi
}
complete -o default -F _tracekit tracekit
