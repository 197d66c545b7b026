/*
 * one_target: one machine, from the first HELLO to its BYE. What each message does, and when it may come.
 *
 * The target's clock is compared with ours by round trips: it reads its clock at some moment between our two readings, so
 * half the round trip is the error; of the last 16 the shortest is used. Earlier ones that contradict the last are forgotten.
 * Times of its records are converted when they arrive.
 * An agent on the kernel that we run on has our clock, and nothing is converted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/budget.h"
#include "fleet/one_target.h"
#include "fleet/viewer.h"

#define AGAIN	     UINT64_C(1000000000)
#define BELOW_COST   500 /* of entries by name, for a machine behind a relay */
#define LONG_TRIP    UINT64_C(1000000000)

dt_target *dt_target_new(dt_fleet *f, dt_account *payer, int fd, const char *path)
{
	dt_target *t = dt_xcalloc(1, sizeof(*t));
	struct dt_wire_hello h = {.version = DT_FLEET_VERSION,
				  .name = "host",
				  .os = f->env.os,
				  .release = DT_VERSION_TEXT};
	dt_buf b = {0};

	t->fleet = f;
	t->payer = payer;
	t->index = ++f->machines;
	t->path = dt_xstrdup(path);
	t->link = dt_link_new(fd);
	t->losses = dt_losses_new();
	t->heard = dt_now();
	if (getrandom(&t->nonce, sizeof(t->nonce), GRND_NONBLOCK) < 0)
		t->nonce = t->heard;
	h.nonce = t->nonce;
	dt_put_hello(&t->hello, &h);
	t->knocked = t->heard;
	dt_put_hello(&b, &h);
	dt_link_send(t->link, DT_M_HELLO, &b);
	dt_buf_free(&b);
	return t;
}

void dt_target_knock(dt_target *t)
{
	uint64_t now = dt_now();

	if (t->state != DT_T_NEW || now - t->knocked < AGAIN)
		return;
	t->knocked = now;
	dt_link_hello_again(t->link, &t->hello);
	dt_link_flush(t->link);
}

void dt_target_free(dt_target *t)
{
	dt_link_free(t->link);
	dt_losses_free(t->losses);
	for (uint32_t i = 0; i < t->ecbs.n; i++)
		free(t->ecbs.v[i]);
	dt_vec_free(&t->ecbs);
	dt_vec_free(&t->aggs);
	dt_vec_free(&t->clauses);
	for (uint32_t i = 0; i < t->below.n; i++)
		free(t->below.v[i]);
	dt_vec_free(&t->below);
	dt_map_free(t->below_by_name);
	dt_buf_free(&t->hello);
	free(t->path);
	free(t);
}

/* ---- words for the user ---- */

static const char *called(const dt_target *t)
{
	return t->name[0] ? t->name : t->path;
}

void dt_target_say(dt_target *t, enum dt_diag_kind kind, const char *fmt, ...)
{
	dt_buf b = {0};
	va_list ap;

	dt_buf_printf(&b, "%s: ", called(t));
	va_start(ap, fmt);
	dt_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	dt_make_safe(b.s, b.n, false);
	dt_fleet_tell(t->fleet, kind, b.s);
	dt_buf_free(&b);
}

/*
 * Notes of a machine are shown as they come, but not more than DT_MAX_TARGET_NOTES at once: it could fill the screen with them. Each
 * moves t->spoke ahead by the time that one may take. A relay speaks for all machines behind it.
 */
static bool may_speak(dt_target *t)
{
	uint64_t now = dt_now(), one = DT_MAX_TARGET_NOTE_NS / (1 + t->below.n);
	uint64_t first = now - (uint64_t)DT_MAX_TARGET_NOTES * DT_MAX_TARGET_NOTE_NS;

	if (t->spoke < first)
		t->spoke = first;
	if (t->spoke + one > now)
		return false;
	t->spoke += one;
	return true;
}

static void tell_hidden(dt_target *t)
{
	if (t->hidden)
		dt_target_say(t, DT_DIAG_DROP, "%llu more messages of it are not shown", (unsigned long long)t->hidden);
	t->hidden = 0;
}

void dt_target_drop(dt_target *t, const char *fmt, ...)
{
	bool traced = t->state == DT_T_RUNNING || t->state == DT_T_STOPPING;
	char why[512];
	va_list ap;

	if (t->state == DT_T_GONE || t->state == DT_T_DONE)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	t->state = DT_T_GONE;
	t->fleet->lost += traced && !t->refused;
	tell_hidden(t);
	dt_target_say(t, DT_DIAG_DROP, "%s%s", why,
		      traced ? "; what it had not sent is missing from now on" : "");
	dt_link_free(t->link);
	t->link = NULL;
}

