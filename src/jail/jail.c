/*
 * jail: the tracer's side. See jail.h.
 *
 * Nothing here waits for a helper forever: while waiting it checks for an interrupt, the CPU time
 * of the helper and the clock. A helper that died before it got a request (it was killed) is
 * replaced without blaming a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "jail/inside.h"

#define LOOK_MS 97  /* between checks for an interrupt */
#define END_MS	200 /* for it to end; one that waits for a disk that does not answer ends later */
#define PIECE	DT_MB(1)  /* of an answer, the first; each later one is as large as all before */
#define BUFFER	(1 << 20) /* of the socket, if we may */
#define TRIES	2	  /* of a helper that was killed while it had nothing to do */

struct dt_jail {
	const dt_stop *stop;
	dt_progress *progress;
	pid_t pid;  /* 0: no helper */
	int pidfd;  /* so that no other process is killed instead; -1: none */
	int socket; /* -1: no helper */
	bool greeted;
	bool opens;    /* its helpers may open files */
	bool refused;  /* the user knows that one could not be started */
	char *broken;  /* why there can be no helper */
	dt_map *known; /* file and question -> dt_buf, the answer */
	dt_map *bad;   /* files that are not read again */
	DT_VEC(pid_t) leaving; /* helpers that were ended and have not ended yet */
	DT_VEC(char *) problems;
	uint32_t told, deaths;
};

/* How a wait or a transfer ended. */
enum outcome { DONE, DIED, ABANDONED, TOO_LONG };

dt_jail *dt_jail_new(const dt_stop *stop, dt_progress *progress)
{
	dt_jail *j = dt_xcalloc(1, sizeof(*j));

	j->stop = stop;
	j->progress = progress;
	j->socket = j->pidfd = -1;
	j->bad = dt_map_new();
	j->known = dt_map_new();
	return j;
}

dt_jail *dt_jail_like(const dt_jail *j)
{
	return dt_jail_new(j->stop, j->progress);
}

static void forget_answers(dt_jail *j)
{
	uint32_t it = 0;
	void *value;

	while (dt_map_next(j->known, &it, NULL, &value)) {
		dt_buf_free(value);
		free(value);
	}
}

/* None stays as a zombie, also if it took longer to end than we waited: on a busy machine, or with a
 * second interrupt. */
static void reap(dt_jail *j)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < j->leaving.n; i++)
		if (waitpid(j->leaving.v[i], NULL, WNOHANG) == 0)
			j->leaving.v[left++] = j->leaving.v[i];
	j->leaving.n = left;
}

static void end_helper(dt_jail *j)
{
	if (!j->pid)
		return;
	close(j->socket); /* it ends by that as well */
	if (j->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0);
		poll(&(struct pollfd){.fd = j->pidfd, .events = POLLIN}, 1, END_MS);
		close(j->pidfd);
	}
	*dt_vec_add(&j->leaving, NULL) = j->pid;
	reap(j);
	j->socket = j->pidfd = -1;
	j->pid = 0;
}

void dt_jail_let_open(dt_jail *j)
{
	end_helper(j);
	j->opens = true;
}

void dt_jail_free(dt_jail *j)
{
	if (!j)
		return;
	end_helper(j);
	reap(j);
	dt_vec_free(&j->leaving);
	for (uint32_t i = 0; i < j->problems.n; i++)
		free(j->problems.v[i]);
	dt_vec_free(&j->problems);
	dt_map_free(j->bad);
	forget_answers(j);
	dt_map_free(j->known);
	free(j->broken);
	free(j);
}

/* ---- start ---- */

