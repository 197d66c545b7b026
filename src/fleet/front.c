/*
 * front: which machines there are, asking them, and waiting for answers.
 *
 * A machine is a socket: of an agent, or of the serial port of a guest; or an agent that answers over NATS. All sockets of the given directories are tried;
 * while tracing, new ones are looked for every second. One that stays silent after the connection is perhaps a guest without
 * an agent: it is waited for briefly, and joins when it answers.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/budget.h"
#include "fleet/one_target.h"

#define SECOND	      UINT64_C(1000000000)
#define SILENCE	      (5 * SECOND)
#define PER_TARGET    (SECOND / 100) /* many of them may share the CPUs of one machine */

int dt_fleet_tell(dt_fleet *f, enum dt_diag_kind kind, const char *text)
{
	dt_diag d = {.kind = kind, .text = text};

	if (f->env.tell(f->env.arg, &d) != 0)
		f->aborted = true;
	return 0;
}

/* ---- finding them ---- */

static int connect_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return errno = ENAMETOOLONG, -1;
	memcpy(a.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		int e = errno;

		close(fd);
		errno = e;
		fd = -1;
	}
	return fd;
}

/* Nothing listens there, yet. */
static bool may_come(int error)
{
	return error == ECONNREFUSED || error == ENOENT || error == ECONNRESET || error == EINPROGRESS;
}

/* Is a connection to this socket there, or was it tried in vain? */
static bool is_taken(const dt_fleet *f, const char *path)
{
	const dt_target *t = dt_map_get(f->connected, path);

	return (t && (t->state != DT_T_GONE || t->refused)) || dt_map_get(f->seen, path) != NULL;
}

/* It is said once. */
static void tell_full(dt_fleet *f)
{
	static const char full[] = "there are more machines than this dtrace can have: the others are left out";

	if (!dt_map_get(f->seen, full))
		dt_fleet_tell(f, DT_DIAG_DROP, full);
	dt_map_set(f->seen, full, f);
}

/* One more connection? */
static bool has_room(dt_fleet *f, const char *account)
{
	if (f->targets.n < DT_MAX_TARGETS && f->machines < DT_MAX_MACHINES && dt_account_has_room(f, account))
		return true;
	tell_full(f);
	return false;
}

static dt_target *add_target(dt_fleet *f, int fd, const char *path, dt_account *payer)
{
	dt_target *t = *dt_vec_add(&f->targets, NULL) = dt_target_new(f, payer, fd, path);

	dt_map_set(f->connected, t->path, t);
	return t;
}

/* ---- over NATS ---- */

/* An agent that has answered. Its digits are new each time it starts; its account stays. */
static void try_agent(dt_fleet *f, dt_nats *n, const char *id)
{
	char *path = dt_xasprintf("%s/%s", dt_nats_shown(n), id), *account = dt_xstrdup(path);
	dt_account *payer;
	dt_target *t;
	int fd;

	*strrchr(account, '.') = 0;
	payer = is_taken(f, path) || !has_room(f, account) ? NULL : dt_account_of(f, account); /* NULL: it has used it up */
	fd = payer ? dt_nats_connect(n, id) : -1;
	if (fd >= 0) {
		t = add_target(f, fd, path, payer);
		snprintf(t->word, sizeof(t->word), "%.*s", (int)strcspn(id, "."), id);
	} else if (payer) {
		dt_account_give(payer, sizeof(*t));
	}
	free(account);
	free(path);
}

/* Those that have answered, and ask again. */
static void try_nats(dt_fleet *f, const char *url)
{
	dt_nats *n = dt_fleet_server(f, url);
	char id[DT_NATS_ID + 1];

	while (n && dt_nats_next(n, id))
		try_agent(f, n, id);
	if (n)
		dt_nats_ask(n);
}

/* ---- sockets ---- */

/* It is said once. A guest that does not run may be started: it is tried again. */
static void complain(dt_fleet *f, const char *path, int error, bool again)
{
	char *said = dt_xasprintf("%s%s", again ? "said:" : "", path);
	dt_buf b = {0};

	if (!dt_map_get(f->seen, said)) {
		dt_buf_printf(&b, "cannot connect to %s: %s", path, strerror(error));
		dt_fleet_tell(f, DT_DIAG_DROP, b.s);
	}
	dt_map_set(f->seen, said, f);
	dt_buf_free(&b);
	free(said);
}

