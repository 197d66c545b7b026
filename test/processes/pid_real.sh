# timeout: 200
# Real programs: bash, python3, the C library; all processes that map a file.
# needs: root bpf gcc
# uses: python3
. "$SRC/test/lib.bash"

# the dynamic symbols of bash
trace -qn 'pid$target:a.out:execute_command:entry { @ = count(); } pid$target:a.out:execute_command:return { @r = count(); }' -c "bash -c ':; :; :'"
read -r e r <<<"$(last_fields)"
expect "$e" "$r" "$err"
[ "${e:-0}" -gt 0 ] || expect "some" "$e" "$err"

if [ -x /usr/bin/python3 ]; then
	cat >"$TMP/p.py" <<'EOT'
import os
for i in range(100):
    os.sched_get_priority_max(os.SCHED_RR)
EOT
	trace -qn 'pid$target:libc.so:sched_get_priority_max:entry { @ = count(); } pid$target:libc.so:sched_get_priority_max:return { @r = count(); }' -c "/usr/bin/python3 $TMP/p.py"
	expect "100 100" "$(last_fields)" "$err"
fi

# functions that are chosen when the program starts
cat >"$TMP/len.c" <<'EOT'
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	size_t n = 0;
	void *volatile p;
	sigset_t set;
	int sig;

	if (argc > 2) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		if (write(1, "ready", 5) != 5)
			return 1;
		sigwait(&set, &sig);
	}
	for (volatile int i = 0; i < 50; i++)
		n += strlen(argv[1]);
	for (int i = 0; i < 20; i++) {
		p = malloc(12345);
		free(p);
	}
	return n != 250;
}
EOT
gcc -O2 -fno-builtin -o "$TMP/len" "$TMP/len.c" || exit 1
trace -qn 'pid$target:libc.so.6:strlen:entry /copyinstr(arg0) == "hello"/ { @ = count(); }
	pid$target:libc.so.6:strlen:return /arg1 == 5/ { @r = count(); }' -c "$TMP/len hello"
expect 0 $status "$err"
read -r e r <<<"$(last_fields)"
[ "${e:-0}" -ge 50 ] && [ "${r:-0}" -ge 50 ] || expect "50 or more" "$e $r" "$err"
# the implementation may have its own name; a pattern that matches both gives one probe
trace -qn 'pid$target:libc.so.6:*strlen*:entry /copyinstr(arg0) == "hello"/ { @ = count(); }' -c "$TMP/len hello"
expect "$e" "$(last_fields)" "*strlen*: $err"
trace -qn 'pid$target:libc.so.6:malloc:entry /arg0 == 12345/ { @ = count(); self->in = 1; }
	pid$target:libc.so.6:malloc:return /self->in/ { @r = count(); self->in = 0; }' -c "$TMP/len hello"
expect "20 20" "$(last_fields)" "$err"

# all functions of the C library at once: nothing breaks
trace -qn 'pid$target:libc.so.6::entry { @[probefunc] = count(); } pid$target:libc.so.6::return { @r = count(); }' -c "$TMP/len hello"
expect 0 $status "$err"
expect 20 "$(awk '$1 == "free" { print $2 }' <<<"$out")" "$err"

# all processes, of which we look at two
for i in 1 2; do
	"$TMP/len" hello wait >"$TMP/ready$i" &
	p[i]=$!
	wait_for 60 grep -q ready "$TMP/ready$i" # the signal would end it before
done
: >"$TMP/out" # discard earlier output
"$DTRACE" -qn "pid*:libc.so.6:malloc:entry /pid == ${p[1]} || pid == ${p[2]}/ { @[probeprov, probemod] = count(); }
	BEGIN { printf(\"on\n\"); } syscall::exit_group:entry /pid == ${p[1]} || pid == ${p[2]}/ { n++; }
	syscall::exit_group:entry /n == 2/ { exit(0); }" >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 60 grep -q on "$TMP/out" # it is printed when all probes are there
kill -USR1 ${p[1]} ${p[2]}
wait ${p[1]} ${p[2]}
wait $tracer
expect "pid* libc.so.6 40" "$(awk 'NF == 3 { $1 = $1; print }' "$TMP/out")" "$(cat "$TMP/err")"
