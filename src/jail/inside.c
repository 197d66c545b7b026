/*
 * inside: the helper's side of the jail.
 *
 * It starts as a copy of the tracer and gives up everything that it does not need, in an order in
 * which each step is still allowed. If one fails, it reports that and exits: nothing is read by a
 * process that is not confined. Memory that the tracer shares with the kernel (buffers of events,
 * maps) is unmapped; the rest of the copy stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "jail/inside.h"

#define SOCKET	   0
#define FEW_FILES  (DT_JAIL_FILES + 5) /* the socket, the files of a question, and some that are about to be closed */
#define FIRST_FREE 1
#define KEPT	   (32 << 20)
#define AT_HAND	   (1 << 20)
#define PAGE	   4096u

#if defined(__SANITIZE_ADDRESS__)
#define UNLIMITED_MEMORY true /* its shadow is terabytes */
#else
#define UNLIMITED_MEMORY false
#endif

/* ---- giving up ---- */

/* *size: of the memory that is left. */
static int unmap_shared(uint64_t *size)
{
	size_t n;
	char *maps = dt_slurp(AT_FDCWD, "/proc/self/maps", &n), *next;

	*size = 0;
	if (!maps)
		return -1;
	for (char *line = maps; *line; line = next) {
		unsigned long start, end;
		char rights[5] = "";

		next = line + strcspn(line, "\n");
		next += *next != 0;
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3)
			continue;
		if (rights[3] != 's')
			*size += end - start;
		else if (munmap((void *)start, end - start) < 0)
			break;
	}
	free(maps);
	return 0;
}

/* Memory that one answer needed is kept for the next, and some is allocated in advance for the
 * first: faults for single pages would cost as much as reading a file. */
static void get_memory(void)
{
	void *some;

	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_TOP_PAD, AT_HAND);
	if ((some = malloc(AT_HAND)))
		madvise((void *)dt_align_up((uintptr_t)some, PAGE), AT_HAND - PAGE,
			MADV_POPULATE_WRITE);
	free(some);
}

/* If memory is short, a helper is killed first. */
static void be_expendable(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0) { /* a wish only */
	}
	if (fd >= 0)
		close(fd);
}

static int limit(int what, uint64_t n)
{
	struct rlimit l;

	if (getrlimit((__rlimit_resource_t)what, &l) < 0)
		return -1;
	if (n > l.rlim_max)
		n = l.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &(struct rlimit){n, n});
}

static int set_limits(uint64_t memory)
{
	if (!UNLIMITED_MEMORY && limit(RLIMIT_AS, memory + DT_MAX_READER_MEMORY) < 0)
		return -1;
	if (limit(RLIMIT_CPU, DT_MAX_READER_LIFE) < 0 || limit(RLIMIT_FSIZE, 0) < 0 ||
	    limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NPROC, 0) < 0 ||
	    limit(RLIMIT_NOFILE, FEW_FILES) < 0 || limit(RLIMIT_MEMLOCK, 0) < 0)
		return -1;
	return 0;
}

/* A namespace may have no other user; without capabilities root has no more rights than another
 * user here, since nothing can be opened. */
static int drop_privilege(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (geteuid() == 0)
		dt_become_stranger();
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -1;
	if (syscall(SYS_capset, &head, none) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* A change of user clears the first two, so they come after it. */
static int end_with(pid_t tracer)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return -1;
	if (getppid() != tracer)
		_exit(0); /* it is gone already */
	return 0;
}

/* Ignore signals for the tracer's process group. */
static int be_alone(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || prctl(PR_SET_NAME, "dtrace-read") < 0)
		return -1;
	return setsid() < 0 ? -1 : chdir("/");
}

static int keep_only(int socket)
{
	if (socket != SOCKET && dup2(socket, SOCKET) < 0)
		return -1;
	return (int)syscall(SYS_close_range, FIRST_FREE, ~0u, 0);
}

/* Returns the step that failed, or NULL. From then on the socket is descriptor SOCKET. */
static const char *confine(int *socket, pid_t tracer, bool opens)
{
	uint64_t memory;

	if (be_alone() < 0)
		return "session";
	be_expendable();
	if (unmap_shared(&memory) < 0)
		return "/proc/self/maps";
	if (keep_only(*socket) < 0)
		return "descriptors";
	*socket = SOCKET;
	if (set_limits(memory) < 0)
		return "limits";
	if (drop_privilege() < 0)
		return "capabilities";
	if (end_with(tracer) < 0)
		return "parent";
	return dt_jail_filter(opens) < 0 ? "seccomp" : NULL;
}

/* ---- questions ---- */

static bool send_all(const void *from, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = send(SOCKET, (const char *)from + done, n - done, MSG_NOSIGNAL);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* In one piece, if it is small: each piece wakes the tracer. */
static bool send_reply(const struct dt_jail_reply *r, const dt_buf *out)
{
	char whole[16384];

	if (sizeof(*r) + out->n > sizeof(whole))
		return send_all(r, sizeof(*r)) && send_all(out->s, out->n);
	memcpy(whole, r, sizeof(*r));
	if (out->n)
		memcpy(whole + sizeof(*r), out->s, out->n);
	return send_all(whole, sizeof(*r) + out->n);
}

/* The head of a question, with its files. */
static bool receive_head(struct dt_jail_head *h, struct dt_question *q)
{
	union {
		char space[CMSG_SPACE(DT_JAIL_FILES * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io = {h, sizeof(*h)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;

	if (recvmsg(SOCKET, &m, MSG_WAITALL) != (ssize_t)sizeof(*h))
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		q->nfds = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(q->fd, CMSG_DATA(c), q->nfds * sizeof(int));
	}
	return q->nfds == h->nfds;
}

static bool receive(void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(SOCKET, (char *)to + done, n - done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool is_old(void)
{
	struct timespec used;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) < 0 ||
	       used.tv_sec >= DT_MAX_READER_LIFE / 2;
}

/* False: there will be no more. */
static bool answer_one(void)
{
	struct dt_question q = {0};
	struct dt_jail_head h;
	struct dt_jail_reply r = {0};
	dt_buf out = {0};
	char *data;
	bool ok;

	if (!receive_head(&h, &q))
		return false;
	data = dt_xmalloc(h.size + 1);
	ok = receive(data, h.size);
	if (ok) {
		q.data = data;
		q.size = h.size;
		h.work(&q, &out);
		r.size = out.n;
		r.last = is_old();
		ok = send_reply(&r, &out) && !r.last;
	}
	for (uint32_t i = 0; i < q.nfds; i++)
		if (q.fd[i] >= 0)
			close(q.fd[i]);
	dt_buf_free(&out);
	free(data);
	return ok;
}

_Noreturn void dt_jail_inside(int socket, pid_t tracer, bool opens)
{
	struct dt_jail_hello hello = {0};
	const char *step = confine(&socket, tracer, opens);

	if (step) {
		hello.error = errno ? errno : EPERM;
		snprintf(hello.step, sizeof(hello.step), "%s", step);
		if (send(socket, &hello, sizeof(hello), MSG_NOSIGNAL) < 0) {
		}
		_exit(1);
	}
	if (send_all(&hello, sizeof(hello))) {
		get_memory();
		while (answer_one())
			;
	}
	_exit(0);
}