static void try_socket(dt_fleet *f, const char *path)
{
	bool vsock = strncmp(path, "vsock:", 6) == 0;
	dt_account *payer;
	int fd;

	if (is_taken(f, path) || !has_room(f, path))
		return;
	fd = vsock ? dt_vsock_connect(f, path) : connect_to(path);
	if (fd < 0) {
		if (!may_come(errno))
			complain(f, path, errno, vsock && errno != EINVAL);
	} else if ((payer = dt_account_of(f, path))) {
		add_target(f, fd, path, payer);
	} else { /* it has used up its account: it is not tried again */
		close(fd);
		dt_map_set(f->seen, path, f);
	}
}

static void try_directory(dt_fleet *f, const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = dt_xasprintf("%s/%s", dir, names[i]->d_name);
		struct stat st;

		if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode))
			try_socket(f, path);
		free(path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void dt_fleet_scan(dt_fleet *f)
{
	const char *p = f->env.paths;

	f->scanned = dt_now();
	dt_accounts_forget_gone(f);
	while (*p) {
		bool nats = dt_nats_is_url(p), vsock = strncmp(p, "vsock:", 6) == 0;
		size_t n = strcspn(p, nats || vsock ? "," : ":,"); /* an address has colons */
		char *path = dt_xasprintf("%.*s", (int)n, p);
		struct stat st;

		if (nats)
			try_nats(f, path);
		else if (n && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			try_directory(f, path);
		else if (n)
			try_socket(f, path);
		free(path);
		p += n + (p[n] != 0);
	}
}

/* ---- talking with them ---- */

/* What a NATS server does not let us do. */
static void tell_trouble(dt_fleet *f)
{
	dt_buf b = {0};

	for (uint32_t i = 0; i < f->nats.n; i++) {
		if (dt_nats_trouble(f->nats.v[i], &b))
			dt_fleet_tell(f, DT_DIAG_DROP, b.s);
		dt_buf_reset(&b);
	}
	dt_buf_free(&b);
}

void dt_fleet_care(dt_fleet *f)
{
	uint64_t now = dt_now();

	tell_trouble(f);
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (!t->link)
			continue;
		if (t->state == DT_T_NEW)
			dt_target_knock(t);
		if (dt_link_pending(t->link))
			dt_link_flush(t->link);
		if (dt_link_pending(t->link) > DT_MAX_TARGET_UNREAD)
			dt_target_drop(t, "it does not read what it is sent");
		else if (dt_target_is_there(t) && now > t->pinged && now - t->pinged >= SECOND)
			dt_target_ping(t);
	}
}

/* Those that are waited for. */
struct waiting {
	uint64_t begin; /* dt_now() */
	DT_VEC(struct pollfd) fds;
	DT_VEC(dt_target *) targets;
};

/* A machine that has been silent for too long. What has answered once is dropped. */
static void give_up(dt_target *t, const char *what)
{
	if (t->state != DT_T_NEW) {
		dt_target_drop(t, "%s", what);
		return;
	}
	t->late = true;
	dt_target_say(t, DT_DIAG_DROP, "%s", what);
}

uint64_t dt_fleet_silence(const dt_fleet *f)
{
	return SILENCE + f->targets.n * PER_TARGET;
}

/* What has come counts, also if it was not read yet: perhaps it is we who were stopped. */
static bool is_silent(const dt_target *t, uint64_t now, uint64_t silence)
{
	struct pollfd fd = {.fd = dt_link_fd(t->link), .events = POLLIN};

	return now > t->heard && now - t->heard > silence && poll(&fd, 1, 0) <= 0;
}

static bool is_overdue(const dt_target *t, const struct waiting *w, const struct dt_patience *p)
{
	uint64_t now = dt_now();

	return now - w->begin > p->most || is_silent(t, now, p->silence);
}

/* All that have a link are watched; true: some are not done. */
static bool list_waiting(dt_fleet *f, bool (*done)(const dt_target *t), const struct dt_patience *p, struct waiting *w)
{
	bool any = false;

	w->fds.n = w->targets.n = 0;
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->link && t->state != DT_T_DONE && !done(t)) {
			if (is_overdue(t, w, p))
				give_up(t, p->what);
			else
				any = true;
		}
		if (!t->link)
			continue;
		*dt_vec_add(&w->targets, NULL) = t;
		*dt_vec_add(&w->fds, NULL) = (struct pollfd){
		    .fd = dt_link_fd(t->link), .events = POLLIN | (dt_link_pending(t->link) ? POLLOUT : 0)};
	}
	return any;
}

