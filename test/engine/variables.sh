# Variables between probes: thread-locals per thread, arrays, strings, arguments and their memory.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build work engine/work.c -lpthread
ktrace -q -n 'syscall::getppid:entry /pid == $target/ { self->n++; self->s = probefunc; a[tid]++; this->x = self->n; }
syscall::getppid:return /self->n == this->x && self->s == "getppid"/ { @ok = count(); }
syscall::getppid:return /self->n == 1000/ { @last[a[tid]] = count(); }
END { printa("%@d\n", @ok); printa("%d %@d\n", @last); }' -c "$TMP/work 1000 4"
expect '' "$err"
expect '4000
1000 4' "$(sed '/^$/d' "$TMP/out")"
echo content >"$TMP/some-file"
ktrace -q -n 'syscall::openat:entry /pid == $target/ { @[copyinstr(arg1)] = count(); }
syscall::openat:entry /pid == $target/ { @ints[args[0] < 0] = count(); }' -c "cat $TMP/some-file"
expect_match "$TMP/some-file +1" "$out"
# what is copied in ends there as a string, whatever scratch held before and gets next
ktrace -q -n 'syscall::write:entry /pid == $target/ { self->from = arg1; }
syscall::openat:entry /pid == $target/ { trace(copyinstr(arg1)); }
syscall::write:return /pid == $target/ { this->all = strjoin(stringof(copyin(self->from, 8)), stringof(copyin(self->from, 3))); printf("<%s %s>\n", this->all, stringof(copyin(self->from, 0))); }
' -c "/bin/echo contents of a line"
expect_match '<contentscon >' "$out"
expect "<abc>" "$("$DTRACE" -x engine=vm -qn 'BEGIN { s = "abcdefgh"; t = "x"; printf("<%s>", stringof(copyin((uintptr_t)&s[0], 3))); exit(0); }' 2>/dev/null | grep .)" "vm"
ktrace -q -n 'syscall::write:entry /pid == $target && arg0 == 1/ { printf("%s", stringof(copyin(arg1, arg2))); tracemem(copyin(arg1, 7), 7); }
syscall::write:return /pid == $target && errno == 0/ { printf("wrote %d\n", arg1); }' -c "/bin/echo content"
expect_match '63 6f 6e 74 65 6e 74' "$out"
expect_match 'wrote 8' "$out"

# members of objects, where the thread is one that the event names and not the current one
build threads engine/threads.c -lpthread
ktrace -q -c "$TMP/threads 20 20" -n 'struct o { int m; long n; char s[16]; }; self struct o obj; self struct o e[int]; struct o empty; self int has;
sched:::on-cpu /pid == $target && !self->has/ { self->obj = empty; self->has = 1; }
sched:::on-cpu /pid == $target/ {
	self->obj.m++; self->obj.n = 5; self->e[1].m = 3; self->e[1].n++; self->obj.s[0] = 116; self->obj.s[1] = 120; @["on"] = sum(1);
	@["kept"] = sum(self->obj.n == 5 && self->e[1].m == 3 && self->e[1].n == self->obj.m && stringof(self->obj.s) == "tx"); }
END { printa("%s: %@d\n", @); }'
expect "0 " "$status $err"
[ "$(labelled on)" -gt 0 ] || { echo "no thread got a CPU"; count_failure; }
expect "$(labelled on)" "$(labelled kept)" "objects of the thread that gets the CPU"

# an array grows with its use: more elements than it has memory for at first, by default and in a given size; only a small
# size is counted as in DTrace, and what does not fit there is lost and counted
build load engine/load.c -lpthread
for size in 4m 1m; do
	ktrace -q -x dynvarsize=$size -c "$TMP/load -t 1 -n 9000 -k 9000" -n 'syscall::getpriority:entry /pid == $target/ { a[arg1 + 1] = arg1 + 7; }
	END { printf("%d %d %d\n", a[1], a[4500], a[9000]); }'
	expect "0 " "$status $err" "9000 elements in $size"
	expect "7 4506 9006" "$(sed '/^$/d' "$TMP/out")" "9000 elements in $size"
done
ktrace -q -c "$TMP/load -t 1 -n 5000 -k 5000" -n 'syscall::getpriority:entry /pid == $target/ { s[arg1] = probefunc; } END { printf("%s %s\n", s[0], s[4999]); }'
expect "0 " "$status $err" "5000 strings by default"
expect "getpriority getpriority" "$(sed '/^$/d' "$TMP/out")"
ktrace -q -x dynvarsize=4k -c "$TMP/load -t 1 -n 100 -k 100" -n 'syscall::getpriority:entry /pid == $target/ { a[arg1 + 1] = 1; @[a[arg1 + 1]] = count(); } END { printa("%d: %@d\n", @); }'
expect 85 "$(lost "dynamic variable drops?")" "4 KB, as in DTrace: 15 elements"
expect "15" "$(labelled 1)"
