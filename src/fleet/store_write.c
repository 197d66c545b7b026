/*
 * store_write: writing output. See session_store.h.
 *
 * A piece of whole lines is one write(2). What the disk did not take is cut off again at the end of a line, so a file
 * has whole lines at all times, but for the instant of a write: readers stop at the last newline. A process that is killed
 * in that instant leaves a part of a line; the next writer removes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/session_store.h"

#define HEAD_MAX 512 /* bytes of the first line of a file */

struct dt_store {
	struct dt_store_env env;
	char *dir;
	int lock, fd;
	uint64_t base, size; /* of the file that is written */
	dt_store_places places;
	dt_buf part; /* a line that is not complete yet */
	struct dt_store_counts counts;
	uint64_t untold_lines, untold_bytes; /* lost, and no line says so yet */
	int why; /* errno of the last loss; 0: lines that are too long */
};

bool dt_store_is_name(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

	return n && n <= DT_STORE_NAME && !name[n];
}

struct dt_store_counts dt_store_counts(const dt_store *s)
{
	struct dt_store_counts c = s->counts;

	c.first = s->places.n ? s->places.v[0] : 0;
	c.end = s->base + s->size;
	return c;
}

/* ---- files ---- */

/* What was written up to here stays; the rest of the file goes. */
static void cut_at(dt_store *s, uint64_t size)
{
	if (ftruncate(s->fd, (off_t)size) < 0 || lseek(s->fd, (off_t)size, SEEK_SET) < 0)
		s->why = errno;
	s->size = size;
}

/* Whole lines; how many bytes are in the file now. */
static size_t put(dt_store *s, const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = write(s->fd, p + done, n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			s->why = k < 0 ? errno : ENOSPC;
			break;
		}
		done += (size_t)k;
	}
	if (done < n) {
		const char *last = memrchr(p, '\n', done);

		done = last ? (size_t)(last + 1 - p) : 0;
		cut_at(s, s->size + done);
		return done;
	}
	s->size += done;
	return done;
}

static void point_to(const dt_store *s, const char *path)
{
	char *link = dt_xasprintf("%s/current.ndjson", s->dir), *fresh = dt_xasprintf("%s/.current", s->dir);

	unlink(fresh);
	if (symlink(strrchr(path, '/') + 1, fresh) == 0)
		rename(fresh, link);
	free(link);
	free(fresh);
}

static void remove_oldest(dt_store *s)
{
	while (s->places.n > s->env.files) {
		char *path = dt_store_path(s->dir, s->places.v[0]);

		unlink(path);
		free(path);
		s->places.n--;
		memmove(s->places.v, s->places.v + 1, s->places.n * sizeof(*s->places.v));
	}
}

/* A new file, with its first line. False: it cannot be made, and the old one stays. */
static bool begin_file(dt_store *s)
{
	uint64_t at = s->base + s->size;
	char *path = dt_store_path(s->dir, at);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), old = s->fd;
	uint64_t old_base = s->base, old_size = s->size;
	dt_buf head = {0};
	bool ok = fd >= 0;

	if (!ok) {
		s->why = errno;
	} else {
		s->fd = fd;
		s->base = at;
		s->size = 0;
		s->env.head(s->env.arg, at, &head);
		ok = put(s, head.s, head.n) == head.n;
		dt_buf_free(&head);
	}
	if (ok) {
		*dt_vec_add(&s->places, NULL) = at;
		point_to(s, path);
		if (old >= 0)
			close(old);
		remove_oldest(s);
	} else if (fd >= 0) {
		unlink(path);
		close(fd);
		s->fd = old;
		s->base = old_base;
		s->size = old_size;
	}
	free(path);
	return ok;
}

/* The last file of an earlier writer: go on there. */
static bool resume_file(dt_store *s)
{
	char *path, byte = 0;
	off_t end, whole;

	s->base = s->places.v[s->places.n - 1];
	path = dt_store_path(s->dir, s->base);
	s->fd = open(path, O_RDWR | O_CLOEXEC);
	free(path);
	if (s->fd < 0 || (end = lseek(s->fd, 0, SEEK_END)) < 0)
		return false;
	for (whole = end; whole > 0; whole--)
		if (pread(s->fd, &byte, 1, whole - 1) != 1 || byte == '\n')
			break;
	s->counts.cut = (uint64_t)(end - whole);
	cut_at(s, (uint64_t)whole);
	return true;
}

