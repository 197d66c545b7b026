# Profiles of dwatch compile, show what a known load does, and can be added by a user.
# needs: root bpf btf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/cmd/dwatch.bash"
export XDG_CONFIG_HOME=$TMP/config
: >err
# seen PATTERN COUNT: so many details match, and all events were right
seen() { expect "$2" "$(sed 's/^[^]]*\]: //' out | grep -cE -- "$1")" "$1 in: $(cat out err)"; }
me=dp$$
gcc -x c -o $me - <<'C' || exit 1
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const struct timespec t = {0, 300000000};

	if (argc > 1 && strcmp(argv[1], "wait") == 0) {
		puts("ready");
		fflush(stdout);
		if (getchar() != 'g') /* until a line says go */
			return 0;
	}
	for (int i = 0; i < 3; i++) {
		int fd = open("/nonexistent/file", O_RDONLY);
		void *volatile p = malloc(200000 + i);
		free(p);
		(void)fd;
	}
	chmod("/nonexistent/mode", 0640);
	nanosleep(&t, NULL);
	kill(getpid(), SIGURG);
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		raise(SIGSEGV);
	return 7;
}
C

# all of them compile; a probe that this kernel lacks is named as such
mkfifo never
./$me wait <never >ready &
sleeper=$!
exec 6>never
wait_for 60 grep -q ready ready
at_end 'exec 6>&-'
lacking=
for p in $("$DWATCH" -Q1); do
	case $p in
	fbt) probe=fbt::vfs_read:entry ;;
	kinst) probe=kinst::vfs_read:0 ;;
	sdt) probe=sdt:::sched_process_exec ;;
	*) probe= ;;
	esac
	"$DWATCH" -e -X "$p" -p $sleeper $probe >out 2>err && continue
	if grep -qE 'does not match any probes: .*(kprobes|kernel function|lockdown|cannot be traced|not built|needs)' err; then
		lacking="$lacking $p"
		continue
	fi
	count_failure
	echo "profile $p: $(cat err)"
