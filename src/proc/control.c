/*
 * control: the set of processes. See control.h.
 *
 * The end of a process is seen through its pidfd, which a reused pid cannot confuse. Everything
 * else that happens to processes comes from the side-band. With option follow, a fork in the set
 * adds the child. The order in dt_procs_poll() makes sure that none is missed: first it checks
 * which processes have ended, then it takes all events, and only then it releases those that had
 * ended, when all their forks have been seen. Where the side-band is not available, or has lost
 * events, /proc is searched for children.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc/hold.h"
#include "proc/mappings.h"

#define STOP_US	     50 /* time for a thread that is leaving the kernel to stop */
#define STOP_TURNS   40
#define STRAGGLER_MS 10	  /* interval for retrying a thread that could not be detached */
#define NO_PIDFD_MS  100  /* ... for checking a process without a descriptor */
#define SCAN_MS	     200  /* ... for searching /proc for children */
#define TERM_MS	     1000 /* time for a command to end before it is killed */

struct dt_procs {
	const dt_options *opts;
	dt_jail *jail;
	dt_proc_say_f *say;
	void *arg;
	DT_VEC(dt_proc *) all;
	bool released; /* tracing is on */
	bool scanned;  /* option follow: existing children have been searched for */
	bool aborted;  /* say() asked to abort */
	bool hurries;  /* others wait while we hold them */
	dt_sideband *sideband;
	struct dt_sideband_listener side; /* ours */
	struct dt_proc_listener *listeners;
	uint64_t lost; /* events of the side-band, at the last check */
	struct dt_watch *watch;
};

dt_procs *dt_procs_new(const dt_options *opts, dt_jail *jail, dt_proc_say_f *say, void *arg)
{
	dt_procs *ps = dt_xcalloc(1, sizeof(*ps));

	ps->opts = opts;
	ps->jail = jail;
	ps->say = say;
	ps->arg = arg;
	return ps;
}

/* "pid 12 " and what follows. */
static void say(dt_procs *ps, const dt_proc *p, const char *fmt, ...) DT_PRINTF(3, 4);
static void say(dt_procs *ps, const dt_proc *p, const char *fmt, ...)
{
	struct dt_proc_news n = {.pid = p->pid};
	char text[256];
	va_list ap;
	int len = snprintf(text, sizeof(text), "pid %ld ", p->pid);

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	n.text = text;
	if (ps->say(ps->arg, &n) < 0)
		ps->aborted = true;
}

static dt_proc *add(dt_procs *ps, long pid, enum dt_proc_origin origin, int pidfd)
{
	dt_proc *p = dt_xcalloc(1, sizeof(*p));

	*p = (dt_proc){.pid = pid, .origin = origin, .state = DT_PROC_RUNNING, .pidfd = pidfd};
	*dt_vec_add(&ps->all, NULL) = p;
	ps->scanned = ps->scanned && origin == DT_PROC_FOLLOWED;
	return p;
}

static void free_proc(dt_proc *p)
{
	dt_hold_free(p->hold);
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}

dt_proc *dt_procs_find(const dt_procs *ps, long pid)
{
	for (uint32_t i = 0; i < ps->all.n; i++)
		if (ps->all.v[i]->pid == pid && ps->all.v[i]->state != DT_PROC_GONE)
			return ps->all.v[i];
	return NULL;
}

dt_proc *dt_procs_nth(const dt_procs *ps, uint32_t i)
{
	return i < ps->all.n ? ps->all.v[i] : NULL;
}

/* ---- before tracing ---- */

static void *refuse(dt_error *err, enum dt_tag tag, int code, const char *text)
{
	dt_err(err, code, "%s", text);
	err->tag = tag;
	return NULL;
}

dt_proc *dt_procs_create(dt_procs *ps, char *const argv[], dt_error *err)
{
	struct dt_hold *hold;
	dt_proc *p;
	int pidfd;

	if (!argv[0] || !argv[0][0])
		return refuse(err, DT_NO_TAG, EINVAL, "no command given");
	hold = dt_hold_create(ps->opts, argv, err);
	if (!hold)
		return NULL;
	pidfd = dt_proc_pidfd(hold->pid);
	if (pidfd < 0) { /* no descriptors left */
		dt_err(err, errno, "%s", strerror(errno));
		kill((pid_t)hold->pid, SIGKILL);
		waitpid((pid_t)hold->pid, NULL, __WALL);
		dt_hold_free(hold);
		return NULL;
	}
	p = add(ps, hold->pid, DT_PROC_CREATED, pidfd);
	p->hold = hold;
	p->state = DT_PROC_HELD;
	if (hold->gate >= 0)
		say(ps, p,
		    "cannot be held after its exec (ptrace is refused): it execs when tracing "
		    "begins");
	return p;
}

