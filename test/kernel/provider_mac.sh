# mac_framework: what security modules are asked, and answer.
# timeout: 300
. ./lib.bash
[ -r /sys/kernel/btf/vmlinux ] || { echo "needs BTF"; exit 77; }
if ! "$DTRACE" -lP mac_framework 2>/dev/null | grep -q mac-check-ok; then
	"$DTRACE" -n 'mac_framework::vnode_check_open:mac-check-ok { exit(0); }' 2>"$TMP/err" && count_failure
	expect_match 'mac_framework:::mac-check-ok needs a kernel whose functions can be traced' "$(cat "$TMP/err")"
	exit
fi
value() { awk -v k="$1" '$1 == k { n = $2 } END { print n + 0 }' "$TMP/out"; }
cat >"$TMP/acts.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void files(void)
{
	struct statfs f;
	struct stat s;
	char b[100];
	int fd = open("a", O_CREAT | O_RDWR, 0600);
	char *p;

	(void)!write(fd, "hello", 5);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	mprotect(p, 4096, PROT_READ | PROT_WRITE);
	fcntl(fd, F_SETFL, O_APPEND);
	flock(fd, LOCK_EX);
	ioctl(fd, 0x5401, b);
	stat("a", &s);
	statfs("a", &f);
	chmod("a", 0644);
	link("a", "b");
	rename("b", "c");
	symlink("a", "l");
	(void)!readlink("l", b, sizeof(b));
	mkdir("d", 0700);
	rmdir("d");
	mknod("p", S_IFIFO | 0600, 0);
	setxattr("a", "user.x", "1", 1, 0);
	getxattr("a", "user.x", b, sizeof(b));
	listxattr("a", b, sizeof(b));
	removexattr("a", "user.x");
	unlink("c"), unlink("l"), unlink("p"), unlink("a");
}

static void talk(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), on = 1, d;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	bind(s, (void *)&a, sizeof(a));
	listen(s, 1);
	getsockname(s, (void *)&a, &n);
	connect(c, (void *)&a, sizeof(a));
	d = accept(s, NULL, NULL);
	send(c, "x", 1, 0);
	recv(d, &on, 1, 0);
}

static void ipc(void)
{
	struct {
		long type;
		char text[8];
	} m = {1, "x"};
	struct sembuf up = {0, 1, 0};
	int s = semget(IPC_PRIVATE, 1, 0600), q = msgget(IPC_PRIVATE, 0600), h = shmget(IPC_PRIVATE, 4096, 0600);

	semop(s, &up, 1);
	msgsnd(q, &m, 1, 0);
	shmat(h, NULL, 0);
	semctl(s, 0, IPC_RMID), msgctl(q, IPC_RMID, NULL), shmctl(h, IPC_RMID, NULL);
}

int main(void)
{
	struct sched_param p = {0};

	files();
	talk();
	ipc();
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	kill(getpid(), 0);
	setpgid(0, 0);
	sched_setscheduler(0, SCHED_OTHER, &p);
	klogctl(10, NULL, 0);
	mount("none", "/nowhere", "tmpfs", 0, NULL);
	mount("none", ".", "tmpfs", 0, NULL);
	umount(".");
	(void)!setgid(0);
	(void)!setuid(0);
	return 0;
}
C
gcc -O1 -w -o "$TMP/acts" "$TMP/acts.c" || exit 1
mkdir "$TMP/dir"
cat >"$TMP/run" <<R
cd $TMP/dir && exec $TMP/acts
R
ktrace -q -c "sh $TMP/run" -n '
	mac_framework:kernel::mac-check-ok /pid == $target/ { @[probefunc] = count(); @bad["error"] = sum(arg0); }
	mac_framework:kernel::mac-check-err /pid == $target && (int)arg0 <= 0/ { @bad["no error"] = sum(1); }
	END { printa("%s %@d\n", @); printa("%s: %@d\n", @bad); }'
expect 0 "$status" "$err"
expect "error: 0" "$(grep 'error:' "$TMP/out")"
# those of others: a debugger, a module, the clock, BPF and perf
for check in $("$DTRACE" -ln 'mac_framework:::mac-check-ok' | awk 'NR > 1 { print $4 }'); do
	case $check in
	proc_check_debug | kld_check_load | system_check_settime | bpf_check | perf_event_check_open) ;;
	vnode_check_*extattr | mount_check_* | vnode_check_stat | system_check_syslog) # not on every file system, nor in every container
		[ "$(value "$check")" -ge 1 ] || echo "$check: none here" ;;
	*) [ "$(value "$check")" -ge 1 ] || { echo "$check: none"; count_failure; } ;;
	esac
done

# ---- one question, its object ----
ktrace -q -c "cat /etc/hostname /etc/hostname" -n '
	mac_framework::vnode_check_open:mac-check-ok /pid == $target && stringof(args[1]->f_path.dentry->d_name.name) == "hostname"/ { @ = count(); }
	END { printa("open %@d\n", @); }'
# (a file of an overlay is opened below, too)
[ "$(value open)" -ge 2 ] || { echo "vnode_check_open: $(value open)"; count_failure; }
# ---- an answer of no: a capability is needed to set such an attribute, for security modules that are not there ----
if command -v setfattr >/dev/null; then
	ktrace -q -c "setpriv --reuid=65534 --clear-groups setfattr -n security.dtrace -v 1 /tmp" -n '
		mac_framework::vnode_check_setextattr:mac-check-err { printf("denied %d\n", args[0]); }'
	expect_match "^denied 1$" "$(cat "$TMP/out")"
fi
