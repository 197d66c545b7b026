/*
 * bpf_maps: creates the maps of programs: control words, slots, variables, aggregations, read-only
 * data. The sizes come from the layout and from options; if the kernel has no memory for the size
 * of an option, the map is smaller, and the option is lowered.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "bpf/run/load.h"
#include "bpf/run/maps.h"
#include "bpf/run/ring.h"

#define DEFAULT_AGGSIZE (4ull << 20)

/* An array that programs name by key 0, or by CPU or slot. */
static int make_array(dt_bpf *e, const char *name, uint64_t value, uint64_t entries, uint32_t flags,
		      dt_error *err)
{
	return dt_kmap_make(e,
			    &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
					      .name = name,
					      .key = 4,
					      .value = value,
					      .entries = entries,
					      .flags = flags},
			    err);
}

/* An array of rows, of which programs compute the address: dt_tr_row() */
static int make_rows(dt_bpf *e, const char *name, uint64_t size, uint64_t rows, uint32_t flags, dt_error *err)
{
	bool one = dt_layout_is_one_value(rows, size);

	return make_array(e, name, one ? rows * size : size, one ? 1 : rows, flags, err);
}

static int make_control(dt_bpf *e, dt_error *err)
{
	e->maps.control = make_array(e, "dt_control", CTL_SIZE, 1, BPF_F_MMAPABLE, err);
	if (e->maps.control < 0)
		return -1;
	e->shared.control = dt_kmap_memory(e->maps.control, CTL_SIZE, 0, true, err);
	e->maps.cpus = make_rows(e, "dt_cpus", CPU_SIZE, e->plan.ncpus, BPF_F_MMAPABLE, err);
	if (!e->shared.control || e->maps.cpus < 0)
		return -1;
	e->shared.cpus =
	    dt_kmap_memory(e->maps.cpus, (uint64_t)CPU_SIZE * e->plan.ncpus, 0, true, err);
	return e->shared.cpus ? 0 : -1;
}

int dt_kmaps_rodata(dt_bpf *e, dt_error *err)
{
	uint32_t zero = 0;

	dt_rodata_add(&e->ro, "", 0); /* up to a multiple of 8 */
	e->maps.rodata = make_array(e, "dt_rodata", e->ro.data.n, 1, BPF_F_RDONLY_PROG, err);
	if (e->maps.rodata < 0)
		return -1;
	if (bpf_map_update_elem(e->maps.rodata, &zero, e->ro.data.s, 0) < 0 ||
	    bpf_map_freeze(e->maps.rodata) < 0)
		return dt_kmap_fill_error(err);
	return 0;
}

/*
 * A hash whose size is option `id`. If the kernel has no memory for that many elements the number
 * is halved until it fits, and the option is lowered.
 */
static int make_sized(dt_bpf *e, enum dt_opt_id id, struct dt_kmap m, uint64_t *entries,
		      dt_error *err)
{
	dt_error failed = {0};
	int fd;

	m.type = BPF_MAP_TYPE_HASH;
	m.entries = *entries;
	while ((fd = dt_kmap_make(e, &m, &failed)) < 0) {
		if ((failed.code != E2BIG && failed.code != ENOMEM) || m.entries < 2 ||
		    !dt_options_lower(e->plan.opts, id)) {
			*err = failed;
			return -1;
		}
		m.entries /= 2;
	}
	*entries = m.entries;
	return fd;
}

/* ---- variables ---- */

static int make_threads(dt_bpf *e, dt_error *err)
{
	uint32_t size = e->at.thread_size;
	struct dt_storage_btf btf;

	e->maps.aside =
	    make_array(e, "dt_aside", ASIDE_OWNER + size, 1ull << e->at.aside_bits, 0, err);
	if (e->maps.aside < 0)
		return -1;
	if (!dt_layout_has_storage(&e->at, &e->plan))
		return 0;
	btf = dt_code_btf_storage(size);
	if (btf.fd < 0)
		return dt_load_error(err, "load type information into");
	e->maps.threads =
	    dt_kmap_make(e,
			 &(struct dt_kmap){.type = BPF_MAP_TYPE_TASK_STORAGE,
					   .name = "dt_threads",
					   .key = 4,
					   .value = size,
					   .flags = BPF_F_NO_PREALLOC,
					   .btf = &btf,
					   .doing = "create storage for thread-local variables in"},
			 err);
	close(btf.fd);
	return e->maps.threads < 0 ? -1 : 0;
}

/*
 * Elements that are allocated on demand come from a small pool, which holds 96 small ones or a
 * dozen of a kilobyte and is refilled by an interrupt: a firing that creates many at once would
 * find it empty. So elements are allocated with the map, as long as that is quick and not too much
 * for all maps together (*sum).
 */
#define PREALLOCATED (16u << 20)

