/*
 * buffer_size: the size of the buffers for records, and when their reader is woken.
 */
#include "bpf/plan/layout.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#define ONCE (1u << PK_BEGIN | 1u << PK_END | 1u << PK_ERROR) /* ERROR: after faults of the others */

/* Bytes of all parts of a clause, each once. */
static uint64_t once(const struct dt_plan_clause *x)
{
	uint64_t n = 8;

	for (uint32_t k = 0; k < x->record.nparts; k++)
		n += x->parts[k].size + (k ? 8 : 0);
	return n;
}

/* A clause has other probes than these, or records as often as it likes. */
static bool fires_often(const dt_plan *p)
{
	for (uint32_t i = 0; i < p->clauses.n; i++)
		if (p->clauses.v[i].kinds & ~ONCE || dt_record_repeats(&p->clauses.v[i].record))
			return true;
	return false;
}

/* ... and records something besides faults. */
static bool records_often(const dt_plan *p)
{
	for (uint32_t i = 0; i < p->clauses.n; i++)
		if ((p->clauses.v[i].kinds & ~(1u << PK_BEGIN | 1u << PK_END) ||
		     dt_record_repeats(&p->clauses.v[i].record)) &&
		    p->clauses.v[i].size)
			return true;
	return false;
}

/* What all clauses record if each runs once. */
static uint64_t recorded_once(const dt_plan *p)
{
	uint64_t most = 0, error = 0;

	for (uint32_t i = 0; i < p->clauses.n; i++)
		if (p->clauses.v[i].kinds & 1u << PK_ERROR)
			error += once(&p->clauses.v[i]);
	for (uint32_t i = 0; i < p->clauses.n; i++)
		most += once(&p->clauses.v[i]) + error + sizeof(struct dt_fault_rec) + 8 +
			REC_HEADER + 8;
	return most;
}

#define LARGE	  65536 /* worth saving memory */
#define RING_TREE 16	/* up to this many CPUs the buffer is found by comparisons */

bool dt_layout_ring_array(const dt_plan *p, const dt_plan_needs *n, uint32_t buffers)
{
	/* a program can name 64 maps; with speculations and the ring policy there are two kinds */
	return buffers >
	       (p->buffers.policy == DT_BUFPOLICY_RING && n->is.spec ? RING_TREE / 2 : RING_TREE);
}

/*
 * Ring buffers of bufsize bytes for every CPU would take a quarter of a gigabyte of a machine with
 * 64. If the user has not asked for that, CPUs share some ring buffers, each of which is still of
 * the default size: as much can come from one CPU at a time as on a small machine.
 *
 * The kernel writes to a ring buffer under a lock, and with several CPUs there can be contention.
 * So they do not share one if a probe may fire in the kernel's code for contended locks: its firing
 * would wait for the lock that it was called from. Nor if it may fire in an NMI, where the kernel
 * does not wait and refuses the record. Then each CPU has its own, which is smaller.
 */
#define SHARED	    8		/* ring buffers */
#define SHARED_ALL  16		/* default sizes for all CPUs if they do not share */
#define FAULTS_SIZE (1u << 20) /* bytes of a ring buffer if there are no records but those of faults */
#define LEAST	    65536

static bool can_share(const dt_plan *p)
{
	static const char *const inside[] = {"contention_", "lock_", "nmi_"};

	for (uint32_t i = 0; i < p->probes.n; i++) {
		const struct dt_plan_probe *x = &p->probes.v[i];

		if (dt_kind_is_function(x->kind) || x->kind == PK_INSTRUCTION || x->kind == PK_PERF)
			return false;
		for (size_t k = 0; k < DT_NELEM(inside) && x->kind == PK_TRACEPOINT; k++)
			if (strncmp(x->at.event, inside[k], strlen(inside[k])) == 0)
				return false;
	}
	return true;
}

/* Bytes for records that cost `size` bytes of a buffer that is counted to the byte: ours are up to twice as large, and a ring
 * buffer adds 8 to each. Markers of speculations are not counted. */
