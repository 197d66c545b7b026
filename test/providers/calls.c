/*
 * calls: makes each system call of the provider audit once, with invalid arguments, so that it has
 * no effect; or with valid ones where that is not possible.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define C(call) SYS_##call

static const int wrong[] = {
#ifdef SYS_open /* older ones: newer CPUs do not have them */
    C(access),
    C(arch_prctl),
    C(chmod),
    C(chown),
    C(creat),
    C(dup2),
    C(lchown),
    C(link),
    C(lstat),
    C(mkdir),
    C(mknod),
    C(open),
    C(pipe),
    C(readlink),
    C(rename),
    C(rmdir),
    C(stat),
    C(symlink),
    C(unlink),
    C(utimes),
#endif
    C(openat),
    C(openat2),
    C(close),
    C(linkat),
    C(unlinkat),
    C(renameat),
    C(renameat2),
    C(symlinkat),
    C(readlinkat),
    C(mkdirat),
    C(mknodat),
    C(fchmod),
    C(fchmodat),
    C(fchown),
    C(fchownat),
    C(truncate),
    C(ftruncate),
    C(faccessat),
    C(faccessat2),
    C(fstat),
    C(newfstatat),
    C(statx),
    C(statfs),
    C(utimensat),
    C(setxattr),
    C(getxattr),
    C(removexattr),
    C(flock),
    C(fcntl),
    C(ioctl),
    C(mmap),
    C(munmap),
    C(mprotect),
    C(chdir),
    C(fchdir),
    C(chroot),
    C(mount),
    C(umount2),
    C(quotactl),
    C(ptrace),
    C(setpriority),
    C(setrlimit),
    C(setpgid),
    C(setsid),
    C(setuid),
    C(setgid),
    C(setreuid),
    C(setregid),
    C(setresuid),
    C(setresgid),
    C(setgroups),
    C(landlock_restrict_self),
    C(socket),
    C(socketpair),
    C(bind),
    C(listen),
    C(accept),
    C(accept4),
    C(connect),
    C(sendto),
    C(recvfrom),
    C(sendmsg),
    C(recvmsg),
    C(shutdown),
    C(setsockopt),
    C(shmget),
    C(shmat),
    C(shmctl),
    C(semget),
    C(semop),
    C(semctl),
    C(msgsnd),
    C(msgrcv),
    C(msgctl),
    C(reboot),
    C(settimeofday),
    C(clock_settime),
    C(adjtimex),
    C(clock_adjtime),
    C(init_module),
    C(finit_module),
    C(delete_module),
    C(swapon),
    C(swapoff),
    C(acct),
};

int main(void)
{
	pid_t p;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		syscall(wrong[i], -1L, -1L, -1L, -1L, -1L, -1L);
	syscall(SYS_kill, 0x3fffffff, 0);
	syscall(SYS_tkill, 0x3fffffff, 0);
	syscall(SYS_tgkill, 0x3fffffff, 0x3fffffff, 0);
	syscall(SYS_msgget, 0x7e57, 0);
	syscall(SYS_execve, -1L, -1L, -1L);
	syscall(SYS_execveat, -1L, -1L, -1L, -1L, 0);
	syscall(SYS_clone, -1L, 0, 0, 0, 0);
	syscall(SYS_clone3, -1L, -1L);
#ifdef SYS_fork
	p = (pid_t)syscall(SYS_fork);
#else
	p = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (p == 0)
		_exit(0);
	syscall(SYS_wait4, p, NULL, 0, NULL);
	p = vfork();
	if (p == 0)
		_exit(0);
	waitpid(p, NULL, 0);
	return 0;
}