static int start(dt_jail *j, dt_error *err)
{
	pid_t tracer = getpid();
	int ends[2];

	if (j->pid)
		return 0;
	reap(j);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return dt_err(err, errno, "a process that reads files cannot be started: %s",
			      strerror(errno));
	/* Fewer turns for large answers. Others than root have what is usual. */
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &(int){BUFFER}, sizeof(int));
	j->pid = fork();
	if (j->pid == 0)
		dt_jail_inside(ends[1], tracer, j->opens);
	close(ends[1]);
	if (j->pid < 0) {
		close(ends[0]);
		j->pid = 0;
		return dt_err(err, errno, "a process that reads files cannot be started: %s",
			      strerror(errno));
	}
	j->pidfd = (int)syscall(SYS_pidfd_open, j->pid, 0);
	j->socket = ends[0];
	j->greeted = false;
	return 0;
}

void dt_jail_prepare(dt_jail *j)
{
	dt_error ignored;

	if (!j->broken)
		start(j, &ignored);
}

/* ---- transfer ---- */

struct patience {
	uint32_t seconds;    /* of CPU time */
	uint64_t begin, cpu; /* when we began to wait, and what the helper had used soon after */
	clockid_t clock;
	bool has_clock;
};

static uint64_t cpu_time(const struct patience *p)
{
	struct timespec t;

	return clock_gettime(p->clock, &t) < 0
		   ? 0
		   : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Has it worked, or have we waited, for too long? Checked only after the first LOOK_MS: most
 * answers arrive before. */
static bool is_over(const dt_jail *j, struct patience *p)
{
	if (!p->begin) {
		p->begin = dt_now();
		p->has_clock = clock_getcpuclockid(j->pid, &p->clock) == 0;
		p->cpu = p->has_clock ? cpu_time(p) : 0;
		return false;
	}
	if (p->has_clock && cpu_time(p) > p->cpu + p->seconds * 1000000000ull)
		return true;
	return dt_now() - p->begin > DT_MAX_READER_WAIT * 1000000000ull;
}

/* Until the socket is ready. */
static enum outcome await(dt_jail *j, short events, struct patience *p)
{
	struct pollfd fd = {.fd = j->socket, .events = events};

	for (;;) {
		int n = dt_stopped(j->stop) ? -1 : poll(&fd, 1, LOOK_MS);

		if (dt_stopped(j->stop))
			return ABANDONED;
		if (n > 0)
			return DONE;
		if (n == 0 && is_over(j, p))
			return TOO_LONG;
	}
}

/* After recv() or sendmsg(), which returned `got`: DONE to go on, having waited if need be. */
static enum outcome go_on(dt_jail *j, ssize_t got, size_t *done, short events, struct patience *p)
{
	if (got > 0)
		*done += (size_t)got;
	else if (got < 0 && errno == EAGAIN)
		return await(j, events, p);
	else if (got == 0 || errno != EINTR)
		return DIED;
	return DONE;
}

static enum outcome take(dt_jail *j, void *to, size_t n, struct patience *p)
{
	enum outcome o = DONE;

	for (size_t done = 0; done < n && o == DONE;) {
		ssize_t got = recv(j->socket, (char *)to + done, n - done, MSG_DONTWAIT);

		o = go_on(j, got, &done, POLLIN, p);
	}
	return o;
}

/* nfds files go with the first byte. */
static enum outcome give(dt_jail *j, const void *from, size_t n, const int *fds, uint32_t nfds,
			 struct patience *p)
{
	union {
		char space[CMSG_SPACE(DT_JAIL_FILES * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	enum outcome o = DONE;

	for (size_t done = 0; done < n && o == DONE;) {
		struct iovec io = {(char *)from + done, n - done};
		struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
		struct cmsghdr *c;
		ssize_t got;

		if (done == 0 && nfds) {
			m.msg_control = &control;
			m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
			c = CMSG_FIRSTHDR(&m);
			*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS,
					      .cmsg_len = CMSG_LEN(nfds * sizeof(int))};
			memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
		}
		got = sendmsg(j->socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		o = go_on(j, got, &done, POLLOUT, p);
	}
	return o;
}

/* The answer's memory grows with what has arrived, not with what was announced. */
static enum outcome take_answer(dt_jail *j, dt_buf *answer, struct patience *p)
{
	struct dt_jail_reply r;
	enum outcome o = take(j, &r, sizeof(r), p);

	if (o != DONE)
		return o;
	if (r.size > DT_MAX_READER_ANSWER)
		return DIED;
	while (answer->n < r.size && o == DONE) {
		size_t left = r.size - answer->n, n = answer->n + PIECE;

		n = left < n ? left : n;
		if (answer->cap - answer->n <= n) {
			answer->cap = answer->n + n + 1;
			answer->s = dt_xrealloc(answer->s, answer->cap);
		}
		if ((o = take(j, answer->s + answer->n, n, p)) == DONE)
			answer->n += n;
	}
	if (answer->s)
		answer->s[answer->n] = 0;
	if (o == DONE && r.last)
		end_helper(j);
	return o;
}

/* ---- questions ---- */

/* The identity of the file, whatever its owner does to it: a new file may get the inode of one that
 * is gone, but not the time of its birth. */
static char *key_of(const struct dt_question *q)
{
	struct statx st;

	if (q->nfds == 0 || statx(q->fd[0], "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) < 0)
		return NULL;
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime = (struct statx_timestamp){0};
	return dt_xasprintf("%x:%x:%llx:%llx.%x", st.stx_dev_major, st.stx_dev_minor,
			    (unsigned long long)st.stx_ino, (unsigned long long)st.stx_btime.tv_sec,
			    st.stx_btime.tv_nsec);
}

static void tell(dt_jail *j, const char *text)
{
	if (j->problems.n < DT_MAX_FILE_NOTES)
		*dt_vec_add(&j->problems, NULL) = dt_xstrdup(text);
}

static int blame(dt_jail *j, const char *what, const struct dt_question *q, const char *why,
		 dt_error *err)
{
	char *key = q->unblamed ? NULL : key_of(q);

	end_helper(j);
	j->deaths++;
	if (key && dt_map_count(j->bad) >= DT_MAX_BAD_FILES) { /* too many: start again */
		dt_map_free(j->bad);
		j->bad = dt_map_new();
	}
	if (key)
		dt_map_set(j->bad, key, j);
	free(key);
	dt_err(err, ECANCELED, "%s are not available: its reader %s", what, why);
	if (!q->unblamed)
		tell(j, err->text);
	return -1;
}

/* Is the helper confined? It says so once, before its first answer. */
static enum outcome greet(dt_jail *j, struct patience *p)
{
	struct dt_jail_hello hello;
	enum outcome o = j->greeted ? DONE : take(j, &hello, sizeof(hello), p);

	if (o != DONE || j->greeted)
		return o;
	j->greeted = true;
	if (hello.error) {
		hello.step[sizeof(hello.step) - 1] = 0;
		j->broken =
		    dt_xasprintf("files of programs are not read: their reader cannot give up "
				 "its privilege (%s: %s)",
				 hello.step, strerror(hello.error));
		tell(j, j->broken);
		end_helper(j);
	}
	return DONE;
}

/* *asked: it has the request, which is blamed if it dies. */
static enum outcome exchange(dt_jail *j, dt_jail_work *work, const struct dt_question *q,
			     dt_buf *answer, bool *asked)
{
	struct dt_jail_head h = {.work = work, .size = q->size, .nfds = q->nfds};
	struct patience p = {.seconds = q->seconds ? q->seconds : DT_MAX_READER_CPU};
	enum outcome o = greet(j, &p);

	if (o != DONE || j->broken)
		return o;
	o = give(j, &h, sizeof(h), q->fd, q->nfds, &p);
	if (o == DONE)
		o = give(j, q->data, q->size, NULL, 0, &p);
	*asked = o == DONE;
	return o == DONE ? take_answer(j, answer, &p) : o;
}

/* ---- answers that are given again ---- */

/* Several parts of the program ask about the same file, one after the other. */
static char *key_of_answer(dt_jail_work *work, const struct dt_question *q)
{
	struct stat st;

	if (!q->lasting || q->nfds != 1 || q->size || fstat(q->fd[0], &st) < 0)
		return NULL;
	return dt_xasprintf("%p:%llx:%llx:%llx:%llx.%lx:%llx.%lx", (void *)(uintptr_t)work,
			    (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			    (unsigned long long)st.st_size, (unsigned long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec, (unsigned long long)st.st_ctim.tv_sec,
			    st.st_ctim.tv_nsec);
}

static bool is_known(const dt_jail *j, const char *key, dt_buf *answer)
{
	const dt_buf *known = key ? dt_map_get(j->known, key) : NULL;

	if (known)
		dt_buf_add(answer, known->s, known->n);
	return known;
}

static void remember(dt_jail *j, const char *key, const dt_buf *answer)
{
	dt_buf *copy;

	if (!key || answer->n > DT_MAX_KNOWN_ANSWER)
		return;
	if (dt_map_count(j->known) >= DT_MAX_KNOWN_ANSWERS) {
		forget_answers(j);
		dt_map_free(j->known);
		j->known = dt_map_new();
	}
	copy = dt_xcalloc(1, sizeof(*copy));
	dt_buf_add(copy, answer->s, answer->n);
	dt_map_set(j->known, key, copy);
}

static int refuse_bad(dt_jail *j, const char *what, const struct dt_question *q, dt_error *err)
{
	char *key = dt_map_count(j->bad) && !q->unblamed ? key_of(q) : NULL;
	bool bad = key && dt_map_get(j->bad, key);

	free(key);
	return bad ? dt_err(err, ECANCELED, "%s are not available: its reader died", what) : 0;
}

static int ask_helper(dt_jail *j, const char *what, dt_jail_work *work, const struct dt_question *q,
		      dt_buf *answer, dt_error *err)
{
	enum outcome o = DIED;
	bool asked = false;

	for (int i = 0; i < TRIES && o == DIED && !asked && !j->broken; i++) {
		if (start(j, err) < 0) {
			if (!j->refused)
				tell(j, err->text);
			j->refused = true;
			return -1;
		}
		o = exchange(j, work, q, answer, &asked);
		if (o == DIED && !asked)
			end_helper(j);
	}
	if (j->broken)
		return dt_err(err, EPERM, "%s", j->broken);
	if (o == DONE)
		return 0;
	dt_buf_reset(answer);
	if (o == ABANDONED) {
		end_helper(j);
		return dt_err(err, EINTR, NULL);
	}
	return blame(j, what, q, o == TOO_LONG ? "took too long" : "died", err);
}

int dt_jail_ask(dt_jail *j, const char *what, dt_jail_work *work, const struct dt_question *q,
		dt_buf *answer, dt_error *err)
{
	struct dt_step outer;
	dt_error own;
	char *key;
	int rc = 0;

	err = err ? err : &own;
	dt_buf_reset(answer);
	if (dt_stopped(j->stop))
		return dt_err(err, EINTR, NULL);
	if (refuse_bad(j, what, q, err) < 0)
		return -1;
	key = key_of_answer(work, q);
	outer = dt_progress_begin(j->progress, 0, "reading %s", what);
	if (!is_known(j, key, answer) && (rc = ask_helper(j, what, work, q, answer, err)) == 0)
		remember(j, key, answer);
	dt_progress_end(j->progress, &outer);
	free(key);
	return rc;
}

int dt_jail_reject(dt_jail *j, const char *what, const struct dt_question *q, dt_error *err)
{
	dt_error own;

	return blame(j, what, q, "gave an invalid answer", err ? err : &own);
}

char *dt_jail_problem(dt_jail *j)
{
	char *text;

	if (!j || j->told >= j->problems.n)
		return NULL;
	text = dt_xstrdup(j->problems.v[j->told++]);
	dt_make_safe(text, strlen(text), false);
	return text;
}

bool dt_jail_stopped(const dt_jail *j)
{
	return j && dt_stopped(j->stop);
}

uint32_t dt_jail_deaths(const dt_jail *j)
{
	return j->deaths;
}

int dt_jail_pid(const dt_jail *j)
{
	return j->pid;
}
