/*
 * pe_map: probes in the code that the target has mapped, now and later.
 *
 * When the dynamic linker has something new (pe_grow.c) the mappings are looked at again. Where code has gone, its places are
 * forgotten: nothing is written there any more. Where a file that has probes is mapped, at whatever address and however often,
 * the probes are placed; those that it had before get their places back, with their stubs.
 */
#include <stdlib.h>

#include "process/process.h"

/* ---- ECBs ---- */

static bool has(const struct dt_pe_place *x, uint32_t ecb)
{
	for (uint32_t i = x->ecbs.n; i-- > 0;)
		if (x->ecbs.v[i] == ecb)
			return true;
	return false;
}

/* The place needs another site, and its stub that one. */
static void renew(struct dt_pe_place *x)
{
	x->patch.site = 0;
	x->made = false;
}

/* All events of a probe, or none: a return that is missing would be wrong. */
static bool place_in(dt_pe *p, uint32_t ecb, const dt_mapping *m, dt_error *err)
{
	const dt_ecb *e = p->host->ecbs[ecb].ecb;
	DT_VEC(struct dt_pe_place *) mine = {0};
	bool all = true;

	for (uint32_t k = 0; k < e->events->n && all; k++) {
		struct dt_pe_place *x = dt_pe_place(&p->places, p->files, &(struct dt_pe_wish){e->probe, &e->events->v[k], m}, err);

		all = x != NULL;
		if (x)
			*dt_vec_add(&mine, NULL) = x;
	}
	for (uint32_t i = 0; i < mine.n; i++) {
		struct dt_pe_place *x = mine.v[i];

		if (all && !has(x, ecb)) {
			*dt_vec_add(&x->ecbs, NULL) = ecb;
			renew(x);
		} else if (!all && !x->ecbs.n && !x->gate && x->state != DT_PE_NONE) {
			dt_pe_places_drop(&p->places, x);
		}
	}
	dt_vec_free(&mine);
	return all;
}

bool dt_pe_place_ecb(dt_pe *p, uint32_t ecb, dt_error *err)
{
	const dt_ecb *e = p->host->ecbs[ecb].ecb;
	dt_error why = {0}, ignored;
	const dt_mapping *m;
	uint32_t it = 0;
	bool any = false;

	while ((m = dt_pe_place_mapping(p->files, &e->events->v[0], &it, why.text[0] ? &ignored : &why)))
		any = place_in(p, ecb, m, why.text[0] ? &ignored : &why) || any;
	if (!any)
		dt_err(err, EDT_NOPROBE, "%s:%s:%s:%s: %s", e->probe->prov, e->probe->mod, e->probe->func, e->probe->name, why.text);
	return any;
}

static bool is_in_code(const struct dt_vm_ecb *x)
{
	return x->probe == DT_VM_OTHER && x->ecb->events && x->ecb->events->n && !dt_pe_is_clock(x->ecb) && !dt_pe_is_call(x->ecb) &&
	       !dt_pe_is_life(x->ecb);
}

int dt_pe_place_all(dt_pe *p, dt_error *err)
{
	dt_error first = {0}, more;
	uint32_t refused = 0, wanted = 0;

	for (uint32_t i = 0; i < p->host->necbs; i++) {
		if (!is_in_code(&p->host->ecbs[i]))
			continue;
		wanted++;
		refused += !dt_pe_place_ecb(p, i, refused ? &more : &first);
	}
	dt_pe_calls_place(p, refused ? &more : &p->remark);
	if (refused && (p->env->whole || (refused == wanted && !p->places.memory->n)))
		return dt_err(err, EDT_NOPROBE, "-x engine=process: %s", first.text);
	if (refused > 1)
		dt_err(&p->remark, EDT_NOPROBE, "%u probes are not available in the process, one of them: %s", refused, first.text);
	else if (refused)
		dt_err(&p->remark, EDT_NOPROBE, "a probe is not available in the process: %s", first.text);
	return 0;
}

/* ---- sites ---- */

static bool shows_it(const struct dt_vm_ecb *x)
{
	return x->record.cost || dt_clause_reads(x->ecb->clause, DT_VAR_CPU);
}

static bool make_site(dt_pe *p, struct dt_pe_place *x)
{
	struct dt_pe_site *s = dt_pe_alloc(p->room, sizeof(*s));
	const struct dt_vm_ecb **list = dt_pe_alloc(p->room, x->ecbs.n * sizeof(*list));
	bool shows_cpu = false;

	if (!s || !list)
		return false;
	for (uint32_t k = 0; k < x->ecbs.n; k++) {
		list[k] = &p->program.ecbs[x->ecbs.v[k]];
		shows_cpu = shows_cpu || shows_it(&p->host->ecbs[x->ecbs.v[k]]);
	}
	*s = (struct dt_pe_site){.is_return = x->event->at.kind == DT_AT_URETPROBE,
				 .call = x->call,
				 .call_number = x->call_number,
				 .gate = x->gate,
				 .is_entry = x->ecbs.n && strcmp(p->host->ecbs[x->ecbs.v[0]].ecb->probe->name, "entry") == 0,
				 .shows_cpu = shows_cpu,
				 .number = x->event->at.number,
				 .ecbs = list,
				 .necbs = x->ecbs.n,
				 .prologue = dt_pe_share_prologue(p->room, x->event->prologue)};
	x->patch.site = (uint64_t)(uintptr_t)s;
	if (x->patch.calls) /* it is moved: the probe after it is in the same stub */
		x->patch.after = (uint64_t)(uintptr_t)dt_pe_alloc(p->room, sizeof(*s));
	return !x->event->prologue || s->prologue;
}