/* ---- its clock ---- */

void dt_target_ping(dt_target *t)
{
	dt_buf b = {0};

	t->pinged = dt_now();
	t->ping = dt_now_kernel();
	dt_put_u64(&b, t->ping);
	dt_link_send(t->link, DT_M_PING, &b);
	dt_link_flush(t->link); /* the time until then would count as a part of the round trip */
	dt_buf_free(&b);
}

/* The difference is in this range now. If what was measured before is not in it, one of the clocks has stood still or jumped: that of a
 * guest does while it is paused. */
static bool has_jumped(const struct dt_clock *c, int64_t least, int64_t most)
{
	return c->n && (c->use + (int64_t)c->error < least || c->use - (int64_t)c->error > most);
}

/* How long it took. */
static uint64_t take_pong(dt_target *t, uint64_t sent, uint64_t theirs)
{
	struct dt_clock *c = &t->clock;
	uint64_t now = dt_now_kernel(), trip = now > sent ? now - sent : 0;
	uint32_t n, shortest = 0;

	c->pongs++;
	if (sent > now || c->same)
		return 0;
	if (has_jumped(c, (int64_t)(theirs - now), (int64_t)(theirs - sent)))
		c->n = 0;
	c->best[c->n % DT_NELEM(c->best)] = trip;
	c->offset[c->n++ % DT_NELEM(c->best)] = (int64_t)(theirs - sent - trip / 2);
	n = c->n < DT_NELEM(c->best) ? c->n : DT_NELEM(c->best);
	for (uint32_t i = 1; i < n; i++)
		if (c->best[i] < c->best[shortest])
			shortest = i;
	c->use = c->offset[shortest];
	c->error = c->best[shortest] / 2;
	return trip;
}

/* ---- messages ---- */

static void copy_name(char *to, const char *from)
{
	snprintf(to, DT_WIRE_NAME_MAX + 1, "%s", from);
	dt_make_safe(to, strlen(to), false);
}

struct dt_below *dt_target_below(const dt_target *t, const char *name)
{
	return t->below_by_name ? dt_map_get(t->below_by_name, name) : NULL;
}

dt_target *dt_target_called(const dt_fleet *f, const char *name)
{
	dt_target *t = dt_map_get(f->called, name);

	return t && dt_target_is_there(t) ? t : NULL;
}

/* Is some machine called so? Not those behind this relay. */
static bool is_called(const dt_fleet *f, const char *name, const dt_target *but)
{
	const dt_target *t = dt_target_called(f, name);

	return t && (t != but || strcmp(t->name, name) == 0);
}

/* Over NATS the server may have let it use the subjects of its own name only. */
static bool is_its_own(const dt_target *t, const char *name)
{
	char word[DT_NATS_WORD + 1];

	dt_nats_word(word, name);
	return !t->word[0] || strcmp(word, t->word) == 0;
}

static const char *take_hello(dt_target *t, dt_message *m)
{
	char name[DT_WIRE_NAME_MAX + 1];
	struct dt_wire_hello h;

	if (!dt_get_hello(m, &h))
		return "its first message is not understood";
	if (h.version != DT_FLEET_VERSION) {
		dt_target_drop(t, "it speaks version %u of the protocol, this dtrace speaks version %u", h.version,
			       DT_FLEET_VERSION);
		return NULL;
	}
	if (h.nonce != t->nonce) { /* a serial port: it answers an earlier front, or says that it has begun anew */
		dt_link_restart(t->link);
		return NULL;
	}
	if (!h.name[0] || strcmp(h.name, "host") == 0)
		return "it has no name of its own";
	if (!is_its_own(t, h.name)) {
		dt_target_drop(t, "it says that it is called %.100s, but uses the subjects of another name", h.name);
		return NULL;
	}
	copy_name(name, h.name);
	if (is_called(t->fleet, name, NULL)) {
		dt_target_drop(t, "another machine is already called %.100s", h.name);
		return NULL;
	}
	copy_name(t->name, h.name);
	dt_map_set(t->fleet->called, t->name, t);
	copy_name(t->os, h.os);
	copy_name(t->release, h.release);
	t->ncpus = h.ncpus;
	t->hostid = h.hostid;
	t->relay = h.relay;
	t->clock.same = h.clock && h.clock == dt_wire_clock();
	t->state = DT_T_KNOWN;
	t->late = false;
	if (t->fleet->env.met)
		t->fleet->env.met(t->fleet->env.arg, &(struct dt_wire_machine){t->name, t->os, t->release, t->ncpus, t->hostid, 0});
	dt_fleet_brief(t);
	return NULL;
}

