/*
 * perf_rings: see perf_rings.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/perf_rings.h"

#define MIN_SIZE 16384

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t lost;
};

struct pending { /* a record that was taken out of its ring: bytes at `at` of the text */
	uint64_t time;
	size_t at;
};

struct dt_perf_rings {
	DT_VEC(struct ring) rings;
	size_t size;
	int epoll;
	DT_VEC(struct pending) pending;
	dt_buf bytes;
};

/* ---- open ---- */

static int open_ring(dt_perf_rings *r, const struct perf_event_attr *attr, int cpu)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct perf_event_attr a = *attr;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;
	int fd, why;

	a.watermark = 1;
	a.read_format = PERF_FORMAT_LOST; /* Linux 6.0 */
	a.wakeup_watermark = (uint32_t)(r->size / 4);
	fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENODEV ? 0 : -1; /* no such CPU, or it is offline */
	p = mmap(NULL, page + r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		why = errno;
		close(fd);
		errno = why;
		return -1;
	}
	*dt_vec_add(&r->rings, NULL) =
	    (struct ring){.fd = fd, .page = p, .data = (uint8_t *)p + page};
	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static void close_rings(dt_perf_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < r->rings.n; i++) {
		munmap(r->rings.v[i].page, page + r->size);
		close(r->rings.v[i].fd);
	}
	r->rings.n = 0;
}

static int open_rings(dt_perf_rings *r, const struct perf_event_attr *attr)
{
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < ncpus; cpu++) {
		if (open_ring(r, attr, cpu) < 0) {
			int why = errno;
			close_rings(r);
			errno = why;
			return -1;
		}
	}
	errno = ENODEV;
	return r->rings.n ? 0 : -1;
}

dt_perf_rings *dt_perf_rings_open(const struct perf_event_attr *attr, size_t size, dt_error *err)
{
	dt_perf_rings *r = dt_xcalloc(1, sizeof(*r));

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll >= 0) {
		for (r->size = size; r->size >= MIN_SIZE; r->size /= 2) {
			if (open_rings(r, attr) == 0)
				return r;
			if (errno != ENOMEM && errno != EPERM)
				break; /* EPERM of mmap: more locked memory than we may have */
		}
	}
	dt_err(err, errno, "perf events: %s", dt_strerror(errno));
	dt_perf_rings_free(r);
	return NULL;
}

void dt_perf_rings_free(dt_perf_rings *r)
{
	if (!r)
		return;
	close_rings(r);
	dt_vec_free(&r->rings);
	dt_vec_free(&r->pending);
	dt_buf_free(&r->bytes);
	if (r->epoll >= 0)
		close(r->epoll);
	free(r);
}

uint64_t dt_perf_rings_lost(const dt_perf_rings *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->rings.n; i++)
		n += r->rings.v[i].lost;
	return n;
}

int dt_perf_rings_fd(const dt_perf_rings *r)
{
	return r->epoll;
}

/* ---- read ---- */

/* n bytes at a position of the ring, which may wrap around. */
static void add_bytes(dt_perf_rings *r, const struct ring *ring, uint64_t at, size_t n)
{
	size_t from = (size_t)(at & (r->size - 1)), first = r->size - from;

	if (first > n)
		first = n;
	dt_buf_add(&r->bytes, ring->data + from, first);
	dt_buf_add(&r->bytes, ring->data, n - first);
}

/* A PERF_RECORD_LOST comes only with the next record; the event itself knows at once. */
static void count_lost(struct ring *ring)
{
	struct {
		uint64_t value, lost;
	} c;

	if (read(ring->fd, &c, sizeof(c)) == (ssize_t)sizeof(c))
		ring->lost = c.lost;
}

/* Move all records of one ring to the pending ones. */
static void empty_ring(dt_perf_rings *r, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail, time;
	bool was_full = head - tail > r->size / 2; /* perhaps */

	while (tail < head) {
		struct perf_event_header h;
		size_t at = r->bytes.n;

		add_bytes(r, ring, tail, sizeof(h));
		memcpy(&h, r->bytes.s + at, sizeof(h));
		r->bytes.n = at;
		if (h.size < sizeof(h) + sizeof(time) || h.size > head - tail)
			break; /* the kernel never writes this */
		add_bytes(r, ring, tail, h.size);
		memcpy(&time, r->bytes.s + at + h.size - sizeof(time), sizeof(time));
		*dt_vec_add(&r->pending, NULL) = (struct pending){.time = time, .at = at};
		tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	if (was_full) /* after that, or what is lost in between would never be counted */
		count_lost(ring);
}

/* Records of one ring are already in order; those with equal times keep their order. */
static int by_time(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Records that are not due yet move to the front. */
static void keep_from(dt_perf_rings *r, uint32_t first)
{
	uint32_t n = 0;
	dt_buf rest = {0};

	for (uint32_t i = first; i < r->pending.n; i++) {
		struct pending p = r->pending.v[i];
		struct perf_event_header h;
		size_t at = rest.n;

		memcpy(&h, r->bytes.s + p.at, sizeof(h));
		dt_buf_add(&rest, r->bytes.s + p.at, h.size);
		r->pending.v[n++] = (struct pending){.time = p.time, .at = at};
	}
	r->pending.n = n;
	dt_buf_reset(&r->bytes);
	dt_buf_add(&r->bytes, rest.s, rest.n);
	dt_buf_free(&rest);
}

void dt_perf_rings_read(dt_perf_rings *r, dt_perf_record_f *fn, void *arg)
{
	uint64_t until = dt_now_kernel();
	uint32_t i = 0;

	for (uint32_t k = 0; k < r->rings.n; k++)
		empty_ring(r, &r->rings.v[k]);
	if (r->pending.n == 0)
		return;
	qsort(r->pending.v, r->pending.n, sizeof(*r->pending.v), by_time);
	for (; i < r->pending.n && r->pending.v[i].time <= until; i++) {
		/* Records have a multiple of 8 bytes, so they stay aligned in the buffer. */
		fn(arg, r->pending.v[i].time,
		   (const struct perf_event_header *)(r->bytes.s + r->pending.v[i].at));
	}
	keep_from(r, i);
}
