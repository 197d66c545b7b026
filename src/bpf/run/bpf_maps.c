/*
 * bpf_maps: what programs keep in the kernel: control words, slots, variables, aggregations, read-only data. The
 * sizes come from the layout and from options; where the kernel has no room for what an option
 * says there is less, and the option says that.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bpf/image.h"

#define DEFAULT_AGGSIZE (4ull << 20)

int dt_kmap_make(dt_engine *e, enum bpf_map_type type, const char *name, uint32_t key,
		 uint64_t value, uint64_t entries, uint32_t flags, dt_error *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = flags);
	int fd = -1;

	errno = E2BIG;
	if (value <= UINT32_MAX / 2 && entries <= UINT32_MAX / 2)
		fd = bpf_map_create(type, name, key, (uint32_t)value, (uint32_t)entries, &o);
	if (fd < 0) {
		dt_load_error(err, "create a map in");
		return -1;
	}
	*dt_vec_add(&e->fds, NULL) = fd;
	return fd;
}

void *dt_kmap_memory(int fd, uint64_t size, dt_error *err)
{
	void *p = mmap(NULL, dt_align_up(size, 4096), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		dt_err(err, errno, "cannot map kernel memory: %s", dt_strerror(errno));
		return NULL;
	}
	return p;
}

static int make_control(dt_engine *e, dt_error *err)
{
	e->fd_control =
	    dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_control", 4, CTL_SIZE, 1, BPF_F_MMAPABLE, err);
	if (e->fd_control < 0)
		return -1;
	e->control = dt_kmap_memory(e->fd_control, CTL_SIZE, err);
	e->fd_cpus = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_cpus", 4, CPU_SIZE, e->ncpus,
				  BPF_F_MMAPABLE, err);
	if (!e->control || e->fd_cpus < 0)
		return -1;
	e->cpus_size = (uint64_t)CPU_SIZE * e->ncpus;
	e->cpus = dt_kmap_memory(e->fd_cpus, e->cpus_size, err);
	return e->cpus ? 0 : -1;
}

int dt_kmaps_rodata(dt_engine *e, dt_error *err)
{
	uint32_t zero = 0;

	e->fd_rodata = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_rodata", 4,
				    dt_align_up(e->rodata.n, 8), 1, BPF_F_RDONLY_PROG, err);
	if (e->fd_rodata < 0)
		return -1;
	while (e->rodata.n % 8)
		dt_buf_add(&e->rodata, "", 1);
	if (bpf_map_update_elem(e->fd_rodata, &zero, e->rodata.s, 0) < 0 ||
	    bpf_map_freeze(e->fd_rodata) < 0)
		return dt_err(err, errno, "cannot fill a map: %s", dt_strerror(errno));
	return 0;
}

/*
 * A map whose size option `id` decides. When the kernel has no room for that many elements there are half as many, as
 * often as it takes; the option says then what there is.
 */
static int make_sized(dt_engine *e, enum dt_opt_id id, const char *name, uint32_t key,
		      uint64_t value, uint64_t *entries, uint32_t flags, dt_error *err)
{
	dt_error failed = {0};
	int fd;

	while ((fd = dt_kmap_make(e, BPF_MAP_TYPE_HASH, name, key, value, *entries, flags,
				  &failed)) < 0) {
		if ((failed.code != E2BIG && failed.code != ENOMEM) || *entries < 2 ||
		    !dt_options_lower(e->opts, id)) {
			*err = failed;
			return -1;
		}
		*entries /= 2;
	}
	return fd;
}

/* Room for twice the objects: see tr_memory.c. */
static uint64_t storage_size(const struct dt_plan_scope *s)
{
	return dt_align_up(s->size + (s->size - s->refs) + 8, 8);
}

static int make_threads(dt_engine *e, dt_error *err)
{
	uint32_t size = (uint32_t)storage_size(&e->threads);
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);

	if (dt_thread_table(e, size, err) < 0)
		return -1;
	if (!e->has_storage)
		return 0;
	if (dt_code_btf_threads(e, size, err) < 0)
		return -1;
	o.btf_fd = (uint32_t)e->fd_btf;
	o.btf_key_type_id = e->btf_u32;
	o.btf_value_type_id = e->btf_thread;
	e->fd_threads = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "dt_threads", 4, size, 0, &o);
	if (e->fd_threads < 0)
		return dt_load_error(err, "create storage for thread-local variables in");
	*dt_vec_add(&e->fds, NULL) = e->fd_threads;
	return 0;
}

