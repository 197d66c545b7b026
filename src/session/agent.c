/*
 * agent: the other side of a front (src/fleet): compiles what the front sends, traces, and sends what the engine returns.
 *
 * The engine's records and rows go out as they are: what to do with them (print, aggregate, exit) is the front's to
 * decide. Only names of addresses are added, since the symbols are here. There is no consumer and no output.
 *
 * The first record after a pause wakes us and is sent at once; while more come, they are read every PACE (or switchrate, if the
 * user has set it), or when a buffer fills up. When nothing comes, promises are sent every REST, and when the front asks for one.
 * An engine that does not wake us is read every FLUSH. Aggregations are read at aggrate. While the front does not read, at most
 * PENDING_MAX waits here; then the engine is not read, and its own rules for full buffers hold. When the front
 * goes away, the handle is closed and everything is detached.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/budget.h"
#include "fleet/nats.h"
#include "session/agent.h"

#define PACE_NS	      UINT64_C(8000000)
#define FLUSH_NS      UINT64_C(50000000)
#define REST_NS	      UINT64_C(1000000000)
#define BUDGET_NS     UINT64_C(100000000) /* option overhead: the engine measures */
#define WATCH_MS      50 /* between looks at what a durable session has written */
#define PENDING_MAX   (4u << 20)
#define HELLO_NS      UINT64_C(10000000000) /* from the connection to the front's first word */
#define LAST_WORDS_NS UINT64_C(5000000000)

static int on_diag(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	struct dt_agent *a = arg;
	dt_buf b = {0}; /* another message may be half made */

	(void)h;
	dt_put_u32(&b, (uint32_t)kind);
	dt_put_string(&b, text);
	dt_link_send(a->link, DT_M_NOTE, &b);
	dt_buf_free(&b);
	return 0;
}

static void refuse(struct dt_agent *a, const char *why)
{
	snprintf(a->why, sizeof(a->why), "%s", why);
	dt_buf_reset(&a->body);
	dt_put_string(&a->body, why);
	dt_link_send(a->link, DT_M_REFUSED, &a->body);
	a->state = DT_AGENT_REFUSED;
}

static void refuse_handle(struct dt_agent *a)
{
	refuse(a, dtrace_errtext(a->h));
}

/* ---- what the policy allows ---- */

static uint32_t matches_of(const dtrace_hdl_t *h, const dt_clause *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->ecbs.n; i++)
		n += h->ecbs.v[i].clause == c;
	return n;
}

bool dt_agent_is_listed(const char *p, const char *name)
{
	if (!p)
		return true;
	while (*p) {
		size_t n = strcspn(p, ",");
		char pattern[128];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)n, p);
		if (dt_glob_match(pattern, name))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

static bool is_allowed(const struct dt_agent *a, const char *provider)
{
	return dt_agent_is_listed(a->policy.providers, provider);
}

/* The provider of a description, for probes in processes: a pattern must be one that the policy has, or be within it. */
static bool may_ask(void *arg, const char *provider)
{
	return is_allowed(arg, provider);
}

static bool refuse_provider(struct dt_agent *a, const char *provider)
{
	char why[256];

	snprintf(why, sizeof(why), "probes of provider %s are not allowed by its policy", provider);
	refuse(a, why);
	return false;
}

/* It is on no probe, and names a provider that is not allowed. */
static bool is_refused(const struct dt_agent *a, const dt_clause *c)
{
	const char *prov = c->desc.prov;

	return !c->elsewhere && prov && *prov && !dt_glob_is_pattern(prov) && !is_allowed(a, prov) && matches_of(a->h, c) == 0;
}

