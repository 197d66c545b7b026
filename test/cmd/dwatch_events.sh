# Profiles of dwatch for the providers of the kernel show the events of a known load, each with its numbers.
# timeout: 200
# needs: root bpf btf gcc python3 netns ip
. "$SRC/test/lib.bash"
. "$SRC/test/cmd/dwatch.bash"
me=de$$
gcc -x c -o $me - <<'C' || exit 1
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char buf[4096] = "";
	int fd, pair[2];

	signal(SIGUSR1, SIG_IGN);
	if (strcmp(what, "rw") == 0) {
		fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
		for (int i = 0; i < 3; i++)
			if (write(fd, buf, 1234) != 1234 || pread(fd, buf, 777, 0) != 777)
				return 1;
	} else if (strcmp(what, "sockets") == 0) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			return 1;
		for (int i = 0; i < 3; i++)
			if (send(pair[0], buf, 55, 0) != 55 || recv(pair[1], buf, 99, 0) != 55)
				return 1;
	} else if (strcmp(what, "signals") == 0) {
		for (int i = 0; i < 3; i++)
			kill(getpid(), SIGUSR1);
	} else if (strcmp(what, "children") == 0) {
		for (int i = 0; i < 3; i++) {
			pid_t p = fork();

			if (p == 0)
				_exit(0);
			waitpid(p, NULL, 0);
		}
	} else if (strcmp(what, "touch") == 0) {
		char *p = mmap(NULL, 40 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, 40 * 4096, MADV_NOHUGEPAGE);
		for (int i = 0; i < 40; i++)
			p[i * 4096] = 1;
	} else if (strcmp(what, "vfork") == 0) { /* the parent sleeps without being interruptible */
		pid_t p = vfork();

		if (p == 0) {
			usleep(400000);
			_exit(0);
		}
	} else if (strcmp(what, "wake") == 0) {
		if (pipe(pair) < 0)
			return 1;
		if (fork() == 0) {
			for (int i = 0; i < 3; i++)
				if (read(pair[0], buf, 1) != 1)
					_exit(1);
			_exit(0);
		}
		for (int i = 0; i < 3; i++) {
			usleep(50000);
			if (write(pair[1], "x", 1) != 1)
				return 1;
		}
		wait(NULL);
	}
	return 0;
}
C
seen() { expect "$2" "$(sed 's/^[^]]*\]: //' out | grep -cE -- "$1")" "$1 in: $(cat out err)"; }
# watched PROFILE COUNT FLAGS -- LOAD: until so many events have been seen
watched() {
	local profile=$1 count=$2 flags=()
	shift 2
	while [ "$1" != -- ]; do flags+=("$1"); shift; done
	shift
	begin -X "$profile" -N "$count" -T 100 "${flags[@]}"
	"$@"
	finish
	expect "0 $count" "$status $(wc -l <out)" "$profile: $(cat out err)"
}

watched rw 6 -k $me -r data$$ -- ./$me rw "$TMP/data$$"
seen "^write\(\) of $TMP/data$$: 1234 bytes\$" 3
seen "^pread64\(\) of $TMP/data$$: 777 bytes\$" 3
watched write 3 -k $me -r data$$ -- ./$me rw "$TMP/data$$"
seen '^write\(\) of ' 3
watched sendrecv 6 -k $me -- ./$me sockets
seen '^sendto\(\) of .*: 55 bytes$' 3
seen '^recvfrom\(\) of .*: 55 bytes$' 3
watched signal 3 -k $me -r SIGUSR1 -- ./$me signals
seen "^SIGUSR1 to $me\[[0-9]+\]\$" 3
watched proc-create 3 -k $me -- ./$me children
seen "^create ./$me children\$" 3
watched proc-exit 4 -k $me -- ./$me children
seen "^exit ./$me children\$" 4
begin -X vminfo -k $me -T 2
./$me touch
finish
k=$(grep -c 'as_fault 1$' out)
[ "$status" = 0 ] && [ "$k" -ge 40 ] || { echo "vminfo: at least 40 faults: $k, status $status"; count_failure; }
begin -X wakeup -k $me -r "wakes $me" -N 3 # the end of the child is a fourth, if the parent waits by then
./$me wake
finish
seen "^wakes $me\[[0-9]+\]\$" 3
begin -X sched-off-cpu -k $me -N 3
./$me wake
finish
seen '^off-cpu thread [0-9]+ on CPU [0-9]+$' 3

# a thread that hung: the stack below the line says where. Less than the threshold is not shown
DWATCH_HANG_MS=200 begin -X hang -k $me -N 1
hung() { ./$me vfork; [ -s out ] || ! kill -0 $watcher 2>/dev/null; }
wait_for 30 hung # again: a switch from process 1 is not seen on some kernels (doc/kernel-engine.md)
finish
expect_match "\]: thread [0-9]+ hung for [0-9]{3,} ms" "$(cat out)"
DWATCH_HANG_MS=100000 begin -X hang -k $me -T 2
./$me vfork
finish
expect "0 " "$status $(cat out)" "a threshold that is not reached"

# waits for locks, however short
build locks$$ providers/locks.c -lpthread
if [ "$(nproc)" -gt 1 ]; then
	DWATCH_LOCK_MS=0 begin -X lock -k locks$$ -N 1 -T 100
	./locks$$ "$(scale 3000)" >/dev/null
	finish
	expect_match "\]: (adaptive|spin|rw)-(block|spin) [0-9]+\.[0-9]{3} ms" "$(cat out)"
fi

# the network: one of our own, with ports of our own
port=$((20000 + $$ % 10000 * 2)) # probes see all networks
ip=$(command -v ip || echo "busybox ip")
net() { unshare -n sh -c "$ip link set lo up && exec python3 $SRC/test/tools/net.py $*"; }
watched tcp-connect 26 -r ":($port|$((port + 1))) " -- net tcp $port
seen "^connect-request 127.0.0.1:[0-9]+ -> 127.0.0.1:$port " 10
seen "^connect-established " 10
seen "^connect-request 127.0.0.1:[0-9]+ -> 127.0.0.1:$((port + 1)) " 3
seen "^connect-refused .*:$((port + 1)) " 3
watched tcp-accept-established 10 -r ":$port " -- net tcp $port
watched udp-send 20 -r ":$port " -- net udp $port
seen "^send 127.0.0.1:[0-9]+ -> 127.0.0.1:$port 38 bytes\$" 20
