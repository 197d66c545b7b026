# timeout: 200
# The files of probes: static, stripped, without symbols, deleted, replaced, in another mount namespace.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
cat >"$TMP/prog.c" <<'EOT'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline, visibility("default"))) int step(int n) { __asm__ volatile("" ::: "memory"); return n + 1; }
int main(int argc, char **argv)
{
	sigset_t set;
	int sig;

	if (argc > 1) { /* wait until we are told to go on */
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		puts(argv[1]);
		fflush(stdout);
		sigwait(&set, &sig);
	}
	for (int i = 0; i < 10; i++)
		step(i);
	return 0;
}
EOT
gcc -O1 -o "$TMP/prog" "$TMP/prog.c" || exit 1
gcc -O1 -rdynamic -s -o "$TMP/stripped" "$TMP/prog.c" || exit 1
gcc -O1 -s -o "$TMP/bare" "$TMP/prog.c" || exit 1

count() { trace "$@"; echo "$out" | awk 'NF { print $NF }' | xargs; }

expect 10 "$(count -qn 'pid$target:a.out:step:entry { @ = count(); }' -c "$TMP/stripped")"
expect 10 "$(count -qn 'pid$target:a.out:step:return { @ = count(); }' -c "$TMP/stripped")"
trace -qn 'pid$target:a.out:step:entry { @ = count(); }' -c "$TMP/bare"
expect 1 $status
expect_match 'no function step in a.out, which is stripped: only the functions that it exports have names' "$err"
trace -qn 'pid$target:a.out:st*:entry { @ = count(); }' -c "$TMP/bare"
expect_match 'no such function in a.out, which is stripped' "$err"
# an executable has the names of symbolic links to it: beside it, and where commands are searched for
mkdir "$TMP/elsewhere"
ln -s prog "$TMP/linked"
ln -s ../prog "$TMP/elsewhere/far"
for name in prog linked; do
	expect 10 "$(count -qn "pid\$target:$name:step:entry { @ = count(); }" -c "$TMP/linked")" "$name"
done
expect 10 "$(PATH=$TMP/elsewhere:$PATH count -qn 'pid$target:far:step:entry { @ = count(); }' -c "$TMP/prog")"
expect 10 "$(PATH=$TMP/elsewhere:$PATH count -qn 'pid*:far:step:entry /pid == $target/ { @ = count(); }' -c "$TMP/prog")"
expect "10 10" "$(count -qn 'pid$target:prog:step:entry { @a = count(); } pid$target:linked:step:entry { @b = count(); }' -c "$TMP/linked")"
trace -qn 'pid$target:stripped:step:entry' -c "$TMP/linked"
expect_match 'has no object stripped mapped' "$err"
# no symbols at all, but code at an address
gcc -O1 -no-pie -o "$TMP/fixed" "$TMP/prog.c"
at=$(nm "$TMP/fixed" | awk '$3 == "step" { print $1 }' | sed 's/^0*//')
strip "$TMP/fixed"
expect 10 "$(count -qn "pid\$target:a.out:-:$at { @ = count(); }" -c "$TMP/fixed")"
if gcc -O1 -static -o "$TMP/static" "$TMP/prog.c" 2>/dev/null; then
	expect 10 "$(count -qn 'pid$target:a.out:step:entry { @ = count(); }' -c "$TMP/static")"
	expect 10 "$(count -qn 'pid$target::step:return { @ = count(); }' -c "$TMP/static")"
fi

# traced FILE DESCRIPTION COMMAND...: a process that waits; its file is treated by commands; then it is traced
traced() {
	: >"$TMP/ready" # discard earlier output
	"$TMP/run" waiting >"$TMP/ready" &
	p=$!
	wait_for 20 grep -q waiting "$TMP/ready"
	eval "$1"
	: >"$TMP/out" >"$TMP/err"
	"$DTRACE" -qn "BEGIN { printf(\"on\n\"); } pid$p:a.out:step:entry { @ = count(); } pid$p:a.out:step:return { @r = count(); }" -p $p >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	wait_for 60 begun # it is printed when all probes are there
	kill -USR1 $p
	wait $p
	wait $tracer
	expect "on 10 10" "$(awk 'NF { print $NF }' "$TMP/out" | xargs)" "$1: $(cat "$TMP/err")"
}
begun() { grep -qs on "$TMP/out" || grep -qs . "$TMP/err"; }
for how in ':' 'rm "$TMP/run"' 'rm "$TMP/run"; cp /bin/true "$TMP/run"' 'mv "$TMP/run" "$TMP/gone"'; do
	cp "$TMP/prog" "$TMP/run"
	traced "$how"
	rm -f "$TMP/run"
done

# in another mount namespace, where the path is another file here
if unshare -m true 2>/dev/null; then
	mkdir "$TMP/inner" "$TMP/outer"
	cp "$TMP/prog" "$TMP/inner/run"
	cp /bin/true "$TMP/outer/run"
	: >"$TMP/ready" # discard earlier output
	unshare -m sh -c 'mount --bind "$1/inner" "$1/outer" && exec "$1/outer/run" waiting' sh "$TMP" >"$TMP/ready" &
	p=$!
	wait_for 20 grep -q waiting "$TMP/ready"
	: >"$TMP/out" >"$TMP/err"
	"$DTRACE" -qn "BEGIN { printf(\"on\n\"); } pid$p:run:step:entry { @ = count(); }" -p $p >"$TMP/out" 2>"$TMP/err" &
	tracer=$!
	wait_for 60 begun
	kill -USR1 $p
	wait $p
	wait $tracer
	expect "on 10" "$(awk 'NF { print $NF }' "$TMP/out" | xargs)" "$(cat "$TMP/err")"
fi
