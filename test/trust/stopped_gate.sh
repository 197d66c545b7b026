# While the tracer is stopped, a process that loads libraries waits for it a second once, not at each of them; when the
# tracer goes on, no call is missed again.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
echo 'int plugged(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }' >"$TMP/plug.c"
gcc -O2 -shared -fPIC -o "$TMP/libplug.so" "$TMP/plug.c" || exit 1
cat >"$TMP/host.c" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000 + t.tv_nsec / 1000; }
/* For each line "turns calls": load the library that often, call its function, and say so, with the shortest time that loading took. */
int main(int argc, char **argv)
{
	int turns, calls;
	long shortest, began;

	while (argc > 1 && scanf("%d %d", &turns, &calls) == 2) {
		shortest = 1000000000;
		for (int i = 0; i < turns; i++) {
			began = now();
			void *h = dlopen(argv[1], RTLD_NOW);
			if (now() - began < shortest)
				shortest = now() - began;
			int (*f)(int) = h ? (int (*)(int))dlsym(h, "plugged") : NULL;

			for (int n = 0; f && n < calls; n++)
				f(n);
			dlclose(h);
		}
		printf("done %d %ld\n", turns, shortest);
		fflush(stdout);
	}
	return 0;
}
EOT
gcc -O2 -o "$TMP/host" "$TMP/host.c" -ldl || exit 1
mkfifo "$TMP/in"
exec 8<>"$TMP/in"
"$TMP/host" "$TMP/libplug.so" <"$TMP/in" 8>&- >"$TMP/host.out" &
host=$!
"$DTRACE" -qZ -x switchrate=20ms -p $host -o "$TMP/out" -n 'BEGIN { printf("ready\n"); } pid$target:libplug.so:plugged:entry { printf("call %d\n", arg0); }' 2>"$TMP/err" 8>&- &
tracer=$!
at_end 'kill -CONT $tracer 2>/dev/null; kill $tracer $host 2>/dev/null'
wait_for 60 grep -qs ready "$TMP/out"
# load TURNS CALLS: the shortest time that loading took is in $shortest then
loads=0
load() {
	echo "$1 $2" >&8
	loads=$((loads + 1))
	wait_for 60 loaded
	shortest=$(tail -n 1 "$TMP/host.out" | cut -d ' ' -f 3)
}
loaded() { [ "$(wc -l <"$TMP/host.out")" = $loads ]; }
load 3 5
kill -STOP $tracer
wait_for 20 grep -q 'State:.T' /proc/$tracer/status
load 20 0
[ "$shortest" -lt 1000000 ] || { echo "each of them waited: $shortest us"; count_failure; }
kill -CONT $tracer
# when it prints something, it goes on, and knows of all loads before
first() { grep -c 'call 0' "$TMP/out"; }
before=$(first)
goes_on() {
	load 1 1
	[ "$(first)" -gt "$before" ]
}
wait_for 60 goes_on
load 4 7
exec 8>&-
kill $host
wait $tracer
expect 0 $? "$(cat "$TMP/err")"
expect "$((3 * 4 + 4 * 6))" "$(grep -c 'call [1-9]' "$TMP/out")" "calls"