static bool obeys_policy(struct dt_agent *a, const dt_program *p, uint32_t first_ecb, uint32_t first_clause)
{
	dtrace_hdl_t *h = a->h;

	for (uint32_t i = 0; i < p->nclauses && h->fleet; i++)
		if (!is_allowed(a, p->clauses[i].desc.prov)) {
			refuse(a, "probes of some provider, for the machines behind it, are not allowed by its policy");
			return false;
		}
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (dt_clause_destroys_there(&p->clauses[i]) && !a->policy.destructive) {
			refuse(a, "destructive actions are not allowed by its policy");
			return false;
		}
	for (uint32_t i = first_ecb; i < h->ecbs.n; i++)
		if (!is_allowed(a, h->ecbs.v[i].probe->prov))
			return refuse_provider(a, h->ecbs.v[i].probe->prov);
	for (uint32_t i = 0; i < p->nclauses; i++) /* providers that were not asked */
		if (is_refused(a, &p->clauses[i]))
			return refuse_provider(a, p->clauses[i].desc.prov);
	for (uint32_t i = first_clause; i < h->clauses.n; i++) /* probes that may come later */
		if (h->clauses.v[i].kinds && !is_allowed(a, h->clauses.v[i].clause->desc.prov)) {
			refuse(a, "probes that may be added during tracing are not allowed by its policy");
			return false;
		}
	return true;
}

/* Neither options nor pragmas of a program raise the time that it may take. */
static void keep_overhead(struct dt_agent *a)
{
	uint64_t asked = dt_opt(&a->h->opts, DT_O_OVERHEAD);

	if (!a->policy.overhead || dtrace_setopt(a->h, "overhead", a->policy.overhead) < 0)
		return;
	if (asked && asked < dt_opt(&a->h->opts, DT_O_OVERHEAD))
		a->h->opts.value[DT_O_OVERHEAD] = asked;
}

static bool has_memory(struct dt_agent *a)
{
	static const enum dt_opt_id sizes[] = {DT_O_BUFSIZE, DT_O_AGGSIZE, DT_O_DYNVARSIZE, DT_O_SPECSIZE};
	const dt_options *o = &a->h->opts;
	uint64_t n = 0;
	char why[256];

	for (size_t i = 0; i < DT_NELEM(sizes); i++) {
		uint64_t cpus = sizes[i] == DT_O_DYNVARSIZE ? 1 : (uint64_t)get_nprocs(), part;

		if (__builtin_mul_overflow(dt_opt(o, sizes[i]), cpus, &part) ||
		    __builtin_mul_overflow(part, sizes[i] == DT_O_SPECSIZE ? dt_opt(o, DT_O_NSPEC) : 1, &part) ||
		    __builtin_add_overflow(n, part, &n))
			n = UINT64_MAX;
	}
	if (!a->policy.memory || n <= a->policy.memory)
		return true;
	snprintf(why, sizeof(why), "bufsize, aggsize, dynvarsize and specsize are %llu bytes together, and its policy allows %llu",
		 (unsigned long long)n, (unsigned long long)a->policy.memory);
	refuse(a, why);
	return false;
}

/* ---- what the front asks ---- */

static void put_hello(struct dt_agent *a, uint64_t nonce)
{
	const char *name = a->h->here.name;
	struct dt_wire_hello h = {.version = DT_FLEET_VERSION,
				  .nonce = nonce,
				  .name = name,
				  .os = a->h->here.os,
				  .release = DT_VERSION_TEXT,
				  .ncpus = (uint32_t)get_nprocs(),
				  .hostid = dt_machines_hostid(name),
				  .clock = dt_wire_clock(),
				  .relay = a->h->fleet != NULL};

	dt_put_hello(&a->body, &h);
}

/* Whoever is there may speak to an earlier agent, which has not said farewell. */
static void announce_ourselves(struct dt_agent *a)
{
	put_hello(a, 0);
	dt_link_hello_again(a->link, &a->body);
	dt_buf_reset(&a->body);
	dt_link_flush(a->link);
	a->announced_itself = true;
}

/* Also a second one, of another front: the first went away so fast that the port did not tell. */
static void take_hello(struct dt_agent *a, dt_message *m)
{
	struct dt_wire_hello front;

	if (!dt_get_hello(m, &front)) {
		a->state = DT_AGENT_BROKEN;
		return;
	}
	if (a->state == DT_AGENT_ASKED && front.nonce == a->nonce)
		return; /* once more, since our answer had not come yet */
	a->nonce = front.nonce;
	put_hello(a, front.nonce);
	dt_link_begin(a->link, &a->body);
	dt_agent_busy_open(&a->busy, a->link);
	a->state = DT_AGENT_ASKED;
	dt_agent_relay_introduce(a);
	if (front.version != DT_FLEET_VERSION) {
		snprintf(a->why, sizeof(a->why), "the front speaks version %u of the protocol", front.version);
		a->state = DT_AGENT_REFUSED;
	}
}

