# The address of one kernel symbol: the kernel is asked for it, /proc/kallsyms is not read (50 ms).
# needs: root bpf btf kallsyms strace
. "$SRC/test/lib.bash"
want=$(awk '$3 == "vfs_read" { print $1; exit }' /proc/kallsyms)
timeout 60 strace -f -e trace=open,openat -o "$TMP/calls" "$DTRACE" -qn 'BEGIN { printf("%x", (uint64_t)&`vfs_read); exit(0); }' >"$TMP/out" 2>"$TMP/err"
expect "$want" "$(grep . "$TMP/out")" "$(cat "$TMP/err")"
expect 0 "$(grep -c /proc/kallsyms "$TMP/calls")" "files opened"
# one that there is not
trace -qn 'BEGIN { trace((uint64_t)&`no_such_symbol_at_all); }'
expect_match 'no_such_symbol_at_all' "$err"
expect 1 "$status"
