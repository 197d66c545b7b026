/*
 * store_read: reading output while it is written. See session_store.h.
 *
 * The writer ends a file before it begins the next, whose name says where: so a file is read to its end when the next place
 * is that of another file. A file that is removed while it is open here is read to its end as well.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fleet/session_store.h"

#define DIGITS 15

struct dt_store_reader {
	char *dir;
	uint64_t at;   /* what comes next */
	uint64_t base; /* of the file that is open */
	uint64_t missed; /* and not said yet */
	int fd;	       /* -1: none */
};

char *dt_store_path(const char *dir, uint64_t at)
{
	return dt_xasprintf("%s/%0*llu.ndjson", dir, DIGITS, (unsigned long long)at);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void dt_store_list(const char *dir, dt_store_places *out)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	out->n = 0;
	while (d && (e = readdir(d)))
		if (strspn(e->d_name, "0123456789") >= DIGITS && strcmp(strchrnul(e->d_name, '.'), ".ndjson") == 0)
			*dt_vec_add(out, NULL) = strtoull(e->d_name, NULL, 10);
	if (d)
		closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_value);
}

static void leave_file(dt_store_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static bool open_file(dt_store_reader *r, uint64_t base)
{
	char *path = dt_store_path(r->dir, base);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	if (fd < 0)
		return false;
	leave_file(r);
	r->fd = fd;
	r->base = base;
	return true;
}

/* After the last line of the file that is open. */
static uint64_t last_line_end(const dt_store_reader *r)
{
	off_t end = lseek(r->fd, 0, SEEK_END);
	char byte = 0;

	while (end > 0 && (pread(r->fd, &byte, 1, end - 1) != 1 || byte != '\n'))
		end--;
	return r->base + (uint64_t)end;
}

/* Open the file in which r->at is, or the oldest after it. False: that is the one that is open, or there is none. */
static bool next_file(dt_store_reader *r)
{
	dt_store_places all = {0};
	bool opened = false;

	dt_store_list(r->dir, &all);
	for (uint32_t i = 0; i < all.n && !opened; i++) {
		bool last = i + 1 == all.n || all.v[i + 1] > r->at;

		if (!last || (r->fd >= 0 && all.v[i] <= r->base))
			continue;
		if (r->fd >= 0 && last_line_end(r) > r->at) {
			opened = true; /* more came before the next file was begun */
			break;
		}
		opened = open_file(r, all.v[i]); /* it may be gone by now: the next one, then */
		if (opened && all.v[i] > r->at) {
			r->missed += all.v[i] - r->at;
			r->at = all.v[i];
		}
	}
	dt_vec_free(&all);
	return opened;
}

dt_store_reader *dt_store_reader_new(const char *dir, uint64_t at)
{
	dt_store_reader *r = dt_xcalloc(1, sizeof(*r));
	dt_store_places all = {0};

	r->dir = dt_xstrdup(dir);
	r->fd = -1;
	r->at = at;
	if (at == 0 || at == DT_STORE_NOW) {
		dt_store_list(dir, &all);
		r->at = all.n ? all.v[at ? all.n - 1 : 0] : 0;
		if (all.n && at && open_file(r, r->at))
			r->at = last_line_end(r);
		dt_vec_free(&all);
	}
	return r;
}

void dt_store_reader_free(dt_store_reader *r)
{
	if (!r)
		return;
	leave_file(r);
	free(r->dir);
	free(r);
}

/* Whole lines of the file that is open; one that is longer than `most` is read as well. */
static size_t read_lines(dt_store_reader *r, size_t most, dt_buf *out)
{
	size_t before = out->n, room = most;

	for (;;) {
		char *space = dt_xmalloc(room);
		ssize_t n = pread(r->fd, space, room, (off_t)(r->at - r->base));
		const char *last = n > 0 ? memrchr(space, '\n', (size_t)n) : NULL;
		bool full = n == (ssize_t)room;

		if (last)
			dt_buf_add(out, space, (size_t)(last + 1 - space));
		free(space);
		if (last || !full)
			break;
		room *= 2;
	}
	r->at += out->n - before;
	return out->n - before;
}

bool dt_store_reader_next(dt_store_reader *r, size_t most, dt_buf *out, uint64_t *at, uint64_t *missed)
{
	size_t n;

	do {
		n = r->fd >= 0 ? read_lines(r, most, out) : 0;
		*at = r->at - n;
	} while (!n && next_file(r));
	*missed = n ? r->missed : 0;
	r->missed -= *missed;
	return n > 0;
}
