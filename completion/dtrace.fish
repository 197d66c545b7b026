# fish completion for dtrace: flags, options of -x, providers, tools, processes, control groups; asked of dtrace itself.

function __dtrace_table # words of the question: name, tab, description
	dtrace $argv 2>/dev/null | string replace -r '^(\S+)\s+(.*)$' '$1\t$2'
end

function __dtrace_probes
	set -l word (commandline -ct)
	if string match -q '*:*' -- $word
		dtrace -l -P (string split -m 1 : -- $word)[1] 2>/dev/null | awk -v word="$word" 'NR > 1 && NF >= 3 { m = f = ""; if (NF == 5) { m = $3; f = $4 } else if (NF == 4) m = $3; if (word ~ /^[^:]*::/) m = ""; print $2 ":" m ":" f ":" $NF }'
	else
		dtrace -l 2>/dev/null | awk 'NR > 1 && !seen[$2]++ { print $2 ":" }'
	end
end

function __dtrace_cgroups # paths below the root of all control groups
	find (awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts) -mindepth 1 -type d -printf '/%P\n' 2>/dev/null
end

for line in (dtrace --help 2>/dev/null)
	if set -l part (string match -r '^  -(\w)\s+(.*)$' -- $line)
		complete -c dtrace -o $part[2] -d $part[3]
	else if set -l part (string match -r '^  --(\w+)\s+(.*)$' -- $line)
		complete -c dtrace -l $part[2] -d $part[3]
	end
end
complete -c dtrace -o x -x -a '(__dtrace_table --options)'
for flag in n f m P
	complete -c dtrace -o $flag -x -a '(__dtrace_probes)'
end
complete -c dtrace -o s -r -a '(__dtrace_table --tools)'
complete -c dtrace -o p -x -a '(__fish_complete_pids)'
for flag in c W
	complete -c dtrace -o $flag -x -a '(__fish_complete_command)'
end
complete -c dtrace -l file -r -F
complete -c dtrace -l cgroup -x -a '(__dtrace_cgroups)'
complete -c dtrace -l container -x -a '(__dtrace_cgroups | string match -rg \'([^/]+)\.service$\')'
for flag in L I
	complete -c dtrace -o $flag -x -a '(__fish_complete_directories (commandline -ct))'
end
