# timeout: 120
# A reading of the target's mappings that fails once is made up for, or is reported: no address loses its name without a word.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
! sanitized || skip "sanitizers have to be loaded first"
build load engine/load.c -lpthread
cat >"$TMP/fail.c" <<'EOT'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Is this the mappings of a process that is called "load"? */
static int is_target(int fd)
{
	char link[64], path[64], comm[64], name[16] = "";
	ssize_t n;
	int f;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 5 || strncmp(path, "/proc/", 6) != 0 || memcmp(path + n - 5, "/maps", 5) != 0)
		return 0;
	snprintf(comm, sizeof(comm), "%.*s/comm", (int)n - 5, path);
	f = open(comm, O_RDONLY);
	n = syscall(SYS_read, f, name, sizeof(name));
	close(f);
	return n == 5 && memcmp(name, "load\n", 5) == 0;
}
ssize_t read(int fd, void *buf, size_t n)
{
	static int calls;
	int f;

	if (getenv("FAIL_AT") && is_target(fd) && ++calls == atoi(getenv("FAIL_AT"))) {
		f = open(getenv("FAIL_LOG"), O_WRONLY | O_CREAT, 0600);
		close(f);
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, n);
}
EOT
gcc -O2 -shared -fPIC -o "$TMP/fail.so" "$TMP/fail.c" || exit 1
export FAIL_LOG=$TMP/failed.log
for ((at = 1; at < 100; at++)); do
	rm -f "$FAIL_LOG"
	run_dtrace env LD_PRELOAD="$TMP/fail.so" FAIL_AT=$at "$DTRACE" -qc "$TMP/load -t 1 -n 50 -u" -n 'pid$target:load:place:entry { @[ustack(1)] = count(); }'
	[ -e "$FAIL_LOG" ] || break
	case $status in
	0) [ -n "$err" ] || expect_match 'load`place' "$out" ;;
	1) expect_match '^dtrace: ' "$err" ;;
	*) expect 0 "$status" "reading $at: $err" ;;
	esac
done
[ $at -gt 3 ] || { echo "only $at readings"; count_failure; }