/* Why a process is not held: a sentence for the user; NULL: not even /proc may be read. */
static const char *why_not_held(long pid, char *text, size_t n)
{
	long tracer = dt_proc_status(pid, "TracerPid:");
	char maps[64];
	int fd;

	if (dt_proc_is_kernel(pid))
		return "is a kernel thread";
	if (tracer > 0) {
		snprintf(text, n, "is traced by pid %ld", tracer);
		return text;
	}
	snprintf(maps, sizeof(maps), "/proc/%ld/maps", pid);
	fd = open(maps, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	close(fd);
	return "cannot be traced by ptrace";
}

/* Stop it, or report why not. -1 with *err: no permission, or it has ended. */
static int hold_process(dt_procs *ps, dt_proc *p, dt_error *err)
{
	const char *why;
	char text[64];
	int error;

	p->hold = dt_hold_new(p->pid, &error);
	if (p->hold)
		p->state = DT_PROC_HELD;
	if (error == 0)
		return 0;
	why = error == ESRCH ? NULL : why_not_held(p->pid, text, sizeof(text));
	if (why) {
		say(ps, p, "%s: it is not stopped while probes are made", why);
		return 0;
	}
	refuse(err, D_PROC_GRAB, error,
	       error != ESRCH ? strerror(error) : "it has exited (only a zombie is left)");
	return -1;
}

static void release(dt_procs *ps, dt_proc *p)
{
	int error = 0;

	if (!p->hold)
		return;
	if (p->hold->gate >= 0)
		error = dt_hold_open_gate(p->hold);
	if (error)
		say(ps, p, "failed to execute its command: %s", strerror(error));
	if (p->state == DT_PROC_HELD)
		p->state = DT_PROC_RUNNING;
	if (dt_hold_release(p->hold) && !p->hold->ended) {
		dt_hold_free(p->hold);
		p->hold = NULL;
	}
}

/* Is any process held, other than a command that has not started? Tell the watcher. */
static void tell_watch(dt_procs *ps)
{
	bool holds = false;

	for (uint32_t i = 0; i < ps->all.n && ps->watch; i++)
		holds = holds || (ps->all.v[i]->hold && !ps->all.v[i]->hold->ended);
	dt_watch(&ps->watch, holds);
}

void dt_hurry(bool on)
{
	struct sched_param as = {.sched_priority = on ? sched_get_priority_min(SCHED_FIFO) : 0};
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	if (policy == (on ? SCHED_OTHER : SCHED_FIFO))
		sched_setscheduler(0, on ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, &as);
}

static int open_process(long pid, dt_error *err)
{
	int pidfd = dt_proc_pidfd(pid), error = errno;
	long process = pidfd < 0 && error != ESRCH ? dt_proc_status(pid, "Tgid:") : -1;

	if (pidfd >= 0)
		return pidfd;
	if (process > 0 && process != pid) {
		dt_err(err, EINVAL, "it is a thread of process %ld", process);
		err->tag = D_PROC_BADPID;
	} else {
		refuse(err, D_PROC_GRAB, error, strerror(error));
	}
	return -1;
}

/* A number for what code a process has mapped where. */
static uint64_t code_of(long pid)
{
	dt_error ignored = {0};
	dt_maps *maps = dt_maps_code(pid, &ignored);
	uint64_t sum = 0;

	for (uint32_t i = 0; maps && i < maps->n; i++) {
		const dt_mapping *m = &maps->v[i];
		uint64_t words[] = {sum, m->start, m->end, m->offset, m->inode, (uint64_t)m->dev_major << 32 | m->dev_minor};

		sum = dt_hash_bytes(words, sizeof(words));
	}
	dt_maps_free(maps);
	return sum;
}

static dt_proc *grab(dt_procs *ps, long pid, enum dt_proc_origin origin, dt_error *err)
{
	bool held, stands;
	dt_proc *p;
	char state;
	int pidfd;

	if (pid <= 0 || pid > INT32_MAX)
		return refuse(err, D_PROC_BADPID, EINVAL, "not a process id");
	if (pid == getpid())
		return refuse(err, D_PROC_GRAB, EINVAL, "it is dtrace itself");
	if (dt_proc_problem())
		return refuse(err, D_PROC_GRAB, ENOENT, dt_proc_problem());
	pidfd = open_process(pid, err);
	if (pidfd < 0)
		return NULL;
	p = add(ps, pid, origin, pidfd);
	if (ps->released)
		return p;
	stands = dt_proc_stat(pid, &state, 3, NULL) && state == 'T';
	dt_watch(&ps->watch, true);
	dt_hurry(true);
	held = hold_process(ps, p, err) == 0;
	if (held && !stands) /* one that has been stopped by others (-W) stays held instead */
		release(ps, p); /* until all is prepared */
	dt_hurry(false);
	if (held) {
		tell_watch(ps);
		p->code = code_of(pid);
		return p;
	}
	ps->all.n--;
	free_proc(p);
	return NULL;
}

dt_proc *dt_procs_grab(dt_procs *ps, long pid, dt_error *err)
{
	dt_proc *p = dt_procs_find(ps, pid);

	if (p && p->origin == DT_PROC_NAMED)
		p->origin = DT_PROC_GRABBED;
	return p ? p : grab(ps, pid, DT_PROC_GRABBED, err);
}

static void follow_from_now(dt_procs *ps)
{
	if (dt_opt(ps->opts, DT_O_FOLLOW))
		dt_procs_sideband(ps);
}

static int settle(dt_procs *ps, dt_proc *p, dt_error *err)
{
	if (p->state != DT_PROC_HELD || p->origin != DT_PROC_CREATED)
		return 0;
	follow_from_now(ps);
	return dt_hold_settle(p->hold, dt_opt(ps->opts, DT_O_EVALTIME), ps->jail, err);
}

int dt_procs_settle(dt_procs *ps, dt_error *err)
{
	for (uint32_t i = 0; ps->opts->is_set[DT_O_EVALTIME] && i < ps->all.n; i++)
		if (settle(ps, ps->all.v[i], err) < 0)
			return -1;
	return 0;
}

/* ---- following ---- */

static void tell(dt_procs *ps, enum dt_proc_event what, dt_proc *p, const dt_umap *map)
{
	for (struct dt_proc_listener *l = ps->listeners, *next; l; l = next) {
		next = l->next;
		l->event(l->arg, what, p, map);
	}
}

/* Add a child, even one that has ended by now: it may have children. */
static void follow(dt_procs *ps, long pid, long parent)
{
	dt_proc *p = add(ps, pid, DT_PROC_FOLLOWED, dt_proc_pidfd(pid));

	p->parent = parent;
	tell(ps, DT_PROC_FORK, p, NULL);
}

/* Children of the set among all processes, and their children. */
static bool scan_once(dt_procs *ps)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);
		uint64_t parent;
		char state;

		if (!isdigit((unsigned char)entry->d_name[0]) || dt_procs_find(ps, pid) ||
		    !dt_proc_stat(pid, &state, 4, &parent) || state == 'Z' ||
		    !dt_procs_find(ps, (long)parent))
			continue;
		follow(ps, pid, (long)parent);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void scan(dt_procs *ps)
{
	while (scan_once(ps))
		;
}

