# Static probes are listed like all others: of running programs, of one process, of a file that does not run.
# needs: root bpf gcc
# uses: strace
. "$SRC/test/lib.bash"
provider=listed$$x # others on this machine may run the same test
{
	echo "provider $provider {"
	echo '	probe query__start(char *text, int client);'
	echo '	probe idle();'
	echo '};'
} >"$TMP/p.d"
"$DTRACE" -h -s "$TMP/p.d" -o "$TMP/p.h" || exit 1
upper=${provider^^}
cat >"$TMP/$provider.c" <<C
#include <stdio.h>
#include "p.h"
int main(int argc, char **argv)
{
	for (int c; argc > 1 && (c = getchar()) != EOF;)
		if (c == '\n')
			${upper}_QUERY_START("select", argc);
	${upper}_IDLE();
	return 0;
}
C
gcc -O1 -I"$TMP" -o "$TMP/$provider" "$TMP/$provider.c" || exit 1
cp "$TMP/$provider" "$TMP/asleep"
# more processes than are looked at at once, which end with the first of them
cat >"$TMP/many.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int ends[2];
	char c;

	(void)argc;
	if (pipe(ends))
		return 1;
	for (int n = atoi(argv[1]); n > 0; n--)
		if (fork() == 0) {
			close(ends[1]);
			_exit((int)read(ends[0], &c, 1));
		}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
C
gcc -O1 -o "$TMP/many" "$TMP/many.c" || exit 1
: >"$TMP/ready"
"$TMP/many" "$(scale 300)" >"$TMP/ready" &
many=$!
at_end "kill $many; wait $many 2>/dev/null"
wait_for 60 grep -q ready "$TMP/ready"
mkfifo "$TMP/in"
"$TMP/$provider" wait <"$TMP/in" &
pid=$!
exec 7>"$TMP/in"
wait_for 20 grep -q "/$provider" "/proc/$pid/maps"

# PROVIDER NAME of each line about this program
found() { awk -v m="${1-$provider}" '$3 == m { print $2, $NF }' "$TMP/out" | sort | xargs; }
all="$provider idle $provider query-start"
one="$provider$pid idle $provider$pid query-start"
trace -l
expect "0 $all" "$status $(found)" -l
expect "1 3" "$(awk '$2 == "syscall" && $4 == "read" && $5 == "entry" { n++ } $2 == "dtrace" { m++ } END { print (n > 0), m + 0 }' "$TMP/out")" "-l: the others"
trace -lm "$provider"
expect "0 $all" "$status $(found)" -lm
trace -lm "${provider%?}?"
expect "0 $all" "$status $(found)" "-lm, a pattern"
trace -lf main
expect "0 $all" "$status $(found)" -lf
trace -lP "$provider"
expect "0 $all" "$status $(found)" -lP
trace -ln ':::query-start'
expect "0 $provider query-start" "$status $(found)" "-ln name"
trace -ln "*:$provider::idle"
expect "0 $provider idle" "$status $(found)" "-ln module"
trace -l -p $pid
expect "0 $one" "$status $(found)" "-l -p"
trace -ln '*$target:::' -p $pid
expect "0 $one" "$status $(found)" "-ln *\$target -p"
expect 2 "$(grep -c "$pid" "$TMP/out")" "only these"
trace -ln "${provider%?}*$pid:::idle"
expect "0 $provider$pid idle" "$status $(found)" "-ln pattern and process"
trace -ln '*$target:::' -p $$
expect 1 $status
expect_match "process $$ has no static probes\$" "$err"

# a file is read once, however many processes map it
if command -v strace >/dev/null; then
	mkfifo "$TMP/never"
	exec 8<>"$TMP/never"
	for i in 1 2 3 4 5 6 7 8; do
		"$TMP/$provider" wait <&8 7>&- &
		at_end "kill $! 2>/dev/null"
		wait_for 20 grep -q "/$provider" "/proc/$!/maps"
	done
	strace -f -e trace=openat -o "$TMP/calls" "$DTRACE" -lm "$provider" >"$TMP/out" 7>&-
	expect "$all" "$(found)" "nine processes"
	expect 1 "$(grep -c map_files "$TMP/calls")" "files opened"
fi

# what is listed can be enabled by the same description
: >"$TMP/out"
"$DTRACE" -qn 'BEGIN { printf("ready\n"); }' -n ":$provider::query-start { @ = sum(arg1); } :::idle /pid == \$target/ { printa(\"sum %@d\n\", @); }" -p $pid \
	>"$TMP/out" 2>"$TMP/err" 7>&- &
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
printf '\n\n\n' >&7
exec 7>&-
wait $tracer
expect "sum 6" "$(grep sum "$TMP/out")" "enabled: $(cat "$TMP/err")"

# a file that does not run
trace -lv --file "$TMP/asleep"
expect "0 $all" "$status $(found asleep)" --file
expect_match 'args\[1\]: int32_t$' "$out"
(cd "$TMP" && "$DTRACE" -l --file ./asleep >out)
expect "$all" "$(found asleep)" "a relative path"
trace -lm asleep
expect 1 $status
# refused FILE MESSAGE
refused() {
	trace -l --file "$1"
	expect "1 dtrace: failed to list probes: $1: $2" "$status $err"
}
refused "$TMP/p.d" "not an ELF file"
refused /nosuch "No such file or directory"
refused /dev/null "not a file"
trace -l --file "$TMP/p"
expect 1 $status
gcc -O1 -o "$TMP/plain" -xc - <<<'int main(void) { return 0; }'
trace -l --file "$TMP/plain"
expect "1 dtrace: failed to list probes: $TMP/plain has no static probes" "$status $err"
trace --file "$TMP/asleep" -n BEGIN
expect "2 dtrace: --file is valid only with -l" "$status $(head -n 1 <<<"$err")"
