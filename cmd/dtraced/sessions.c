/*
 * sessions: durable sessions, one for each script NAME.d of a folder (-s). Each has a process of its own, which runs as long as
 * the script is there as it is; one that fails is started again, later each time. Another process sends the output to
 * JetStream, if the script asks for that.
 *
 * A session's process is told by SIGTERM to end, also by the kernel when dtraced is killed: it then reads what its probes have
 * recorded, and detaches them. So only killing that process itself loses records.
 *
 * Who can write a script can trace everything. So scripts and their folder must belong to root or to the user of dtraced, and
 * nobody else may have the right to change them, as for cron(8).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dtrace.h"
#include "dtraced.h"
#include "../args.h"
#include "../serve.h"

#define MAX_SESSIONS 256
#define SCAN_MS	     500
#define FIRST_PAUSE  1000 /* ms, before it is started again; then twice as long each time */
#define LAST_PAUSE   60000
#define STEADY	     60000 /* one that ran for that long begins with the first pause again */
#define PATIENCE     20000 /* for sessions to end, when dtraced does */
#define SHIP_AGAIN   10	   /* s: after JetStream refused */
#define SHIP_MS	     2000  /* for the last lines to be sent, when dtraced ends */
#define MAX_NAME     64
#define GONE	     "its script was removed"

