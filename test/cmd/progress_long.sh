# needs: root bpf python3 gcc
# timeout: 120
# The line on a terminal while many probes are enabled, with how many are done, and while debug information is read. A library in
# front of libbpf and libdw makes that wait until the line has been seen.
. "$SRC/test/lib.bash"
. "$SRC/test/needs.bash"
sanitized && skip "the sanitizer has to be the first library"
cat >"$TMP/many.S" <<'S'
	.text
	.altmacro
	.macro f i
	.globl f\i
	.type f\i, @function
f\i:	mov $\i, %eax
	ret
	.size f\i, . - f\i
	.endm
	.set i, 0
	.rept 10000
	f %i
	.set i, i + 1
	.endr
	.section .note.GNU-stack, "", @progbits
S
printf '#include <unistd.h>\nstruct thing { int a, b; } thing = {1, 2};\nint main(void) { for (;;) pause(); }\n' >"$TMP/main.c"
gcc -g -o "$TMP/many" "$TMP/main.c" "$TMP/many.S" || exit 1
# A link of many, and the first look at debug information, wait for the byte of their file. The helper that reads has no
# shared memory, but sees the pages of the file; it may not make system calls for that.
cat >"$TMP/wait.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile char *links, *types;
static volatile char *map(const char *name) {
	int fd = getenv(name) ? open(getenv(name), O_RDONLY) : -1;
	return fd < 0 ? 0 : mmap(0, 1, PROT_READ, MAP_PRIVATE, fd, 0);
}
static void *(*begin_dwarf)(int, int);
__attribute__((constructor)) static void begin(void) {
	links = map("WAIT_LINKS");
	types = map("WAIT_TYPES");
	begin_dwarf = dlsym(RTLD_NEXT, "dwarf_begin");
}
long syscall(long n, ...) {
	static long (*real)(long, ...);
	static int nlinks, nevents;
	va_list ap;
	long a[6];
	va_start(ap, n);
	for (int i = 0; i < 6; i++) a[i] = va_arg(ap, long);
	va_end(ap);
	if (!real) real = dlsym(RTLD_NEXT, "syscall");
	const unsigned *attr = (const unsigned *)a[1]; /* BPF_LINK_CREATE, BPF_TRACE_UPROBE_MULTI, uprobe_multi.cnt; or (before 6.6) BPF_PERF_EVENT */
	if (n == SYS_bpf && a[0] == 28 && ((attr[2] == 48 && attr[12] > 1000 && ++nlinks == 2) || (attr[2] == 41 && ++nevents == 3000)))
		while (links && *links == '0') usleep(10000);
	return real(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
void *dwarf_begin(int fd, int cmd) {
	while (types && *types == '0') ;
	return begin_dwarf(fd, cmd);
}
C
gcc -shared -fPIC -o "$TMP/wait.so" "$TMP/wait.c" || exit 1
"$TMP/many" &
pid=$!
at_end "kill $pid"
at_end '[ ! -e "$TMP/byte" ] || printf 1 1<>"$TMP/byte"' # nothing waits for ever
cd "$TMP" && PYTHONPATH=$SRC/test/cmd/lib python3 - "$DTRACE" "$TMP" $pid <<'PY'
import re, sys
from terminal import Terminal
dtrace, tmp, pid = sys.argv[1:]

def watch(name, program, line):
    """It is shown while the work waits; then nothing of it is left."""
    open(tmp + "/byte", "w").write("0")
    t = Terminal([dtrace, "-x", "engine=bpf", "-q", "-p", pid, "-n", program], 100, 24, {"LD_PRELOAD": tmp + "/wait.so", name: tmp + "/byte", "NO_COLOR": "1"})
    t.until(lambda: re.search(line, t.text()), line)
    f = open(tmp + "/byte", "r+")
    f.write("1")
    f.close()
    status = t.end()
    if status != 0 or t.text().strip() != "traced":
        sys.exit("%d %r" % (status, t.text()))

watch("WAIT_LINKS", "pid$target:many:f[0-9]*:entry { @ = count(); } tick-100hz { printf(\"traced\"); exit(0); }", r"^dtrace: enabling probes: attaching: [1-9]\d* of 10001, \d+ s")
watch("WAIT_TYPES", "BEGIN { this->t = (struct pid$target`thing *)0; printf(\"traced\"); exit(0); }", r": reading types of many: \d+ s")
PY
expect 0 $? "on a terminal"
