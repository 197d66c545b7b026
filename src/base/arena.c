/*
 * arena: memory that is freed at once, and the heap functions that never return NULL.
 *
 * An arena is a list of chunks; an allocation is a bump of a pointer in the newest one. Chunks come
 * zeroed from calloc, and dt_arena_reset zeroes the one that it keeps, so allocations are zeroed.
 * Chunk sizes grow with the arena (4 KiB to 256 KiB): a one-line script costs one page or two, a
 * large one few system calls. A request larger than a chunk gets a chunk of its own, placed after
 * the current one so that the rest of that one is not lost.
 *
 * The heap functions end the process when the system is out of memory: nothing useful can be done
 * then. An arena can have a limit, for input that needs too much while the system still has memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define CHUNK_MIN   ((size_t)4096)
#define CHUNK_MAX   ((size_t)256 * 1024)
#define ARENA_ALIGN ((size_t)16)

struct chunk {
	struct chunk *next;
	size_t used, size; /* of data[] */
	_Alignas(16) char data[];
};

struct dt_arena {
	struct chunk *current; /* the one allocations are bumped from; the others follow it */
	size_t used;	       /* bytes allocated */
	size_t limit;	       /* 0: none */
	void (*oom)(void *arg);
	void *oom_arg;
};

static _Noreturn void die(void)
{
	fputs("dtrace: out of memory\n", stderr);
	exit(1);
}

void *dt_xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (p == NULL)
		die();
	return p;
}

void *dt_xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (p == NULL)
		die();
	return p;
}

void *dt_xrealloc(void *p, size_t n)
{
	void *q = realloc(p, n ? n : 1);

	if (q == NULL)
		die();
	return q;
}

char *dt_xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(dt_xmalloc(n), s, n);
}

char *dt_xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		die();
	return s;
}

dt_arena *dt_arena_new(void)
{
	return dt_xcalloc(1, sizeof(dt_arena));
}

void dt_arena_free(dt_arena *a)
{
	struct chunk *c, *next;

	if (a == NULL)
		return;
	for (c = a->current; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

void dt_arena_reset(dt_arena *a)
{
	struct chunk *keep = a->current, *c, *next;

	if (keep == NULL)
		return;
	for (c = keep->next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	keep->next = NULL;
	memset(keep->data, 0, keep->used);
	keep->used = a->used = 0;
}

void dt_arena_set_limit(dt_arena *a, size_t limit, void (*oom)(void *arg), void *arg)
{
	a->limit = limit;
	a->oom = oom;
	a->oom_arg = arg;
}

size_t dt_arena_used(const dt_arena *a)
{
	return a->used;
}

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = dt_xcalloc(1, sizeof(*c) + size);

	c->size = size;
	return c;
}

/* A chunk with room for n bytes: a new current one, or one of its own for a large request. */
static struct chunk *chunk_for(dt_arena *a, size_t n)
{
	size_t size = a->current == NULL ? CHUNK_MIN : a->used;
	struct chunk *c;

	if (size < CHUNK_MIN)
		size = CHUNK_MIN;
	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (n > size / 4 && a->current != NULL) {
		c = chunk_new(n);
		c->next = a->current->next;
		a->current->next = c;
		return c;
	}
	c = chunk_new(n > size ? n : size);
	c->next = a->current;
	a->current = c;
	return c;
}

void *dt_arena_alloc(dt_arena *a, size_t n)
{
	struct chunk *c = a->current;
	void *p;

	if (n > SIZE_MAX / 2 || (a->limit != 0 && (a->used > a->limit || n > a->limit - a->used))) {
		if (a->oom != NULL)
			a->oom(a->oom_arg);
		die();
	}
	/* Empty requests also get distinct addresses: some callers use a non-NULL pointer as a
	 * flag. */
	n = n == 0 ? ARENA_ALIGN : (n + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
	if (c == NULL || n > c->size - c->used)
		c = chunk_for(a, n);
	p = c->data + c->used;
	c->used += n;
	a->used += n;
	return p;
}

void *dt_arena_dup(dt_arena *a, const void *p, size_t n)
{
	void *q = dt_arena_alloc(a, n);

	if (n != 0)
		memcpy(q, p, n);
	return q;
}

char *dt_arena_strndup(dt_arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *d = dt_arena_alloc(a, len + 1);

	memcpy(d, s, len);
	return d;
}

char *dt_arena_strdup(dt_arena *a, const char *s)
{
	return dt_arena_dup(a, s, strlen(s) + 1);
}

char *dt_arena_printf(dt_arena *a, const char *fmt, ...)
{
	dt_buf b = {0};
	va_list ap;
	char *s;

	va_start(ap, fmt);
	dt_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	s = dt_arena_dup(a, b.s, b.n + 1);
	dt_buf_free(&b);
	return s;
}

void *dt_vec_grow(void *v, uint32_t n, uint32_t *cap, size_t size, dt_arena *a)
{
	if (n == *cap) {
		uint32_t want = n < 4 ? 4 : n * 2;

		if (want <= n) /* over four thousand million elements */
			die();
		if (a != NULL) {
			void *w = dt_arena_alloc(a, want * size);

			if (n != 0)
				memcpy(w, v, n * size);
			v = w;
		} else {
			v = dt_xrealloc(v, want * size);
		}
		*cap = want;
	}
	/* The slot may have been in use before the caller lowered n. */
	memset((char *)v + n * size, 0, size);
	return v;
}

void dt_vec_release(void *v)
{
	free(v);
}
