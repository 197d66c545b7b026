/*
 * facts: data about one process from /proc or a pidfd.
 *
 * How a process ended is in principle known only to its parent; but a zombie shows it in
 * /proc/PID/stat and, since Linux 6.15, a pidfd that was opened before keeps it. On older kernels
 * it is lost if the parent reaps the process first.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/hold.h"

#define PF_KTHREAD 0x00200000 /* field flags of /proc/PID/stat */

/* linux/pidfd.h of 6.15. */
#define DT_PIDFD_INFO_EXIT (1ull << 3)
struct dt_pidfd_info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define DT_PIDFD_GET_INFO _IOWR(0xff, 11, struct dt_pidfd_info)

int dt_proc_pidfd(long pid)
{
	return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

/* A small file of /proc/PID, NUL-terminated. */
static bool read_file(long pid, const char *name, char *to, size_t n)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, to, n - 1);
	close(fd);
	to[got > 0 ? got : 0] = 0;
	return got > 0;
}

long dt_proc_status(long pid, const char *word)
{
	char text[4096], *p;

	if (!read_file(pid, "status", text, sizeof(text)))
		return -1;
	/* at the start of a line: the name of the program, in the first one, may hold anything */
	for (p = strchr(text, '\n'); p; p = strchr(p + 1, '\n'))
		if (strncmp(p + 1, word, strlen(word)) == 0)
			return strtol(p + 1 + strlen(word), NULL, 10);
	return -1;
}

/* A set of signals. */
static uint64_t signals(const char *status, const char *word)
{
	const char *at = strstr(status, word);

	return at ? strtoull(at + strlen(word), NULL, 16) : 0;
}

bool dt_proc_awaits_signal(pid_t tid)
{
	char text[4096];

	if (!read_file(tid, "status", text, sizeof(text)))
		return true;
	return (signals(text, "\nSigPnd:") | signals(text, "\nShdPnd:")) & ~signals(text, "\nSigBlk:");
}

bool dt_proc_owner(long pid, uid_t *uid, uid_t *root)
{
	unsigned long long inside, outside, n, real, acting;
	char text[4096], *p;
	int used;

	if (!read_file(pid, "status", text, sizeof(text)) || !(p = strstr(text, "\nUid:")) ||
	    sscanf(p + 1, "Uid: %llu %llu", &real, &acting) != 2)
		return false;
	*uid = (uid_t)acting;
	*root = 0;
	if (!read_file(pid, "uid_map", text, sizeof(text)))
		return true;
	for (p = text; sscanf(p, "%llu %llu %llu%n", &inside, &outside, &n, &used) == 3; p += used)
		if (inside == 0 && n > 0)
			*root = (uid_t)outside;
	return true;
}

bool dt_proc_stat(long pid, char *state, int field, uint64_t *value)
{
	char text[2048], *p;

	/* the name of the program is in parentheses and may hold anything */
	if (!read_file(pid, "stat", text, sizeof(text)) || !(p = strrchr(text, ')')) || p[1] != ' ')
		return false;
	p += 2;
	*state = *p;
	for (int i = 3; i < field && p; i++)
		p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL;
	if (value)
		*value = p ? strtoull(p, NULL, 10) : 0;
	return true;
}

const char *dt_proc_problem(void)
{
	static long fine; /* a process for which there was none */
	long own = getpid();
	char self[32];
	ssize_t n;

	if (__atomic_load_n(&fine, __ATOMIC_RELAXED) == own)
		return NULL;
	n = readlink("/proc/self", self, sizeof(self) - 1);
	if (n < 0)
		return "/proc is not mounted";
	self[n] = 0;
	if (strtol(self, NULL, 10) != own)
		return "/proc is that of another pid namespace";
	__atomic_store_n(&fine, own, __ATOMIC_RELAXED);
	return NULL;
}

bool dt_proc_is_kernel(long pid)
{
	uint64_t flags;
	char state;

	return dt_proc_stat(pid, &state, 9, &flags) && flags & PF_KTHREAD;
}

void dt_proc_status_text(int status, char *to, size_t n)
{
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

	if (name)
		snprintf(to, n, "terminated by SIG%s", name);
	else if (WIFSIGNALED(status))
		snprintf(to, n, "terminated by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(to, n, "exited with status %d", WEXITSTATUS(status));
	else
		snprintf(to, n, "has exited");
}

bool dt_proc_exit_status(long pid, int pidfd, int *status)
{
	struct dt_pidfd_info info = {.mask = DT_PIDFD_INFO_EXIT};
	uint64_t code;
	char state;

	/* The data was that of this process if it still exists afterwards: signal 0 can be sent to
	 * a zombie. */
	if (dt_proc_stat(pid, &state, 52, &code) && state == 'Z' &&
	    syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0) {
		*status = (int)code;
		return true;
	}
	if (ioctl(pidfd, DT_PIDFD_GET_INFO, &info) < 0 || !(info.mask & DT_PIDFD_INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}