/* Where files are is this machine's to say. What a program destroys here is looked at when it comes: obeys_policy(). */
static void take_option(struct dt_agent *a, dt_message *m)
{
	const char *name = dt_get_string(m), *value = dt_get_string(m);
	int id = dt_options_find(name);

	if (id < 0 || !dt_wire_has_option((enum dt_opt_id)id))
		return;
	if (dtrace_setopt(a->h, name, value) < 0)
		refuse_handle(a);
}

static dt_program *compile(struct dt_agent *a, const struct dt_wire_program *w)
{
	struct dtrace_compile_opts o = {.size = sizeof(o),
					.spec = (enum dtrace_spec)w->spec,
					.argc = (int)w->argc,
					.argv = (char *const *)w->argv,
					.name = w->name};
	char *text = dt_xmalloc(w->len + 1);
	dt_program *p = NULL;
	FILE *f;

	for (uint32_t i = 0; i < w->nkept; i++)
		dt_compiler_keep(a->h->cc, w->kept[i]);
	memcpy(text, w->text, w->len);
	text[w->len] = 0;
	if (w->is_cmdline) {
		p = dtrace_compile_string(a->h, text, &o);
	} else if ((f = fmemopen(text, w->len ? w->len : 1, "r"))) {
		p = dtrace_compile_file(a->h, f, &o);
		fclose(f);
	}
	free(text);
	return p;
}

static void send_shape(struct dt_agent *a, const dt_program *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->nclauses; i++) {
		const dt_clause *c = &p->clauses[i];

		dt_put_clause(&a->body, number, c,
			      matches_of(a->h, c) + (a->h->fleet ? dt_fleet_matches(a->h->fleet, p, i) : 0));
		dt_link_send(a->link, DT_M_CLAUSE, &a->body);
		for (uint32_t s = 0; s < c->nstmts; s++)
			for (uint32_t k = 0; k < c->stmts[s].naggs; k++)
				dt_agent_send_agg(a, c->stmts[s].aggs[k]);
	}
	dt_put_u32(&a->body, number);
	dt_link_send(a->link, DT_M_ENABLED, &a->body);
}

static void take_program(struct dt_agent *a, dt_message *m)
{
	struct dt_wire_program *w = dt_xcalloc(1, sizeof(*w));
	uint32_t ecbs = a->h->ecbs.n, clauses = a->h->clauses.n;
	dt_program *p = NULL;

	if (!dt_get_program(m, w) || w->number != a->programs.n)
		a->state = DT_AGENT_BROKEN;
	else if (a->programs.n >= DT_MAX_FRONT_PROGRAMS)
		refuse(a, "there are more programs than it takes");
	else if (dt_memory_used() > DT_MAX_FRONT_MEMORY)
		refuse(a, "the programs take more memory than it has for them");
	else if (!(p = compile(a, w)) || dtrace_enable(a->h, p, NULL) < 0)
		refuse_handle(a);
	else if (obeys_policy(a, p, ecbs, clauses)) {
		*dt_vec_add(&a->programs, NULL) = p;
		send_shape(a, p, w->number);
	}
	free(w);
}

static void take_go(struct dt_agent *a)
{
	if (a->h->ecbs.n == 0 && a->h->clauses.n == 0 && !a->h->fleet) {
		dt_link_send(a->link, DT_M_STARTED, NULL); /* nothing is for us: no record will come, ever */
		dt_put_u64(&a->body, UINT64_MAX);
		dt_link_send(a->link, DT_M_PROMISE, &a->body);
		a->state = DT_AGENT_IDLE;
	} else if (!has_memory(a)) {
		return;
	} else if (keep_overhead(a), dtrace_go(a->h) < 0) {
		refuse_handle(a);
	} else {
		dt_link_send(a->link, DT_M_STARTED, NULL);
		a->state = DT_AGENT_RUNNING;
		dt_agent_pump(a, false);
	}
}

