# SPDX-License-Identifier: Apache-2.0
# Completes the words of proftap in bash. `proftap __complete` prints them; no completion package is needed.

# _proftap_names OPTION WORD: adds the names that `compgen OPTION` finds for WORD. Unless they are
# commands (-c), bash completes them as file names.
_proftap_names() {
	local name
	[ "$1" = -c ] || compopt -o filenames 2>/dev/null
	while IFS= read -r name; do
		COMPREPLY+=("$name")
	done < <(compgen "$1" -- "$2")
}

_proftap() {
	local line word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	[ "$word" != = ] || word=
	while IFS= read -r line; do
		case $line in
		:dirs) _proftap_names -d "$word" ;;
		:files) _proftap_names -f "$word" ;;
		:commands) _proftap_names -c "$word" ;;
		*= | *:)
			compopt -o nospace 2>/dev/null
			COMPREPLY+=("$line")
			;;
		*) COMPREPLY+=("$line") ;;
		esac
	done < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

complete -F _proftap proftap
