/*
 * protobuf: see protobuf.h.
 */
#include "format/protobuf.h"

enum { VARINT = 0, BYTES = 2 };

void dt_pb_varint(dt_buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		dt_buf_putc(out, (char)(n | 0x80));
	dt_buf_putc(out, (char)n);
}

void dt_pb_uint(dt_buf *out, uint32_t field, uint64_t n)
{
	dt_pb_varint(out, (uint64_t)field << 3 | VARINT);
	dt_pb_varint(out, n);
}

static void put_bytes(dt_buf *out, uint32_t field, const void *p, size_t n)
{
	dt_pb_varint(out, (uint64_t)field << 3 | BYTES);
	dt_pb_varint(out, n);
	if (n)
		dt_buf_add(out, p, n);
}

void dt_pb_string(dt_buf *out, uint32_t field, const char *s, size_t n)
{
	dt_buf clean = {0};
	size_t start = 0, i = 0;

	while (i < n) {
		size_t len = dt_utf8_length(s + i, n - i);

		if (len) {
			i += len;
			continue;
		}
		dt_buf_add(&clean, s + start, i - start);
		dt_buf_puts(&clean, "\xef\xbf\xbd");
		start = ++i;
	}
	if (clean.n) {
		dt_buf_add(&clean, s + start, n - start);
		put_bytes(out, field, clean.s, clean.n);
	} else {
		put_bytes(out, field, s, n);
	}
	dt_buf_free(&clean);
}

void dt_pb_text(dt_buf *out, uint32_t field, const char *s)
{
	dt_pb_string(out, field, s, strlen(s));
}

void dt_pb_message(dt_buf *out, uint32_t field, dt_buf *message)
{
	put_bytes(out, field, message->s, message->n);
	dt_buf_reset(message);
}
