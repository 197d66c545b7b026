# The process engine: static probes with a semaphore, which counts up while they are traced and down again; also when dtrace is killed.
# needs: gcc
. "$SRC/test/lib.bash"
cd "$TMP" || exit 1
echo 'provider own { probe step(long, long); };' >own.d
"$DTRACE" -h -s own.d || exit 1
cat >user.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "own.h"
int main(int argc, char **argv)
{
	if (argc > 2)
		puts("begins"), fflush(stdout);
	for (long i = 0; argc < 3 ? i < atol(argv[1]) : access(argv[2], F_OK) != 0; i++) {
		OWN_STEP(i, i * 2);
		if (argc > 2 && OWN_STEP_ENABLED())
			puts("enabled"), fflush(stdout), usleep(1000);
	}
	printf("end %d\n", OWN_STEP_ENABLED());
}
EOT
gcc -O1 -o user user.c || exit 1
"$DTRACE" -x engine=process -x evaltime=postinit -qn 'own$target:::step { @c = count(); @s = sum(arg1); } own$target:::step /arg0 == 7/ { @["seven", probename] = count(); }' \
	-c './user 100' >out 2>err </dev/null
expect "0  end 1 seven step 1 100 9900" "$? $(cat err) $(echo $(sort out | grep end)) $(echo $(grep seven out)) $(echo $(grep -v 'seven\|end' out))"
: >user.out
./user 0 "$TMP/stop" >user.out &
pid=$!
at_end 'kill $pid 2>/dev/null'
enabled() { grep -q enabled user.out; }
wait_for 10 grep -q begins user.out # it has mapped all its code
: >out
"$DTRACE" -x engine=process -qn 'own$target:::step { @ = count(); }' -p $pid >out 2>err </dev/null &
tracer=$!
wait_for 10 enabled
kill -9 $tracer
wait $tracer 2>/dev/null
restored() { ! grep -q 'memfd:dtrace' "/proc/$pid/maps"; }
wait_for 10 restored
touch stop
wait $pid
expect "0 end 0" "$? $(tail -1 user.out)"
