# A probe that cannot be added during tracing is reported, even in quiet mode, and others are added later.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
! sanitized || skip "a sanitized build takes no LD_PRELOAD"
gcc -shared -fPIC -o "$TMP/refuse.so" "$SRC/test/processes/refuse.c" -ldl || exit 1
cat >"$TMP/join.d" <<'D'
provider joiner { probe here(int); };
D
"$DTRACE" -h -s "$TMP/join.d" -o "$TMP/join.h" || exit 1
cat >"$TMP/join.c" <<'C'
#include <stdlib.h>
#include <unistd.h>
#include "join.h"
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]) && !JOINER_HERE_ENABLED(); i++)
		usleep(10000);
	JOINER_HERE(argc);
	return 0;
}
C
gcc -O1 -I"$TMP" -o "$TMP/join" "$TMP/join.c" || exit 1
export REFUSE=$TMP/now
LD_PRELOAD=$TMP/refuse.so "$DTRACE" -Zqn 'BEGIN { printf("ready\n"); } joiner*:::here { printf("here\n"); }' >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 20 grep -q ready "$TMP/out"
: >"$REFUSE"
"$TMP/join" 1000 &
first=$!
wait_for 30 grep -q . "$TMP/err"
rm "$REFUSE"
kill $first
"$TMP/join" 1000
kill -TERM $tracer
wait $tracer
expect "ready here" "$(echo $(cat "$TMP/out"))"
expect_match '^dtrace: a probe could not join: .*Cannot allocate memory' "$(cat "$TMP/err")"