/* Providers with probes in a followed process need to see the programs of its children. */
dt_proc *dt_procs_need(dt_procs *ps, long pid, dt_error *err)
{
	dt_proc *p = dt_procs_find(ps, pid);

	if (!p)
		p = grab(ps, pid, DT_PROC_NAMED, err);
	else if (settle(ps, p, err) < 0)
		p = NULL;
	if (p && !ps->scanned && !ps->released && dt_opt(ps->opts, DT_O_FOLLOW)) {
		ps->scanned = true;
		scan(ps);
	}
	return p;
}

static void on_event(void *arg, enum dt_sideband_event what, long pid, long parent,
		     const dt_umap *map)
{
	static const enum dt_proc_event same[] = {
	    [DT_SB_MAP] = DT_PROC_MAP, [DT_SB_EXEC] = DT_PROC_EXEC};
	dt_procs *ps = arg;
	dt_proc *p;

	if (what == DT_SB_EXIT)
		return; /* the pidfd reports it */
	if (what == DT_SB_FORK) {
		if (dt_opt(ps->opts, DT_O_FOLLOW) && dt_procs_find(ps, parent) &&
		    !dt_procs_find(ps, pid))
			follow(ps, pid, parent);
		return;
	}
	p = dt_procs_find(ps, pid);
	if (p)
		tell(ps, same[what], p, map);
}

dt_sideband *dt_procs_sideband(dt_procs *ps)
{
	if (!ps->sideband) {
		ps->sideband = dt_sideband_open(ps->jail);
		ps->side = (struct dt_sideband_listener){.arg = ps, .event = on_event};
		dt_sideband_listen(ps->sideband, &ps->side);
	}
	return ps->sideband;
}