void dt_fleet_wait(dt_fleet *f, bool (*done)(const dt_target *t), const struct dt_patience *p)
{
	struct waiting w = {.begin = dt_now()};

	dt_fleet_care(f);
	while (list_waiting(f, done, p, &w) && !f->aborted) {
		if (poll(w.fds.v, w.fds.n, 100) > 0)
			for (uint32_t i = 0; i < w.fds.n; i++)
				if (w.fds.v[i].revents && w.targets.v[i]->link)
					dt_target_work(w.targets.v[i]);
		dt_fleet_care(f);
	}
	dt_vec_free(&w.fds);
	dt_vec_free(&w.targets);
}

static bool has_answered(const dt_target *t)
{
	return t->late || (t->state != DT_T_NEW && t->clock.pongs >= DT_PINGS);
}

/* It may be a guest without an agent. */
static void wait_for_answers(dt_fleet *f)
{
	uint64_t silence = dt_opt(f->env.opts, DT_O_TARGETWAIT);

	for (uint32_t i = 0; i < f->targets.n; i++)
		f->targets.v[i]->heard = dt_now(); /* a NATS server may have taken long, and nothing was sent to them yet */
	dt_fleet_wait(f, has_answered,
		      &(struct dt_patience){silence, DT_MAX_TARGET_ANSWER * silence, "it does not answer: there may be no agent"});
}

dt_fleet *dt_fleet_new(const struct dt_fleet_env *env)
{
	dt_fleet *f = dt_xcalloc(1, sizeof(*f));

	f->env = *env;
	f->agg_by_name = dt_map_new();
	dt_accounts_open(f);
	f->called = dt_map_new();
	f->seen = dt_map_new();
	f->connected = dt_map_new();
	f->names = dt_farnames_new();
	f->epoll = -1;
	dt_allow_descriptors();
	dt_fleet_scan(f);
	wait_for_answers(f);
	return f;
}

void dt_fleet_also(dt_fleet *f, const char *paths)
{
	const char *own = f->env.paths;

	f->env.paths = paths;
	dt_fleet_scan(f);
	f->env.paths = own;
	wait_for_answers(f);
}

void dt_fleet_free(dt_fleet *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->targets.n; i++)
		dt_target_free(f->targets.v[i]);
	dt_vec_free(&f->targets);
	for (uint32_t i = 0; i < f->past.n; i++)
		dt_target_free(f->past.v[i]);
	dt_vec_free(&f->past);
	dt_fleet_leave_servers(f);
	dt_vsock_close(f);
	for (uint32_t i = 0; i < f->programs.n; i++) {
		dt_buf_free(&f->programs.v[i].message);
		free(f->programs.v[i].matches);
	}
	dt_vec_free(&f->programs);
	for (uint32_t i = 0; i < f->rows.n; i++)
		free(f->rows.v[i].keys);
	dt_vec_free(&f->rows);
	dt_order_free(&f->order);
	dt_farnames_free(f->names);
	dt_accounts_close(f);
	dt_map_free(f->called);
	dt_map_free(f->agg_by_name);
	dt_map_free(f->seen);
	dt_map_free(f->connected);
	free(f);
}

static struct dt_wire_machine machine_of(const dt_target *t)
{
	return (struct dt_wire_machine){t->name, t->os, t->release, t->ncpus, t->hostid, t->clock.error};
}

