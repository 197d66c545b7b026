# The process engine: libraries that the target loads and unloads while it is traced: their probes fire from the first call on, at
# whatever address; what is unloaded is forgotten.
# needs: gcc python3
# timeout: 300
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'provider own { probe step(long); };' >own.d
"$DTRACE" -h -s own.d || exit 1
for name in one two three four; do
	gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC -DNAME=$name -o p_$name.so "$SRC/test/process/plugin.c" || exit 1
done
gcc -O2 -I. -DOWN -shared -fPIC -DNAME=own -o p_own.so "$SRC/test/process/plugin.c" || exit 1
build loader process/loader.c -lpthread -ldl
inside() { # the program's own output is in own
	rm -f out
	"$DTRACE" -x engine=process -x evaltime=postinit -o out "$@" >own 2>err </dev/null
	status=$? err=$(cat err)
}
work='pid$target:p_*.so:work_*:entry { @[probefunc] = count(); } pid$target:p_*.so:deep_*:return { @[probemod] = count(); }'
all() { # COUNT NAME...: the lines for these libraries
	local name count=$1
	for name in "${@:2}"; do echo "p_$name.so $count"; done
	for name in "${@:2}"; do echo "work_$name $count"; done
}

# again and again, at the address of the one before
inside -qZn "$work" -c './loader 10 50 ./p_one.so ./p_two.so ./p_three.so'
expect "0 end 1" "$status $(cat own)" "$err"
expect "$(all 500 one three two)" "$(sorted)" "$err"
# several threads at the same time; two copies of a library
inside -qZn "$work" -c './loader -t 20 50 ./p_one.so ./p_two.so ./p_three.so ./p_four.so'
expect "0 end 0" "$status $(cat own)" "$err"
expect "$(all 1000 four one three two)" "$(sorted)" "$err"
inside -qZn "$work" -c './loader -n 3 50 ./p_one.so'
expect "0 end 0" "$status $(cat own)" "$err"
expect "$(all 450 one)" "$(sorted)" "$err"
# two clauses of which one has probes from the start; names, records and faults of new ones
inside -qZn 'pid$target:a.out:main:entry { printf("main\n"); } pid$target:p_*.so:work_*:entry /arg0 == 3/ { printf("%s`%s %d\n", probemod, probefunc, arg0); }
	pid$target:p_*.so:work_one:entry /arg0 == 4/ { trace(*(userland int *)8); }' -c './loader 2 5 ./p_one.so ./p_two.so'
expect "main p_one.so\`work_one 3 p_two.so\`work_two 3 p_one.so\`work_one 3 p_two.so\`work_two 3" "$(echo $(cat out))" "$err"
expect 2 "$(grep -c 'p_one.so:work_one:entry): invalid address' err)" "$err"

# static probes, with and without the semaphore that the program looks at
inside -qZn 'own$target:::step { @[probemod, probefunc] = count(); @s = sum(arg0); }' -c './loader 3 5 ./p_own.so ./p_two.so'
expect "30 p_own.so work_own 15" "$(echo $(sorted))" "$err"
# system calls of a library that was not there; stacks through it
callers() {
	inside -qn 'syscall::getppid:entry { @[ufunc(ucaller)] = count(); @d[ustackdepth] = count(); }' -c './loader 3 7 ./p_one.so'
	! grep -q 'may stay without names$' err # another test may flood all tracers: then once more
}
wait_for 30 callers
# (the library is gone when names are looked up: only who may see events of mappings knows it then)
[ "$(id -u)" = 0 ] && caller='p_one.so`run' || caller='(p_one.so`run|0x[0-9a-f]+)'
expect_match "^$caller 3\$" "$(sorted | grep ' 3$' | grep -v '^[0-9]* 3$')"
inside -qZn 'pid$target:p_one.so:work_*:entry { @[ustackdepth] = count(); }' -c './loader 1 5 ./p_one.so'
expect 1 "$(sorted | wc -l)" "$err"
[ "$(sorted | cut -d' ' -f1)" -ge 4 ] || { echo "only $(cat out) frames"; count_failure; }

# a process that runs: what was there when tracing began goes away, and something else comes in its place
hosted() { python3 "$SRC/test/process/text.py" "$pid"; }
host() { # a process that has the library, until the file "stop" exists
	rm -f stop
	: >own
	"$TMP/loader" -w stop 20 ./p_one.so >own &
	pid=$!
	wait_for 10 grep -q loaded own
}
at_end 'kill $pid 2>/dev/null'
host
: >out
"$DTRACE" -x engine=process -qo out -n "$work" -n 'tick-20ms { printf("tick\n"); }' -p $pid >/dev/null 2>err </dev/null &
tracer=$!
wait_for 20 grep -q tick out
touch stop
wait $pid
expect "0 end 0" "$? $(tail -1 own)" "$(cat err)"
wait $tracer
expect "0 " "$? $(cat err)"
[ "$(awk '/work_one/ { print $2 }' out)" -gt 0 ] || { echo "nothing fired"; count_failure; }
# dtrace is killed, and its keeper as well: the target loads and unloads as before
for both in '' yes; do
	host
	"$DTRACE" -x engine=process -qo out -n "$work" -p $pid >/dev/null 2>err </dev/null &
	tracer=$!
	patched() { hosted | grep 'in the file' >/dev/null; }
	wait_for 20 patched
	read -r children <"/proc/$tracer/task/$tracer/children"
	[ -z "$both" ] || for child in $children; do ! grep -qx dtrace-keeper "/proc/$child/comm" || kill -9 "$child"; done
	kill -9 $tracer
	wait $tracer 2>/dev/null
	clean() { [ -z "$(hosted)" ]; }
	[ -n "$both" ] || wait_for 10 clean
	touch stop
	wait $pid
	expect "0 end 0" "$? $(tail -1 own)" "killed${both:+ with its keeper}"
done
# dtrace is stopped: the target waits a second, once
: >own
"$DTRACE" -x engine=process -x evaltime=postinit -qZo out -n "$work" -n 'tick-20ms { printf("tick\n"); }' -c './loader -w stop2 5 ./p_one.so' >own 2>err </dev/null &
tracer=$!
wait_for 20 grep -q loaded own
kill -STOP $tracer
touch stop2
wait_for 20 grep -q end own
kill -CONT $tracer
wait $tracer
expect 0 $? "$(cat err)"