dt_jail *dt_procs_jail(const dt_procs *ps)
{
	return ps ? ps->jail : NULL;
}

void dt_procs_listen(dt_procs *ps, struct dt_proc_listener *l)
{
	dt_procs_sideband(ps);
	l->next = ps->listeners;
	ps->listeners = l;
}

void dt_procs_unlisten(dt_procs *ps, struct dt_proc_listener *l)
{
	for (struct dt_proc_listener **at = &ps->listeners; *at; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			return;
		}
}

/* ---- releasing ---- */

bool dt_procs_hold(dt_procs *ps)
{
	bool changed = false;
	int error;

	for (uint32_t i = 0; i < ps->all.n; i++) {
		dt_proc *p = ps->all.v[i];

		if ((p->origin != DT_PROC_GRABBED && p->origin != DT_PROC_NAMED) || p->state != DT_PROC_RUNNING)
			continue;
		dt_watch(&ps->watch, true);
		ps->hurries = true;
		dt_hurry(true);
		if (!p->hold)
			p->hold = dt_hold_new(p->pid, &error); /* why not, it has been said */
		else
			dt_hold_threads(p->hold);
		if (p->hold)
			p->state = DT_PROC_HELD;
		changed = changed || code_of(p->pid) != p->code;
	}
	return changed;
}

bool dt_procs_changed(const dt_procs *ps)
{
	for (uint32_t i = 0; i < ps->all.n; i++) {
		const dt_proc *p = ps->all.v[i];

		if ((p->origin == DT_PROC_GRABBED || p->origin == DT_PROC_NAMED) && p->state != DT_PROC_GONE && code_of(p->pid) != p->code)
			return true;
	}
	return false;
}

bool dt_procs_hold_again(dt_procs *ps, long pid)
{
	dt_proc *p = dt_procs_find(ps, pid);

	if (!p || p->hold || p->state != DT_PROC_RUNNING)
		return false;
	dt_watch(&ps->watch, true);
	p->hold = dt_hold_begin(pid);
	if (p->hold)
		p->state = DT_PROC_HELD;
	return p->hold != NULL;
}

void dt_procs_release(dt_procs *ps)
{
	bool first = !ps->released;

	follow_from_now(ps);
	ps->released = true;
	for (uint32_t i = 0; i < ps->all.n; i++)
		release(ps, ps->all.v[i]);
	/* threads of dt_procs_hold_again() may still be stopping, and would then stay stopped until
	 * the next check */
	for (uint32_t i = 0, n = 0; i < ps->all.n; i++)
		for (; ps->all.v[i]->hold && n < STOP_TURNS; n++) {
			nanosleep(&(struct timespec){.tv_nsec = STOP_US * 1000}, NULL);
			release(ps, ps->all.v[i]);
		}
	if (ps->hurries)
		dt_hurry(false);
	ps->hurries = false;
	tell_watch(ps);
	if (first && dt_opt(ps->opts, DT_O_FOLLOW))
		scan(ps); /* existing children of a process of -p */
}

/* ---- while tracing ---- */

static bool has_ended(const dt_proc *p, int wait_ms)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->pidfd < 0)
		return kill((pid_t)p->pid, 0) < 0 && errno == ESRCH;
	return poll(&fd, 1, wait_ms) > 0;
}

/* The status of wait(2), if it is available. If SIGCHLD is ignored, inherited from our parent,
 * waiting is not possible. */
static bool exit_status(const dt_proc *p, int *status)
{
	if (p->hold && p->hold->ended) {
		*status = p->hold->status;
		return true;
	}
	if (p->origin == DT_PROC_CREATED && waitpid((pid_t)p->pid, status, 0) == p->pid)
		return true;
	return dt_proc_exit_status(p->pid, p->pidfd, status);
}

static void report_end(dt_procs *ps, dt_proc *p)
{
	struct dt_proc_news n = {.pid = p->pid, .ended = true};
	char how[64], text[96];

	p->knows_status = exit_status(p, &n.status);
	n.status = p->status = p->knows_status ? n.status : 0;
	dt_proc_status_text(n.status, how, sizeof(how));
	snprintf(text, sizeof(text), "pid %ld %s", p->pid, how);
	n.text = text;
	if (ps->say(ps->arg, &n) < 0)
		ps->aborted = true;
}

static void leave(dt_procs *ps, dt_proc *p)
{
	p->state = DT_PROC_GONE;
	tell(ps, DT_PROC_EXIT, p, NULL);
	if (p->origin == DT_PROC_FOLLOWED)
		return;
	report_end(ps, p);
	close(p->pidfd);
	p->pidfd = -1;
}

