/*
 * load: maps and programs into the kernel. Everything is a file descriptor of this process and
 * goes away with it; nothing is pinned.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/image.h"
#include "sym/lockdown.h"

#define DEFAULT_AGGSIZE (4ull << 20)

/* Why bpf() said no. EPERM means privilege nearly always; say what is missing and how to get it. */
int dt_bpf_privilege_error(dt_error *err, const char *doing)
{
	int e = errno;

	if (e == EPERM || e == EACCES)
		return dt_err(
		    err, EPERM,
		    "cannot %s the kernel: this needs root, or the capabilities CAP_BPF and "
		    "CAP_PERFMON (sudo setcap cap_bpf,cap_perfmon+ep on the program)",
		    doing);
	return dt_err(err, e, "cannot %s the kernel: %s", doing, dt_strerror(e));
}

/* ---- maps ---- */

static int make_map(dt_engine *e, enum bpf_map_type type, const char *name, uint32_t key,
		    uint64_t value, uint64_t entries, uint32_t flags, dt_error *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = flags);
	int fd = -1;

	errno = E2BIG;
	if (value <= UINT32_MAX / 2 && entries <= UINT32_MAX / 2)
		fd = bpf_map_create(type, name, key, (uint32_t)value, (uint32_t)entries, &o);
	if (fd < 0) {
		dt_bpf_privilege_error(err, "create a map in");
		return -1;
	}
	*dt_vec_add(&e->fds, NULL) = fd;
	return fd;
}

static void *map_memory(int fd, uint64_t size, dt_error *err)
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
	    make_map(e, BPF_MAP_TYPE_ARRAY, "dt_control", 4, CTL_SIZE, 1, BPF_F_MMAPABLE, err);
	if (e->fd_control < 0)
		return -1;
	e->control = map_memory(e->fd_control, CTL_SIZE, err);
	e->fd_cpus =
	    make_map(e, BPF_MAP_TYPE_ARRAY, "dt_cpus", 4, CPU_SIZE, e->ncpus, BPF_F_MMAPABLE, err);
	if (!e->control || e->fd_cpus < 0)
		return -1;
	e->cpus_size = (uint64_t)CPU_SIZE * e->ncpus;
	e->cpus = map_memory(e->fd_cpus, e->cpus_size, err);
	return e->cpus ? 0 : -1;
}

int dt_bpf_make_rodata(dt_engine *e, dt_error *err)
{
	uint32_t zero = 0;

	e->fd_rodata = make_map(e, BPF_MAP_TYPE_ARRAY, "dt_rodata", 4, dt_align_up(e->rodata.n, 8),
				1, BPF_F_RDONLY_PROG, err);
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

	while ((fd = make_map(e, BPF_MAP_TYPE_HASH, name, key, value, *entries, flags, &failed)) <
	       0) {
		if ((failed.code != E2BIG && failed.code != ENOMEM) || *entries < 2 ||
		    !dt_options_lower(e->opts, id)) {
			*err = failed;
			return -1;
		}
		*entries /= 2;
	}
	return fd;
}

/* Room for twice the objects: see memory.c. */
static uint64_t storage_size(const struct dt_bpf_scope *s)
{
	return dt_align_up(s->size + (s->size - s->refs) + 8, 8);
}

static int make_threads(dt_engine *e, dt_error *err)
{
	uint32_t size = (uint32_t)storage_size(&e->threads);
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);

	if (dt_bpf_btf_threads(e, size, err) < 0)
		return -1;
	o.btf_fd = (uint32_t)e->fd_btf;
	o.btf_key_type_id = e->btf_u32;
	o.btf_value_type_id = e->btf_thread;
	e->fd_threads = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "dt_threads", 4, size, 0, &o);
	if (e->fd_threads < 0)
		return dt_bpf_privilege_error(err, "create storage for thread-local variables in");
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

static int make_arrays(dt_engine *e, struct dt_bpf_scope *s, dt_error *err)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct dt_bpf_var *v = &s->v[i];
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
		struct dt_bpf_agg *b = e->aggs.v[i];
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
		e->fd_aggs =
		    make_map(e, BPF_MAP_TYPE_PERCPU_ARRAY, "dt_aggs", 4, e->agg_size, 2, 0, err);
		if (e->fd_aggs < 0)
			return -1;
	}
	return 0;
}

/* ---- ring buffers ---- */

