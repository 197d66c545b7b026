# Aggregations count every event, with snapshots going on all the time.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -x aggrate=2ms -n 'syscall::getppid:entry /pid == $target/ {
	@all = count(); @key[execname, probefunc] = count(); @s = sum(3); @a = avg(7);
	@lo = min(arg0 & 0); @hi = max(5); @q = quantize(8); @l = lquantize(15, 0, 100, 10); }
syscall::getppid:return /pid == $target/ { @r[probename, arg1 == arg0] = count(); }
profile-997 { @p = count(); }
END { printa("%@d\n", @all); printa("%s %s %@d\n", @key); printa("%@d\n", @s); printa("%@d\n", @a);
	printa("%@d\n", @lo); printa("%@d\n", @hi); printa("%@d\n", @q); printa("%@d\n", @l);
	printa("%s %d %@d\n", @r); trunc(@p); }' -c "$TMP/work 20000 4"
expect 0 "$status"
expect '' "$err"
expect '80000
work getppid 80000
240000
7
0
5' "$(head -n 6 "$TMP/out")"
expect_match '^ +8 \|@{40} 80000' "$out"
expect_match '^ +10 \|@{40} 80000' "$out"
expect_match '^return 1 80000' "$out"
# rows that the kernel cannot set to zero are not counted twice
if ! sanitized && gcc -shared -fPIC -o "$TMP/nomemory.so" "$SRC/test/engine/nomemory.c" -ldl; then
	LD_PRELOAD=$TMP/nomemory.so ktrace -q -x aggrate=5ms -n 'syscall::getppid:entry /pid == $target/ { @[timestamp % 50] = count(); }' -c "$TMP/work 50000 2"
	expect "100000 " "$(awk '{ n += $2 } END { print n }' "$TMP/out") $err" "no memory"
fi