/* Each, and after it those that are behind it. */
bool dt_fleet_nth(const dt_fleet *f, uint32_t i, struct dt_wire_machine *out)
{
	for (uint32_t k = 0; k < f->targets.n; k++) {
		const dt_target *t = f->targets.v[k];

		if (!dt_target_is_there(t))
			continue;
		if (i == 0) {
			*out = machine_of(t);
			return true;
		}
		if (i <= t->below.n) {
			const struct dt_below *b = t->below.v[i - 1];

			*out = (struct dt_wire_machine){b->name, b->os, b->release, b->ncpus, b->hostid,
							t->clock.error + b->uncertainty};
			return true;
		}
		i -= 1 + t->below.n;
	}
	return false;
}

/* An answer that takes work: a guest that is emulated takes its time to compile. */
static void wait_for_work(dt_fleet *f, bool (*done)(const dt_target *t))
{
	dt_fleet_wait(f, done, &(struct dt_patience){dt_fleet_silence(f), DT_MAX_TARGET_WORK, "it does not answer any more"});
}

static bool has_listed(const dt_target *t)
{
	return !t->listing || t->listed;
}

int dt_fleet_list(dt_fleet *f, const char *machine, const char *desc, uint32_t spec, dt_fleet_probe_f *each, void *arg, dt_error *err)
{
	const struct dt_listing listing = {each, arg};
	dt_target *t = dt_target_called(f, machine);
	dt_buf b = {0};

	if (!t)
		return dt_err(err, EDT_NOPROBE, "%s has gone", machine);
	dt_put_string(&b, strcmp(t->name, machine) == 0 ? "" : machine);
	dt_put_string(&b, desc ? desc : "");
	dt_put_u32(&b, spec);
	dt_link_send(t->link, DT_M_LIST, &b);
	dt_buf_free(&b);
	t->listing = &listing;
	t->listed = false;
	t->named = 0;
	wait_for_work(f, has_listed);
	t->listing = NULL;
	if (!t->listed)
		return dt_err(err, EDT_NOPROBE, "%s has gone", machine);
	return t->why_no_list[0] ? dt_err(err, EDT_NOPROBE, "%s: %s", machine, t->why_no_list) : 0;
}

bool dt_fleet_name(const dt_fleet *f, uint64_t addr, const char **mod, const char **sym, uint64_t *off)
{
	return dt_farnames_find(f->names, addr, mod, sym, off);
}

/* ---- programs ---- */

static void note_aggs(dt_fleet *f, const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nstmts; i++)
		for (uint32_t k = 0; k < c->stmts[i].naggs; k++)
			dt_map_set(f->agg_by_name, c->stmts[i].aggs[k]->name, c->stmts[i].aggs[k]);
}

void dt_fleet_keep_text(dt_fleet *f, const dt_program *p, const struct dt_wire_program *text)
{
	struct dt_fleet_program *fp = dt_vec_add(&f->programs, NULL);

	*fp = (struct dt_fleet_program){.prog = p};
	fp->matches = dt_xcalloc(p->nclauses + 1, sizeof(*fp->matches));
	dt_put_program(&fp->message, text);
	for (uint32_t i = 0; i < p->nclauses; i++)
		note_aggs(f, &p->clauses[i]);
}

uint32_t dt_fleet_count(const dt_fleet *f)
{
	return f->programs.n;
}

uint32_t dt_fleet_matches(const dt_fleet *f, const dt_program *p, uint32_t clause)
{
	for (uint32_t i = 0; i < f->programs.n; i++)
		if (f->programs.v[i].prog == p)
			return f->programs.v[i].matches[clause];
	return 0;
}

/* An option's value as the user would write it; false: it is not for other machines. */
static bool option_text(const dt_options *o, enum dt_opt_id id, dt_buf *out)
{
	unsigned long long v = dt_opt(o, id);
	const char *word;
	size_t n;

	if (!o->is_set[id] || !dt_wire_has_option(id))
		return false;
	switch (dt_opt_table[id].kind) {
	case DT_OPT_BOOL: dt_buf_puts(out, v ? "yes" : "no"); return true;
	case DT_OPT_INT:
	case DT_OPT_SIZE: dt_buf_printf(out, "%llu", v); return true;
	case DT_OPT_RATE: dt_buf_printf(out, "%lluns", v); return true;
	case DT_OPT_PERCENT: dt_buf_printf(out, "%llu.%04llu%%", v / 10000, v % 10000); return true;
	case DT_OPT_CHOICE:
		word = dt_option_choice(id, v, &n);
		dt_buf_add(out, word, n);
		return n > 0;
	case DT_OPT_STRING:
	case DT_OPT_LIST:
	case DT_OPT_ATTR:
	case DT_OPT_VERSION: break;
	}
	return false;
}

