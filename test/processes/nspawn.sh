# A process in a container of systemd-nspawn: probes and symbols of a program that exists only there, and its namespaces.
# timeout: 120
# needs: root bpf btf nspawn gcc pgrep
. "$SRC/test/lib.bash"
me=ns$$ # its name: 15 characters at most
cat >"$TMP/$me.c" <<'C'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int knead(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}
__attribute__((noinline)) int bake(void)
{
	return (int)getppid() + 1; /* not a tail call */
}
int main(void)
{
	puts("ready");
	fflush(stdout);
	if (getchar() != 'g') /* until it may go */
		return 1;
	for (int i = 0; i < 7; i++)
		knead(i);
	for (int i = 0; i < 5; i++)
		bake();
	printf("%d\n", (int)getpid());
	return 0;
}
C
mkdir -p "$TMP/root/usr" "$TMP/root/etc"
: >"$TMP/root/etc/os-release"
gcc -O1 -static -fno-optimize-sibling-calls -o "$TMP/root/$me" "$TMP/$me.c" || exit 1
spawn() { systemd-nspawn -q --register=no --keep-unit --private-network --console=pipe -D "$TMP/root" "$@"; }
: >"$TMP/said"
spawn "/$me" </dev/null >"$TMP/said" 2>&1
grep -q '^ready' "$TMP/said" || skip "systemd-nspawn does not run here: $(tail -n 1 "$TMP/said")"

# in a control group with the name that systemd gives to such machines, where there are groups
group=
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
if [ -n "$mount" ] && [ "$(stat -c %i "$mount")" = 1 ] && mkdir "$mount/machine-$me.scope" 2>/dev/null; then
	group=$mount/machine-$me.scope
	at_end 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null'
fi
mkfifo "$TMP/go"
: >"$TMP/said"
([ -z "$group" ] || echo $BASHPID >"$group/cgroup.procs"; spawn "/$me") <"$TMP/go" >"$TMP/said" 2>&1 &
machine=$!
exec 7>"$TMP/go"
wait_for 30 grep -q '^ready' "$TMP/said"
pid=$(pgrep -x "$me")
expect_match '^[0-9]+$' "$pid"
[ ! -e "/$me" ] || { echo "/$me is there"; count_failure; }
ino() { stat -L -c %i "/proc/$1/ns/$2"; }
want="knead 7
namespaces $(ino "$pid" pid) $(ino "$pid" net)
caller $me\`bake 5"
[ "$(ino $$ pid)" != "$(ino "$pid" pid)" ] && [ "$(ino $$ net)" != "$(ino "$pid" net)" ] || { echo "it has no namespaces of its own"; count_failure; }

: >"$TMP/out" >"$TMP/err"
timeout 300 "$DTRACE" -q -p "$pid" -n 'BEGIN { printf("begun\n"); }
	pid$target:a.out:knead:entry { @n = count(); }
	syscall::getppid:entry /pid == $target/ { @c[ufunc(ucaller)] = count(); pids = pidns; net = netns; name = container; }
	END { printa("knead %@d\n", @n); printf("namespaces %d %d\n", pids, net); printa("caller %A %@d\n", @c); printf("container %s\n", name); }' >"$TMP/out" 2>"$TMP/err" </dev/null &
tracer=$!
wait_for 30 grep -q begun "$TMP/out"
echo go >&7
exec 7>&-
wait $machine
wait $tracer
expect "0 " "$? $(cat "$TMP/err")"
expect "$want" "$(grep -E '^(knead|namespaces|caller) ' "$TMP/out")"
[ -z "$group" ] || expect "container $me" "$(grep '^container ' "$TMP/out")"
expect 1 "$(grep -cE '^1.?$' "$TMP/said")" "its number in there: $(cat "$TMP/said")"
