/*
 * perfmap: see perfmap.h. Entries are sorted when something new was read; of two with the same
 * start the later wins at once, of two that overlap the one that starts nearer to the address.
 */
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/perfmap.h"

#define MAX_FILE ((off_t)256 << 20)
#define MAX_BACK 32 /* entries to look back over for one that overlaps */

struct entry {
	uint64_t start, size;
	const char *name;
	uint32_t line;
};

struct dt_perfmap {
	char *path;
	dt_arena *arena;
	DT_VEC(struct entry) entries;
	bool sorted;
	uint32_t lines;
	off_t at;      /* read so far, whole lines */
	ino_t inode;   /* of what was read */
	char last[32]; /* the end of it */
	size_t nlast;
};

dt_perfmap *dt_perfmap_new(const char *path)
{
	dt_perfmap *pm = dt_xcalloc(1, sizeof(*pm));

	pm->path = dt_xstrdup(path);
	pm->arena = dt_arena_new();
	return pm;
}

void dt_perfmap_free(dt_perfmap *pm)
{
	if (!pm)
		return;
	dt_vec_free(&pm->entries);
	dt_arena_free(pm->arena);
	free(pm->path);
	free(pm);
}

size_t dt_perfmap_memory(const dt_perfmap *pm)
{
	return sizeof(*pm) + dt_arena_used(pm->arena) + pm->entries.cap * sizeof(struct entry);
}

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
	if (skip >= n)
		return;
	*dt_vec_add(&pm->entries, NULL) =
	    (struct entry){.start = start,
			   .size = size ? size : 1,
			   .name = dt_arena_strndup(pm->arena, line + skip, n - skip),
			   .line = pm->lines++};
	pm->sorted = false;
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

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void sort(dt_perfmap *pm)
{
	uint32_t n = 0;

	if (pm->sorted || pm->entries.n == 0)
		return;
	qsort(pm->entries.v, pm->entries.n, sizeof(*pm->entries.v), by_start);
	for (uint32_t i = 0; i < pm->entries.n; i++) {
		if (n > 0 && pm->entries.v[n - 1].start == pm->entries.v[i].start)
			n--;
		pm->entries.v[n++] = pm->entries.v[i];
	}
	pm->entries.n = n;
	pm->sorted = true;
}

static const struct entry *find(dt_perfmap *pm, uint64_t addr)
{
	uint32_t lo = 0, hi;

	sort(pm);
	hi = pm->entries.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (pm->entries.v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t back = 0; lo > 0 && back < MAX_BACK; back++) {
		const struct entry *e = &pm->entries.v[--lo];

		if (addr - e->start < e->size)
			return e;
	}
	return NULL;
}

/* Is what we have read still the beginning of the file? Another process of this number makes one of its own; Java
 * writes all of it anew each time it is asked to. */
static bool goes_on(const dt_perfmap *pm, int fd, const struct stat *st)
{
	char now[sizeof(pm->last)];

	return st->st_ino == pm->inode && st->st_size >= pm->at &&
	       pread(fd, now, pm->nlast, pm->at - (off_t)pm->nlast) == (ssize_t)pm->nlast &&
	       memcmp(now, pm->last, pm->nlast) == 0;
}

static void start_over(dt_perfmap *pm, const struct stat *st)
{
	pm->entries.n = 0;
	dt_arena_reset(pm->arena);
	pm->at = 0;
	pm->nlast = 0;
	pm->inode = st->st_ino;
}

/* What the file has grown by: whole lines only. True when there was something. */
static bool read_more(dt_perfmap *pm)
{
	int fd = open(pm->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	char *buf = NULL;
	ssize_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE)
		goto out;
	if (!goes_on(pm, fd, &st))
		start_over(pm, &st);
	buf = dt_xmalloc((size_t)(st.st_size - pm->at) + 1);
	n = pread(fd, buf, (size_t)(st.st_size - pm->at), pm->at);
	while (n > 0 && buf[n - 1] != '\n')
		n--;
	if (n > 0) {
		dt_perfmap_add(pm, buf, (size_t)n);
		pm->at += n;
		pm->nlast = (size_t)n < sizeof(pm->last) ? (size_t)n : sizeof(pm->last);
		memcpy(pm->last, buf + n - pm->nlast, pm->nlast);
	}
out:
	if (fd >= 0)
		close(fd);
	free(buf);
	return n > 0;
}

const char *dt_perfmap_find(dt_perfmap *pm, uint64_t addr, uint64_t *start)
{
	const struct entry *e = find(pm, addr);

	if (!e && read_more(pm))
		e = find(pm, addr);
	if (!e)
		return NULL;
	*start = e->start;
	return e->name;
}
