/*
 * libFuzzer target: any bytes as messages of a stream over NATS (fleet/tunnel.h), one after the other: two bytes of length, then
 * the message. What is taken of each lies in it and continues the stream where it is; so whatever is sent, in whatever
 * order, no byte is taken twice and none is left out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/tunnel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define HEADER 16

static uint64_t take(const uint8_t *message, size_t n, uint64_t expected)
{
	uint8_t *copy = malloc(n + 1); /* of its own size: reading past it is found */
	struct dt_tunnel_message m;
	volatile uint8_t sum = 0;

	memcpy(copy, message, n);
	m = dt_tunnel_read(copy, n, expected);
	if (m.n && (m.kind != DT_TUNNEL_DATA || m.data < copy + HEADER || m.data + m.n != copy + n ||
		    m.offset + (uint64_t)(m.data - copy - HEADER) != expected))
		abort();
	for (size_t i = 0; i < m.n; i++)
		sum += m.data[i];
	free(copy);
	return m.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint64_t expected = 0;

	while (n >= 2) {
		size_t size = data[0] | (size_t)data[1] << 8;

		data += 2;
		n -= 2;
		size = size < n ? size : n;
		expected += take(data, size, expected);
		data += size;
		n -= size;
	}
	return 0;
}
