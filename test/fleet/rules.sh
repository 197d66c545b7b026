# The rules of doc/fleet.md about what runs where that no other test has: speculations of a machine, actions that are done at the front when
# the record arrives, the order of BEGIN and END, what is evaluated at the machine, what is kept at the front.
# needs: root bpf gcc
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
echo 'user=0 destructive=yes' >"$TMP/policy"
agent web-2 -p "$TMP/policy"
close="syscall::close:entry /$mine"

# A speculation of one machine is in its kernel: what was committed there comes here.
fleet -qn "web-*:$close/ { self->s = speculation(); speculate(self->s); printf(\"%s %d\n\", vmname, arg0); }
	web-*:syscall::close:return /self->s && self->fd++ % 2/ { discard(self->s); self->s = 0; } web-*:syscall::close:return /self->s/ { commit(self->s); self->s = 0; }" -x nspec=64 -c "$(load 6)"
expect "$(for m in web-1 web-2; do for i in 1000 1002 1004; do echo "$m $i"; done; done)" "$(sorted)" "speculations of a machine"

# Actions on aggregations and on output happen here, when the record comes in its order; so does system(), for which a machine needs no right.
begin() { # PROGRAM: in the background; its pid is in $front
	: >"$TMP/live" >"$TMP/live.err"
	"$DTRACE" -E -x targetwait=100s -x aggrate=10ms -qn "$1" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
	at_end "kill $front 2>/dev/null"
}
printed() { grep -q "$1" "$TMP/live"; }
begin "web-*:$close && arg0 < 1100/ { @ = count(); } web-2:$close && arg0 == 1100/ { clear(@); printf(\"cleared\n\"); } web-*:dtrace:::BEGIN { printf(\"up\n\"); } tick-20ms { printa(\"%@d.\n\", @); }"
up() { [ "$(grep -c up "$TMP/live")" = 2 ]; }
wait_for 60 up
$(load 100)
wait_for 60 printed '^200\.'
$(load 101) # the first hundred of them were sent by then, or come later
counted() { sed -n '/^cleared/,$p' "$TMP/live" | grep '^[0-9]'; }
printed_since() { counted >"$TMP/counted"; }
wait_for 60 printed_since
kill -TERM $front
wait $front
last=$(counted | tail -n 1)
[ "${last%.}" -le 200 ] || expect "at most 200" "$last" "clear()"
fleet -wqn "web-*:$close && arg0 == 1001/ { system(\"echo sys %d %s %s\", arg0, execname, vmname); }" -c "$(load 3)"
expect "sys 1001 $load web-1
sys 1001 $load web-2" "$(sorted)" "system()"
expect "" "$err"
fleet -wqn "BEGIN { printf(\"to the screen\n\"); } web-1:$close && arg0 == 1001/ { freopen(\"$TMP/elsewhere\"); } web-1:$close && arg0 == 1002/ { printf(\"%d\n\", arg0); }" -c "$(load 3)"
expect "to the screen 1002" "$(xargs <"$TMP/out") $(xargs <"$TMP/elsewhere")" "freopen()"

# What destroys does so at the machine, if that allows it.
cat >"$TMP/hit.c" <<'E2'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t hits;
static void hit(int sig) { (void)sig; hits++; }
int main(void)
{
	signal(SIGUSR1, hit);
	close(1000);
	printf("hits %d\n", (int)hits);
	return 0;
}
E2
gcc -o "$TMP/hit" "$TMP/hit.c" || exit 1
for machine in web-1:0 web-2:1; do
	fleet -wqn "${machine%:*}:syscall::close:entry /execname == \"hit\" && arg0 == 1000/ { raise(10); }" -Z -c "$TMP/hit"
	expect "hits ${machine#*:}" "$(grep -o 'hits .*' "$TMP/out")" "raise() on $machine"
done

# BEGIN of the front is first and END last; those of machines are between.
fleet -qn 'web-*:dtrace:::END { printf("ends\n"); } BEGIN { printf("first\n"); } web-*:dtrace:::BEGIN { printf("begins\n"); } END { printf("last\n"); }' -c "$(load 1)"
expect "first begins begins ends ends last" "$(xargs <"$TMP/out")" "BEGIN and END"

# $target is a process of the front's machine.
fleet -qn "web-1:$close && arg0 == 1000/ { printf(\"%d\n\", \$target); } host:$close && arg0 == 1000 && pid == \$target/ { printf(\"here\n\"); }" -c "$(load 1)"
expect "0 here" "$(sorted | xargs)" "\$target"

# The largest expressions that need nothing of the front are evaluated at the machine, whether or not they will be used ...
fleet -qn "BEGIN { x = 0; } web-1:$close && arg0 == 1001/ { y = x && *(int *)arg0; printf(\"not here\n\"); } web-1:dtrace:::ERROR { printf(\"there\n\"); }" -c "$(load 3)"
expect there "$(xargs <"$TMP/out")" "&&"
fleet -qn "BEGIN { x = 0; } web-1:$close && arg0 == 1001/ { y = x ? *(int *)arg0 : 1; printf(\"not here\n\"); } web-1:dtrace:::ERROR { printf(\"there\n\"); }" -c "$(load 3)"
expect there "$(xargs <"$TMP/out")" "?:"
# ... conditions of the predicate before the first one that needs the front decide there whether anything is sent ...
fleet -qn "BEGIN { x = 0; } web-1:$close && arg0 == 1/ { x++; } web-1:$close && arg0 == 1001 && x == 0/ { printf(\"%d\n\", arg0); }" -c "$(load 3)"
expect 1001 "$(xargs <"$TMP/out")" "a predicate"
# ... and assignments to self-> that are not kept at the front are done, as a machine does them.
fleet -qn "web-1:$close/ { self->a = arg0; x++; } web-1:syscall::close:return /self->a/ { @[self->a] = count(); self->a = 0; }" -c "$(load 3)"
expect "1000 1 1001 1 1002 1" "$(sorted | xargs)" "self-> of the machine"

# this-> is 0 when a firing begins, also if it is kept at the front.
fleet -qn "int x; this int n; web-1:$close/ { printf(\"%d \", this->n); this->n = x + 1; printf(\"%d\n\", this->n); x = 5; }" -c "$(load 3)"
expect "0 1 0 6 0 6" "$(xargs <"$TMP/out")" "this->"

# Pointers of a machine can be kept here, but not followed.
fleet -qn "web-1:$close/ { p = curthread; } web-1:$close/ { printf(\"kept %d\n\", p != NULL); } web-1:$close && arg0 == 1002/ { printf(\"%d\n\", p->pid); }
	ERROR { printf(\"error %d\n\", arg4); }" -c "$(load 3)"
expect "error 1 kept 1 kept 1 kept 1" "$(sorted | xargs)" "a pointer"
expect_match 'invalid address' "$err"

# The sizes of what is kept at the front are the user's.
fleet -x dynvarsize=1k -qn "web-*:$close/ { a[vmname, arg0] = 1; n++; } END { printf(\"n %d\n\", n); }" -c "$(load 50)"
expect "n 100" "$(xargs <"$TMP/out")" "dynvarsize"
expect_match '^dtrace: [0-9]+ dynamic variable drops' "$err"