static void send_bye(struct dt_agent *a)
{
	dt_put_u64(&a->body, a->records);
	dt_put_u64(&a->body, a->rows);
	dt_link_send(a->link, DT_M_BYE, &a->body);
	a->state = DT_AGENT_DONE;
}

static void end_tracing(struct dt_agent *a)
{
	dt_agent_pump(a, true);
	if (dtrace_stop(a->h) < 0)
		on_diag(a->h, DTRACE_DIAG_DROP, dtrace_errtext(a->h), a);
	dt_agent_pump(a, true);
}

static void take_stop(struct dt_agent *a)
{
	if (a->state == DT_AGENT_RUNNING)
		end_tracing(a);
	send_bye(a);
}

void dt_agent_send_probe(struct dt_agent *a, const struct dt_wire_probe *p)
{
	if (!is_allowed(a, p->prov))
		return;
	dt_put_probe(&a->body, p);
	dt_link_send(a->link, DT_M_PROBE, &a->body);
}

static int send_probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	(void)h;
	dt_agent_send_probe(arg, &(struct dt_wire_probe){p->id, p->provider, p->module, p->function, p->name});
	return 0;
}

static void take_list(struct dt_agent *a, dt_message *m)
{
	const char *machine = dt_get_string(m), *desc = dt_get_string(m);
	uint32_t spec = dt_get_u32(m) & 3;
	int rc = *machine ? dt_agent_relay_list(a, machine, desc, spec)
			  : dtrace_probe_iter(a->h, desc, (enum dtrace_spec)spec, send_probe, a);

	dt_put_string(&a->body, rc < 0 ? dtrace_errtext(a->h) : NULL);
	dt_link_send(a->link, DT_M_LISTED, &a->body);
}

/* The front does not read. */
static bool is_full(const struct dt_agent *a)
{
	return dt_link_pending(a->link) > PENDING_MAX;
}

static void take_watch(struct dt_agent *a, dt_message *m)
{
	a->state = DT_AGENT_WATCHING;
	if (!dt_agent_take_watch(a, m))
		refuse(a, "it has no such session that this front may see");
}

/* What concerns durable sessions. False: it does not. */
static bool take_about_sessions(struct dt_agent *a, dt_packet *p)
{
	if (p->type == DT_M_SESSIONS && a->state == DT_AGENT_ASKED) {
		dt_agent_take_sessions(a);
	} else if (p->type == DT_M_WATCH && a->state == DT_AGENT_ASKED) {
		take_watch(a, &p->body);
	} else if (p->type == DT_M_STOP && a->state == DT_AGENT_WATCHING) {
		dt_agent_watch_end(a);
		send_bye(a);
	} else {
		return false;
	}
	return true;
}

static void take(struct dt_agent *a, dt_packet *p)
{
	bool asked = a->state == DT_AGENT_ASKED, running = a->state == DT_AGENT_RUNNING || a->state == DT_AGENT_IDLE;

	if ((a->state == DT_AGENT_NEW || asked) && p->type == DT_M_HELLO) {
		take_hello(a, &p->body);
		return;
	}
	if (!dt_wire_is_well_formed(p->type, p->body)) {
		a->state = DT_AGENT_BROKEN;
	} else if (p->type == DT_M_PING) {
		dt_put_u64(&a->body, dt_get_u64(&p->body));
		dt_put_u64(&a->body, dt_now_kernel());
		dt_link_send(a->link, DT_M_PONG, &a->body);
	} else if (p->type == DT_M_ASK && running) {
		if (a->state == DT_AGENT_RUNNING && a->h->fleet)
			dt_fleet_want(a->h->fleet);
		else if (a->state == DT_AGENT_RUNNING && !is_full(a))
			dt_agent_pump(a, false);
	} else if (p->type == DT_M_OPTION && asked) {
		take_option(a, &p->body);
	} else if (p->type == DT_M_PROGRAM && asked) {
		take_program(a, &p->body);
	} else if (p->type == DT_M_LIST && asked) {
		take_list(a, &p->body);
	} else if (p->type == DT_M_GO && asked) {
		take_go(a);
	} else if (p->type == DT_M_STOP && running) {
		take_stop(a);
	} else if (!take_about_sessions(a, p)) {
		a->state = DT_AGENT_BROKEN;
	}
}

