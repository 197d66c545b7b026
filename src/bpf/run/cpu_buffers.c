/*
 * cpu_buffers: the buffers for the records of the CPUs: ring buffers of the kernel that the
 * consumer empties (ring.c), or with the ring policy circles that it reads at the end (tail.c).
 * Each CPU has its own, or on large machines a group of neighbours has a ring buffer together.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/run/kmap.h"
#include "bpf/run/load.h"
#include "bpf/run/maps.h"

/* A power of two of pages, at least `size` bytes. */
static uint64_t ring_size(uint64_t size)
{
	uint64_t n = dt_page_size();

	while (n < size)
		n *= 2;
	return n;
}

#define SPEC_BUFSIZE (4ull << 20)

/* Filled in one call: the kernel waits for one grace period, not one per CPU. -1 with *err */
static int make_ring_array(dt_bpf *e, const struct dt_cpu_buffer *rings, uint32_t n, dt_error *err)
{
	uint32_t *keys = dt_xcalloc(n, 4), *fds = dt_xcalloc(n, 4);
	int rc = -1, fd;

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = i;
		fds[i] = (uint32_t)rings[i].fd;
	}
	fd = dt_kmap_try(e, &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
					      .name = "dt_rings",
					      .key = 4,
					      .value = 4,
					      .entries = n,
					      .inner = rings[0].fd});
	if (fd >= 0)
		rc = bpf_map_update_batch(fd, keys, fds, &n, NULL);
	if (rc < 0)
		dt_load_error(err, "create buffers in");
	free(keys);
	free(fds);
	return rc < 0 ? -1 : fd;
}

/* The online CPUs: "0-3,8". There may be many more possible CPUs. */
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

/* The kernel counts bytes and elements in 32 bits: more is treated as a lack of memory. */
static int try_buffer(dt_bpf *e, const struct dt_kmap *m)
{
	int fd = dt_kmap_try(e, m);

	if (fd < 0 && errno == E2BIG)
		errno = ENOMEM;
	return fd;
}

static int ring_map(dt_bpf *e, uint64_t size)
{
	return try_buffer(
	    e, &(struct dt_kmap){.type = BPF_MAP_TYPE_RINGBUF, .name = "dt_ring", .entries = size});
}

static int tail_map(dt_bpf *e, uint64_t size)
{
	/* in an array of maps the sizes may differ: where memory was short, or the CPU offline */
	uint32_t inner = dt_layout_ring_array(&e->plan, &e->needs, e->plan.ncpus) ? BPF_F_INNER_MAP : 0;

	return try_buffer(e, &(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
					       .name = "dt_tail",
					       .key = 4,
					       .value = e->at.tail_value,
					       .entries = size / e->at.tail_piece,
					       .flags = BPF_F_MMAPABLE | inner});
}

/* There was no memory for a buffer of n bytes (`whole` bytes are for bufsize): a smaller one, and the option says so. */
static bool lower_ring(dt_bpf *e, uint64_t *n, uint64_t whole, uint64_t least)
{
	if (errno != ENOMEM || *n <= least ||
	    dt_opt(e->plan.opts, DT_O_BUFRESIZE) == DT_BUFRESIZE_MANUAL)
		return false;
	*n /= 2;
	if (*n < whole)
		e->plan.opts->value[DT_O_BUFSIZE] =
		    (uint64_t)((double)*n / (double)whole * (double)e->plan.buffers.size);
	return true;
}

/* Which CPUs use buffer i of n: the same number of online CPUs for each; next[i]: the first that
 * does not. */
static void divide_cpus(const bool *on, uint32_t ncpus, uint32_t n, uint32_t *next)
{
	uint32_t total = 0, seen = 0, cpu = 0;

	for (uint32_t i = 0; i < ncpus; i++)
		total += on[i];
	for (uint32_t i = 0; i < n; i++) {
		if (n == ncpus || i + 1 == n) {
			next[i] = n == ncpus ? i + 1 : ncpus;
			continue;
		}
		while (cpu < ncpus && (uint64_t)seen * n < (uint64_t)total * (i + 1))
			seen += on[cpu++];
		next[i] = cpu;
	}
}

#define IDLE_RING (256u << 10) /* for some thousand records between two readings */
#define FEW_RINGS 8	       /* a machine may have hundreds of CPUs that never come online */

struct wanted {
	int (*make)(dt_bpf *e, uint64_t size);
	uint32_t n;
	uint64_t size, whole; /* whole: see above */
	uint64_t least;	      /* of a buffer when memory is short */
	uint64_t idle;	      /* of one whose CPUs are all offline, in case one comes online */
};

/* NULL, *err */
static struct dt_cpu_buffer *make_buffers(dt_bpf *e, const struct wanted *w, int *array,
					  dt_error *err)
{
	struct dt_cpu_buffer *rings = dt_xcalloc(w->n, sizeof(*rings));
	uint32_t *next = dt_xcalloc(w->n, sizeof(*next));
	bool *on = dt_kmaps_online_cpus(e->plan.ncpus);
	uint64_t size = w->size;
	int rc = 0;

	divide_cpus(on, e->plan.ncpus, w->n, next);
	for (uint32_t i = 0; i < w->n && rc == 0; i++) {
		bool used = false;
		uint64_t n;
		int fd;

		rings[i].first = i ? next[i - 1] : 0;
		for (uint32_t cpu = rings[i].first; cpu < next[i]; cpu++)
			used |= on[cpu];
		n = used || w->idle > size ? size : w->idle;
		while ((fd = w->make(e, n)) < 0 && lower_ring(e, &n, w->whole, w->least))
			size = n;
		rings[i].fd = fd;
		rings[i].mask = n - 1;
		if (fd < 0)
			rc = dt_load_error(err, "create buffers in");
	}
	free(on);
	free(next);
	if (rc == 0 && dt_layout_ring_array(&e->plan, &e->needs, w->n))
		rc = *array = make_ring_array(e, rings, w->n, err);
	if (rc >= 0)
		return rings;
	free(rings);
	return NULL;
}

int dt_kmaps_buffers(dt_bpf *e, dt_error *err)
{
	uint64_t size = e->plan.buffers.size;
	struct dt_rings rings;

	if (e->plan.buffers.policy == DT_BUFPOLICY_RING) {
		e->maps.tail = make_buffers(e,
					    &(struct wanted){tail_map, e->plan.ncpus,
							     e->at.tail_size, e->at.tail_size,
							     e->at.tail_piece, e->at.tail_piece},
					    &e->maps.tails, err);
		if (!e->maps.tail || !e->needs.is.spec)
			return e->maps.tail ? 0 : -1;
		size = size < SPEC_BUFSIZE ? SPEC_BUFSIZE
					   : size; /* for records in transit to the consumer */
	}
	rings = dt_layout_rings(&e->plan, size);
	e->maps.nrings = rings.n;
	e->maps.ring = make_buffers(
	    e,
	    &(struct wanted){ring_map, rings.n, ring_size(rings.size),
			     rings.size < size ? rings.size : size, dt_page_size(),
			     rings.n <= FEW_RINGS ? IDLE_RING : dt_page_size()},
	    &e->maps.rings, err);
	return e->maps.ring ? 0 : -1;
}