/* A power of two of pages, at least `size` bytes. */
static uint64_t ring_size(uint64_t size)
{
	uint64_t n = 4096;

	while (n < size)
		n *= 2;
	return n;
}

#define SPEC_BUFSIZE (4ull << 20)

/*
 * bufsize bytes per CPU. BEGIN and END fire once each, so what they can record is known: a program
 * that enables nothing else gets buffers of just that size, and starts faster for it.
 */
static uint64_t wanted_bufsize(const dt_engine *e, uint64_t size)
{
	uint64_t most = 0, error = 0;

	if (e->small)
		return 4 * size; /* counted beside: our records are up to twice as large */
	for (uint32_t i = 0; i < e->clauses.n; i++) {
		const struct dt_bpf_clause *x = &e->clauses.v[i];

		if (x->kinds & ~(1u << PK_BEGIN | 1u << PK_END | 1u << PK_ERROR))
			return size;
		if (x->kinds & 1u << PK_ERROR)
			error += x->size + 8;
	}
	for (uint32_t i = 0; i < e->clauses.n; i++)
		most += e->clauses.v[i].size + 8 + error + sizeof(struct dt_bpf_fault_rec) + 8 +
			REC_HEADER + 8;
	return most < size ? most : size;
}

/* Filled in one go: the kernel waits for a grace period once, not once per CPU. -1: it cannot be had */
static int make_ring_array(dt_engine *e, const struct dt_bpf_ring *rings, dt_error *err)
{
	uint32_t n = e->ncpus, *keys = dt_xcalloc(n, 4), *fds = dt_xcalloc(n, 4);
	LIBBPF_OPTS(bpf_map_create_opts, o, .inner_map_fd = (uint32_t)rings[0].fd);
	int rc = -1, fd;

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = i;
		fds[i] = (uint32_t)rings[i].fd;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "dt_rings", 4, 4, n, &o);
	if (fd >= 0) {
		*dt_vec_add(&e->fds, NULL) = fd;
		rc = bpf_map_update_batch(fd, keys, fds, &n, NULL);
	}
	free(keys);
	free(fds);
	if (rc < 0)
		dt_bpf_privilege_error(err, "create buffers in");
	return rc < 0 ? -1 : fd;
}

/* The CPUs that are on: "0-3,8". A machine may have room for many more than it has. */
static bool *online_cpus(uint32_t n)
{
	bool *on = dt_xcalloc(n, sizeof(*on));
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned lo, hi;
	char sep = ',';

	while (f && sep == ',' && fscanf(f, "%u", &lo) == 1) {
		hi = lo;
		if (fscanf(f, "%c", &sep) == 1 && sep == '-' && fscanf(f, "%u%c", &hi, &sep) < 2)
			sep = 0;
		for (; lo <= hi && lo < n; lo++)
			on[lo] = true;
	}
	if (!f)
		memset(on, true, n);
	else
		fclose(f);
	return on;
}

/* The kernel counts its bytes in 32 bits: more is as if there were no memory. */
static int ring_map(const dt_engine *e, uint64_t size)
{
	(void)e;
	errno = ENOMEM;
	return size > UINT32_MAX
		   ? -1
		   : bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dt_ring", 0, 0, (uint32_t)size, NULL);
}

static int tail_map(const dt_engine *e, uint64_t size)
{
	/* in an array of maps they may be of different sizes: where memory was short, or the CPU off */
	LIBBPF_OPTS(bpf_map_create_opts, o,
		    .map_flags = BPF_F_MMAPABLE | (dt_bpf_ring_array(e) ? BPF_F_INNER_MAP : 0));
	int fd = -1;

	errno = E2BIG;
	if (size <= UINT32_MAX)
		fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dt_tail", 4, e->tail_value,
				    (uint32_t)(size / e->tail_piece), &o);
	if (fd < 0 && errno == E2BIG)
		errno = ENOMEM;
	return fd;
}

/* There was no memory for a buffer of n bytes (`whole` bytes are for bufsize): a smaller one, and the option says so. */
static bool lower_ring(dt_engine *e, uint64_t *n, uint64_t whole, uint64_t least)
{
	if (errno != ENOMEM || *n <= least || dt_opt(e->opts, DT_O_BUFRESIZE) != 0)
		return false;
	*n /= 2;
	if (*n < whole)
		e->opts->value[DT_O_BUFSIZE] =
		    (uint64_t)((double)*n / (double)whole * (double)e->bufsize);
	return true;
}

