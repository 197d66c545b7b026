# timeout: 200
# Code that a JIT compiler made: names from /tmp/perf-PID.map, also those that were written after the stack was taken and after
# the process has ended. With the real runtimes installed here: node, python (3.12), java.
# needs: root bpf gcc
# uses: node java
. "$SRC/test/lib.bash"
build addresses processes/addresses.c
maps=()
at_end 'rm -f "${maps[@]}"'

# traced ARGS: the perf map of the target is removed at the end; its pid is in the first line
traced() {
	trace -q "$@"
	expect 0 "$status" "$err"
	maps+=("/tmp/perf-$(sed -n 's/^target //p' "$TMP/out").map")
}
head='BEGIN { printf("target %d\n", $target); }'
# Of the stacks that were counted: how many have a frame like this.
counted() { awk -v p="$1" '/^$/ { hit = 0; next } $0 ~ p { hit = 1 } /^ +[0-9]+$/ && hit { n += $1 } END { print n + 0 }' "$TMP/out"; }

traced -c "$TMP/addresses jit" -n "$head"' syscall::getppid:entry /pid == $target/ { uaddr(arg0); umod(arg0); printf("\n"); }'
expect '[jit]`compiled function+0x5 [jit] [jit]`compiled later [jit]' "$(sed -n '2,3p' "$TMP/out" | tr -s ' ' | xargs)"
expect_match '^  0x[0-9a-f]+800 +0x[0-9a-f]+800 +$' "$(sed -n 4p "$TMP/out")" # beside them

# control characters do not reach the terminal
cat >"$TMP/bell.c" <<'EOT'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	char path[64], *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%lx 10 a\033[31mb\a\n", (long)code);
	fclose(f);
	return syscall(SYS_getppid, code) < 0;
}
EOT
gcc -o "$TMP/bell" "$TMP/bell.c" || exit 1
traced -c "$TMP/bell" -n "$head"' syscall::getppid:entry /pid == $target/ { usym(arg0); printf("\n"); }'
expect '[jit]`a?[31mb?' "$(sed -n 2p "$TMP/out" | xargs)"

if command -v node >/dev/null; then
	cat >"$TMP/hot.js" <<-'EOT'
		function innermost() { return process.ppid; }
		function calls(n) { let s = 0; for (let i = 0; i < n; i++) s += innermost(); return s; }
		for (let k = 0; k < 20; k++) calls(100);
	EOT
	traced -c "node --perf-basic-prof --interpreted-frames-native-stack --logfile=$TMP/v8.log --no-logfile-per-isolate $TMP/hot.js" -n "$head"' syscall::getppid:entry /pid == $target/ { @[ustack(30)] = count(); }'
	expect 2000 "$(counted 'jit..JS:.*calls .*hot.js')" node
fi
for python in python3 python3.12 python3.13 /root/.pyenv/versions/3.12.1/bin/python3; do
	"$python" -X perf -c 'import os, sys; os.unlink("/tmp/perf-%d.map" % os.getpid()); sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null || continue
	cat >"$TMP/hot.py" <<-'EOT'
		import os
		def innermost(): return os.getppid()
		def outer(n):
		    for i in range(n): innermost()
		outer(500)
	EOT
	traced -c "$python -X perf $TMP/hot.py" -n "$head"' syscall::getppid:entry /pid == $target/ { @[ustack(30)] = count(); }'
	expect 500 "$(counted 'jit..py::innermost:.*hot.py')" "$python"
	break
done
if command -v javac >/dev/null && java -XX:+UnlockDiagnosticVMOptions -XX:+PrintFlagsFinal -version 2>/dev/null | grep -q DumpPerfMapAtExit; then
	cat >"$TMP/Hot.java" <<-'EOT'
		public class Hot {
			static long innermost(java.io.RandomAccessFile f) throws Exception { f.seek(7); return 1; }
			public static void main(String[] a) throws Exception {
				java.io.RandomAccessFile f = new java.io.RandomAccessFile(a[0], "r");
				long s = 0;
				for (int i = 0; i < 50000; i++) s += innermost(f);
				System.exit((int)(s % 2));
			}
		}
	EOT
	javac -d "$TMP" "$TMP/Hot.java" || exit 1
	traced -c "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp $TMP Hot $TMP/Hot.java" \
		-n "$head"' syscall::lseek:entry /progenyof($target) && arg1 == 7/ { @[jstack()] = count(); @n = count(); } END { printa("n %@d\n", @n); }'
	expect 50000 "$(sed -n 's/^n //p' "$TMP/out")" java
	expect 50000 "$(counted 'jit..(Interpreter|.*(RandomAccessFile.seek|Hot[.]))')" "java: named frames"
	[ "$(counted 'jit..*Hot[.](innermost|main)')" -gt 1000 ] || expect "compiled methods" "$(counted 'jit..*Hot[.](innermost|main)')"
fi
rm -f "${maps[@]}"