static uint32_t prealloc(uint32_t *sum, uint64_t entries, uint64_t bytes)
{
	uint64_t cost = entries * (bytes + 64);

	if (cost > PREALLOCATED - *sum)
		return BPF_F_NO_PREALLOC;
	*sum += (uint32_t)cost;
	return 0;
}

#define SPARE	    64 /* elements that the second map of arrays has at least: var.c */
#define SPARE_BYTES (1u << 20)

static int make_spare(dt_bpf *e, uint64_t value, dt_error *err)
{
	uint64_t key = 8 + e->at.dkey_size, n = SPARE_BYTES / (key + value), more;
	struct dt_kmap m = {.name = "dt_spare", .key = (uint32_t)key, .value = value};

	if (!value)
		return 0;
	n = n > SPARE ? SPARE : n ? n : 1;
	more = e->at.more_elements > n ? e->at.more_elements : n;
	m.flags = more > n ? BPF_F_NO_PREALLOC : 0;
	e->maps.spare = make_sized(e, DT_O_DYNVARSIZE, m, &more, err);
	return e->maps.spare < 0 ? -1 : 0;
}

/* *most: of the largest element */
static int make_arrays(dt_bpf *e, int scope, uint32_t *sum, uint64_t *most, dt_error *err)
{
	uint32_t n = e->plan.vars[scope].n;
	int *fds = dt_arena_alloc(e->plan.arena, (n + 1) * sizeof(*fds));

	for (uint32_t i = 0; i < n; i++) {
		const struct dt_plan_var *v = &e->plan.vars[scope].v[i];
		const struct dt_var_place *at = &e->at.vars[scope].v[i];
		uint64_t size = 8, entries = at->entries;

		fds[i] = -1;
		if (!at->key_size)
			continue;
		if (v->byref)
			size += dt_align_up(v->size, 8) * (v->string ? 1 : 2);
		fds[i] = make_sized(
		    e, DT_O_DYNVARSIZE,
		    (struct dt_kmap){.name = "dt_array",
				     .key = at->key_size,
				     .value = size,
				     .flags = prealloc(sum, entries, at->key_size + size)},
		    &entries, err);
		if (fds[i] < 0)
			return -1;
		*most = size > *most ? size : *most;
	}
	e->maps.var[scope] = fds;
	return 0;
}

/* ---- aggregations ---- */

/* As many rows as DTrace's buffers of aggsize bytes would hold on this many CPUs; the table itself
 * is allocated at once, so large machines do not get their full share. */
#define AGG_CPUS  8
#define SMALL_ROW 256 /* of these there can be a great many */

static int make_agg(dt_bpf *e, const struct dt_plan_agg *b, uint32_t *sum, dt_error *err)
{
	uint64_t cpus = e->plan.ncpus < AGG_CPUS ? e->plan.ncpus : AGG_CPUS,
		 value = 8 + (uint64_t)b->nwords * 8, size = dt_opt(e->plan.opts, DT_O_AGGSIZE),
		 rows;
	struct dt_agg_map *to = &e->agg_maps[b->index];
	uint32_t flags;

	size = size ? size : DEFAULT_AGGSIZE;
	rows = (size - size / 8) / (b->key_size + value);
	to->rows =
	    b->nkeys ? (rows ? rows : 1) * cpus : 2ull * e->plan.ncpus * e->at.nslots; /* of both generations */
	to->rows *= b->members ? 2 : 1;
	flags = b->key_size + value < SMALL_ROW ? BPF_F_NO_PREALLOC
						: prealloc(sum, to->rows, b->key_size + value);
	to->pool = flags != 0;
	return make_sized(
	    e, DT_O_AGGSIZE,
	    (struct dt_kmap){.name = "dt_agg", .key = b->key_size, .value = value, .flags = flags},
	    &to->rows, err);
}

static uint64_t refused_bytes(const dt_bpf *e)
{
	return (uint64_t)e->at.refused_size << e->at.refused_bits;
}

static int make_refused(dt_bpf *e, dt_error *err)
{
	e->maps.refused = make_array(e, "dt_refused", e->at.refused_size,
				     1ull << e->at.refused_bits, BPF_F_MMAPABLE, err);
	if (e->maps.refused < 0)
		return -1;
	e->shared.refused = dt_kmap_memory(e->maps.refused, refused_bytes(e), 0, true, err);
	return e->shared.refused ? 0 : -1;
}

/* A row for each slot in each generation */
static uint64_t keyless_rows(const dt_bpf *e)
{
	return 2ull * e->plan.ncpus * e->at.nslots;
}

static int make_keyless(dt_bpf *e, dt_error *err)
{
	e->maps.aggs = make_rows(e, "dt_aggs", e->at.agg_size, keyless_rows(e), BPF_F_MMAPABLE, err);
	if (e->maps.aggs < 0)
		return -1;
	e->shared.aggs = dt_kmap_memory(e->maps.aggs, keyless_rows(e) * e->at.agg_size, 0, true, err);
	return e->shared.aggs ? 0 : -1;
}

