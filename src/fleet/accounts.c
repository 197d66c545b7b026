/*
 * accounts: what the front keeps for each machine, and that it is bounded.
 *
 * Everything that a machine makes the front keep is taken from its account (base/account.h): records and rows that wait, keys of
 * aggregations, names of addresses, probes, machines behind a relay, and the connection itself. An account belongs to the
 * address of a machine, so coming back does not help. A machine that is honest does not notice: the limit is above what its own
 * engine can hold. Above it, records and rows are refused, and counted as drops of that machine; a machine whose probes have no room
 * is dropped.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "engine/record_plan.h"
#include "fleet/one_target.h"

#define SECOND UINT64_C(1000000000)

static uint64_t size_of(const dt_fleet *f, enum dt_opt_id id)
{
	uint64_t size = dt_opt(f->env.opts, id);

	return size ? size : DT_BUFFER_DEFAULT;
}

/*
 * The tables of an engine hold aggsize bytes for each of at most 8 CPUs, twice, for each shape of keys. A small row takes three
 * times as much here: that is 48 times aggsize. Its buffers hold bufsize for each CPU.
 */
static uint64_t limit_of(const dt_fleet *f, bool relay)
{
	uint64_t naggs = dt_map_count(f->agg_by_name), limit;

	if (__builtin_mul_overflow(size_of(f, DT_O_AGGSIZE), naggs ? naggs : 1, &limit) ||
	    __builtin_add_overflow(limit, size_of(f, DT_O_BUFSIZE), &limit) ||
	    __builtin_mul_overflow(limit, (uint64_t)DT_MAX_TARGET_TIMES, &limit) ||
	    __builtin_add_overflow(limit, DT_MAX_TARGET_NAMES, &limit) ||
	    __builtin_mul_overflow(limit, (uint64_t)(relay ? DT_MAX_RELAY_TIMES : 1), &limit))
		limit = UINT64_MAX / 2;
	return limit;
}

void dt_accounts_set_limits(dt_fleet *f)
{
	for (uint32_t i = 0; i < f->targets.n; i++)
		f->targets.v[i]->payer->limit = limit_of(f, f->targets.v[i]->relay);
}

void dt_accounts_open(dt_fleet *f)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	f->accounts = dt_map_new();
	f->all.limit = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / DT_MAX_TARGETS_PART : DT_GB(1);
}

void dt_accounts_close(dt_fleet *f)
{
	uint32_t it = 0;
	const char *path;
	void *a;

	while (dt_map_next(f->accounts, &it, &path, &a))
		free(a);
	dt_map_free(f->accounts);
}

bool dt_account_has_room(const dt_fleet *f, const char *path)
{
	return f->all.n < UINT16_MAX || dt_map_get(f->accounts, path);
}

dt_account *dt_account_of(dt_fleet *f, const char *path)
{
	dt_account *a = dt_map_get(f->accounts, path);

	if (!a && dt_account_has_room(f, path)) {
		a = dt_xcalloc(1, sizeof(*a));
		a->all = &f->all;
		a->number = (uint16_t)++f->all.n;
		a->limit = limit_of(f, false);
		dt_map_set(f->accounts, path, a);
	}
	return a && dt_account_take(a, sizeof(dt_target)) ? a : NULL;
}

/* ---- what was refused ---- */

static void tell(dt_target *t, uint64_t *told, uint64_t now, const char *what)
{
	uint64_t n = now - *told;

	*told = now;
	if (n)
		dt_target_say(t, DT_DIAG_DROP, "%llu %s%s: the front keeps no more than %llu bytes for it", (unsigned long long)n, what,
			      n == 1 ? "" : "s", (unsigned long long)t->payer->limit);
}

static void tell_refused(dt_target *t)
{
	tell(t, &t->told_rows, t->payer->refused_rows, "aggregation drop");
	tell(t, &t->told_records, t->payer->refused_records, "drop");
}

void dt_accounts_report(dt_fleet *f)
{
	uint64_t now = dt_now();

	if (!f->stopped && now - f->told_refused < SECOND)
		return;
	f->told_refused = now;
	for (uint32_t i = 0; i < f->targets.n; i++)
		tell_refused(f->targets.v[i]);
	for (uint32_t i = 0; i < f->past.n; i++)
		tell_refused(f->past.v[i]);
}

/* ---- machines that have gone ---- */

void dt_accounts_forget_gone(dt_fleet *f)
{
	uint32_t n = 0, watched = f->watched;

	for (uint32_t i = 0; i < f->targets.n; i++) {
		dt_target *t = f->targets.v[i];

		if (t->state == DT_T_GONE) {
			*dt_vec_add(&f->past, NULL) = t;
			f->watched -= i < watched;
		} else {
			f->targets.v[n++] = t;
		}
	}
	f->targets.n = n;
}
