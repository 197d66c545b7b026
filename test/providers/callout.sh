# callout_execute: timers of both kinds, by their function, from start to end.
# timeout: 120
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
watch callout_execute
[ "$(grep -c ' hrtimer_wakeup$' /proc/kallsyms)" = 1 ] || skip "needs kernel symbols"
n=$(scale 100)
cat >"$TMP/sleep.c" <<'C'
#include <poll.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		nanosleep(&(struct timespec){0, 1000}, NULL); /* hrtimer_wakeup */
	return 0;
}
C
gcc -O1 -o "$TMP/sleep" "$TMP/sleep.c" || exit 1

# ---- each nanosleep() of the target is ended by a timer on its stack; the start and the end are one each, and of one function ----
# (Once more if one was not seen that ended while process 1 had the CPU: some kernels run no programs then, doc/kernel-engine.md.
# There are more timers than calls where their memory on the stack has become another's.)
sleeps() {
	ktrace -q -c "$TMP/sleep $n" -n '
	self uintptr_t t, f; int mine[uintptr_t];
	sdt:::hrtimer_start /pid == $target/ { mine[arg0] = 1; }
	callout_execute:::callout-start /args[0]->c_hrtimer && mine[args[0]->c_addr] && args[0]->c_func == (uintptr_t)&`hrtimer_wakeup/ {
		@["start"] = count(); self->t = args[0]->c_addr; self->f = args[0]->c_func; }
	callout_execute:::callout-end /self->t/ { @[args[0]->c_addr == self->t && args[0]->c_func == self->f && args[0]->c_hrtimer && args[0]->c_cpu == cpu ? "end" : "other"] = count(); self->t = 0; }
	END { printa("%s %@d\n", @); }'
	expect 0 "$status" "$err"
	expect "" "$err"
	expect "end $(awk '/^start/ { print $2 }' "$TMP/out")" "$(grep -E '^(end|other)' "$TMP/out")" "start and end"
	[ "$(awk '/^start/ { print $2 }' "$TMP/out")" -ge "$n" ]
}
wait_for 30 sleeps

# ---- the other kind: as many as its own tracepoints say, of those due well after the first (a timer may run while
# probes are enabled) and well before the end ----
other_kind() {
	ktrace -q -c "sleep 1" -n '
	uint64_t first; int mine[int];
	sdt:::timer_expire_entry /!first/ { first = args[0]->expires; }
	sdt:::timer_expire_entry { mine[cpu] = args[0]->expires > first + 10 && args[0]->expires < first + 60; }
	sdt:::timer_expire_entry /mine[cpu]/ { @["entry"] = sum(1); @["due"] = sum(args[0]->expires); }
	callout_execute:::callout-start /!args[0]->c_hrtimer && mine[cpu]/ { @["entry"] = sum(-1); @["due"] = sum(-args[0]->c_time); @["n"] = sum(1); }
	sdt:::timer_expire_exit /mine[cpu]/ { @["exit"] = sum(1); }
	callout_execute:::callout-end /!args[0]->c_hrtimer && mine[cpu]/ { @["exit"] = sum(-1); }
	END { printa("%s %@d\n", @); }'
	expect "" "$err"
	grep -q '^n ' "$TMP/out" || return # none was due on this machine
	expect "due 0
entry 0
exit 0" "$(grep -v '^n ' "$TMP/out" | grep . | sort)" timer_list
}
wait_for 30 other_kind
expect "args[0]: callout_t *" "$("$DTRACE" -lvn callout_execute:::callout-end | sed -n 's/^.*\(args\[\)/\1/p')" "-lv"
fields 'callout_execute:::callout-start /args[0]->c_hrtimer == 1/' -c "$TMP/sleep 20" <<'T'
= callout_t args[0]
c_addr % == arg0 && % != 0
c_func % != 0
c_time % > 0
c_hrtimer % == 1
c_cpu % == cpu
T

fired
