/*
 * message: see message.h.
 */
#include "jail/message.h"

#define NO_STRING UINT32_MAX

void dt_put_u32(dt_buf *b, uint32_t v)
{
	dt_buf_add(b, &v, sizeof(v));
}

void dt_put_u64(dt_buf *b, uint64_t v)
{
	dt_buf_add(b, &v, sizeof(v));
}

void dt_put_bytes(dt_buf *b, const void *p, size_t n)
{
	dt_put_u64(b, n);
	dt_buf_add(b, p, n);
}

/* With its NUL, so that the other side need not copy it. */
void dt_put_string(dt_buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	dt_put_u32(b, s ? (uint32_t)n : NO_STRING);
	if (s)
		dt_buf_add(b, s, n + 1);
}

/* ---- reading ---- */

dt_message dt_message_of(const void *p, size_t n)
{
	const uint8_t *from = p ? p : (const uint8_t *)""; /* an empty buffer has no memory */

	return (dt_message){.p = from, .end = from + (p ? n : 0)};
}

const void *dt_get_raw(dt_message *m, size_t n)
{
	const uint8_t *p = m->p;

	if (m->bad || n > (size_t)(m->end - p)) {
		m->bad = true;
		return NULL;
	}
	m->p += n;
	return p;
}

uint32_t dt_get_u32(dt_message *m)
{
	const void *p = dt_get_raw(m, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t dt_get_u64(dt_message *m)
{
	const void *p = dt_get_raw(m, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

uint32_t dt_get_count(dt_message *m, size_t each)
{
	uint32_t n = dt_get_u32(m);

	if (!m->bad && n > (size_t)(m->end - m->p) / each)
		m->bad = true;
	return m->bad ? 0 : n;
}

const void *dt_get_bytes(dt_message *m, size_t *n)
{
	uint64_t size = dt_get_u64(m);
	const void *p = dt_get_raw(m, size);

	*n = p ? size : 0;
	return p;
}

const char *dt_get_string(dt_message *m)
{
	uint32_t n = dt_get_u32(m);
	const char *s;

	if (m->bad || n == NO_STRING)
		return NULL;
	s = dt_get_raw(m, (size_t)n + 1);
	if (s && strnlen(s, (size_t)n + 1) != n) {
		m->bad = true;
		return NULL;
	}
	return s;
}

bool dt_message_is_done(const dt_message *m)
{
	return !m->bad && m->p == m->end;
}