/*
 * Elements that are allocated when they are made come out of a small pool, which holds 96 small ones
 * or a dozen of a kilobyte and is filled up by an interrupt: a firing that makes many at once would find
 * it empty. So they are allocated with the map, as long as that is quick and not too much for all maps
 * together.
 */
#define PREALLOCATED (32u << 20)

static uint32_t prealloc(dt_engine *e, uint64_t entries, uint64_t bytes)
{
	uint64_t cost = entries * (bytes + 64);

	if (cost > PREALLOCATED - e->preallocated)
		return BPF_F_NO_PREALLOC;
	e->preallocated += (uint32_t)cost;
	return 0;
}

static int make_arrays(dt_engine *e, struct dt_plan_scope *s, dt_error *err)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct dt_plan_var *v = &s->v[i];
		uint64_t size = 8;

		if (!v->array || !v->key_size)
			continue;
		if (v->byref)
			size += dt_align_up(v->size, 8) * (v->string ? 1 : 2);
		v->fd = make_sized(e, DT_O_DYNVARSIZE, "dt_array", v->key_size, size, &v->entries,
				   prealloc(e, v->entries, v->key_size + size), err);
		if (v->fd < 0)
			return -1;
	}
	return 0;
}

/* As many rows as DTrace's buffers of aggsize bytes would hold on so many CPUs; the table itself is
 * allocated at once, so large machines do not get their full share. */
#define AGG_CPUS  8
#define SMALL_ROW 256 /* of these there can be a great many */

static int make_aggs(dt_engine *e, dt_error *err)
{
	uint64_t cpus = e->ncpus < AGG_CPUS ? e->ncpus : AGG_CPUS;

	for (uint32_t i = 0; i < e->aggs.n; i++) {
		struct dt_plan_agg *b = e->aggs.v[i];
		uint64_t value = 8 + (uint64_t)b->nwords * 8, size = dt_opt(e->opts, DT_O_AGGSIZE),
			 rows;
		uint32_t flags;

		size = size ? size : DEFAULT_AGGSIZE;
		rows = (size - size / 8) / (b->key_size + value);
		if (b->nkeys == 0 || b->nkeys == UINT32_MAX)
			continue;
		b->rows = (rows ? rows : 1) * cpus;
		flags = b->key_size + value < SMALL_ROW ? BPF_F_NO_PREALLOC
							: prealloc(e, b->rows, b->key_size + value);
		b->pool = flags != 0;
		b->fd =
		    make_sized(e, DT_O_AGGSIZE, "dt_agg", b->key_size, value, &b->rows, flags, err);
		if (b->fd < 0)
			return -1;
	}
	if (e->agg_size) {
		e->fd_aggs = dt_kmap_make(e, BPF_MAP_TYPE_PERCPU_ARRAY, "dt_aggs", 4, e->agg_size,
					  2, 0, err);
		if (e->fd_aggs < 0)
			return -1;
	}
	return 0;
}

/*
 * The pool that elements of a map come out of begins with a handful for each CPU, and is filled up by an interrupt when it runs
 * low: where interrupts are off, as at a tick, the first firing could make no more keys than that. So each CPU makes
 * one beforehand, and takes it back.
 */