static uint64_t counted_bufsize(const dt_plan *p, uint64_t size)
{
	uint64_t most = (size / DT_FAULT_COST + 1) * (sizeof(struct dt_fault_rec) + 8);

	if (size < LARGE)
		return 4 * size;
	for (uint32_t i = 0; i < p->clauses.n; i++) {
		const struct dt_plan_clause *x = &p->clauses.v[i];

		for (uint32_t k = 0; k < x->record.nparts; k++) {
			uint32_t cost = x->record.parts[k].cost;
			uint64_t n = cost ? (size / cost + 1) * (x->parts[k].size + 8) : 0;

			most = n > most ? n : most;
		}
	}
	most += size / 4;
	return most < 4 * size ? most : 4 * size;
}

/*
 * bufsize bytes per CPU. BEGIN and END fire once each, so what they can record is known: a program
 * that enables nothing else gets buffers of exactly that size, and starts faster.
 */
static uint64_t bytes_per_cpu(const dt_plan *p, uint64_t size)
{
	if (p->buffers.small)
		return counted_bufsize(p, size);
	return fires_often(p) ? size : smaller(size, recorded_once(p));
}

struct dt_rings dt_layout_rings(const dt_plan *p, uint64_t size)
{
	struct dt_rings r = {p->ncpus, bytes_per_cpu(p, size)};
	uint64_t least = LEAST;

	if (p->opts->is_set[DT_O_BUFSIZE] || p->buffers.policy == DT_BUFPOLICY_FILL)
		return r;
	if (!records_often(p))
		r.size = smaller(r.size, larger(FAULTS_SIZE, recorded_once(p)));
	if (p->ncpus > SHARED && can_share(p)) {
		r.n = SHARED;
		return r;
	}
	while (least * 2 <= SHARED_ALL * r.size / p->ncpus)
		least *= 2;
	if (r.size > least)
		r.size = least;
	return r;
}

/*
 * The consumer reads the buffers once per switchrate, or as soon as one is half full; but not early
 * with the fill policy, whose buffers are meant to fill up, or with buffers that are counted to the
 * byte to drop what DTrace would drop. With the ring policy only speculative records are read.
 */
bool dt_layout_wakes_early(const dt_plan *p, const dt_plan_needs *n)
{
	if (p->buffers.policy == DT_BUFPOLICY_FILL || p->buffers.small ||
	    (p->buffers.policy == DT_BUFPOLICY_RING && !n->is.spec))
		return false;
	return fires_often(p);
}

/* ---- the ring policy: circles, see tr_tail.c ---- */

#define MAX_SIZE  (1ull << 50)
#define MIN_PIECE 65536ull
#define MAX_PIECE (2ull << 20) /* Linux 6.1 has no elements of more than 4 MB */

uint64_t dt_layout_frame(uint64_t size)
{
	return dt_align_up(sizeof(struct dt_tail_frame) + size, 8);
}

static uint64_t power_of_two(uint64_t n)
{
	uint64_t p = 4096;

	while (p < n)
		p *= 2;
	return p;
}

/* A circle holds bufsize bytes as the user counts them (older records are dropped at the end), and
 * what slow firings add late: that many records of `size` bytes that cost that much each. */
static uint64_t room_for(const struct dt_plan_layout *l, const dt_plan *p, uint32_t cost,
			 uint64_t size)
{
	uint64_t bufsize = p->buffers.size < MAX_SIZE ? p->buffers.size : MAX_SIZE;

	return cost ? (bufsize / cost + 1 + l->nslots) * dt_layout_frame(size) : 0;
}

/* The smaller a piece, the larger the share of space after its end. */
void dt_layout_tails(struct dt_plan_layout *l, const dt_plan *p)
{
	uint64_t most = dt_layout_frame(l->record_size), piece = power_of_two(4 * most), size = 0,
		 faults = room_for(l, p, DT_FAULT_COST, sizeof(struct dt_fault_rec));

	for (uint32_t i = 0; i < p->clauses.n; i++) {
		const struct dt_plan_clause *x = &p->clauses.v[i];

		for (uint32_t k = 0; k < x->record.nparts; k++) {
			uint64_t n =
			    room_for(l, p, x->record.parts[k].cost, x->parts[k].size);

			size = n > size ? n : size;
		}
	}
	size = bytes_per_cpu(p, size);
	size = power_of_two(size > faults ? size : faults);
	piece = piece < MIN_PIECE ? MIN_PIECE : piece > MAX_PIECE ? MAX_PIECE : piece;
	l->tail_piece = (uint32_t)(piece < size ? piece : size);
	l->tail_value = l->tail_piece + (uint32_t)most;
	l->tail_size = size;
}