/* ---- the loop ---- */

static bool is_over(const struct dt_agent *a)
{
	return a->state == DT_AGENT_REFUSED || a->state == DT_AGENT_BROKEN || a->state == DT_AGENT_DONE;
}

/* When the engine is to be read again. */
static uint64_t due_at(const struct dt_agent *a)
{
	const struct dt_engine_ops *ops = a->h->engine_ops;
	const dt_options *o = &a->h->opts;
	uint64_t pace = o->is_set[DT_O_SWITCHRATE] ? dt_opt(o, DT_O_SWITCHRATE) : PACE_NS, wait,
		 rows = a->aggregated + dt_opt(o, DT_O_AGGRATE);
	bool awake = false;

	if (!ops->is_eager || !ops->is_eager(a->h->engine, &awake))
		wait = FLUSH_NS;
	else if (awake || a->woken)
		wait = pace;
	else
		wait = dt_opt(o, DT_O_OVERHEAD) ? BUDGET_NS : REST_NS;
	return a->flushed + wait < rows ? a->flushed + wait : rows;
}

/* Until something comes, or something is due. */
static void wait_for_work(struct dt_agent *a)
{
	dtrace_hdl_t *h = a->h;
	bool full = is_full(a), running = a->state == DT_AGENT_RUNNING;
	uint64_t due = running && !full ? due_at(a) : 0, now = dt_now();
	int ms = due > now ? (int)((due - now + 999999) / 1000000) : full || !running ? 500 : 0, again[2] = {-1, -1}, wake = -1;
	dt_pollfds fds = {0};

	*dt_vec_add(&fds, NULL) = (struct pollfd){
	    .fd = dt_link_fd(a->link), .events = (full ? 0 : POLLIN) | (dt_link_pending(a->link) ? POLLOUT : 0)};
	if (running && !full && h->engine_ops->wake_fd)
		wake = h->engine_ops->wake_fd(h->engine);
	*dt_vec_add(&fds, NULL) = (struct pollfd){.fd = wake, .events = POLLIN};
	if (running) {
		again[0] = dt_procs_fds(h->procs, &fds);
		again[1] = dt_grow_ms(h);
	} else if (a->state == DT_AGENT_WATCHING && !full) {
		again[0] = WATCH_MS;
	}
	for (int i = 0; i < 2; i++)
		ms = again[i] >= 0 && again[i] < ms ? again[i] : ms;
	dt_agent_busy_set(&a->busy, false);
	poll(fds.v, fds.n, ms);
	dt_agent_busy_set(&a->busy, true);
	a->woken |= fds.v[1].revents != 0 && !h->fleet; /* there attend() says what is due */
	dt_vec_free(&fds);
}

/* What is due while it traces. */
static void work(struct dt_agent *a)
{
	dtrace_hdl_t *h = a->h;
	bool filling;

	if (a->state == DT_AGENT_WATCHING && dt_agent_watch(a, PENDING_MAX))
		send_bye(a);
	if (a->state != DT_AGENT_RUNNING || is_full(a))
		return;
	if (dt_session_update_processes(h) < 0)
		a->state = DT_AGENT_BROKEN;
	filling = h->engine_ops->attend && h->engine_ops->attend(h->engine);
	if (filling || dt_now() >= due_at(a))
		dt_agent_pump(a, false);
	if (a->shedding.ended) { /* the other machines go on */
		end_tracing(a);
		refuse(a, "it traces no longer, to keep the budget of option overhead");
	}
}

/* Read what the front asks, unless it does not take the answers: they would fill our memory. */
static int hear(struct dt_agent *a)
{
	struct pollfd fd = {.fd = dt_link_fd(a->link)};

	if (!is_full(a))
		return dt_link_work(a->link);
	dt_link_flush(a->link);
	poll(&fd, 1, 0); /* writing to a serial port does not tell that the front has gone */
	return dt_link_why(a->link) || (fd.revents & (POLLHUP | POLLERR)) ? -1 : 0;
}

