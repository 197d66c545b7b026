/*
 * perfmap: see perfmap.h.
 *
 * Entries are in two parts, each sorted by start: nearly all, and the newest. New lines are sorted
 * and merged into the newest part; when that is large, it is merged into the rest. So the work for
 * a file that grows line by line is linear in its size, not quadratic. Within one part, the later
 * of two entries with the same start counts, and of two that overlap the one that starts nearer to
 * the address; an entry of the newest part takes precedence over one of the rest.
 *
 * The file belongs to another user: its owner is checked, only DT_MAX_PERFMAP_FILE of it is read, a
 * piece at a time, and a file that is replaced repeatedly is read from the start only after a
 * pause. With a jail, a helper reads each piece and splits its lines; they are sorted here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "jail/message.h"
#include "proc/perfmap.h"

#define MAX_BACK 32		   /* entries to look back over for one that overlaps */
#define PIECE	 ((size_t)1 << 20) /* read at a time; lines are shorter */
#define FEW	 1024		   /* newest entries that need not be merged */
#define LARGE	 ((off_t)1 << 20)  /* a file that is not read from the start again before */
#define PAUSE	 50		   /* this many ns for each of its bytes: 3 s for the largest */

struct entry {
	uint64_t start;
	uint32_t size;
	uint32_t name; /* in names */
};
typedef DT_VEC(struct entry) entries;

struct dt_perfmap {
	char *path;
	dt_jail *jail;
	bool (*may_own)(void *arg, uid_t uid);
	void *arg;
	dt_buf names;
	entries most, newest, unsorted;
	off_t at; /* read so far, whole lines */
	dev_t dev;
	ino_t inode;   /* of what was read */
	char last[32]; /* the end of it */
	size_t nlast;
	uint64_t pause_end; /* until then it is not read from the start */
};

dt_perfmap *dt_perfmap_new(const char *path, dt_jail *jail, bool (*may_own)(void *arg, uid_t uid),
			   void *arg)
{
	dt_perfmap *pm = dt_xcalloc(1, sizeof(*pm));

	pm->path = dt_xstrdup(path);
	pm->jail = jail;
	pm->may_own = may_own;
	pm->arg = arg;
	return pm;
}

void dt_perfmap_free(dt_perfmap *pm)
{
	if (!pm)
		return;
	dt_vec_free(&pm->most);
	dt_vec_free(&pm->newest);
	dt_vec_free(&pm->unsorted);
	dt_buf_free(&pm->names);
	free(pm->path);
	free(pm);
}

size_t dt_perfmap_memory(const dt_perfmap *pm)
{
	return sizeof(*pm) + pm->names.cap +
	       ((size_t)pm->most.cap + pm->newest.cap + pm->unsorted.cap) * sizeof(struct entry);
}

/* ---- lines ---- */

/* "3ef414c0 398 LazyCompile:~f /a.js:1", size and name may be missing in a corrupt file. */
static void add_line(dt_perfmap *pm, const char *line, size_t n)
{
	char head[64], *end, *name;
	uint64_t start, size;
	size_t skip;

	snprintf(head, sizeof(head), "%.*s", (int)(n < sizeof(head) ? n : sizeof(head) - 1), line);
	start = strtoull(head, &end, 16);
	if (end == head || *end != ' ')
		return;
	size = strtoull(end, &name, 16);
	if (name == end || *name != ' ' || start + size < start)
		return;
	skip = (size_t)(name + 1 - head);
	if (skip >= n || pm->names.n > UINT32_MAX - DT_MAX_PERFMAP_NAME - 1)
		return;
	n = n - skip < DT_MAX_PERFMAP_NAME ? n - skip : DT_MAX_PERFMAP_NAME;
	*dt_vec_add(&pm->unsorted, NULL) =
	    (struct entry){.start = start,
			   .size = size == 0	       ? 1
				   : size > UINT32_MAX ? UINT32_MAX
						       : (uint32_t)size,
			   .name = (uint32_t)pm->names.n};
	dt_buf_add(&pm->names, line + skip, strnlen(line + skip, n));
	dt_buf_putc(&pm->names, 0);
}