static int make_aggs(dt_bpf *e, uint32_t *sum, dt_error *err)
{
	uint32_t n = e->plan.aggs.n;
	int *fds = dt_arena_alloc(e->plan.arena, (n + 1) * sizeof(*fds));
	bool keyed = false;

	e->agg_maps = dt_arena_alloc(e->plan.arena, (n + 1) * sizeof(*e->agg_maps));
	for (uint32_t i = 0; i < n; i++) {
		const struct dt_plan_agg *b = e->plan.aggs.v[i];

		fds[i] = -1;
		if (b->key_size == 0 || b->nkeys == UINT32_MAX)
			continue;
		if (b->home != i) {
			fds[i] = fds[b->home];
			continue;
		}
		fds[i] = make_agg(e, b, sum, err);
		if (fds[i] < 0)
			return -1;
		keyed = true;
	}
	e->maps.agg = fds;
	if (keyed && make_refused(e, err) < 0)
		return -1;
	return e->at.agg_size ? make_keyless(e, err) : 0;
}

/*
 * The pool of a map's elements starts with a handful for each CPU, and is refilled by an interrupt
 * when it runs low: where interrupts are off, as at a tick, the first firing could create no more
 * keys than that. So each CPU creates one element in advance, and deletes it again.
 */
void dt_kmaps_fill_pools(dt_bpf *e)
{
	size_t size = CPU_ALLOC_SIZE(e->plan.ncpus);
	cpu_set_t *before = CPU_ALLOC(e->plan.ncpus), *one = CPU_ALLOC(e->plan.ncpus);
	bool *on = dt_kmaps_online_cpus(e->plan.ncpus);
	uint32_t most = 0;
	char *zeros;

	for (uint32_t i = 0; i < e->plan.aggs.n; i++)
		if (e->agg_maps[i].pool &&
		    most < e->plan.aggs.v[i]->key_size + e->plan.aggs.v[i]->nwords * 8 + 8)
			most = e->plan.aggs.v[i]->key_size + e->plan.aggs.v[i]->nwords * 8 + 8;
	zeros = dt_xcalloc(1, most + 1);
	if (most && before && one && sched_getaffinity(0, size, before) == 0) {
		for (uint32_t cpu = 0; cpu < e->plan.ncpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			if (!on[cpu] || sched_setaffinity(0, size, one) < 0)
				continue;
			for (uint32_t i = 0; i < e->plan.aggs.n; i++)
				if (e->agg_maps[i].pool &&
				    bpf_map_update_elem(e->maps.agg[i], zeros, zeros,
							BPF_NOEXIST) == 0)
					bpf_map_delete_elem(e->maps.agg[i], zeros);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(one);
	free(on);
	free(zeros);
}

/* ---- the rest ---- */

/* Rows of the clock events, initially the same on every CPU: only the period is known. */
static int make_clock(dt_bpf *e, dt_error *err)
{
	uint32_t n = e->plan.nevents[PK_PROFILE], size = CLOCK_SIZE / 8;
	uint64_t *rows = dt_xcalloc((size_t)e->plan.ncpus * size, 8);
	int rc = 0;

	e->maps.clock = dt_kmap_make(e,
				     &(struct dt_kmap){.type = BPF_MAP_TYPE_PERCPU_ARRAY,
						       .name = "dt_clock",
						       .key = 4,
						       .value = CLOCK_SIZE,
						       .entries = (uint64_t)e->plan.progs.n * n},
				     err);
	for (uint32_t i = 0; i < e->plan.probes.n && e->maps.clock >= 0; i++) {
		const struct dt_plan_probe *x = &e->plan.probes.v[i];

		for (uint32_t k = 0; k < e->plan.ncpus; k++)
			rows[k * size + CLOCK_PERIOD / 8] = x->at.number;
		for (uint32_t k = 0; k < e->plan.progs.n && x->kind == PK_PROFILE; k++)
			if (bpf_map_update_elem(e->maps.clock, &(uint32_t){k * n + x->event}, rows,
						0) < 0)
				rc = dt_kmap_fill_error(err);
	}
	free(rows);
	return e->maps.clock < 0 ? -1 : rc;
}

/* Can the program end tracing, by exit() or by a full buffer? */
static bool can_end_itself(const dt_plan *p)
{
	for (uint32_t i = 0; i < p->clauses.n; i++)
		if (p->clauses.v[i].record.exits)
			return true;
	return p->buffers.policy == DT_BUFPOLICY_FILL;
}

#define LEFT_THREADS 16384 /* the most recent ones; left.c */

/* Maps that only some programs need. */
static int make_special(dt_bpf *e, dt_error *err)
{
	const struct dt_need *need = &e->needs.is;
	bool wakes = can_end_itself(&e->plan) || dt_layout_wakes_early(&e->plan, &e->needs) ||
		     e->plan.grows || need->walker;

	if (need->task_storage && make_threads(e, err) < 0)
		return -1;
	if (need->walker && dt_tables_create(e, err) < 0)
		return -1;
	if (need->left &&
	    (e->maps.left = dt_kmap_make(e,
					 &(struct dt_kmap){.type = BPF_MAP_TYPE_LRU_HASH,
							   .name = "dt_left",
							   .key = 4,
							   .value = 8 + need->left,
							   .entries = LEFT_THREADS},
					 err)) < 0)
		return -1;
	if (wakes && (e->maps.wake = dt_kmap_make(e,
						  &(struct dt_kmap){.type = BPF_MAP_TYPE_RINGBUF,
								    .name = "dt_wake",
								    .entries = dt_page_size()},
						  err)) < 0)
		return -1;
	if (need->late && make_clock(e, err) < 0)
		return -1;
	if (need->spec && (e->maps.specs = make_array(
			       e, "dt_specs", (uint64_t)e->plan.nspecs * 8 + 8, 1, 0, err)) < 0)
		return -1;
	return 0;
}

void dt_kmaps_add_programs(dt_bpf *e)
{
	while (e->loaded.n < e->plan.progs.n) {
		*dt_vec_add(&e->loaded, NULL) = (struct dt_loaded){.fd = -1};
		*dt_vec_add(&e->prog_maps, NULL) =
		    (struct dt_prog_maps){.events = -1, .places = -1, .next = -1};
	}
	e->maps.prog = e->prog_maps.v;
	e->maps.nprogs = e->prog_maps.n;
}

/* Maps that belong to one program. */
static int make_of_programs(dt_bpf *e, dt_error *err)
{
	const struct dt_plan *p = &e->plan;

	dt_kmaps_add_programs(e);
	for (uint32_t i = 0; i < p->progs.n; i++)
		if (dt_plan_is_continued(p, i) &&
		    (e->prog_maps.v[i].next =
			 dt_kmap_make(e,
				      &(struct dt_kmap){.type = BPF_MAP_TYPE_PROG_ARRAY,
							.name = "dt_next",
							.key = 4,
							.value = 4,
							.entries = 1},
				      err)) < 0)
			return -1;
	if (dt_family_make(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < p->progs.n; i++)
		if (dt_kind_is_user(p->progs.v[i].kind) && !p->progs.v[i].lazy &&
		    dt_user_table_make(e, i, err) < 0)
			return -1;
	for (uint32_t i = 0; i < p->progs.n; i++)
		if (dt_kind_is_function(p->progs.v[i].kind) &&
		    dt_attach_function_places(e, i, err) < 0)
			return -1;
	return 0;
}

int dt_kmaps_create(dt_bpf *e, dt_error *err)
{
	const struct dt_scope_place *globals = &e->at.vars[DT_SCOPE_GLOBAL];
	uint32_t sum = 0;
	uint64_t most = 0;

	if (make_control(e, err) < 0 || dt_kmaps_rodata(e, err) < 0)
		return -1;
	e->maps.slots = make_rows(e, "dt_slots", e->at.slot_size,
				   (uint64_t)e->plan.ncpus * e->at.nslots, 0, err);
	if (e->maps.slots < 0)
		return -1;
	if (globals->size && (e->maps.globals = make_array(
				  e, "dt_globals", dt_layout_storage(globals), 1, 0, err)) < 0)
		return -1;
	if (make_special(e, err) < 0 || make_of_programs(e, err) < 0 || dt_names_make(e, err) < 0)
		return -1;
	if (make_arrays(e, DT_SCOPE_GLOBAL, &sum, &most, err) < 0 ||
	    make_arrays(e, DT_SCOPE_THREAD, &sum, &most, err) < 0 || make_spare(e, most, err) < 0 ||
	    make_aggs(e, &sum, err) < 0)
		return -1;
	return dt_kmaps_buffers(e, err);
}

void dt_kmaps_free(dt_bpf *e)
{
	dt_kmap_unmap(e->shared.control, CTL_SIZE);
	dt_kmap_unmap(e->shared.cpus, (uint64_t)CPU_SIZE * e->plan.ncpus);
	dt_kmap_unmap(e->shared.refused, refused_bytes(e));
	dt_kmap_unmap(e->shared.aggs, keyless_rows(e) * e->at.agg_size);
	for (uint32_t i = 0; i < e->fds.n; i++)
		close(e->fds.v[i]);
	dt_vec_free(&e->fds);
	dt_vec_free(&e->loaded);
	dt_vec_free(&e->prog_maps);
	free((void *)e->maps.ring);
	free((void *)e->maps.tail);
}
