# timeout: 120
# Static probes: a program of ours made with dtrace -h, and a program that has probes (python3).
# needs: root bpf gcc
# uses: clang python3
. "$SRC/test/lib.bash"
cat >"$TMP/usdt.d" <<'D'
struct conn;
provider myserv {
	probe leaf(long);
	probe query__start(char *text, int client);
	probe query__done(uint64_t rows, struct conn *c, short s, unsigned char u);
	probe idle();
	probe many(int, int, int, int, int, int, int, int, int, int);
};
D
"$DTRACE" -h -s "$TMP/usdt.d" -o "$TMP/usdt.h" || exit 1
for compiler in "gcc -O2" "gcc -O0 -fno-pie -no-pie" "gcc -O2 -static" "clang -O2"; do
	command -v "${compiler%% *}" >/dev/null || continue
	$compiler -Wall -I"$TMP" -o "$TMP/usdt" "$SRC/test/processes/usdt.c" -lpthread || exit 1

	# sizes and signs; the function is the one in the source; nothing below the stack pointer is touched
	for sites in auto call trap; do
	trace -x sites=$sites -q -c "$TMP/usdt -n 100" -n '
		myserv$target:::leaf { @leaf[probemod, probefunc, probeprov == strjoin("myserv", lltostr($target))] = sum(arg0); }
		myserv$target:::query-start { @start[copyinstr(arg0)] = sum((int)arg1); }
		myserv$target:::query-done { @done[(int)arg2, arg3, args[2] == -2, args[3] == 200] = sum(arg0);
			@peer[copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))] = count(); }
		myserv$target:::idle { @idle[probename] = count(); }
		myserv$target::fire:many { @many[arg0 + arg1 + arg2 + arg3 + arg4 + arg5 + arg6 + arg7 + arg8] = sum(arg9); }
		END { printa("leaf %s %s %d %@d\n", @leaf); printa("start %s %@d\n", @start); printa("done %d %d %d %d %@d\n", @done);
			printa("peer %s %@d\n", @peer); printa("%s %@d\n", @idle); printa("many %d %@d\n", @many); }'
	expect 0 "$status" "$compiler, $sites: $err"
	expect "wrong 0
leaf usdt leaf 1 5250
start select 1 -4950
done -2 200 1 1 4950000
peer peer 100
idle 100
many 45 4950" "$(grep . <<<"$out")" "$compiler, $sites"
	done

	# not traced: nothing fires, the semaphores are back at zero
	expect "wrong 0" "$("$TMP/usdt" -n 10)" "$compiler"
done

# (Others on this machine may run the same test: only our own processes count.)

# threads on all CPUs; the provider without a process: all that run the file, now and later
mkfifo "$TMP/in"
"$TMP/usdt" -w -n 1000 -t 4 <"$TMP/in" >"$TMP/first" &
pid=$!
exec 7>"$TMP/in"
wait_for 20 grep -qs "$TMP/usdt" "/proc/$pid/maps" # it is not the shell any more
trace_in() { : >"$TMP/out"; "$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null 7>&- & }
trace_in -q -x switchrate=10ms -n '
	BEGIN { printf("ready\n"); }
	myserv:::idle /progenyof($1)/ { @[probeprov] = count(); } myserv:::leaf /progenyof($1)/ { @s[probeprov] = sum(arg0); }
	END { printa("%s %@d\n", @); printa("%s %@d\n", @s); }' $$
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
echo >&7
"$TMP/usdt" -n 500 -t 2 >"$TMP/second"
exec 7>&-
wait $pid
kill -TERM $tracer
wait $tracer
expect "ready
myserv 5000
myserv 2262500" "$(grep . "$TMP/out")" "all processes: $(cat "$TMP/err")"
expect "wrong 0 wrong 0" "$(cat "$TMP/first" "$TMP/second" | tr '\n' ' ' | sed 's/ $//')"

# what is at the place of a probe that has fired: a breakpoint, or (Linux 6.18) a call after it
gcc -O2 -fno-pie -no-pie -I"$TMP" -o "$TMP/fixed" "$SRC/test/processes/usdt.c" -lpthread || exit 1
site=$(readelf -n "$TMP/fixed" | grep -A2 'Name: idle' | sed -n 's/.*Location: \(0x[0-9a-f]*\).*/\1/p' | head -n 1)
for sites in trap call; do
	exec 8<>"$TMP/in"
	: >"$TMP/said" # discard earlier output
	"$TMP/fixed" -w -n 10 <&8 >"$TMP/said" &
	pid=$!
	wait_for 20 grep -qs "$TMP/fixed" "/proc/$pid/maps" # it is not the shell any more
	trace_in -q -x sites=$sites -x switchrate=10ms -n "BEGIN { printf(\"ready\n\"); } myserv$pid:::idle { printf(\"fired\n\"); }"
	tracer=$!
	wait_for 20 grep -q ready "$TMP/out"
	echo >&8
	wait_for 20 grep -q fired "$TMP/out"
	wait_for 20 grep -q wrong "$TMP/said"
	code=$(dd if=/proc/$pid/mem bs=1 skip=$((site)) count=7 2>/dev/null | od -An -tx1 | xargs)
	kill -TERM $tracer
	wait $tracer
	kill $pid
	wait $pid 2>/dev/null
	exec 8>&-
	case "$sites $code" in
	"trap cc 90 0f 1f 44 00 00" | "call 66 90 e8 "* | *" a0 00 20 d4 "*) ;; # the last: brk, the only form of aarch64
	"call cc "*) python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); exit(not (c.syscall(336) < 0 and ctypes.get_errno() == 6))' 2>/dev/null &&
		expect "a call" "$code" ;; # else: an older kernel
	*) expect "$sites" "$code" ;;
	esac
