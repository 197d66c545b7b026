# timeout: 200
# Option follow: probes of a process are in its descendants, from their first instruction on, also inside a
# pid namespace; probes of the programs that they exec are added, of functions and static ones.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
cat >"$TMP/family.c" <<'EOT'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int mark(int n) { __asm__ volatile("" ::: "memory"); return n; }
/* family CHILDREN [PROGRAM ARGS]: each child marks ten times, and its own child once; then it runs the program */
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		if (fork() == 0) {
			for (int k = 0; k < 10; k++)
				mark(k);
			if (fork() == 0) {
				mark(10);
				_exit(0);
			}
			while (wait(NULL) > 0)
				;
			if (argc > 2)
				execv(argv[2], argv + 2);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	mark(11);
	return 0;
}
EOT
printf 'provider family { probe hit(int n); };\n' >"$TMP/family.d"
cat >"$TMP/runs.c" <<'EOT'
#include <unistd.h>
#include "family.h"
__attribute__((noinline)) int called(int n) { FAMILY_HIT(n); return n; }
int main(int argc, char **argv) /* runs FILE: until it is there called with 0, and then with 1 ... 100 */
{
	while (access(argv[argc - 1], F_OK) != 0) {
		called(0);
		usleep(1000);
	}
	for (int i = 1; i <= 100; i++)
		called(i);
	return 0;
}
EOT
"$DTRACE" -h -s "$TMP/family.d" -o "$TMP/family.h" && gcc -O1 -o "$TMP/family" "$TMP/family.c" &&
	gcc -O1 -I"$TMP" -o "$TMP/runs" "$TMP/runs.c" || exit 1

namespace= # the command that makes one
both() { # a test, outside and inside of a pid namespace
	"$@"
	unshare -p -f --mount-proc true 2>/dev/null || return
	namespace="unshare -p -f --mount-proc"
	"$@"
	namespace=
}

marks() {
	timeout 500 $namespace "$DTRACE" -x follow -qn 'pid$target:a.out:mark:entry { @[arg0 > 9 ? "end" : "child"] = count(); @o = sum(pid == $target); }' \
		-c "$TMP/family 100" >"$TMP/out" 2>"$TMP/err" </dev/null
	expect "end 101 child 1000 1" "$(xargs <"$TMP/out")" "$namespace $(cat "$TMP/err")"
}
both marks

joins() { # PROBE: one that the programs have which its children run
	rm -f "$TMP/go" "$TMP/out"
	$namespace "$DTRACE" -x follow -Z -x switchrate=10ms -qn "$1 /!arg0 && !seen[pid]/ { seen[pid] = 1; printf(\"joined\n\"); }
		$1 /arg0/ { @[probemod, pid != \$target] = count(); }" -c "$TMP/family 3 $TMP/runs $TMP/go" >"$TMP/out" 2>"$TMP/err" </dev/null &
	tracer=$!
	wait_for 30 eval "[ 0\$(grep -c joined '$TMP/out' 2>/dev/null) -eq 3 ]" || cat "$TMP/err" "$TMP/out"
	touch "$TMP/go"
	wait $tracer
	expect 0 $? "$(cat "$TMP/err")"
	expect "runs 1 300" "$(grep runs "$TMP/out" | xargs)" "$namespace $1: $(cat "$TMP/err")"
}
both joins 'pid$target:runs:called:entry'
both joins 'family$target:::hit'

# children that were there before
rm -f "$TMP/go"
"$TMP/family" 3 "$TMP/runs" "$TMP/go" &
pid=$!
running() { for c in $(cat /proc/$pid/task/$pid/children); do cat "/proc/$c/comm"; done 2>/dev/null | grep -c runs; }
wait_for 30 eval '[ $(running) = 3 ]'
: >"$TMP/out" # discard earlier output
"$DTRACE" -x follow -qn 'BEGIN { printf("on\n"); } family$target:::hit /arg0/ { @["hit"] = count(); } pid$target:runs:called:entry /arg0/ { @["called"] = count(); }' -Z -p $pid >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 30 grep -q on "$TMP/out"
touch "$TMP/go"
wait $tracer
expect "called 300 hit 300" "$(grep -v on "$TMP/out" | xargs)" "-p: $(cat "$TMP/err")"
exit $fails