done
echo "not on this kernel:$lacking"
expect 1 "$("$DWATCH" -Q | grep -cE '^slow +system calls that take at least DWATCH_SLOW_MS')"
expect 1 "$("$DWATCH" -Q | grep -cE '^io-start +as io: io:::start$')"
expect "$("$DWATCH" -Q1 | sort | uniq -d)" "" "names that are there twice"
# every provider has one
for provider in $(sed -nE 's/^DT_PROVIDER\((dt_)?([a-z_]+).*/\2/p' "$SRC/src/probe/providers/providers.def"); do
	case $provider in dtrace | syscall | python) continue ;; esac # every profile uses them
	cat "$SRC"/profiles/* | grep -q "$provider" || { echo "no profile uses $provider"; count_failure; }
done

# known load
begin -X open -k $me -r /nonexistent -N 3
./$me
finish
seen '^/nonexistent/file$' 3
begin -X errno -k $me -r 'ENOENT' -t 'probefunc != "access"' -N 4
./$me
finish
seen '^(open|openat)\(\) ENOENT$' 3
seen 'chmod(at)?\(\) ENOENT$' 1
begin -X chmod -k $me -N 1
./$me
finish
seen '^0640 /nonexistent/mode$' 1
begin -X nanosleep -k $me -N 1
./$me
finish
seen '^0\.300000000 s$' 1
begin -X kill -k $me -N 1
./$me
finish
seen '^SIGURG to [0-9]+$' 1
DWATCH_SLOW_MS=250 begin -X slow -k $me -N 1
./$me
finish
seen '^(clock_)?nanosleep\(\) took [0-9]+\.[0-9]{3} ms$' 1
begin -X exec -k $me -N 1
./$me one "two words"
finish
seen "^./$me one two words\$" 1
begin -X exit -k $me -N 1
./$me
finish
seen "^./$me: status 7\$" 1
mkfifo go
./$me wait <go >began &
load=$!
exec 5>go
wait_for 60 grep -q ready began # its libraries are there
DWATCH_MALLOC_KB=195 begin -X malloc -p $load -N 3
echo g >&5
exec 5>&-
wait $load
finish
for i in 0 1 2; do seen "^malloc\(\) of 20000$i bytes\$" 1; done
DWATCH_SYSTOP_ROWS=1000 begin -X systop -k $me -T 300
./$me
wait_for 60 grep -qE "^$me +(clock_)?nanosleep +1\$" out
kill -INT $watcher
finish
# (a thread that gets the CPU from process 1 is not seen on some kernels: doc/kernel-engine.md)
DWATCH_LATENCY_MS=0 begin -X latency -k $me -N 1
until_seen() { ./$me; ! kill -0 $watcher 2>/dev/null; }
wait_for 60 until_seen
finish
seen '^thread [0-9]+ waited [0-9]+\.[0-9]{3} ms for CPU [0-9]+$' 1
# a core dump is one only if the kernel writes a file
if case $(cat /proc/sys/kernel/core_pattern) in \|*) false ;; esac && (ulimit -c unlimited; ./$me crash) 2>/dev/null; ls core* "$(cat /proc/sys/kernel/core_pattern)" >core_files 2>/dev/null; [ -s core_files ]; then
	begin -X coredump -k $me -N 1
	(ulimit -c unlimited; ./$me crash; true) 2>/dev/null
	finish
	seen "^./$me crash dumped core: SIGSEGV\$" 1
	rm -f core*
fi

# settings must be numbers
for bad in 1x '' ' 1' '1; }' 99999999999999999999; do
	DWATCH_SLOW_MS=$bad "$DWATCH" -d -X slow >out 2>err
	expect "1 dwatch: DWATCH_SLOW_MS=$bad: an integer is needed" "$? $(cat err)"
done
# a profile of the user, and one that replaces another
mkdir -p config/dwatch more
printf '# mine - a test\nprobe syscall::chmod:entry, syscall::fchmodat:entry\nalso other syscall::kill:entry\nsetting DWATCH_MINE 5\ndetails\n\tprintf("mine %%d",\n\t    DWATCH_MINE);\n' >config/dwatch/mine
expect "mine                   a test" "$("$DWATCH" -Q -r '^mine$')"
DWATCH_MINE=6 begin -X mine -k $me -N 1
./$me
finish
seen '^mine 6$' 1
begin -X other -k $me -N 1
./$me
finish
seen '^mine 5$' 1
printf '# mine - another\ndetails\n\tprintf("x");\n' >more/mine
expect "mine                   another" "$(DWATCH_PROFILES_PATH=$TMP/more "$DWATCH" -Q -r '^mine$')"
expect "dwatch: profile mine needs a probe: dwatch -X mine PROBE" "$(DWATCH_PROFILES_PATH=$TMP/more "$DWATCH" -d -X mine 2>&1)"
# files that are wrong
wrong() { printf "$2" >more/bad; expect "dwatch: profile bad$1" "$(DWATCH_PROFILES_PATH=$TMP/more "$DWATCH" -d -X bad 2>&1)"; }
wrong ': its first line is not "# bad - what it shows"' 'probe x:::\n'
wrong ", line 2: unknown word 'prob'" '# bad - x\nprob x\n'
wrong ", line 2: it continues nothing" '# bad - x\n\tx\n'
wrong ": details: it closes a bracket that it does not open" '# bad - x\ndetails\n\t} BEGIN {\n'
wrong ": test: it is not an expression" '# bad - x\ntest 1; 2\n'
wrong ": 'BEGIN{exit(1)}' is not a probe" '# bad - x\nprobe BEGIN{exit(1)}\n'
wrong ": a setting is DWATCH_NAME and a number" '# bad - x\nprobe :::BEGIN\nsetting PATH 1\n'
expect "dwatch: there is no profile '../mine'; dwatch -Q lists them" "$("$DWATCH" -d -X ../mine 2>&1)"