/* What a file was when it was last looked at. */
struct look {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct session {
	char name[MAX_NAME + 1];
	bool there;	      /* the script was seen by the last scan */
	bool settled;	      /* and twice the same: nobody is writing it */
	bool wanted;	      /* it shall run */
	struct look look;
	pid_t pid, shipper;   /* 0: none */
	int report;	      /* from its process: why it has failed */
	uint64_t started, next; /* ms: when it began, when it may begin again */
	unsigned pause;	      /* ms */
	char why[600];	      /* it has failed: what was said last */
};

static struct session *sessions[MAX_SESSIONS];
static int nsessions;
static const char *scripts, *output, *machine, *nats;
static int lock = -1;	 /* of the folder: held while we run its sessions */
static bool told_locked, told_many;
static uint64_t next_scan;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- in the process of a session ---- */

static volatile sig_atomic_t stopping;
static dtrace_hdl_t *volatile handle;
static const char *served; /* option serve; NULL: not set */
static int report_to = -1;

/* How a session's process ends. */
enum { DONE = 0, STOPPED = 3, FAILED = 4 };

/* For cmd/serve*.c, which runs in the process of a session. */
void fatal(const char *fmt, ...)
{
	char why[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (write(report_to, why, strlen(why)) < 0)
		fprintf(stderr, "dtraced: %s\n", why);
	_exit(FAILED);
}

void complain(const char *fmt, ...)
{
	va_list ap;

	fputs("dtraced: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void on_stop(int sig)
{
	(void)sig;
	stopping = 1;
	if (handle)
		dtrace_interrupt(handle);
}

static int begin_session(dtrace_hdl_t *h, void *arg)
{
	const struct session *s = arg;
	char *token = path_of("%s/%s/token", output, s->name), *script = path_of("%s/%s.d", scripts, s->name);
	struct program p = {.is_file = true, .text = script};
	struct args shown = {.programs = &p, .nprograms = 1};

	handle = h;
	served = dtrace_getopt_text(h, "serve");
	if (served) {
		serve_open(served, token);
		serve_begin(h, &shown);
	}
	free(token);
	free(script);
	return stopping;
}

static int wait_session(dtrace_hdl_t *h, void *arg)
{
	struct pollfd p = {.fd = dtrace_fd(h), .events = POLLIN};

	(void)arg;
	if (served && !stopping)
		serve_wait(h);
	else if (!stopping)
		poll(&p, 1, 1000);
	return stopping;
}

static void end_session(dtrace_hdl_t *h, void *arg)
{
	(void)arg;
	if (served)
		serve_end(h);
	handle = NULL;
}

static _Noreturn void run_session(struct session *s, int report)
{
	char *path = path_of("%s/%s.d", scripts, s->name), why[600] = "";
	struct dtrace_durable d = {.size = sizeof(d), .name = s->name, .script = path, .folder = output, .machine = machine,
				   .nats = nats, .arg = s, .begin = begin_session, .wait = wait_session, .end = end_session};
	struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
	int rc;

	report_to = report;
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	rc = dtrace_durable_run(&d, why, sizeof(why));
	if (rc < 0 && write(report, why, strlen(why)) < 0)
		_exit(FAILED);
	_exit(rc < 0 ? FAILED : rc ? STOPPED : DONE);
}

static _Noreturn void run_shipper(const struct session *s)
{
	char why[600] = "";

	if (dtrace_durable_ship(output, s->name, machine, why, sizeof(why)) < 0) {
		fprintf(stderr, "dtraced: session %s: %s\n", s->name, why);
		sleep(SHIP_AGAIN);
	}
	_exit(0);
}

/* ---- starting and ending them ---- */

static void fail(struct session *s, const char *why)
{
	if (strcmp(s->why, why) != 0)
		fprintf(stderr, "dtraced: session %s: %s\n", s->name, why);
	snprintf(s->why, sizeof(s->why), "%s", why);
	if (dtrace_durable_state(output, s->name, "waiting", why) < 0)
		fprintf(stderr, "dtraced: cannot write to %s/%s: %s\n", output, s->name, strerror(errno));
}

/* Why a script is not run; NULL: nothing is wrong with it. */
static const char *objection(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a file";
	if (st->st_uid != 0 && st->st_uid != getuid())
		return "it belongs to another user";
	if (st->st_mode & 022)
		return "other users may change it; use chmod go-w";
	return NULL;
}

static void start(struct session *s)
{
	char *path = path_of("%s/%s.d", scripts, s->name);
	const char *why;
	struct stat st;
	int pipes[2];

	s->started = now_ms();
	s->pause = s->pause ? s->pause * 2 < LAST_PAUSE ? s->pause * 2 : LAST_PAUSE : FIRST_PAUSE;
	s->next = s->started + s->pause;
	why = stat(path, &st) < 0 ? strerror(errno) : objection(&st);
	free(path);
	if (why) {
		fail(s, why);
		return;
	}
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	s->pid = spawn();
	if (s->pid == 0)
		run_session(s, pipes[1]);
	close(pipes[1]);
	s->report = pipes[0];
}

static void ended(struct session *s, int status)
{
	char why[600] = "";
	ssize_t n = read(s->report, why, sizeof(why) - 1);

	close(s->report);
	s->pid = 0;
	s->next = now_ms() + s->pause;
	if (now_ms() - s->started > STEADY)
		s->pause = 0;
	if (!s->there) {
		dtrace_durable_state(output, s->name, "removed", GONE);
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == STOPPED) {
		s->pause = 0;
		s->next = 0;
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == DONE) {
		s->wanted = false;
		return;
	}
	why[n > 0 ? n : 0] = 0;
	if (!why[0] && WIFSIGNALED(status))
		snprintf(why, sizeof(why), "its process was killed by signal %d: what it had not written is missing", WTERMSIG(status));
	else if (!why[0])
		snprintf(why, sizeof(why), "its process ended with status %d", WEXITSTATUS(status));
	fail(s, why);
}

bool sessions_reap(pid_t pid, int status)
{
	for (int i = 0; i < nsessions; i++) {
		if (sessions[i]->pid == pid) {
			ended(sessions[i], status);
			return true;
		}
		if (sessions[i]->shipper == pid) {
			sessions[i]->shipper = 0;
			return true;
		}
	}
	return false;
}

/* ---- the folder ---- */

static struct session *find(const char *name)
{
	for (int i = 0; i < nsessions; i++)
		if (strcmp(sessions[i]->name, name) == 0)
			return sessions[i];
	if (nsessions == MAX_SESSIONS) {
		if (!told_many)
			fprintf(stderr, "dtraced: %s has more than %d scripts; %s and others are left out\n", scripts, MAX_SESSIONS, name);
		told_many = true;
		return NULL;
	}
	sessions[nsessions] = calloc(1, sizeof(struct session));
	if (!sessions[nsessions])
		die("out of memory");
	snprintf(sessions[nsessions]->name, sizeof(sessions[nsessions]->name), "%s", name);
	return sessions[nsessions++];
}

/* The script as it is now: run it if it is new, run it anew if it has changed. */
static void look_at(struct session *s, const struct stat *st)
{
	struct look now = {.dev = st->st_dev, .ino = st->st_ino, .size = st->st_size, .changed = st->st_ctim};
	bool same = s->there && now.dev == s->look.dev && now.ino == s->look.ino && now.size == s->look.size &&
		    now.changed.tv_sec == s->look.changed.tv_sec && now.changed.tv_nsec == s->look.changed.tv_nsec;

	s->there = true;
	s->look = now;
	if (!same) {
		s->settled = false;
		return;
	}
	if (s->settled)
		return;
	s->settled = true;
	s->wanted = true;
	s->pause = 0;
	s->next = 0;
	s->why[0] = 0;
	if (s->pid)
		kill(s->pid, SIGTERM);
}

static bool is_name(const char *name, size_t n)
{
	return n > 0 && n <= MAX_NAME &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") >= n;
}

/* Its script is gone. */
static void leave(struct session *s)
{
	s->there = s->settled = s->wanted = false;
	s->why[0] = 0;
	if (s->pid)
		kill(s->pid, SIGTERM);
	else
		dtrace_durable_state(output, s->name, "removed", GONE);
}

static void scan(void)
{
	DIR *d = opendir(scripts);
	bool seen[MAX_SESSIONS] = {0};
	struct dirent *e;

	if (!d && errno != ENOENT)
		fprintf(stderr, "dtraced: cannot read %s: %s\n", scripts, strerror(errno));
	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		char name[MAX_NAME + 1];
		struct session *s;
		struct stat st;

		if (n < 3 || strcmp(e->d_name + n - 2, ".d") != 0 || !is_name(e->d_name, n - 2) ||
		    fstatat(dirfd(d), e->d_name, &st, 0) < 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(n - 2), e->d_name);
		s = find(name);
		if (!s)
			continue;
		for (int i = 0; i < nsessions; i++)
			seen[i] |= sessions[i] == s;
		look_at(s, &st);
	}
	if (d)
		closedir(d);
	for (int i = 0; i < nsessions; i++)
		if (!seen[i] && sessions[i]->there)
			leave(sessions[i]);
}

/* Only one dtraced runs the sessions of a folder; another one waits for its turn. */
static bool have_lock(void)
{
	char *path;

	if (lock >= 0)
		return true;
	path = path_of("%s/lock", output);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		die("cannot write to %s: %s", output, strerror(errno));
	free(path);
	if (flock(lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	close(lock);
	lock = -1;
	if (!told_locked)
		fprintf(stderr, "dtraced: another dtraced runs the sessions in %s; this one will when that has ended\n", output);
	told_locked = true;
	return false;
}

void sessions_open(const char *folder, const char *into, const char *name, const char *url)
{
	struct stat st;

	scripts = folder;
	output = into;
	machine = name;
	nats = url;
	if (stat(folder, &st) < 0)
		die("cannot read %s: %s", folder, strerror(errno));
	if ((st.st_uid != 0 && st.st_uid != getuid()) || (st.st_mode & 022))
		die("%s: a folder of scripts must belong to root or to the user of dtraced, and only they may write there", folder);
	if (mkdir(into, 0700) < 0 && errno != EEXIST)
		die("cannot make %s: %s", into, strerror(errno));
}

void sessions_work(void)
{
	uint64_t now = now_ms();

	if (!scripts || now < next_scan)
		return;
	next_scan = now + SCAN_MS;
	if (!have_lock())
		return;
	scan();
	for (int i = 0; i < nsessions; i++) {
		struct session *s = sessions[i];

		if (s->wanted && s->there && s->settled && !s->pid && now >= s->next)
			start(s);
		if (!s->shipper && dtrace_durable_has_stream(output, s->name) && (s->shipper = spawn()) == 0)
			run_shipper(s);
	}
}

/* In a process of dtraced that is none of ours: do not hold the lock when dtraced has ended. */
void sessions_forget(void)
{
	if (lock >= 0)
		close(lock);
	lock = -1;
}

/* Wait for their processes; true: none is left. */
static bool have_ended(void)
{
	bool none = true;

	for (int i = 0; i < nsessions; i++) {
		struct session *s = sessions[i];
		int status;

		if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid)
			ended(s, status);
		none &= !s->pid;
	}
	return none;
}

static bool have_shipped(void)
{
	bool none = true;

	for (int i = 0; i < nsessions; i++) {
		if (sessions[i]->shipper && waitpid(sessions[i]->shipper, NULL, WNOHANG) == sessions[i]->shipper)
			sessions[i]->shipper = 0;
		none &= !sessions[i]->shipper;
	}
	return none;
}

static void wait_until(bool (*done)(void), uint64_t ms)
{
	uint64_t end = now_ms() + ms;

	while (!done() && now_ms() < end)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* dtraced ends: they shall have written everything by then. */
void sessions_end(void)
{
	for (int i = 0; i < nsessions; i++)
		if (sessions[i]->pid)
			kill(sessions[i]->pid, SIGTERM);
	wait_until(have_ended, PATIENCE);
	wait_until(have_shipped, SHIP_MS); /* the rest is sent when dtraced runs again */
	for (int i = 0; i < nsessions; i++)
		if (sessions[i]->shipper)
			kill(sessions[i]->shipper, SIGKILL);
}