done

# a declaration in the script gives the arguments their types; translators are used
cat >"$TMP/types.d" <<'D'
struct conn { int fd; char *peer; };
typedef struct conninfo { int ci_fd; string ci_peer; } conninfo_t;
translator conninfo_t < struct conn *C > {
	ci_fd = *(int *)copyin((uintptr_t)C, 4);
	ci_peer = copyinstr(*(uintptr_t *)copyin((uintptr_t)C + 8, 8));
};
provider myserv {
	probe query__done(uint64_t rows, struct conn *c, short s, unsigned char u) : (conninfo_t *c, int s, uint64_t rows);
};
myserv$target:::query-done /args[0]->ci_fd == 7/ { printf("%d %s %d %d\n", args[0]->ci_fd, args[0]->ci_peer, args[1], args[2]); }
D
trace -qs "$TMP/types.d" -c "$TMP/usdt -n 10"
expect "7 peer -2 7000" "$(grep peer <<<"$out")" "$err"

# programs that are started while tracing: their probes are added, none existed at the beginning. Built
# without optimisation: the arguments are in memory.
gcc -O0 -I"$TMP" -o "$TMP/usdt" "$SRC/test/processes/usdt.c" -lpthread || exit 1
later() { # ROUNDS NUMBER: what is started later, until its probes have joined, and then so many rounds
	exec 8<>"$TMP/go" # a fifo
	: >"$TMP/said" # discard earlier output
	timeout 300 "$TMP/later" -e -n "$1" <&8 >"$TMP/said" &
	later=$!
	wait_for 20 grep -q "joined $2" "$TMP/out"
	echo >&8
	exec 8>&-
	wait $later
	expect "wrong 0" "$(cat "$TMP/said")" "later, $2"
}
mkfifo "$TMP/go"
for prov in 'myserv*' myserv; do
	cp "$TMP/usdt" "$TMP/later" # a file that is not mapped yet
	trace_in -qZ -x switchrate=10ms -n "
		BEGIN { printf(\"ready\n\"); } $prov:::leaf /progenyof($$) && !seen[pid]/ { seen[pid] = 1; printf(\"joined %d\n\", ++n); }
		$prov:::idle /progenyof($$)/ { @[probemod, probefunc] = count(); } $prov:::many /progenyof($$)/ { @sum[probemod] = sum(arg9); }
		END { printa(\"%s %s %@d\n\", @); printa(\"%s %@d\n\", @sum); }"
	tracer=$!
	wait_for 20 grep -q ready "$TMP/out"
	later 100 1
	later 50 2
	kill -TERM $tracer
	wait $tracer
	expect "later fire 150
later 6175" "$(grep ^later "$TMP/out")" "$prov later: $(cat "$TMP/err")"
	rm "$TMP/later"
done

# a process that is forked while tracing, by one that has been forked while tracing: both have probes of their own
exec 8<>"$TMP/go"
: >"$TMP/said" # discard earlier output
timeout 300 "$TMP/usdt" -f 2 -e -n 50 <&8 8>&- >"$TMP/said" &
parent=$!
wait_for 20 eval 'grep -qs usdt /proc/$(xargs <"/proc/$parent/task/$parent/children")/maps' # it runs
trace_in -q -x switchrate=10ms -n "
	BEGIN { printf(\"ready\n\"); } myserv*:::leaf /progenyof($$) && !seen[pid]/ { seen[pid] = 1; printf(\"joined %d\n\", ++n); }
	myserv*:::idle /progenyof($$)/ { @[probeprov == strjoin(\"myserv\", lltostr(pid))] = count(); } END { printa(\"forked %d %@d\n\", @); }"
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
echo >&8
wait_for 20 grep -q "joined 1" "$TMP/out"
echo >&8
exec 8>&-
wait $parent
kill -TERM $tracer
wait $tracer
expect "wrong 0" "$(cat "$TMP/said")" forked
expect "forked 1 50" "$(grep ^forked "$TMP/out")" "forked: $(cat "$TMP/err")"

# ---- probes made by <sys/sdt.h> ----
if readelf -n /usr/bin/python3 2>/dev/null | grep -q 'Provider: python'; then
	cat >"$TMP/prog.py" <<-'P'
		import gc
		gc.disable()
		for i in range(7): gc.collect(1)
	P
	trace -q -c "/usr/bin/python3 -S $TMP/prog.py" -n 'python$target:::gc-start /arg0 == 1/ { @ = count(); } END { printa("gc %@d\n", @); }'
	expect "gc 7" "$(grep gc <<<"$out")" "python3: $err"
	trace -ln 'python$target:::gc*' -c '/usr/bin/python3 -c 1'
	expect "gc-done gc-start" "$(awk '$2 ~ /^python[0-9]+$/ { print $NF }' "$TMP/out" | sort | tr '\n' ' ' | sed 's/ $//')" "python3 listing"
fi

# ---- errors ----
trace -n 'myserv$target:::no-such { }' -c "$TMP/usdt -n 1"
expect 1 "$status"
expect_match 'does not match any probes' "$err"
trace -n 'myserv$target:::query_start { }' -c "$TMP/usdt -n 1"
expect_match 'has no probe "query_start"; did you mean "query-start"\?' "$err"
trace -n "nosuch$$:::x { }" # no reason to stop a process
expect_match "process $$ has no static probes of a provider named nosuch" "$err"
trace -n 'nosuch4194000:::x { }'
expect_match "no process 4194000" "$err"
trace -n 'nosuchprovider:::x { }'
expect 1 "$status"
expect_match 'no process has static probes of a provider named nosuchprovider' "$err"
trace -n 'myserv999999999:::idle { }'
expect 1 "$status"

# a program that is rebuilt while it is traced, in the same file: its probe is at the new place. (It fires until
# it is seen: the kernel raises the semaphore before the breakpoint is there.)
for n in 1 2; do
	{ echo '#include "usdt.h"'; [ $n = 1 ] || echo 'int more(int i) { volatile int a[9]; for (int k = 0; k < 9; k++) a[k] = i * k; return a[i]; }'
	echo "int main(int argc, char **argv) { while (access(argv[1], F_OK)) { if (MYSERV_LEAF_ENABLED()) MYSERV_LEAF($n); usleep(10000); } return 0; }"; } |
		gcc -O1 -include unistd.h -I"$TMP" -o "$TMP/built$n" -xc - || exit 1
done
cp "$TMP/built1" "$TMP/built"
trace_in -Zq -x switchrate=100hz -n 'BEGIN { printf("ready\n"); } myserv*::main:leaf { printf("%d\n", arg0); }'
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
for n in 1 2; do
	cat "$TMP/built$n" >"$TMP/built"
	"$TMP/built" "$TMP/seen$n" &
	wait_for 60 grep -qx $n "$TMP/out"
	touch "$TMP/seen$n"
	wait $!
done
kill -TERM $tracer
wait $tracer
expect "ready 1 2" "$(echo $(cat "$TMP/out" "$TMP/err" | grep . | uniq))" "built anew"
