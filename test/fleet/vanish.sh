# A machine that vanishes without goodbye, since its agent is stopped, does not hold up the end: after some seconds of silence it is
# given up, its loss is said, and the other machines are exact. One that is slow, but says so, is waited for.
# needs: root bpf gcc python3
# timeout: 240
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/vanish.bash"
agent web-1
agent web-2
begin "$TMP/t"
stop "$agent"
end_without web-2 "an agent that is stopped"
rm "$TMP/t/web-2.sock"

# One that vanishes before the program runs: it has said who it is, and answers nothing more.
python3 "$SRC/test/fleet/peer.py" "$TMP/t/mute.sock" mute &
mute=$!
at_end "kill $mute 2>/dev/null"
wait_for 10 test -S "$TMP/t/mute.sock"
before=$SECONDS
wait=1s fleet -qn "web-1:syscall::close:entry /$mine/ { @[vmname] = count(); }" -c "$(load 100)"
[ $((SECONDS - before)) -le 20 ] || expect "at most 20 s" "$((SECONDS - before)) s" "a machine that does not compile"
expect "web-1 100" "$(sorted)" "beside a machine that does not compile"
expect_match '^dtrace: liar: it does not answer' "$err"
kill $mute
rm "$TMP/t/mute.sock"

# One that is slow says that it works: here the first descriptor that it closes at the end takes 8 seconds.
cat >"$TMP/slow.c" <<'E2'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int close(int fd)
{
	if (unlink(getenv("SLOW_FILE")) == 0)
		sleep(8);
	return (int)syscall(SYS_close, fd);
}
E2
gcc -shared -fPIC -o "$TMP/slow.so" "$TMP/slow.c"
sanitized && exit 0 # its own functions come first there
SLOW_FILE=$TMP/slow LD_PRELOAD=$TMP/slow.so agent web-2
begin "$TMP/t"
touch "$TMP/slow"
kill -TERM $front
wait $front
expect 0 $? "status, a slow agent"
expect no "$([ -e "$TMP/slow" ] && echo yes || echo no)" "it was not slow"
expect "web-1 100 web-2 100" "$(awk 'NF == 2 && $2 != "up" { print $1, $2 }' "$TMP/live" | sort | xargs)" "a slow agent"
expect "" "$(cat "$TMP/live.err")" "messages, a slow agent"
