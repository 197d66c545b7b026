# bash completion for dtrace: flags, options of -x, providers and probes, tools, processes.
#
# Everything is asked of dtrace itself (--help, --options, --tools, -l), so nothing here has to be
# changed when a flag, an option or a tool is added.

_dtrace_lines() { # what to ask: the first words of the answer's lines
	"${COMP_WORDS[0]}" "$@" 2>/dev/null | awk '{ print $1 }'
}

_dtrace_flags() {
	"${COMP_WORDS[0]}" --help 2>/dev/null | sed -nE 's/^  (--?[A-Za-z]+).*/\1/p'
}

# The word as the shell's reader sees it, colons included, is $1. Words with three colons can be probes in full;
# before that, providers.
_dtrace_probes() {
	local word=$1 provider=${1%%:*}

	case $word in
	*[\{\}\;\'\ /]*) ;;
	*:*) "${COMP_WORDS[0]}" -l -P "$provider" 2>/dev/null |
		awk -v word="$word" 'NR > 1 && NF >= 3 { m = f = ""; if (NF == 5) { m = $3; f = $4 } else if (NF == 4) m = $3; if (word ~ /^[^:]*::/) m = ""; print $2 ":" m ":" f ":" $NF }' ;;
	*) "${COMP_WORDS[0]}" -l 2>/dev/null | awk 'NR > 1 && !seen[$2]++ { print $2 ":" }' ;;
	esac
}

_dtrace_cgroups() { # paths below the root of all control groups
	find "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)" -mindepth 1 -type d -printf '/%P\n' 2>/dev/null
}

_dtrace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words

	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n :=, cur prev
	fi
	COMPREPLY=()
	case $prev in
	-x) mapfile -t COMPREPLY < <(compgen -W "$(_dtrace_lines --options)" -- "$cur") ;;
	-[nfmP]) words=$(_dtrace_probes "$cur")
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		[[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace ;;
	-s) mapfile -t COMPREPLY < <(compgen -W "$(_dtrace_lines --tools)" -- "$cur"; compgen -f -- "$cur") ;;
	-p) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur") ;;
	-[cW]) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	--file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	--cgroup) mapfile -t COMPREPLY < <(compgen -W "$(_dtrace_cgroups)" -- "$cur") ;;
	--container) mapfile -t COMPREPLY < <(compgen -W "$(_dtrace_cgroups | sed -nE 's|.*/([^/]+)\.service$|\1|p')" -- "$cur") ;;
	-[LI]) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	-[DUbiX]) ;;
	*) if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_dtrace_flags)" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi ;;
	esac
	if declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$cur"
	fi
}
complete -F _dtrace dtrace
