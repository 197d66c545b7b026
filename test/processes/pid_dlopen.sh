# timeout: 300
# Probes in libraries that are loaded, and programs that are exec'd, during tracing: no call is missed.
# needs: root bpf gcc taskset
. "$SRC/test/lib.bash"
cat >"$TMP/plug.c" <<'EOT'
int NAME(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
EOT
for l in one two three; do
	gcc -O2 -shared -fPIC -DNAME=plugged_$l -o "$TMP/lib$l.so" "$TMP/plug.c" || exit 1
done
cat >"$TMP/host.c" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000 + t.tv_nsec / 1000; }
__attribute__((noinline)) int begin(int n) { __asm__ volatile("" ::: "memory"); return n; }
int main(int argc, char **argv)
{
	int turns = atoi(argv[1]), calls = atoi(argv[2]);
	long shortest = 1000000000;
	FILE *said;
	static const char *names[] = {"one", "two", "three"};

	begin(turns);
	for (int i = 0; i < turns; i++)
		for (int k = 0; k < 3; k++) {
			char path[4096], name[64];
			snprintf(path, sizeof(path), "%s/lib%s.so", argv[3], names[k]);
			snprintf(name, sizeof(name), "plugged_%s", names[k]);
			long began = now();
			void *h = dlopen(path, RTLD_NOW);
			if (now() - began < shortest)
				shortest = now() - began;
			int (*f)(int) = h ? (int (*)(int))dlsym(h, name) : NULL;
			if (!f)
				return 1;
			for (int n = 0; n < calls; n++)
				f(n);
			dlclose(h);
		}
	if ((said = fopen(getenv("SHORTEST"), "w"))) {
		fprintf(said, "%ld\n", shortest);
		fclose(said);
	}
	if (argc > 4)
		execl(argv[4], argv[4], "calls", "10", NULL);
	return 0;
}
EOT
gcc -O2 -o "$TMP/host" "$TMP/host.c" -ldl || exit 1
build pid processes/pid.c -pthread
# How long dlopen() takes also depends on the machine. But the shortest one would also have had to wait.
export SHORTEST=$TMP/shortest
shortest() { # MICROSECONDS WHAT
	[ "$(cat "$SHORTEST")" -lt "$1" ] || { echo "$2: the shortest dlopen() took $(cat "$SHORTEST") us"; count_failure; }
}

# called at once after it was loaded, and again after it was loaded again
trace -qZn 'pid$target:libone.so:plugged_one:entry, pid$target:libone.so:plugged_one:return { @[probename] = count(); }' -c "$TMP/host 10 50 $TMP"
expect "entry 500
return 500" "$(sorted)" "$err"

# the process and the tracer on the same CPU: it waits, and lets the tracer run. (If it did not, every load would take a second.)
run_dtrace taskset -c 0 "$DTRACE" -qZn 'pid$target:libone.so:plugged_one:entry, pid$target:libone.so:plugged_one:return { @[probename] = count(); }' -c "$TMP/host 10 50 $TMP"
expect "entry 500
return 500" "$(sorted)" "one CPU: $err"
shortest 1000000 "one CPU"

# a process that loads and unloads all the time is held up by a millisecond each time, not by the ten of a missed wake-up
trace -qZn 'pid$target:libone.so:plugged_one:entry { @ = count(); }' -c "$TMP/host 100 2 $TMP"
expect 200 "$(sorted)" "$err"
[ -n "${SLOW-}" ] || shortest 10000 "again and again"

# a pattern that matches something from the start, and more later; names, EPIDs and arguments of the new ones
trace -qZn 'pid$target:host:begin:entry, pid$target:lib[ot]*.so:plugged*:entry { @[probemod, probefunc] = count(); }
	pid$target:lib*.so:plugged_t*:entry /arg0 == 0/ { @first[probefunc, probename, epid > 0] = count(); }' -c "$TMP/host 4 25 $TMP"
expect "host begin 1
libone.so plugged_one 100
libthree.so plugged_three 100
libtwo.so plugged_two 100
plugged_three entry 1 4
plugged_two entry 1 4" "$(sorted)" "$err"

# records in the order of events, with the names of new probes
trace -qZn 'pid$target:lib*.so:plugged_*:entry { printf("%s %d\n", probefunc, arg0); }' -c "$TMP/host 1 2 $TMP"
expect "plugged_one 0
plugged_one 1
plugged_two 0
plugged_two 1
plugged_three 0
plugged_three 1" "$(sed '/^$/d' <<<"$out")" "$err"

# the process runs another program: what it loads and what it is
trace -qZn 'pid$target:a.out:begin:entry, pid$target:pid:add:entry, pid$target:a.out:ways:return { @[probemod, probefunc] = count(); }' -c "$TMP/host 1 1 $TMP $TMP/pid"
expect "host begin 1
pid add 47
pid ways 10" "$(sorted)" "$err"

# a fault in a clause on a new probe names it
trace -qZn 'pid$target:libone.so:plugged_one:entry { trace(*(int *)0); }' -c "$TMP/host 1 1 $TMP"
expect_match 'error on enabled probe ID [0-9]+ \(ID [0-9]+: pid[0-9]+:libone.so:plugged_one:entry\): invalid address' "$err"

# nothing ever matches: it runs, and ends with the process
trace -qZn 'pid$target:libfour.so:plugged:entry { @ = count(); }' -c "$TMP/host 1 1 $TMP"
expect 0 $status "$err"
# without -Z that is an error
trace -qn 'pid$target:libone.so:plugged_one:entry { @ = count(); }' -c "$TMP/host 1 1 $TMP"
expect 1 $status
# all processes: a file that is not mapped yet, by its path; one that appears later, by its name
trace -qn "pid*:$TMP/libone.so:plugged_one:entry { @ = count(); }" -c "$TMP/host 3 10 $TMP"
expect 30 "$(sorted)" "$err"