static void send_options(dt_target *t)
{
	dt_buf b = {0}, value = {0};

	for (int i = 0; i < DT_O_MAX; i++) {
		dt_buf_reset(&value);
		if (!option_text(t->fleet->env.opts, i, &value))
			continue;
		dt_put_string(&b, dt_opt_table[i].name);
		dt_put_string(&b, value.s);
		dt_link_send(t->link, DT_M_OPTION, &b);
	}
	dt_buf_free(&b);
	dt_buf_free(&value);
}

static void send_program(dt_target *t, const struct dt_fleet_program *p)
{
	dt_buf copy = {0};

	dt_buf_add(&copy, p->message.s, p->message.n);
	dt_link_send(t->link, DT_M_PROGRAM, &copy);
	dt_buf_free(&copy);
}

void dt_fleet_brief(dt_target *t)
{
	dt_fleet *f = t->fleet;

	dt_accounts_set_limits(f);
	dt_target_ping(t);
	if (f->going && !f->stopped)
		dt_target_say(t, DT_DIAG_NOTE, "joins");
	for (uint32_t i = 0; i < f->programs.n && f->programs.v[i].enabled; i++) {
		if (i == 0)
			send_options(t);
		send_program(t, &f->programs.v[i]);
	}
	if (f->going && !f->stopped) {
		dt_link_send(t->link, DT_M_GO, NULL);
		t->state = DT_T_RUNNING;
	}
}

static bool has_enabled(const dt_target *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->fleet->programs.n; i++)
		n += t->fleet->programs.v[i].enabled;
	return t->state == DT_T_NEW || t->enabled >= n;
}

int dt_fleet_enable(dt_fleet *f, const dt_program *p, uint32_t *matches, dt_error *err)
{
	uint32_t at = 0;

	while (at < f->programs.n && f->programs.v[at].prog != p)
		at++;
	if (at == f->programs.n || (at > 0 && !f->programs.v[at - 1].enabled) || f->programs.v[at].enabled)
		return dt_err(err, EINVAL, "with option machines, programs are enabled once and in their order");
	f->programs.v[at].enabled = true;
	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->state != DT_T_KNOWN)
			continue;
		if (at == 0)
			send_options(t);
		send_program(t, &f->programs.v[at]);
		t->heard = dt_now();
	}
	wait_for_work(f, has_enabled);
	for (uint32_t i = 0; i < p->nclauses; i++)
		matches[i] += f->programs.v[at].matches[i];
	return f->aborted ? dt_err(err, EDT_DIRABORT, NULL) : 0;
}

/* ---- what cannot be done ---- */

/* A conversion that shows a number as the name of an address of this machine; 0: none. */
static char address_format(const dt_clause *c)
{
	for (uint32_t i = 0; i < c->nstmts; i++)
		for (uint32_t k = 0; c->stmts[i].format && k < c->stmts[i].format->nconvs; k++)
			if (strchr("aA", c->stmts[i].format->convs[k].letter) && c->stmts[i].format->convs[k].letter)
				return c->stmts[i].format->convs[k].letter;
	return 0;
}

int dt_fleet_check(const dt_program *p, dt_error *err)
{
	for (uint32_t i = 0; i < p->nclauses; i++) {
		const dt_clause *c = &p->clauses[i];
		char letter;

		if (!c->desc.machine || strcmp(c->desc.machine, "host") == 0)
			continue;
		letter = address_format(c->rest ? c->rest->clause : c);
		if (!letter)
			continue;
		dt_err(err, EDT_COMPILER,
		       "the clause of %s:%s:%s:%s:%s uses the format %%%c, which would name an address of another machine as if it "
		       "were of this one; use sym(), usym() or stack()",
		       c->desc.machine, c->desc.prov, c->desc.mod, c->desc.func, c->desc.name, letter);
		err->pos = c->pos;
		return -1;
	}
	return 0;
}
