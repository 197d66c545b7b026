# While the tracer is stopped, a process that loads libraries waits for it a second once, not at each of them; when the
# tracer goes on, no call is missed again.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
echo 'int plugged(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }' >"$TMP/plug.c"
gcc -O2 -shared -fPIC -o "$TMP/libplug.so" "$TMP/plug.c" || exit 1
cat >"$TMP/host.c" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
/* For each line "turns calls": load the library that often, call its function, and say so. */
int main(int argc, char **argv)
{
	int turns, calls;

	while (argc > 1 && scanf("%d %d", &turns, &calls) == 2) {
		for (int i = 0; i < turns; i++) {
			void *h = dlopen(argv[1], RTLD_NOW);
			int (*f)(int) = h ? (int (*)(int))dlsym(h, "plugged") : NULL;

			for (int n = 0; f && n < calls; n++)
				f(n);
			dlclose(h);
		}
		printf("done %d\n", turns);
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
"$DTRACE" -qZ -p $host -o "$TMP/out" -n 'BEGIN { printf("ready\n"); } pid$target:libplug.so:plugged:entry { @ = count(); } END { printa("calls %@d\n", @); }' 2>"$TMP/err" 8>&- &
tracer=$!
at_end 'kill -CONT $tracer 2>/dev/null; kill $tracer $host 2>/dev/null'
wait_for 60 grep -qs ready "$TMP/out"
# load TURNS CALLS SECONDS
load() {
	echo "$1 $2" >&8
	wait_for "$3" grep -qs "done $1" "$TMP/host.out"
}
load 3 5 60
kill -STOP $tracer
wait_for 20 grep -q 'State:.T' /proc/$tracer/status
load 20 0 4 # (times five) if each waited, this would take 80 s
kill -CONT $tracer
load 1 0 60 # which it may not know of yet
sleep 0.5
load 4 7 60
exec 8>&-
kill $host
wait $tracer
expect "0 calls 43" "$? $(grep calls "$TMP/out")" "$(cat "$TMP/err")"
