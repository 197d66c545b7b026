# bash completion for dwatch: flags, profiles, users, groups, processes, and words that are probes.
#
# Everything is asked of dwatch itself (--help, -Q, -l), so nothing here has to be changed when a flag or a profile is
# added.

_dwatch() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} dwatch=${COMP_WORDS[0]} words

	COMPREPLY=()
	case $prev in
	-X) words=$("$dwatch" -Q1 2>/dev/null) ;;
	-u) words=$(compgen -u) ;;
	-g) words=$(compgen -g) ;;
	-p) words=$(cd /proc && echo [0-9]*) ;;
	-o) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	-[BEjkKNOrtTz]) return ;;
	*) if [[ $cur == -* ]]; then
		words=$("$dwatch" --help 2>/dev/null | sed -nE 's/^  (-[A-Za-z0-9]) .*/\1/p')
	elif [[ $cur != *:* ]]; then
		words=$("$dwatch" -l -f syscall::: 2>/dev/null; "$dwatch" -lP 2>/dev/null)
	fi ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "${words-}" -- "$cur")
}
complete -F _dwatch dwatch