/*
 * The pool that elements of a map come out of begins with a handful for each CPU, and is filled up by an interrupt when it runs
 * low: where interrupts are off, as at a tick, the first firing could make no more keys than that. So each CPU makes
 * one beforehand, and takes it back.
 */
void dt_bpf_fill_pools(dt_engine *e)
{
	size_t size = CPU_ALLOC_SIZE(e->ncpus);
	cpu_set_t *before = CPU_ALLOC(e->ncpus), *one = CPU_ALLOC(e->ncpus);
	bool *on = online_cpus(e->ncpus);
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

/* A buffer for each CPU, of `least` bytes where a CPU is off: should it come on later. `whole`: see above. */
static struct dt_bpf_ring *make_buffers(dt_engine *e,
					int (*make)(const dt_engine *e, uint64_t size),
					uint64_t size, uint64_t whole, uint64_t least, int *array,
					dt_error *err)
{
	struct dt_bpf_ring *rings = dt_xcalloc(e->ncpus, sizeof(*rings));
	bool *on = online_cpus(e->ncpus);
	int rc = 0;

	for (uint32_t i = 0; i < e->ncpus && rc == 0; i++) {
		uint64_t n = on[i] ? size : least;
		int fd;

		while ((fd = make(e, n)) < 0 && lower_ring(e, &n, whole, least))
			size = n;
		rings[i].fd = fd;
		rings[i].mask = n - 1;
		if (fd < 0)
			rc = dt_bpf_privilege_error(err, "create buffers in");
		else
			*dt_vec_add(&e->fds, NULL) = fd;
	}
	free(on);
	if (rc == 0 && dt_bpf_ring_array(e))
		rc = *array = make_ring_array(e, rings, err);
	if (rc >= 0)
		return rings;
	free(rings);
	return NULL;
}

static int make_rings(dt_engine *e, dt_error *err)
{
	uint64_t size = e->bufsize;

	if (e->policy == POLICY_RING) {
		dt_bpf_tail_plan(e, wanted_bufsize(e, dt_bpf_tail_size(e)));
		e->tails = make_buffers(e, tail_map, e->tail_size, e->tail_size, e->tail_piece,
					&e->fd_tails, err);
		if (!e->tails || !e->need.spec)
			return e->tails ? 0 : -1;
		size = size < SPEC_BUFSIZE ? SPEC_BUFSIZE
					   : size; /* they are on the way to the consumer */
	}
	e->rings = make_buffers(e, ring_map, ring_size(wanted_bufsize(e, size)), size, 4096,
				&e->fd_rings, err);
	return e->rings ? 0 : -1;
}

/* Rows of the clock events, the same on every CPU: the period, nothing known yet. */
static int make_clock(dt_engine *e, dt_error *err)
{
	uint32_t n = e->nevents[PK_PROFILE], size = CLOCK_SIZE / 8;
	uint64_t *rows = dt_xcalloc((size_t)e->ncpus * size, 8);
	int rc = 0;

	e->fd_clock = make_map(e, BPF_MAP_TYPE_PERCPU_ARRAY, "dt_clock", 4, CLOCK_SIZE,
			       (uint64_t)e->progs.n * n, 0, err);
	for (uint32_t i = 0; i < e->probes.n && e->fd_clock >= 0; i++) {
		const struct dt_bpf_probe *x = &e->probes.v[i];

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
		if (e->clauses.v[i].exits)
			return true;
	return e->policy == POLICY_FILL;
}

#define LEFT_THREADS 16384 /* the latest; left.c */

int dt_bpf_create_maps(dt_engine *e, dt_error *err)
{
	if (make_control(e, err) < 0 || dt_bpf_make_rodata(e, err) < 0)
		return -1;
	e->fd_slots = make_map(e, BPF_MAP_TYPE_ARRAY, "dt_slots", 4, e->at.slot_size,
			       (uint64_t)e->ncpus * e->at.nslots, 0, err);
	if (e->fd_slots < 0)
		return -1;
	if (e->globals.size) {
		e->fd_globals = make_map(e, BPF_MAP_TYPE_ARRAY, "dt_globals", 4,
					 storage_size(&e->globals), 1, 0, err);
		if (e->fd_globals < 0)
			return -1;
	}
	if (e->need.task_storage && make_threads(e, err) < 0)
		return -1;
	if (e->unwind && dt_bpf_tables_create(e, err) < 0)
		return -1;
	if (e->need.left) {
		e->fd_left = make_map(e, BPF_MAP_TYPE_LRU_HASH, "dt_left", 4, 8 + e->need.left,
				      LEFT_THREADS, 0, err);
		if (e->fd_left < 0)
			return -1;
	}
	if (can_end_itself(e) || dt_bpf_wakes_early(e) || e->grows || e->unwind) {
		e->fd_wake = make_map(e, BPF_MAP_TYPE_RINGBUF, "dt_wake", 0, 0, 4096, 0, err);
		if (e->fd_wake < 0)
			return -1;
	}
	if (e->need.late && make_clock(e, err) < 0)
		return -1;
	if (e->need.spec) {
		e->fd_specs = make_map(e, BPF_MAP_TYPE_ARRAY, "dt_specs", 4,
				       (uint64_t)e->nspecs * 8 + 8, 1, 0, err);
		if (e->fd_specs < 0)
			return -1;
	}
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_bpf_is_continued(e, &e->progs.v[i]) &&
		    (e->progs.v[i].fd_next =
			 make_map(e, BPF_MAP_TYPE_PROG_ARRAY, "dt_next", 4, 4, 1, 0, err)) < 0)
			return -1;
	if (dt_bpf_family_make(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_bpf_is_user(e->progs.v[i].kind) && !e->progs.v[i].lazy &&
		    dt_bpf_user_table(e, &e->progs.v[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_bpf_is_function(e->progs.v[i].kind) &&
		    dt_bpf_function_places(e, &e->progs.v[i], err) < 0)
			return -1;
	if (dt_bpf_names_make(e, err) < 0)
		return -1;
	if (make_arrays(e, &e->globals, err) < 0 || make_arrays(e, &e->threads, err) < 0 ||
	    make_aggs(e, err) < 0 || make_rings(e, err) < 0)
		return -1;
	return 0;
}

/* ---- programs ---- */

#define LOG_SIZE (16u << 20)

/* The verifier's last words, for a message nobody should ever see. */
static void explain(enum bpf_prog_type type, const dt_bpf_code *c, struct bpf_prog_load_opts *o,
		    dt_error *err)
{
	char *log = dt_xcalloc(1, LOG_SIZE), *last;
	enum dt_lockdown lockdown = dt_lockdown();
	size_t n;

	o->log_buf = log;
	o->log_size = LOG_SIZE;
	o->log_level = getenv("DTRACE_BPF_LOG") ? 2 : 1;
	bpf_prog_load(type, "dtrace", "Dual BSD/GPL", c->insns.v, c->insns.n, o);
	if (getenv("DTRACE_BPF_LOG"))
		fputs(log, stderr);
	for (n = strlen(log); n && (log[n - 1] == '\n' || strncmp(log + n - 1, "\nproc", 5) == 0);
	     n--)
		log[n - 1] = 0;
	last = strrchr(log, '\n');
	if (last && strstr(last, "processed ")) {
		*last = 0;
		last = strrchr(log, '\n');
	}
	if (strstr(last ? last : log,
		   "bpf_probe_write_user")) /* it is about the helper, not what it is given */
		dt_err(err, EPERM,
		       "the kernel does not let %s write user memory, so copyout() and "
		       "copyoutstr() cannot be used%s",
		       lockdown ? "BPF programs"
				: "BPF programs without the capability CAP_SYS_ADMIN",
		       lockdown ? ": it is locked down (kernel lockdown, integrity mode)" : "");
	else if (lockdown == DT_LOCKDOWN_CONFIDENTIALITY)
		dt_err(err, EPERM,
		       "the kernel does not let BPF programs read its memory: it is locked "
		       "down (kernel lockdown, confidentiality mode)");
	else
		dt_err(err, EDT_DIFINVAL, "the kernel refuses the program: %s",
		       last ? last + 1 : log);
	free(log);
}

static const enum bpf_prog_type prog_types[PK_MAX] = {
    [PK_BEGIN] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_END] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_ENTRY] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_RETURN] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_TRACEPOINT] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_PROFILE] = BPF_PROG_TYPE_PERF_EVENT,
    [PK_PERF] = BPF_PROG_TYPE_PERF_EVENT,
    [PK_FUNC_ENTRY] = BPF_PROG_TYPE_KPROBE,
    [PK_FUNC_RETURN] = BPF_PROG_TYPE_KPROBE,
    [PK_INSTRUCTION] = BPF_PROG_TYPE_KPROBE,
    [PK_UPROBE] = BPF_PROG_TYPE_KPROBE,
    [PK_URETPROBE] = BPF_PROG_TYPE_KPROBE,
};