void dt_perfmap_add(dt_perfmap *pm, const char *text, size_t n)
{
	while (n > 0) {
		const char *nl = memchr(text, '\n', n);
		size_t len = nl ? (size_t)(nl - text) : n;

		add_line(pm, text, len);
		len += nl != NULL;
		text += len;
		n -= len;
	}
}

/* ---- order ---- */

/* Names are added one after the other, so that of a later line comes later. */
static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void add_sorted(entries *to, const struct entry *e)
{
	if (to->n > 0 && to->v[to->n - 1].start == e->start)
		to->n--;
	*dt_vec_add(to, NULL) = *e;
}

/* `more` is later than `to`, and empty afterwards. */
static void merge(entries *to, entries *more)
{
	entries both = {0};
	uint32_t i = 0, k = 0;

	while (i < to->n || k < more->n) {
		if (k == more->n || (i < to->n && to->v[i].start <= more->v[k].start))
			add_sorted(&both, &to->v[i++]);
		else
			add_sorted(&both, &more->v[k++]);
	}
	dt_vec_free(to);
	dt_vec_free(more);
	*to = both;
}

static void sort(dt_perfmap *pm)
{
	if (pm->unsorted.n == 0)
		return;
	qsort(pm->unsorted.v, pm->unsorted.n, sizeof(*pm->unsorted.v), by_start);
	merge(&pm->newest, &pm->unsorted);
	if (pm->newest.n > FEW + pm->most.n / 8)
		merge(&pm->most, &pm->newest);
}

/* ---- lookups ---- */

static const struct entry *find_in(const entries *in, uint64_t addr)
{
	uint32_t lo = 0, hi = in->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (in->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t back = 0; lo > 0 && back < MAX_BACK; back++) {
		const struct entry *e = &in->v[--lo];

		if (addr - e->start < e->size)
			return e;
	}
	return NULL;
}

/* Of one entry in each part that starts nearer to the address; of equal ones the newest. */
static const struct entry *find(dt_perfmap *pm, uint64_t addr)
{
	const struct entry *a, *b;

	sort(pm);
	a = find_in(&pm->newest, addr);
	b = find_in(&pm->most, addr);
	return !a || (b && b->start > a->start) ? b : a;
}

/* Is what was read still the beginning of the file? Another process with this pid creates its own;
 * Java rewrites the whole file on each request. */
static bool goes_on(const dt_perfmap *pm, int fd, const struct stat *st)
{
	char now[sizeof(pm->last)];

	return st->st_ino == pm->inode && st->st_dev == pm->dev && st->st_size >= pm->at &&
	       pread(fd, now, pm->nlast, pm->at - (off_t)pm->nlast) == (ssize_t)pm->nlast &&
	       memcmp(now, pm->last, pm->nlast) == 0;
}

static void start_over(dt_perfmap *pm, const struct stat *st)
{
	pm->most.n = pm->newest.n = pm->unsorted.n = 0;
	dt_buf_reset(&pm->names);
	pm->at = 0;
	pm->nlast = 0;
	pm->inode = st->st_ino;
	pm->dev = st->st_dev;
}

/* Whole lines of the file from pm->at on. False: there are none. */
static bool read_piece(dt_perfmap *pm, int fd, char *buf)
{
	size_t left = DT_MAX_PERFMAP_FILE - (size_t)pm->at;
	ssize_t n = pread(fd, buf, left < PIECE ? left : PIECE, pm->at);

	if (n <= 0)
		return false;
	if ((size_t)n == PIECE && !memrchr(buf, '\n', (size_t)n)) {
		pm->at += n; /* not a valid line */
		return true;
	}
	while (n > 0 && buf[n - 1] != '\n')
		n--;
	if (n == 0)
		return false;
	dt_perfmap_add(pm, buf, (size_t)n);
	pm->at += n;
	pm->nlast = (size_t)n < sizeof(pm->last) ? (size_t)n : sizeof(pm->last);
	memcpy(pm->last, buf + n - pm->nlast, pm->nlast);
	return true;
}

/* ---- by a helper ---- */

/* How an entry is sent; the names follow all of them. */
static void put_entries(const dt_perfmap *pm, dt_buf *out)
{
	dt_put_u64(out, (uint64_t)pm->at);
	dt_put_bytes(out, pm->last, pm->nlast);
	dt_put_u32(out, pm->unsorted.n);
	dt_buf_add(out, pm->unsorted.v, pm->unsorted.n * sizeof(*pm->unsorted.v));
	dt_put_bytes(out, pm->names.s, pm->names.n);
}