/* Followed processes come and go by the thousand; the others are kept to be counted. */
static void forget_followed(dt_procs *ps)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ps->all.n; i++) {
		dt_proc *p = ps->all.v[i];

		if (p->origin == DT_PROC_FOLLOWED && p->state == DT_PROC_GONE)
			free_proc(p);
		else
			ps->all.v[kept++] = p;
	}
	ps->all.n = kept;
}

static void look_for_children(dt_procs *ps)
{
	uint64_t lost = dt_sideband_lost(ps->sideband);

	if (dt_sideband_live(ps->sideband) && lost == ps->lost)
		return;
	ps->lost = lost;
	scan(ps);
}

int dt_procs_poll(dt_procs *ps)
{
	DT_VEC(dt_proc *) over = {0};

	ps->aborted = false;
	for (uint32_t i = 0; i < ps->all.n; i++) {
		dt_proc *p = ps->all.v[i];

		if (ps->released)
			release(ps, p); /* threads that were asleep */
		if (p->state != DT_PROC_GONE && has_ended(p, 0))
			*dt_vec_add(&over, NULL) = p;
	}
	if (ps->released)
		tell_watch(ps);
	if (ps->sideband)
		dt_sideband_drain(ps->sideband);
	if (ps->sideband && dt_opt(ps->opts, DT_O_FOLLOW))
		look_for_children(ps);
	for (uint32_t i = 0; i < over.n; i++)
		leave(ps, over.v[i]);
	if (over.n)
		forget_followed(ps);
	dt_vec_free(&over);
	return ps->aborted ? -1 : 0;
}

int dt_procs_fds(const dt_procs *ps, dt_pollfds *fds)
{
	int ms = -1;

	for (uint32_t i = 0; i < ps->all.n; i++) {
		const dt_proc *p = ps->all.v[i];
		int again = p->state == DT_PROC_GONE  ? -1
			    : ps->released && p->hold ? STRAGGLER_MS
			    : p->pidfd < 0	      ? NO_PIDFD_MS
						      : -1;

		if (p->state != DT_PROC_GONE && p->pidfd >= 0)
			*dt_vec_add(fds, NULL) = (struct pollfd){.fd = p->pidfd, .events = POLLIN};
		if (again >= 0 && (ms < 0 || again < ms))
			ms = again;
	}
	if (!ps->sideband)
		return ms;
	if (dt_sideband_fd(ps->sideband) >= 0)
		*dt_vec_add(fds, NULL) =
		    (struct pollfd){.fd = dt_sideband_fd(ps->sideband), .events = POLLIN};
	if (dt_opt(ps->opts, DT_O_FOLLOW) && !dt_sideband_live(ps->sideband))
		ms = ms < 0 || SCAN_MS < ms ? SCAN_MS : ms;
	return ms;
}

bool dt_procs_all_gone(const dt_procs *ps)
{
	bool any = false;

	for (uint32_t i = 0; i < ps->all.n; i++) {
		const dt_proc *p = ps->all.v[i];

		if (p->origin != DT_PROC_NAMED && p->state != DT_PROC_GONE)
			return false;
		any = any || p->origin != DT_PROC_NAMED;
	}
	return any;
}

/* ---- the end ---- */

/* A command that we started does not outlive us. One that was never released has not started. */
static void end_command(dt_proc *p)
{
	if (p->hold && p->hold->ended)
		return;
	kill((pid_t)p->pid, p->state == DT_PROC_HELD ? SIGKILL : SIGTERM);
	kill((pid_t)p->pid, SIGCONT); /* if stop() has stopped it */
	if (!has_ended(p, TERM_MS))
		kill((pid_t)p->pid, SIGKILL);
	waitpid((pid_t)p->pid, NULL, __WALL);
}

static void let_go(dt_proc *p)
{
	for (int ms = 0; p->hold && !dt_hold_release(p->hold) && ms < TERM_MS; ms++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void dt_procs_free(dt_procs *ps)
{
	if (!ps)
		return;
	if (ps->hurries)
		dt_hurry(false);
	for (uint32_t i = 0; i < ps->all.n; i++) {
		dt_proc *p = ps->all.v[i];

		if (p->state != DT_PROC_GONE && p->origin == DT_PROC_CREATED)
			end_command(p);
		else if (p->state != DT_PROC_GONE)
			let_go(p);
		free_proc(p);
	}
	dt_vec_free(&ps->all);
	dt_watch_free(ps->watch);
	dt_sideband_free(ps->sideband);
	free(ps);
}