/* A machine behind a relay; also one that was there before and has come back. */
static const char *take_machine(dt_target *t, dt_message *m)
{
	char name[DT_WIRE_NAME_MAX + 1];
	struct dt_wire_machine w;
	struct dt_below *b;

	if (!t->relay || !dt_get_machine(m, &w))
		return "it names a machine, but is no relay";
	if (t->namings++ >= DT_MAX_TARGET_NAMED || t->fleet->machines >= DT_MAX_MACHINES)
		return "it names machines more often than there is room for";
	if (!w.name[0] || strcmp(w.name, "host") == 0)
		return "a machine behind it has no name of its own";
	copy_name(name, w.name);
	if (is_called(t->fleet, name, t)) {
		dt_target_drop(t, "another machine is already called %.100s", w.name);
		return NULL;
	}
	b = dt_target_below(t, name);
	if (!b && !dt_account_take(t->payer, sizeof(*b) + BELOW_COST))
		return "more machines are behind it than there is room for";
	if (!b) {
		b = *dt_vec_add(&t->below, NULL) = dt_xcalloc(1, sizeof(*b));
		b->index = ++t->fleet->machines;
		copy_name(b->name, w.name);
		t->below_by_name = t->below_by_name ? t->below_by_name : dt_map_new();
		dt_map_set(t->below_by_name, b->name, b);
		dt_map_set(t->fleet->called, b->name, t);
	}
	copy_name(b->os, w.os);
	copy_name(b->release, w.release);
	b->ncpus = w.ncpus;
	b->hostid = w.hostid;
	b->uncertainty = w.uncertainty;
	if (t->fleet->env.met)
		t->fleet->env.met(t->fleet->env.arg, &(struct dt_wire_machine){b->name, b->os, b->release, b->ncpus, b->hostid, b->uncertainty});
	return NULL;
}

static int tell_loss(void *arg, const dt_diag *d)
{
	dt_target_say(arg, DT_DIAG_DROP, "%s", d->text);
	return 0;
}

static const char *take_status(dt_target *t, dt_message *m)
{
	struct dt_losses_to to = {.opts = t->fleet->env.opts, .tell = tell_loss, .arg = t, .now = dt_now()};
	dt_arena *a = dt_arena_new();
	dt_status st;
	bool ok = dt_get_status(m, &st, a) && st.ncpus <= DT_MAX_TARGET_CPUS;

	if (ok)
		dt_losses_report(t->losses, &st, &to);
	dt_arena_free(a);
	return ok ? NULL : "its status is not understood";
}

static void take_note(dt_target *t, dt_message *m)
{
	static const enum dt_diag_kind kinds[] = {DT_DIAG_DROP, DT_DIAG_FAULT, DT_DIAG_NOTE, DT_DIAG_NOTE};
	uint32_t kind = dt_get_u32(m);

	if (!may_speak(t)) {
		t->hidden++;
		return;
	}
	tell_hidden(t);
	dt_target_say(t, kinds[kind], "%.400s", dt_get_string(m));
}

static void take_bye(dt_target *t, dt_message *m)
{
	uint64_t records = dt_get_u64(m), rows = dt_get_u64(m);

	if (records != t->records || rows != t->rows)
		dt_target_say(t, DT_DIAG_DROP, "%llu of %llu records and %llu of %llu rows of aggregations have come",
			      (unsigned long long)t->records, (unsigned long long)records,
			      (unsigned long long)t->rows, (unsigned long long)rows);
	tell_hidden(t);
	t->state = DT_T_DONE;
}

static const char *take_exit(dt_target *t, dt_message *m)
{
	if (!t->exits)
		return "it calls exit(), which the program does not do there";
	if (!t->fleet->exiting)
		t->fleet->exit_status = (int)dt_get_u32(m);
	t->fleet->exiting = true;
	return NULL;
}

static const char *take_probe(dt_target *t, dt_message *m)
{
	struct dt_wire_probe p;

	if (!t->listing || !dt_get_probe(m, &p) || t->named++ >= DT_MAX_TARGET_NAMED)
		return "it names a probe that was not asked for";
	t->listing->each(t->listing->arg, &p);
	return NULL;
}