static void set_address(const struct dt_pe_place *x)
{
	struct dt_pe_site *s = (struct dt_pe_site *)(uintptr_t)x->patch.site, *after = (struct dt_pe_site *)(uintptr_t)x->patch.after;

	s->at = x->patch.at + x->patch.probe;
	s->call_at = x->call_at;
	if (!after)
		return;
	*after = *s;
	after->call = DT_PE_CALLED;
	for (uint32_t k = 0; k + 1 < x->patch.nmoved; k++)
		if (x->patch.moved[k].from == x->patch.probe)
			after->at = x->patch.at + x->patch.moved[k + 1].from;
}

/* For places that have none yet, or not the one that they need. False: no room. */
bool dt_pe_sites_make(dt_pe *p)
{
	for (uint32_t i = 0; i < p->places.memory->n; i++) {
		struct dt_pe_place *x = &p->places.v[i];

		if (x->state != DT_PE_PLANNED && x->state != DT_PE_IN)
			continue;
		if (!x->patch.site && !make_site(p, x))
			return false;
		if (!x->made)
			set_address(x);
	}
	return true;
}

/* ---- what is mapped now ---- */

/* Does the place, whose code has gone, belong here? */
static bool comes_back(const struct dt_pe_place *x, const dt_mapping *m)
{
	return x->state == DT_PE_AWAY && x->inode == m->inode && x->offset - m->offset < m->end - m->start;
}

static void find_semaphore(dt_pe *p, struct dt_pe_place *x, const dt_mapping *m)
{
	x->counted = false;
	x->semaphore = x->semaphore_at ? dt_pe_semaphore(p->files, x->event, m) : 0;
}

/* If the jump is still there, the code had not gone: the program only changed what may be done with it. */
static void take_back(dt_pe *p, struct dt_pe_place *x, uint64_t at, const dt_mapping *m)
{
	uint64_t was = x->patch.at;
	uint8_t now[DT_PATCH_MAX];

	dt_pe_places_back(&p->places, x, at);
	if (at == was && dt_pe_read(&p->target, at, now, x->patch.size) == x->patch.size && memcmp(now, x->patch.is, x->patch.size) == 0) {
		x->state = DT_PE_IN;
		return;
	}
	x->made = x->made && at == was;
	find_semaphore(p, x, m);
}

static uint32_t bring_back(dt_pe *p, const dt_mapping *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->places.memory->n; i++) {
		struct dt_pe_place *x = &p->places.v[i];
		uint64_t at = m->start + (x->offset - m->offset);

		if (!comes_back(x, m) || dt_pe_places_has(&p->places, at, at + x->patch.size))
			continue;
		take_back(p, x, at, m);
		n++;
	}
	return n;
}

static void see_mapping(dt_pe *p, const dt_mapping *m)
{
	dt_error ignored;

	if (bring_back(p, m))
		return;
	for (uint32_t i = 0; i < p->host->necbs; i++)
		if (is_in_code(&p->host->ecbs[i]) && dt_pe_is_event_of(p->files, &p->host->ecbs[i].ecb->events->v[0], m))
			place_in(p, i, m, &ignored);
	dt_pe_calls_place_in(p, m);
}

static bool is_same_mapping(const dt_mapping *a, const dt_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset && a->inode == b->inode && a->kind == b->kind &&
	       a->exec == b->exec && a->shared == b->shared;
}

static bool is_known(const dt_maps *before, const dt_mapping *m)
{
	const dt_mapping *was = dt_maps_find(before, m->start);

	return was && is_same_mapping(was, m);
}

static void forget_gone(dt_pe *p, const dt_maps *now)
{
	for (uint32_t i = 0; i < p->places.memory->n; i++) {
		struct dt_pe_place *x = &p->places.v[i];

		if ((x->state == DT_PE_PLANNED || x->state == DT_PE_IN) && !dt_pe_is_there(now, x))
			dt_pe_places_away(&p->places, x);
	}
}

void dt_pe_look_again(dt_pe *p)
{
	dt_error ignored;
	dt_maps *before = p->maps, *now = dt_maps_read(p->target.pid, &ignored);
	bool changed = false;

	if (!now)
		return;
	p->maps = now;
	dt_pe_files_see(p->files, now);
	forget_gone(p, now);
	for (uint32_t i = 0; i < now->n; i++) {
		const dt_mapping *m = &now->v[i];

		if (!m->exec || m->kind != DT_MAP_FILE || m->shared || is_known(before, m))
			continue;
		changed = true;
		see_mapping(p, m);
	}
	if (changed)
		dt_pe_unwind_again(p);
	dt_maps_free(before);
}
