# What is asked for exceeds what a process, or the kernel, has; and what is lost at the very end is told, too.
. "$SRC/test/bpf/lib.bash"
# more clock events than a process may have descriptors, unless it asks for more
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 600 ]; then
	ulimit -Sn 200
	k -qn "$(seq -s, 1 120 | sed 's/[0-9][0-9]*/profile-&ms/g') { } tick-50ms { exit(0); }"
	expect "0 " "$status $err"
fi
# more than 32 bits count
k -b 8g -qn 'tick-10ms { printf("here"); exit(0); }'
expect "0 here" "$status $(echo $out)"
# speculations are lost when they are consumed, those of END after everything else
k -x specsize=16 -qn 'BEGIN { exit(0); } END { s = speculation(); } END { speculate(s); trace(timestamp); trace(timestamp); trace(timestamp); }'
expect "dtrace: 1 speculative drop" "$err"