/* While it only prepares: shapes, lists. */
static const char *take_preparation(dt_target *t, uint32_t type, dt_message *m)
{
	struct dt_wire_clause clause;
	struct dt_wire_agg agg;
	const char *why;

	switch (type) {
	case DT_M_CLAUSE: return dt_get_clause(m, &clause) ? dt_shape_clause(t, &clause) : "";
	case DT_M_AGG: return dt_get_agg(m, &agg) ? dt_shape_agg(t, &agg) : "";
	case DT_M_ENABLED: return dt_get_u32(m) == t->enabled++ ? NULL : "";
	case DT_M_PROBE: return take_probe(t, m);
	case DT_M_LISTED:
		why = dt_get_string(m);
		snprintf(t->why_no_list, sizeof(t->why_no_list), "%s", why ? why : "");
		t->listed = true;
		return NULL;
	default: return "";
	}
}

void dt_target_promised(dt_target *t, uint64_t time)
{
	t->promise = time < t->clock.last ? t->clock.last - 1 : time;
	if (t->since && t->promise < t->wanted)
		return; /* not enough: it is asked again */
	t->since = 0;
	t->late = false;
}

/* All ones: no record will come. */
static void take_promise(dt_target *t, uint64_t time)
{
	t->asked = false;
	dt_target_promised(t, time == UINT64_MAX ? time : time - (uint64_t)t->clock.use);
}

/* What it traces. */
static const char *take_data(dt_target *t, uint32_t type, dt_message *m)
{
	struct dt_wire_ecb ecb;
	struct dt_wire_fault fault;

	switch (type) {
	case DT_M_STARTED: t->started = true; return NULL;
	case DT_M_ECB: return dt_get_ecb(m, &ecb) ? dt_shape_ecb(t, &ecb) : "";
	case DT_M_RECORD: return dt_shape_record(t, m);
	case DT_M_FAULT: return dt_get_fault(m, &fault) ? dt_shape_fault(t, &fault) : "";
	case DT_M_ROW: return dt_shape_row(t, m);
	case DT_M_STATUS: return take_status(t, m);
	case DT_M_PROMISE: take_promise(t, dt_get_u64(m)); return NULL;
	case DT_M_EXIT: return take_exit(t, m);
	case DT_M_BYE: return t->state == DT_T_STOPPING ? (take_bye(t, m), NULL) : "";
	default: return "";
	}
}

static const char its_agent_left[] = "its agent was ended or started again";

/* NULL, or what is wrong; "": the message is not one that may come now. */
static const char *take(dt_target *t, dt_packet *p)
{
	const char *why;
	uint64_t sent, theirs;

	t->heard = dt_now();
	if (t->state == DT_T_NEW)
		return p->type == DT_M_HELLO ? take_hello(t, &p->body) : "";
	if (!dt_wire_is_well_formed(p->type, p->body))
		return "";
	switch (p->type) {
	case DT_M_PONG:
		sent = dt_get_u64(&p->body);
		theirs = dt_get_u64(&p->body);
		/* One after the other: none waits for another; a long one says little. Answers that were not asked for bring no question. */
		if ((take_pong(t, sent, theirs) > LONG_TRIP || t->clock.pongs < DT_PINGS) && sent == t->ping)
			dt_target_ping(t);
		return NULL;
	case DT_M_HELLO: return its_agent_left;
	case DT_M_NOTE: take_note(t, &p->body); return NULL;
	case DT_M_BUSY: return NULL;
	case DT_M_MACHINE: return take_machine(t, &p->body);
	case DT_M_REFUSED:
		t->refused = true;
		dt_target_drop(t, "%.400s", dt_get_string(&p->body));
		return NULL;
	default: break;
	}
	if (t->fleet->viewer && dt_viewer_take(t, p, &why))
		return why;
	return t->state == DT_T_KNOWN || (t->state == DT_T_RUNNING && !t->started && p->type != DT_M_STARTED)
		   ? take_preparation(t, p->type, &p->body)
		   : take_data(t, p->type, &p->body);
}

bool dt_target_work(dt_target *t)
{
	const char *why = NULL;
	bool ended = dt_link_work(t->link) < 0;
	dt_packet p;
	int rc = 0;

	while (!why && t->link && t->state != DT_T_DONE && (rc = dt_link_next(t->link, &p)) > 0)
		why = take(t, &p);
	if (t->state == DT_T_DONE) {
		dt_link_free(t->link);
		t->link = NULL;
	}
	if (!t->link)
		return false;
	if (why == its_agent_left || (rc < 0 && dt_link_why(t->link) == dt_frames_anew))
		dt_target_drop(t, "%s", its_agent_left);
	else if (why)
		dt_target_drop(t, "its connection was closed: %s", *why ? why : "a message is not understood");
	else if (rc < 0 || ended)
		dt_target_drop(t, "%s%s", dt_link_why(t->link),
			       rc >= 0 && t->state == DT_T_NEW ? " before it has answered: perhaps its policy has no rule for you" : "");
	else
		return true;
	return false;
}
