/*
 * mac: triggers each check of security modules.
 *
 *	mac DIRECTORY OTHER		all of them are allowed
 *	mac DIRECTORY OTHER deny	the same, but for each a BPF program of the security module "bpf" refuses this process
 *
 * OTHER is a process that may be inspected. A refused check is printed as "denied CHECK" if the
 * call failed with that error. Names are those of the provider.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static int fd, program, listener, client, server, sem, queue, shm;
static pid_t other;
static char b[4096];
static char *map;
static struct sockaddr_in address = {.sin_family = AF_INET};

/* ---- the acts; each returns the result of the call, -1: it failed ---- */

static int do_access(void) { return access("a", R_OK); }
static int do_open(void) { return open("a", O_RDONLY); }
static int do_read(void) { return pread(fd, b, 1, 0); }
static int do_exec(void) { return execl("/bin/true", "true", NULL); }
static int do_create(void) { return open("new", O_CREAT | O_RDWR, 0600); }
static int do_mkdir(void) { return mkdir("d1", 0700); }
static int do_mknod(void) { return mknod("p1", S_IFIFO | 0600, 0); }
static int do_symlink(void) { return symlink("a", "l1"); }
static int do_link(void) { return link("a", "b1"); }
static int do_unlink(void) { return unlink("b"); }
static int do_rmdir(void) { return rmdir("d"); }
static int do_rename(void) { return rename("p", "q"); }
static int do_stat(void)
{
	struct stat s;

	return stat("a", &s);
}
static int do_chmod(void) { return chmod("a", 0644); }
static int do_readlink(void) { return readlink("l", b, sizeof(b)); }
static int do_setxattr(void) { return setxattr("a", "trusted.x", "1", 1, 0); }
static int do_getxattr(void) { return getxattr("a", "trusted.x", b, sizeof(b)); }
static int do_listxattr(void) { return listxattr("a", b, sizeof(b)); }
static int do_removexattr(void) { return removexattr("a", "trusted.x"); }
static int do_mmap(void) { return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0; }
static int do_mprotect(void) { return mprotect(map, 4096, PROT_READ); }
static int do_ioctl(void)
{
	int n;

	return ioctl(fd, FIONREAD, &n);
}
static int do_fcntl(void) { return fcntl(fd, F_SETFL, O_APPEND); }
static int do_flock(void) { return flock(fd, LOCK_EX); }
static int do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}
static int do_kill(void) { return kill(getpid(), 0); }
static int do_look(void)
{
	struct iovec local = {b, 1}, remote = {(void *)8, 1};

	/* it cannot be read, but the check is made first */
	return process_vm_readv(other, &local, 1, &remote, 1, 0) < 0 && errno == EPERM ? -1 : 0;
}
static int do_sched(void)
{
	struct sched_param p = {0};

	return sched_setscheduler(0, SCHED_OTHER, &p);
}
static int do_setpgid(void) { return setpgid(0, 0); }
static int do_setuid(void) { return syscall(SYS_setresuid, -1, -1, 1); }
static int do_setgid(void) { return syscall(SYS_setresgid, -1, -1, 1); }
static int do_socket(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static int do_bind(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	return bind(do_socket(), (void *)&any, sizeof(any));
}
static int do_connect(void) { return connect(do_socket(), (void *)&address, sizeof(address)); }
static int do_listen(void) { return listen(listener, 16); }
static int do_accept(void) { return accept4(listener, NULL, NULL, SOCK_NONBLOCK); }
static int do_send(void) { return send(client, "x", 1, 0); }
static int do_receive(void) { return recv(server, b, 1, MSG_DONTWAIT); }
static int do_setsockopt(void)
{
	int on = 1;

	return setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}
static int do_mount(void) { return mount("none", "m1", "tmpfs", 0, NULL); }
static int do_umount(void) { return umount("m"); }
static int do_statfs(void)
{
	struct statfs f;

	return statfs("a", &f);
}
/* The file is not a module, but the check is made first. */
static int do_module(void) { return syscall(SYS_finit_module, program, "", 0) < 0 && errno == EPERM ? -1 : 0; }
/* The time zone as it is. */
static int do_settime(void)
{
	struct timezone zone;
	struct timeval now;

	gettimeofday(&now, &zone);
	return settimeofday(NULL, &zone);
}
static int do_syslog(void) { return klogctl(10, NULL, 0); }
static int do_msgsnd(void)
{
	struct {
		long type;
		char text[8];
	} m = {1, "x"};

	return msgsnd(queue, &m, 1, 0);
}
static int do_semop(void)
{
	struct sembuf up = {0, 1, 0};

	return semop(sem, &up, 1);
}
static int do_shmat(void) { return shmat(shm, NULL, 0) == (void *)-1 ? -1 : 0; }
/* no such command, but the check is made first */
static int do_bpf(void)
{
	union bpf_attr attr = {.start_id = 0};

	return syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) < 0 && errno == EPERM ? -1 : 0;
}
static int do_perf(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

/* the name of the check, the hook of the security modules */
static const struct act {
	const char *check, *hook;
	int (*act)(void);
} acts[] = {
    {"vnode_check_access", "inode_permission", do_access},
    {"vnode_check_open", "file_open", do_open},
    {"vnode_check_rdwr", "file_permission", do_read},
    {"vnode_check_create", "inode_create", do_create},
    {"vnode_check_mkdir", "inode_mkdir", do_mkdir},
    {"vnode_check_mknod", "inode_mknod", do_mknod},
    {"vnode_check_symlink", "inode_symlink", do_symlink},
    {"vnode_check_link", "inode_link", do_link},
    {"vnode_check_unlink", "inode_unlink", do_unlink},
    {"vnode_check_rmdir", "inode_rmdir", do_rmdir},
    {"vnode_check_rename_from", "inode_rename", do_rename},
    {"vnode_check_stat", "inode_getattr", do_stat},
    {"vnode_check_setattr", "inode_setattr", do_chmod},
    {"vnode_check_readlink", "inode_readlink", do_readlink},
    {"vnode_check_setextattr", "inode_setxattr", do_setxattr},
    {"vnode_check_getextattr", "inode_getxattr", do_getxattr},
    {"vnode_check_listextattr", "inode_listxattr", do_listxattr},
    {"vnode_check_deleteextattr", "inode_removexattr", do_removexattr},
    {"vnode_check_mmap", "mmap_file", do_mmap},
    {"vnode_check_mprotect", "file_mprotect", do_mprotect},
    {"file_check_ioctl", "file_ioctl", do_ioctl},
    {"file_check_fcntl", "file_fcntl", do_fcntl},
    {"file_check_lock", "file_lock", do_flock},
    {"proc_check_fork", "task_alloc", do_fork},
    {"proc_check_signal", "task_kill", do_kill},
    {"proc_check_debug", "ptrace_access_check", do_look},
    {"proc_check_sched", "task_setscheduler", do_sched},
    {"proc_check_setpgid", "task_setpgid", do_setpgid},
    {"cred_check_setuid", "task_fix_setuid", do_setuid},
    {"cred_check_setgid", "task_fix_setgid", do_setgid},
    {"socket_check_create", "socket_create", do_socket},
    {"socket_check_setsockopt", "socket_setsockopt", do_setsockopt},
    {"socket_check_bind", "socket_bind", do_bind},
    {"socket_check_connect", "socket_connect", do_connect},
    {"socket_check_listen", "socket_listen", do_listen},
    {"socket_check_accept", "socket_accept", do_accept},
    {"socket_check_send", "socket_sendmsg", do_send},
    {"socket_check_receive", "socket_recvmsg", do_receive},
    {"mount_check_mount", "sb_mount", do_mount},
    {"mount_check_unmount", "sb_umount", do_umount},
    {"mount_check_stat", "sb_statfs", do_statfs},
    {"kld_check_load", "kernel_read_file", do_module},
    {"system_check_settime", "settime", do_settime},
    {"system_check_syslog", "syslog", do_syslog},
    {"sysvmsq_check_msqsnd", "msg_queue_msgsnd", do_msgsnd},
    {"sysvsem_check_semop", "sem_semop", do_semop},
    {"sysvshm_check_shmat", "shm_shmat", do_shmat},
    {"perf_event_check_open", "perf_event_open", do_perf},
    {"bpf_check", "bpf", do_bpf},
    {"vnode_check_exec", "bprm_check_security", do_exec}, /* the last one: it may succeed */
};

/* ---- refusing ---- */

/* return bpf_get_current_pid_tgid() >> 32 == pid ? -EPERM : 0. The descriptor is also that of the
 * attachment. */
static int deny(const struct btf *btf, const char *hook)
{
	struct bpf_insn code[] = {
	    {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
	    {.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = 0, .imm = 32},
	    {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 2, .imm = getpid()},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = -EPERM},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_LSM_MAC);
	char name[100];
	int prog, link, id;

	snprintf(name, sizeof(name), "bpf_lsm_%s", hook);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	if (id < 0)
		return -1;
	opts.attach_btf_id = id;
	prog = bpf_prog_load(BPF_PROG_TYPE_LSM, "deny", "GPL", code, sizeof(code) / sizeof(*code), &opts);
	if (prog < 0)
		return -1;
	link = bpf_raw_tracepoint_open(NULL, prog);
	close(prog);
	return link;
}

/* What the acts need, before anything is refused. */
static void prepare(void)
{
	socklen_t n = sizeof(address);

	fd = open("a", O_CREAT | O_RDWR, 0600);
	if (write(fd, "hello", 5) != 5)
		exit(2);
	program = open("/bin/true", O_RDONLY);
	mkdir("m", 0700), mkdir("m1", 0700);
	if (mount("none", "m", "tmpfs", 0, NULL) < 0)
		exit(2);
	mkdir("d", 0700), symlink("a", "l"), link("a", "b"), mknod("p", S_IFIFO | 0600, 0);
	setxattr("a", "trusted.x", "1", 1, 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(listener, (void *)&address, n);
	listen(listener, 16);
	getsockname(listener, (void *)&address, &n);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(client, (void *)&address, n) < 0)
		exit(2);
	server = accept(listener, NULL, NULL);
	sem = semget(IPC_PRIVATE, 1, 0600);
	queue = msgget(IPC_PRIVATE, 0600);
	shm = shmget(IPC_PRIVATE, 4096, 0600);
}

/* For both allowed and refused checks. */
static void clean(void)
{
	static const char *const files[] = {"a", "b", "b1", "l", "l1", "p", "p1", "q", "new"}, *const dirs[] = {"m", "m1", "d", "d1"};

	umount("m"), umount("m1");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(files[i]);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		rmdir(dirs[i]);
	semctl(sem, 0, IPC_RMID), msgctl(queue, IPC_RMID, NULL), shmctl(shm, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
	bool no = argc > 3;
	struct btf *btf = no ? btf__load_vmlinux_btf() : NULL;
	int link = -1;

	if (argc < 3 || chdir(argv[1]) < 0 || (no && !btf))
		return 2;
	other = atoi(argv[2]);
	prepare();
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		if (acts[i].act == do_exec)
			clean();
		if (no && (link = deny(btf, acts[i].hook)) < 0) {
			printf("cannot deny %s: %s\n", acts[i].check, strerror(errno));
			continue;
		}
		errno = 0;
		if (acts[i].act() < 0 && errno == EPERM && no)
			printf("denied %s\n", acts[i].check);
		if (no)
			close(link);
	}
	return 0;
}
