# Requests that exceed what a process, or the kernel, has; losses at the very end are also reported.
# needs: root bpf
. "$SRC/test/lib.bash"
# more clock events than a process may have descriptors, unless it asks for more
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 600 ]; then
	ulimit -Sn 200
	ktrace -qn "$(seq -s, 1 120 | sed 's/[0-9][0-9]*/profile-&ms/g') { } tick-50ms { exit(0); }"
	expect "0 " "$status $err"
fi
# more than 32 bits count
ktrace -b 8g -qn 'tick-10ms { printf("here"); exit(0); }'
expect_match '^0 dtrace: buffer size lowered to [0-9]+[kmg] here$' "$status $err $(echo $out)"
ktrace -b 8g -x bufresize=manual -qn 'tick-10ms { exit(0); }'
expect_match "^1 dtrace: could not enable tracing: (cannot create buffers in the kernel: Cannot allocate memory|bufsize does not fit in this machine's memory)\$" "$status $err"
# speculations are lost when they are consumed, those of END after everything else
ktrace -x specsize=16 -qn 'BEGIN { exit(0); } END { s = speculation(); } END { speculate(s); trace(timestamp); trace(timestamp); trace(timestamp); }'
expect "dtrace: 1 speculative drop" "$err"