/* A program that is told which tracepoint it is for has typed pointers in its context. */
static int trust_arguments(dt_engine *e, const struct dt_bpf_prog *p, enum bpf_prog_type *type,
			   struct bpf_prog_load_opts *o, dt_error *err)
{
	const char *event = e->probes.v[p->only].at.event;
	uint32_t id = dt_bpf_tracepoint_id(e, event);

	if (!id)
		return dt_err(err, EDT_NOPROBE,
			      "this kernel's type information has no tracepoint %s", event);
	*type = BPF_PROG_TYPE_TRACING;
	o->expected_attach_type = BPF_TRACE_RAW_TP;
	o->attach_btf_id = id;
	return 0;
}

#define AGAIN 1 /* without some of what peek.c does */

int dt_bpf_load_program(dt_engine *e, struct dt_bpf_prog *p, dt_error *err)
{
	enum bpf_prog_type type = prog_types[p->kind];
	LIBBPF_OPTS(bpf_prog_load_opts, o, .func_info_rec_size = sizeof(struct bpf_func_info));
	dt_bpf_code c = {0};
	struct bpf_func_info *info = NULL;
	int btf = -1, module, rc;

	p->typed = dt_bpf_typed_args(e, p);
	rc = dt_bpf_prog_code(e, p, &c, err);

	if (rc == 0 && getenv("DTRACE_BPF_DUMP")) {
		dt_buf text = {0};

		dt_bpf_code_print(&c, &text);
		fputs(text.s, stderr);
		dt_buf_free(&text);
	}
	if (rc == 0) {
		info = dt_xcalloc(c.funcs.n, sizeof(*info));
		btf = dt_bpf_btf_funcs(&c, e->at.slot_size, info, err);
		rc = btf < 0 ? -1 : 0;
	}
	if (dt_bpf_is_user(p->kind) && e->need.waiting)
		o.prog_flags |= BPF_F_SLEEPABLE;
	if (dt_bpf_is_user(p->kind) && e->has_uprobe_multi)
		o.expected_attach_type = DT_BPF_TRACE_UPROBE_MULTI;
	module = dt_bpf_function_load(e, p, &type, &o);
	if (rc == 0 && (p->task_arg || (p->typed && p->kind == PK_TRACEPOINT)))
		rc = trust_arguments(e, p, &type, &o, err);
	if (rc == 0) {
		o.prog_btf_fd = (uint32_t)btf;
		o.func_info = info;
		o.func_info_cnt = c.funcs.n;
		p->fd = bpf_prog_load(type, "dtrace", "Dual BSD/GPL", c.insns.v, c.insns.n, &o);
		if (p->fd < 0 &&
		    (errno == EPERM || errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
			rc = dt_bpf_privilege_error(err, "load a program into");
		} else if (p->fd < 0 && e->trusts) {
			e->trusts = false;
			rc = AGAIN;
		} else if (p->fd < 0 && e->cast_func) {
			e->cast_func = 0;
			rc = AGAIN;
		} else if (p->fd < 0) {
			explain(type, &c, &o, err);
			rc = -1;
		}
	}
	if (btf >= 0)
		close(btf);
	if (module > 0)
		close(module);
	free(info);
	dt_bpf_code_free(&c);
	return rc == AGAIN ? dt_bpf_load_program(e, p, err) : rc;
}

int dt_bpf_load(dt_engine *e, dt_error *err)
{
	if (e->need.vtime && dt_bpf_vtime_load(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (!e->progs.v[i].lazy && dt_bpf_load_program(e, &e->progs.v[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_bpf_is_continued(e, &e->progs.v[i]) &&
		    bpf_map_update_elem(e->progs.v[i].fd_next, &(uint32_t){0},
					&e->progs.v[i + 1].fd, 0) < 0)
			return dt_err(err, errno, "cannot join two programs: %s",
				      dt_strerror(errno));
	return 0;
}
