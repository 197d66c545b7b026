# fish completion for dwatch: flags, profiles, users, groups, processes, and words that are probes; asked of dwatch itself.

for line in (dwatch --help 2>/dev/null)
	if set -l part (string match -r '^  -(\w)\s+(.*)$' -- $line)
		complete -c dwatch -o $part[2] -d $part[3]
	end
end
complete -c dwatch -f -a '(dwatch -l -f syscall::: 2>/dev/null; dwatch -lP 2>/dev/null)'
complete -c dwatch -o X -x -a '(dwatch -Q 2>/dev/null | string replace -r "^(\S+)\s+(.*)\$" "\$1\t\$2")'
complete -c dwatch -o u -x -a '(__fish_complete_users)'
complete -c dwatch -o g -x -a '(__fish_complete_groups)'
complete -c dwatch -o p -x -a '(__fish_complete_pids)'
complete -c dwatch -o o -r