dt_store *dt_store_open(const struct dt_store_env *env, dt_error *err)
{
	dt_store *s = dt_xcalloc(1, sizeof(*s));
	char *lock = dt_xasprintf("%s/lock", env->dir);
	bool ok;

	s->env = *env;
	s->env.size = env->size > DT_STORE_LEAST ? env->size : DT_STORE_LEAST;
	s->env.files = env->files ? env->files : 1;
	s->dir = dt_xstrdup(env->dir);
	s->fd = -1;
	mkdir(s->dir, 0700);
	s->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(lock);
	ok = s->lock >= 0 && flock(s->lock, LOCK_EX) == 0;
	if (ok) {
		dt_store_list(s->dir, &s->places);
		ok = s->places.n ? resume_file(s) : begin_file(s);
	}
	if (ok)
		return s;
	dt_err(err, errno, "cannot write to %s: %s", s->dir, strerror(s->why ? s->why : errno));
	dt_store_close(s);
	return NULL;
}

/* ---- lines ---- */

static void lose(dt_store *s, const char *p, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	s->counts.lines += lines;
	s->counts.bytes += n;
	s->untold_lines += lines;
	s->untold_bytes += n;
}

static bool has_room(const dt_store *s, size_t n)
{
	return s->size + n <= s->env.size;
}

/* As many of the first lines as fit into this file; 0: not one. */
static size_t that_fit(const dt_store *s, const char *p, size_t n)
{
	const char *last;

	if (has_room(s, n))
		return n;
	last = s->size < s->env.size ? memrchr(p, '\n', s->env.size - s->size) : NULL;
	return last ? (size_t)(last + 1 - p) : 0;
}

/* Before anything else is written. False: there is still no room for it. */
static bool tell_loss(dt_store *s)
{
	char line[320];
	int n;

	if (!s->untold_lines)
		return true;
	n = snprintf(line, sizeof(line),
		     "{\"type\":\"drop\",\"kind\":\"STORE\",\"count\":%llu,\"total\":%llu,\"text\":\"%llu lines (%llu bytes) of output could not be "
		     "written: %s\"}\n",
		     (unsigned long long)s->untold_lines, (unsigned long long)s->counts.lines,
		     (unsigned long long)s->untold_lines, (unsigned long long)s->untold_bytes,
		     s->why ? strerror(s->why) : "longer than a file may be");
	if ((!has_room(s, (size_t)n) && !begin_file(s)) || put(s, line, (size_t)n) < (size_t)n)
		return false;
	s->untold_lines = s->untold_bytes = 0;
	return true;
}

static void add_lines(dt_store *s, const char *p, size_t n)
{
	while (n) {
		size_t fit, done, line = (size_t)((const char *)memchr(p, '\n', n) + 1 - p);

		if (!tell_loss(s)) {
			lose(s, p, n);
			return;
		}
		if (line + HEAD_MAX > s->env.size) {
			s->why = 0;
			lose(s, p, line);
			p += line;
			n -= line;
			continue;
		}
		fit = that_fit(s, p, n);
		if (!fit && !begin_file(s)) {
			lose(s, p, n);
			return;
		}
		fit = fit ? fit : that_fit(s, p, n);
		done = put(s, p, fit);
		lose(s, p + done, fit - done);
		p += fit;
		n -= fit;
	}
}

void dt_store_add(dt_store *s, const void *p, size_t n)
{
	const char *last = memrchr(p, '\n', n), *at = p;
	size_t whole = last ? (size_t)(last + 1 - at) : 0;

	if (s->part.n && whole) {
		size_t line = (size_t)((const char *)memchr(at, '\n', n) + 1 - at);

		dt_buf_add(&s->part, at, line);
		add_lines(s, s->part.s, s->part.n);
		dt_buf_reset(&s->part);
		at += line;
		whole -= line;
		n -= line;
	}
	add_lines(s, at, whole);
	dt_buf_add(&s->part, at + whole, n - whole);
}

void dt_store_close(dt_store *s)
{
	if (!s)
		return;
	if (s->part.n) {
		dt_buf_putc(&s->part, '\n');
		add_lines(s, s->part.s, s->part.n);
	}
	if (s->fd >= 0) {
		tell_loss(s);
		close(s->fd);
	}
	if (s->lock >= 0)
		close(s->lock);
	dt_vec_free(&s->places);
	dt_buf_free(&s->part);
	free(s->dir);
	free(s);
}
