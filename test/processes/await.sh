# timeout: 200
# -W NAME: waits for the next process of that name, and traces it from its first instruction.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
name=awaited$$ # nobody else on this machine has such a process
cat >"$TMP/a.c" <<'C'
#include <unistd.h>
int step(int i) { return i + 1; }
int main(void)
{
	int n = 0;

	while (n < 7)
		n = step(n);
	getppid();
	return n;
}
C
gcc -O0 -o "$TMP/$name" "$TMP/a.c" || exit 1
cp "$TMP/$name" "$TMP/${name}other"

# in_wait ARGS: begin to wait; started when it does
in_wait() {
	"$DTRACE" "$@" >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	wait_for 60 waits
}
waits() { ls -l "/proc/$tracer/fd" 2>/dev/null | grep -q bpf_link; } # the trace that waits is attached

in_wait -q -W "$name" -n 'pid$target:a.out:step:entry { @ = count(); } syscall:::entry /pid == $target/ { @c[probefunc] = count(); }
	proc:::exit /pid == $target/ { printf("exit %d\n", arg0); }
	END { printa("steps %@d\n", @); printa("call %s %@d\n", @c); printf("%d\n", $target); }'
"$TMP/${name}other"
"$TMP/$name" &
pid=$!
wait $pid
expect 7 $? "it ran to its end"
wait $tracer
expect 0 $? "$(cat "$TMP/err")"
expect "steps 7" "$(grep steps "$TMP/out")"
expect "call getppid 1" "$(grep getppid "$TMP/out")"
expect "call brk" "$(sed -n 's/^\(call brk\) .*/\1/p' "$TMP/out")" "its first call"
expect $pid "$(tail -n 1 "$TMP/out" | grep -E '^[0-9]+$' || grep -xE "$pid" "$TMP/out")" '$target'

# an error in the program: the process continues
in_wait -q -W "$name" -n 'BEGIN { nosuch(); }'
"$TMP/$name"
expect 7 $? "after an error"
wait $tracer
expect 1 $? error

# interrupted while it waits: nothing is left
in_wait -q -W "$name" -n 'BEGIN'
kill -TERM $tracer
wait $tracer
"$TMP/$name"
expect 7 $? "after an interrupt"
