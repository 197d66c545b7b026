/*
 * buf: a string builder. The text is always NUL-terminated once something was added, so b.s can be
 * used as a C string; bytes of value 0 may also be added; n counts them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* Room for n more bytes and the NUL. */
static void reserve(dt_buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;

	if (b->cap - b->n > n)
		return;
	while (cap - b->n <= n)
		cap *= 2;
	b->s = dt_xrealloc(b->s, cap);
	b->cap = cap;
}

void dt_buf_add(dt_buf *b, const void *p, size_t n)
{
	reserve(b, n);
	if (n != 0)
		memcpy(b->s + b->n, p, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void dt_buf_puts(dt_buf *b, const char *s)
{
	dt_buf_add(b, s, strlen(s));
}

void dt_buf_putc(dt_buf *b, char c)
{
	reserve(b, 1);
	b->s[b->n++] = c;
	b->s[b->n] = '\0';
}

void dt_buf_pad(dt_buf *b, char c, size_t n)
{
	reserve(b, n);
	memset(b->s + b->n, c, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void dt_buf_put_int(dt_buf *b, uint64_t u, bool is_signed, size_t width)
{
	bool negative = is_signed && u >> 63;
	char digits[24], *p = digits + sizeof(digits);
	size_t n;

	u = negative ? -u : u;
	do
		*--p = (char)('0' + u % 10);
	while (u /= 10);
	if (negative)
		*--p = '-';
	n = (size_t)(digits + sizeof(digits) - p);
	if (n < width)
		dt_buf_pad(b, ' ', width - n);
	dt_buf_add(b, p, n);
}

void dt_buf_vprintf(dt_buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	reserve(b, 63);
	n = vsnprintf(b->s + b->n, b->cap - b->n, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->n) {
		reserve(b, (size_t)n);
		n = vsnprintf(b->s + b->n, b->cap - b->n, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->n += (size_t)n;
	b->s[b->n] = '\0';
}

void dt_buf_printf(dt_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dt_buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void dt_buf_reset(dt_buf *b)
{
	b->n = 0;
	if (b->s != NULL)
		b->s[0] = '\0';
}

void dt_buf_free(dt_buf *b)
{
	free(b->s);
	*b = (dt_buf){0};
}
