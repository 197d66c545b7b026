# timeout: 240
# -x policy=lossless: a process of -c or -p that fills a buffer is stopped until there is room, so every event has its
# record; the stops are counted. Nothing is left stopped, whatever happens to dtrace.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
n=$(scale 1000000)
probe='syscall::getppid:entry /pid == $target/'
lossless() { ktrace -q -w -x policy=lossless -b 16k "$@"; }
stops() { sed -n 's/^dtrace: processes were stopped \([0-9]*\) times\{0,1\} until a buffer had room$/\1/p' "$TMP/err"; }
check() { # EVENTS WHAT
	expect "0 $1 1" "$status $(lines '^[0-9]+$') $(grep -c . "$TMP/err")" "$2: status, records, messages: $err"
	[ "$(stops)" -gt 0 ] || expect "stops" "$err" "$2"
}

lossless -n "$probe { printf(\"%d\\n\", ++i); }" -c "$TMP/load -t 1 -n $n"
check "$n" "one thread"
expect "$n" "$(grep . "$TMP/out" | tail -n 1)" "the last one"
# every record once, in order
expect 0 "$(grep . "$TMP/out" | awk '$1 != NR' | wc -l)" "out of order"

# several threads: the others of the process go on for a moment
lossless -n "$probe { printf(\"%d\\n\", tid); }" -c "$TMP/load -t 4 -n $((n / 10))"
check $((n / 10 * 4)) "four threads"

# a slow reader
"$DTRACE" -q -w -x policy=lossless -b 16k -n "$probe { printf(\"%d\\n\", 1); }" -c "$TMP/load -t 1 -n $((n / 10))" 2>"$TMP/err" |
	(sleep 1; cat >"$TMP/out")
status=0
check $((n / 10)) "a slow reader"

# records of a large size, and a buffer of default size
lossless -x strsize=4k -n "$probe { printf(\"%s\\n\", lltostr(++i)); }" -c "$TMP/load -t 1 -n $((n / 50))"
expect $((n / 50)) "$(lines '^[0-9]+$')" "large records: $err"

# ---- nothing stays stopped ----

state() { awk '{ print $3 }' "/proc/$1/stat"; }
waits() { [ "$(state "$pid")" = T ]; }
goes_on() { [ "$(state "$pid")" != T ]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
guards() { cat /proc/[0-9]*/stat 2>/dev/null | awk '$2 == "(dtrace-guard)" && $3 != "Z" { print $1 }'; }
guard_of() { for g in $(guards); do grep -qs "^Pid:[[:space:]]*$1\$" "/proc/$g/fdinfo/1" && echo "$g"; done; }
has_guard() { [ -n "$(guard_of "$1")" ]; }
# dtrace writes to a pipe without a reader, so its target is stopped after a while.
begin() {
	mkfifo "$TMP/pipe" 2>/dev/null
	sleep 1000 <>"$TMP/pipe" &
	reader=$!
	"$TMP/load" -t 2 -n 1000000000 &
	pid=$!
	"$DTRACE" -q -w -x policy=lossless -b 16k -n "$probe { printf(\"%100d\\n\", 1); }" -p $pid >"$TMP/pipe" 2>"$TMP/err" &
	tracer=$!
	wait_for 20 waits
}
finish() {
	kill -KILL $tracer $pid $reader 2>/dev/null
	wait $tracer $pid $reader 2>/dev/null
} 2>/dev/null
begin
kill -KILL $tracer
wait_for 10 goes_on
at=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
runs_on() { [ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat")" -gt $((at + 5)) ]; }
wait_for 20 runs_on
expect "no T" "no $(state "$pid" | grep T || echo T)" "after SIGKILL"
wait_for 20 eval '! has_guard $tracer'
finish
# SIGTERM: it ends by itself once the pipe is read
begin
kill -TERM $tracer
cat "$TMP/pipe" >/dev/null &
drain=$!
wait_for 20 gone $tracer
expect 0 "$(waits; echo $(($? == 0)))" "after SIGTERM"
kill $drain 2>/dev/null
finish
# dtrace is stopped: its target continues
begin
kill -STOP $tracer
wait_for 20 goes_on
kill -CONT $tracer
finish
# the guard is killed: dtrace has another one, and without one nothing is stopped
begin
guard=$(guard_of $tracer)
kill -KILL "$guard"
cat "$TMP/pipe" >/dev/null &
drain=$!
another() { [ -n "$(guard_of $tracer)" ] && [ "$(guard_of $tracer)" != "$guard" ]; }
wait_for 20 another
kill -KILL $tracer
wait_for 10 goes_on
kill $drain 2>/dev/null
finish

# ---- refused ----
ktrace -q -x policy=lossless -n 'BEGIN { exit(0); }' -c true
expect_match 'policy=lossless stops processes: permit that with -w' "$err"
ktrace -q -w -x policy=lossless -n 'syscall::getppid:entry { trace(1); }'
expect_match 'policy=lossless needs a process that it may stop: use -c or -p' "$err"
for p in ring fill; do
	ktrace -q -w -x policy=lossless -x bufpolicy=$p -n "$probe { trace(1); }" -c true
	expect_match "policy=lossless is not available with bufpolicy=$p" "$err"
done