/* 0: the stream has ended, or the session is over. 1: the front never came. */
static int serve(struct dt_agent *a)
{
	uint64_t begin = dt_now();
	bool ended = false;
	dt_packet p;
	int rc = 0;

	while (!ended && !is_over(a)) {
		wait_for_work(a);
		ended = hear(a) < 0;
		while (!is_over(a) && !is_full(a) && (rc = dt_link_next(a->link, &p)) > 0)
			take(a, &p);
		if (rc < 0) {
			snprintf(a->why, sizeof(a->why), "%s", dt_link_why(a->link));
			a->state = DT_AGENT_BROKEN;
		}
		if (!ended)
			work(a);
		if (a->state == DT_AGENT_NEW && !a->announced_itself && dt_link_has_skipped(a->link))
			announce_ourselves(a);
		if (a->state == DT_AGENT_NEW && dt_now() - begin > HELLO_NS)
			return 1;
	}
	return a->state == DT_AGENT_NEW;
}

/* What is still to be written, while the front takes it. */
static void last_words(struct dt_agent *a)
{
	uint64_t last = dt_now();
	size_t before = dt_link_pending(a->link);

	while (dt_link_pending(a->link) && dt_now() - last < LAST_WORDS_NS) {
		struct pollfd fd = {.fd = dt_link_fd(a->link), .events = POLLOUT};

		poll(&fd, 1, 500);
		if (dt_link_work(a->link) < 0)
			return;
		if (dt_link_pending(a->link) < before)
			last = dt_now();
		before = dt_link_pending(a->link);
	}
}

int dtrace_agent_run(const struct dtrace_agent *policy, char *why, size_t n)
{
	struct dt_agent a = {.link = dt_link_new(policy->fd)};
	struct utsname u = {0};
	int rc;

	memcpy(&a.policy, policy, policy->size < sizeof(a.policy) ? policy->size : sizeof(a.policy));
	a.h = dtrace_open(NULL);
	uname(&u);
	dt_machines_init(a.h, a.policy.name ? a.policy.name : u.nodename);
	dtrace_setopt(a.h, "machines", NULL);
	dtrace_setopt(a.h, "empty", NULL);
	dtrace_handle_diag(a.h, on_diag, &a);
	dt_probes_limit(a.h->probes, may_ask, &a);
	dt_output_symbols(a.h, &a.env);
	if (a.policy.leaving) {
		announce_ourselves(&a);
		rc = 0;
	} else {
		dt_agent_relay_open(&a);
		rc = serve(&a);
		if (a.state != DT_AGENT_BROKEN) /* then another front may be there already */
			last_words(&a);
	}
	dt_agent_busy_close(&a.busy);
	dtrace_close(a.h);
	if (a.state == DT_AGENT_BROKEN && !a.why[0])
		snprintf(a.why, sizeof(a.why), "a message of the front is not understood");
	if (a.state == DT_AGENT_REFUSED || a.state == DT_AGENT_BROKEN)
		rc = -1;
	snprintf(why, n, "%s", a.why);
	dt_link_free(a.link);
	dt_agent_watch_free(&a);
	dt_agent_free(&a);
	return rc;
}

/* ---- over NATS ---- */

static void hand_over(void *arg, int fd)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec v = {.iov_base = (char[]){'+'}, .iov_len = 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	sendmsg(*(int *)arg, &m, MSG_NOSIGNAL);
}

int dtrace_agent_nats(const char *url, const char *name, int handover, char *why, size_t n)
{
	dt_error err = {0};
	dt_nats *nats = dt_nats_open(url, false, &err);
	struct utsname u = {0};
	dt_buf ended = {0};

	if (!nats) {
		snprintf(why, n, "%s", err.text);
		return -1;
	}
	uname(&u);
	dt_nats_serve(nats, name ? name : u.nodename, hand_over, &handover, &ended);
	snprintf(why, n, "%s", ended.s);
	dt_buf_free(&ended);
	dt_nats_free(nats);
	return -1;
}
