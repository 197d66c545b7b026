/*
 * run: the life of a session. go: open an engine on the enabled ECBs, BEGIN runs, the target
 * processes are released. work: take what the engine has and print it. stop: END runs.
 *
 * Which engine: -x engine=vm is the interpreter, which fires BEGIN, END and ERROR and nothing else;
 * engine=bpf is the kernel. auto takes the interpreter when the program needs nothing more: no other
 * probe, nothing that only the kernel knows (the current task, registers, stacks, its memory).
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/formats.h"
#include "session/session.h"

/* The first probe that the interpreter cannot fire, or NULL. */
static const dt_probe *kernel_probe(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (strcmp(h->ecbs.v[i].probe->prov, "dtrace") != 0)
			return h->ecbs.v[i].probe;
	return NULL;
}

static bool needs_kernel(const dtrace_hdl_t *h)
{
	if (kernel_probe(h) || h->grow)
		return true;
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (dt_clause_needs_kernel(h->ecbs.v[i].clause))
			return true;
	return false;
}

static int choose_engine(dtrace_hdl_t *h)
{
	const dt_probe *k = kernel_probe(h);
	uint64_t choice = dt_opt(&h->opts, DT_O_ENGINE);

	h->engine_ops = choice == DT_ENGINE_BPF || (choice == DT_ENGINE_AUTO && needs_kernel(h))
			    ? &dt_engine_bpf
			    : &dt_engine_vm;
	if (h->engine_ops == &dt_engine_bpf)
		return 0;
	if (k)
		return dt_session_diag(h, DT_DIAG_NOTE,
				       "the vm engine fires only dtrace:::BEGIN, END and ERROR");
	return 0;
}

static bool is_destructive(const dtrace_hdl_t *h)
{
	for (uint32_t i = 0; i < h->ecbs.n; i++)
		if (h->ecbs.v[i].clause->destructive)
			return true;
	return false;
}

/* It did not start: the caller may change something and try once more. */
static void close_engine(dtrace_hdl_t *h)
{
	h->engine_ops->close(h->engine);
	h->engine = NULL;
}

/* Only an engine that attaches to them has to know. */
static int find_events(dtrace_hdl_t *h)
{
	int rc = 0;

	dt_events_begin(h);
	for (uint32_t i = 0; i < h->ecbs.n && h->engine_ops->live && rc == 0; i++)
		rc = dt_events_of(h, &h->ecbs.v[i], &h->err);
	return rc;
}

static int check_format(dtrace_hdl_t *h)
{
	uint64_t format = dt_opt(&h->opts, DT_O_OFORMAT);
	const char *name;
	size_t n;

	if (dt_format_writer(format))
		return 0;
	name = dt_option_choice(DT_O_OFORMAT, format, &n);
	return dt_session_err(h, EDT_BADOPTVAL, "output format \"%.*s\" is not available yet",
			      (int)n, name);
}

int dtrace_go(dtrace_hdl_t *h)
{
	struct dt_engine_env env = {
	    .opts = &h->opts,
	    .types = h->types,
	    .kfuncs = dt_probes_kfuncs(h->probes),
	    .procs = h->procs,
	};

	if (h->state != DT_SESSION_NEW)
		return dt_session_err(h, EDT_ACTIVE, NULL);
	if (dt_opt(&h->opts, DT_O_GRABANON))
		return dt_session_err(h, EDT_NOANON, NULL);
	if (check_format(h) < 0)
		return -1;
	if (is_destructive(h) && !dt_opt(&h->opts, DT_O_DESTRUCTIVE))
		return dt_session_err(h, EDT_DESTRUCTIVE, NULL);
	if (choose_engine(h) < 0)
		return -1;
	memset(&h->err, 0, sizeof(h->err));
	if (dt_options_settle(&h->opts, &h->err) < 0)
		return dt_session_fail(h);
	if (find_events(h) < 0)
		return dt_session_fail(h);
	env.ecbs = h->ecbs.v;
	env.necbs = h->ecbs.n;
	env.clauses = h->clauses.v;
	env.nclauses = h->clauses.n;
	dt_session_debug(h, "engine %s, %u clauses on probes", h->engine_ops->name, env.necbs);
	dt_symbols_open(h);
	dt_grow_open(h);
	h->engine = h->engine_ops->open(&env, &h->err);
	if (!h->engine)
		return dt_session_fail(h);
	if (h->engine_ops->go(h->engine, &h->err) < 0) {
		close_engine(h);
		return dt_session_fail(h);
	}
	if (h->err.text[0] && dt_session_diag(h, DT_DIAG_NOTE, h->err.text) < 0) {
		close_engine(h);
		return dt_session_err(h, EDT_DIRABORT, NULL);
	}
	h->state = DT_SESSION_ACTIVE;
	dt_grow_begin(h);
	dt_procs_release(h->procs);
	return 0;
}

int dtrace_stop(dtrace_hdl_t *h)
{
	if (h->state != DT_SESSION_ACTIVE)
		return 0;
	/* So that END finds room in the buffers. What cannot be written is an error of the next dtrace_work(). */
	if (h->consumer && h->engine_ops->live && dt_symbols_update(h) == 0)
		dt_consumer_work(h->consumer, h->engine_ops, h->engine, true, &h->err);
	memset(&h->err, 0, sizeof(h->err));
	h->state = DT_SESSION_STOPPED;
	return h->engine_ops->stop(h->engine, &h->err) < 0 ? dt_session_fail(h) : 0;
}

