# bufpolicy fill stops when a buffer is full, ring keeps the newest records.
. "$SRC/test/bpf/lib.bash"
k -q -x bufpolicy=fill -x bufsize=16k -x statusrate=20ms -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ++n); }' -c "$work 100000 1"
expect 1 "$(sed '/^$/d' "$TMP/out" | head -n 1)"
[ "$(grep -c . "$TMP/out")" -lt 2000 ] || expect "a few hundred records" "$(grep -c . "$TMP/out")"
k -q -x bufpolicy=ring -x bufsize=16k -x switchrate=1ms -n 'syscall::getppid:entry /pid == $target/ { printf("%d\n", ++n); } END { printf("last %d\n", n); }' -c "$work 3000 1"
expect "last 3000" "$(sed '/^$/d' "$TMP/out" | tail -n 1)"