void dt_kmaps_fill_pools(dt_engine *e)
{
	size_t size = CPU_ALLOC_SIZE(e->ncpus);
	cpu_set_t *before = CPU_ALLOC(e->ncpus), *one = CPU_ALLOC(e->ncpus);
	bool *on = dt_kmaps_online_cpus(e->ncpus);
	uint32_t most = 0;
	char *zeros;

	for (uint32_t i = 0; i < e->aggs.n; i++)
		if (e->aggs.v[i]->pool &&
		    most < e->aggs.v[i]->key_size + e->aggs.v[i]->nwords * 8 + 8)
			most = e->aggs.v[i]->key_size + e->aggs.v[i]->nwords * 8 + 8;
	zeros = dt_xcalloc(1, most + 1);
	if (most && before && one && sched_getaffinity(0, size, before) == 0) {
		for (uint32_t cpu = 0; cpu < e->ncpus; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			if (!on[cpu] || sched_setaffinity(0, size, one) < 0)
				continue;
			for (uint32_t i = 0; i < e->aggs.n; i++)
				if (e->aggs.v[i]->pool &&
				    bpf_map_update_elem(e->aggs.v[i]->fd, zeros, zeros,
							BPF_NOEXIST) == 0)
					bpf_map_delete_elem(e->aggs.v[i]->fd, zeros);
		}
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(one);
	free(on);
	free(zeros);
}

/* Rows of the clock events, the same on every CPU: the period, nothing known yet. */
static int make_clock(dt_engine *e, dt_error *err)
{
	uint32_t n = e->nevents[PK_PROFILE], size = CLOCK_SIZE / 8;
	uint64_t *rows = dt_xcalloc((size_t)e->ncpus * size, 8);
	int rc = 0;

	e->fd_clock = dt_kmap_make(e, BPF_MAP_TYPE_PERCPU_ARRAY, "dt_clock", 4, CLOCK_SIZE,
				   (uint64_t)e->progs.n * n, 0, err);
	for (uint32_t i = 0; i < e->probes.n && e->fd_clock >= 0; i++) {
		const struct dt_plan_probe *x = &e->probes.v[i];

		for (uint32_t k = 0; k < e->ncpus; k++)
			rows[k * size + CLOCK_PERIOD / 8] = x->at.number;
		for (uint32_t k = 0; k < e->progs.n && x->kind == PK_PROFILE; k++)
			if (bpf_map_update_elem(e->fd_clock, &(uint32_t){k * n + x->event}, rows,
						0) < 0)
				rc =
				    dt_err(err, errno, "cannot fill a map: %s", dt_strerror(errno));
	}
	free(rows);
	return e->fd_clock < 0 ? -1 : rc;
}

/* Can the program end tracing, by exit() or by a full buffer? */
static bool can_end_itself(const dt_engine *e)
{
	for (uint32_t i = 0; i < e->clauses.n; i++)
		if (e->clauses.v[i].record.exits)
			return true;
	return e->policy == DT_BUFPOLICY_FILL;
}

#define LEFT_THREADS 16384 /* the latest; left.c */

int dt_kmaps_create(dt_engine *e, dt_error *err)
{
	if (make_control(e, err) < 0 || dt_kmaps_rodata(e, err) < 0)
		return -1;
	e->fd_slots = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_slots", 4, e->at.slot_size,
				   (uint64_t)e->ncpus * e->at.nslots, 0, err);
	if (e->fd_slots < 0)
		return -1;
	if (e->globals.size) {
		e->fd_globals = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_globals", 4,
					     storage_size(&e->globals), 1, 0, err);
		if (e->fd_globals < 0)
			return -1;
	}
	if (e->need.task_storage && make_threads(e, err) < 0)
		return -1;
	if (e->unwind && dt_tables_create(e, err) < 0)
		return -1;
	if (e->need.left) {
		e->fd_left = dt_kmap_make(e, BPF_MAP_TYPE_LRU_HASH, "dt_left", 4, 8 + e->need.left,
					  LEFT_THREADS, 0, err);
		if (e->fd_left < 0)
			return -1;
	}
	if (can_end_itself(e) || dt_ring_wakes_early(e) || e->grows || e->unwind) {
		e->fd_wake = dt_kmap_make(e, BPF_MAP_TYPE_RINGBUF, "dt_wake", 0, 0, 4096, 0, err);
		if (e->fd_wake < 0)
			return -1;
	}
	if (e->need.late && make_clock(e, err) < 0)
		return -1;
	if (e->need.spec) {
		e->fd_specs = dt_kmap_make(e, BPF_MAP_TYPE_ARRAY, "dt_specs", 4,
					   (uint64_t)e->nspecs * 8 + 8, 1, 0, err);
		if (e->fd_specs < 0)
			return -1;
	}
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_plan_is_continued(e, &e->progs.v[i]) &&
		    (e->progs.v[i].fd_next =
			 dt_kmap_make(e, BPF_MAP_TYPE_PROG_ARRAY, "dt_next", 4, 4, 1, 0, err)) < 0)
			return -1;
	if (dt_family_make(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_plan_is_user(e->progs.v[i].kind) && !e->progs.v[i].lazy &&
		    dt_user_table_make(e, &e->progs.v[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_plan_is_function(e->progs.v[i].kind) &&
		    dt_attach_function_places(e, &e->progs.v[i], err) < 0)
			return -1;
	if (dt_names_make(e, err) < 0)
		return -1;
	if (make_arrays(e, &e->globals, err) < 0 || make_arrays(e, &e->threads, err) < 0 ||
	    make_aggs(e, err) < 0 || dt_kmaps_buffers(e, err) < 0)
		return -1;
	return 0;
}