/* ---- consuming ---- */

static int consumer_diag(void *arg, const dt_diag *d)
{
	return dt_session_hand_over(arg, d);
}

static bool consumer_ksym(void *arg, uint64_t addr, const char **mod, const char **sym,
			  uint64_t *off)
{
	dtrace_hdl_t *h = arg;

	return dt_ksym_by_addr(dt_probes_ksyms(h->probes), addr, mod, sym, off);
}

/* The file of a stream, when it is a regular one: what ftruncate() in D truncates. */
static char *stream_path(FILE *out)
{
	char link[64], path[4096];
	struct stat st;
	ssize_t n;

	if (fstat(fileno(out), &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fileno(out));
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = 0;
	return dt_xstrdup(path);
}

static void need_consumer(dtrace_hdl_t *h, FILE *out)
{
	struct dt_consumer_env env = {
	    .opts = &h->opts,
	    .types = h->types,
	    .writer = dt_format_writer(dt_opt(&h->opts, DT_O_OFORMAT)),
	    .out = out,
	    .arg = h,
	    .diag = consumer_diag,
	    .ksym = consumer_ksym,
	    .usym = dt_symbols_find,
	    .keep = dt_symbols_keep,
	};

	if (h->consumer)
		return;
	h->out_path = fileno(out) >= 0 ? stream_path(out) : NULL;
	env.out_path = h->out_path;
	h->consumer = dt_consumer_new(&env);
}

/* What became of the processes, and of probes in them. */
static int update_processes(dtrace_hdl_t *h)
{
	if (dt_procs_poll(h->procs) < 0 || dt_grow_update(h) < 0)
		return dt_session_err(h, EDT_DIRABORT, NULL);
	return 0;
}

enum dtrace_work_status dtrace_work(dtrace_hdl_t *h, FILE *out)
{
	int rc;

	if (h->state == DT_SESSION_NEW) {
		dt_session_err(h, EINVAL, "tracing has not been started");
		return DTRACE_WORK_ERROR;
	}
	if (dt_grow_is_awaited(h) &&
	    dt_grow_update(h) < 0) { /* a process waits: before anything else */
		dt_session_err(h, EDT_DIRABORT, NULL);
		return DTRACE_WORK_ERROR;
	}
	need_consumer(h, out);
	if (dt_symbols_update(h) < 0) {
		dt_session_err(h, EDT_DROPABORT, NULL);
		return DTRACE_WORK_ERROR;
	}
	memset(&h->err, 0, sizeof(h->err));
	rc = dt_consumer_work(h->consumer, h->engine_ops, h->engine, false, &h->err);
	if (rc < 0) {
		dt_session_fail(h);
		return DTRACE_WORK_ERROR;
	}
	if (update_processes(h) < 0)
		return DTRACE_WORK_ERROR;
	if (rc > 0 || h->state == DT_SESSION_STOPPED || dt_procs_all_gone(h->procs))
		return DTRACE_WORK_DONE;
	return DTRACE_WORK_OKAY;
}

int dtrace_exit_status(const dtrace_hdl_t *h)
{
	return h->consumer ? dt_consumer_exit_status(h->consumer) : 0;
}

int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *out)
{
	if (h->state == DT_SESSION_NEW)
		return 0;
	need_consumer(h, out);
	memset(&h->err, 0, sizeof(h->err));
	if (dt_consumer_print_aggs(h->consumer, &h->err) < 0)
		return dt_session_fail(h);
	return dt_symbols_report(h) < 0 ? dt_session_err(h, EDT_DROPABORT, NULL) : 0;
}

/* ---- waiting ---- */

#define LONGEST_SLEEP 10000 /* ms */

/* Milliseconds until something is due: -1 when nothing but a wake-up can bring work. */
static int sleep_time(const dtrace_hdl_t *h)
{
	uint64_t now = dt_now(), next;

	if (!h->engine_ops || !h->engine_ops->live)
		return -1;
	next = h->consumer ? dt_consumer_next(h->consumer) : now;
	next = next > now ? (next - now + 999999) / 1000000 : 1;
	return next < LONGEST_SLEEP ? (int)next : LONGEST_SLEEP;
}

void dtrace_sleep(dtrace_hdl_t *h)
{
	int exit_fd = h->engine && h->engine_ops->wake_fd ? h->engine_ops->wake_fd(h->engine) : -1;
	int ms = sleep_time(h), again;
	dt_pollfds fds = {0};
	char drain[64];

	*dt_vec_add(&fds, NULL) = (struct pollfd){.fd = h->wake[0], .events = POLLIN};
	*dt_vec_add(&fds, NULL) = (struct pollfd){.fd = exit_fd, .events = POLLIN};
	again = dt_procs_fds(h->procs, &fds);
	if (again >= 0 && (ms < 0 || again < ms))
		ms = again;
	again = dt_grow_ms(h);
	if (again >= 0 && (ms < 0 || again < ms))
		ms = again;
	if (poll(fds.v, fds.n, ms) > 0 && fds.v[0].revents)
		while (read(h->wake[0], drain, sizeof(drain)) > 0)
			;
	dt_vec_free(&fds);
}

void dtrace_interrupt(dtrace_hdl_t *h)
{
	int saved = errno;

	if (write(h->wake[1], "", 1) < 0)
		errno = saved; /* the pipe is full: a wake-up is pending anyway */
	errno = saved;
}

void dtrace_abandon(dtrace_hdl_t *h)
{
	h->stop = 1;
}
