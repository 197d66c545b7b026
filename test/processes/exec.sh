# timeout: 120
# Tracing of a command begins with its own first system call: nothing of dtrace's image is traced under its
# pid, and nothing of its own is missed.
# needs: root bpf gcc
# uses: python3 strace
. "$SRC/test/lib.bash"
build points processes/points.c -lpthread
build static processes/points.c -static 2>/dev/null || rm -f "$TMP/static"
build pie processes/points.c -s -pie -fPIE

cat >"$TMP/calls.d" <<'EOT'
#pragma D option quiet
syscall:::entry, syscall:::return /pid == $target/ { printf("%s %s:%s\n", execname, probefunc, probename); }
EOT
for cmd in "$TMP/points" "$TMP/static" "$TMP/pie" "/bin/bash -c :" "/usr/bin/python3 -c 1"; do
	[ -x "${cmd%% *}" ] || continue
	rm -f "$TMP/calls"
	trace -o "$TMP/calls" -s "$TMP/calls.d" -c "$cmd"
	expect 0 "$status" "$cmd"
	expect "" "$err" "$cmd"
	name=$(basename "${cmd%% *}")
	expect "$name brk:entry
$name brk:return" "$(head -n 2 "$TMP/calls")" "$cmd"
	expect "exit_group:entry" "$(grep : "$TMP/calls" | tail -n 1 | sed 's/.* //')" "$cmd"
	expect "" "$(grep -E '^dtrace |execve' "$TMP/calls" | head -n 3)" "$cmd"
done

# the same calls in the same order as another tracer sees them
if command -v strace >/dev/null && strace -o "$TMP/strace" "$TMP/points" >/dev/null 2>&1; then
	trace -qn 'syscall:::entry /pid == $target/ { printf("call %s\n", probefunc); }' -c "$TMP/points"
	expect "$(sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' "$TMP/strace" | sed 1d | sed 's/^fstat$/newfstatat/')" \
		"$(sed -n 's/^call //p' "$TMP/out" | sed 's/^fstat$/newfstatat/')" "compared with strace"
fi