/* In the helper: a piece from the offset that the question has. */
static void serve(struct dt_question *q, dt_buf *out)
{
	dt_message m = dt_message_of(q->data, q->size);
	dt_perfmap *pm = dt_perfmap_new("", NULL, NULL, NULL);
	char *buf = dt_xmalloc(PIECE);

	pm->at = (off_t)dt_get_u64(&m);
	if (q->nfds == 1 && read_piece(pm, q->fd[0], buf))
		put_entries(pm, out);
	free(buf);
	dt_perfmap_free(pm);
}

bool dt_perfmap_take(dt_perfmap *pm, const dt_buf *answer)
{
	dt_message m = dt_message_of(answer->s, answer->n);
	uint64_t at = dt_get_u64(&m), before = (uint64_t)pm->at;
	size_t nlast, size, base = pm->names.n;
	const void *last = dt_get_bytes(&m, &nlast);
	uint32_t n = dt_get_count(&m, sizeof(struct entry));
	const struct entry *v = dt_get_raw(&m, n * sizeof(*v));
	const char *names = dt_get_bytes(&m, &size);

	if (!dt_message_is_done(&m) || at <= before || at - before > PIECE ||
	    nlast > sizeof(pm->last) || size > PIECE + n || (size && names[size - 1] != 0) ||
	    base + size > UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct entry e;

		memcpy(&e, (const char *)v + i * sizeof(e), sizeof(e));
		if (e.name >= size || e.start + e.size < e.start)
			return false;
		e.name += (uint32_t)base;
		*dt_vec_add(&pm->unsorted, NULL) = e;
	}
	dt_buf_add(&pm->names, names, size);
	pm->at = (off_t)at;
	pm->nlast = nlast;
	memcpy(pm->last, last, nlast);
	return true;
}

/* The next piece; false: there is none. */
static bool ask_piece(dt_perfmap *pm, int fd)
{
	uint64_t at = (uint64_t)pm->at;
	struct dt_question q = {.fd = {fd}, .nfds = 1, .data = &at, .size = sizeof(at)};
	char *what = dt_xasprintf("names in %s", pm->path);
	uint32_t before = pm->unsorted.n;
	dt_buf answer = {0};
	bool ok = dt_jail_ask(pm->jail, what, serve, &q, &answer, NULL) == 0 && answer.n;

	if (ok && !dt_perfmap_take(pm, &answer)) {
		pm->unsorted.n = before;
		dt_jail_reject(pm->jail, what, &q, NULL);
		ok = false;
	}
	dt_buf_free(&answer);
	free(what);
	return ok;
}

/* Read what was added to the file. True if there was something. */
static bool read_more(dt_perfmap *pm)
{
	int fd = dt_open_regular(AT_FDCWD, pm->path, O_NOFOLLOW, UINT64_MAX, NULL);
	bool anew = false, found = false;
	struct stat st;
	char *buf = NULL;

	if (fd < 0 || fstat(fd, &st) < 0 || (pm->may_own && !pm->may_own(pm->arg, st.st_uid)))
		goto out;
	if (!goes_on(pm, fd, &st)) {
		if (dt_now() < pm->pause_end)
			goto out;
		anew = true;
		start_over(pm, &st);
	}
	if (pm->at < st.st_size && pm->at < (off_t)DT_MAX_PERFMAP_FILE) {
		buf = pm->jail ? NULL : dt_xmalloc(PIECE);
		while (pm->jail ? ask_piece(pm, fd) : read_piece(pm, fd, buf))
			found = true;
	}
	if (anew && pm->at > LARGE)
		pm->pause_end = dt_now() + PAUSE * (uint64_t)pm->at;
out:
	if (fd >= 0)
		close(fd);
	free(buf);
	return found;
}

const char *dt_perfmap_find(dt_perfmap *pm, uint64_t addr, uint64_t *start)
{
	const struct entry *e = find(pm, addr);

	if (!e && read_more(pm))
		e = find(pm, addr);
	if (!e)
		return NULL;
	*start = e->start;
	return pm->names.s + e->name;
}
