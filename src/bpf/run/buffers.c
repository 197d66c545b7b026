/*
 * buffers: a buffer for each CPU that records go to: a ring buffer of the kernel that the consumer empties
 * (ring.c), or with the ring policy a circle that it reads at the end (tail.c).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/image.h"

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
		const struct dt_plan_clause *x = &e->clauses.v[i];

		if (x->kinds & ~(1u << PK_BEGIN | 1u << PK_END | 1u << PK_ERROR))
			return size;
		if (x->kinds & 1u << PK_ERROR)
			error += x->size + 8;
	}
	for (uint32_t i = 0; i < e->clauses.n; i++)
		most += e->clauses.v[i].size + 8 + error + sizeof(struct dt_fault_rec) + 8 +
			REC_HEADER + 8;
	return most < size ? most : size;
}

/* Filled in one go: the kernel waits for a grace period once, not once per CPU. -1: it is not available */
static int make_ring_array(dt_engine *e, const struct dt_ring *rings, dt_error *err)
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
		dt_load_error(err, "create buffers in");
	return rc < 0 ? -1 : fd;
}

/* The CPUs that are on: "0-3,8". A machine may have room for many more than it has. */
bool *dt_kmaps_online_cpus(uint32_t n)
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
		    .map_flags = BPF_F_MMAPABLE | (dt_tr_ring_array(e) ? BPF_F_INNER_MAP : 0));
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
	if (errno != ENOMEM || *n <= least || dt_opt(e->opts, DT_O_BUFRESIZE) == DT_BUFRESIZE_MANUAL)
		return false;
	*n /= 2;
	if (*n < whole)
		e->opts->value[DT_O_BUFSIZE] =
		    (uint64_t)((double)*n / (double)whole * (double)e->bufsize);
	return true;
}

/* A buffer for each CPU, of `least` bytes where a CPU is off: should it come on later. `whole`: see above. */
static struct dt_ring *make_buffers(dt_engine *e, int (*make)(const dt_engine *e, uint64_t size),
				    uint64_t size, uint64_t whole, uint64_t least, int *array,
				    dt_error *err)
{
	struct dt_ring *rings = dt_xcalloc(e->ncpus, sizeof(*rings));
	bool *on = dt_kmaps_online_cpus(e->ncpus);
	int rc = 0;

	for (uint32_t i = 0; i < e->ncpus && rc == 0; i++) {
		uint64_t n = on[i] ? size : least;
		int fd;

		while ((fd = make(e, n)) < 0 && lower_ring(e, &n, whole, least))
			size = n;
		rings[i].fd = fd;
		rings[i].mask = n - 1;
		if (fd < 0)
			rc = dt_load_error(err, "create buffers in");
		else
			*dt_vec_add(&e->fds, NULL) = fd;
	}
	free(on);
	if (rc == 0 && dt_tr_ring_array(e))
		rc = *array = make_ring_array(e, rings, err);
	if (rc >= 0)
		return rings;
	free(rings);
	return NULL;
}

int dt_kmaps_buffers(dt_engine *e, dt_error *err)
{
	uint64_t size = e->bufsize;

	if (e->policy == DT_BUFPOLICY_RING) {
		dt_tail_plan(e, wanted_bufsize(e, dt_tail_size(e)));
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
