/*
 * libFuzzer target: any bytes as the stream of another machine (fleet/frames.h), in pieces: frames are found or the
 * stream is refused, and every body is either well formed or not believed. The first byte chooses the size of the
 * pieces; a second use takes the bytes as the body of one message, whose type the second byte chooses.
 */
#include <stdint.h>
#include <stdlib.h>

#include "fleet/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_data(dt_message m)
{
	struct dt_wire_record r;
	struct dt_wire_datum d;
	struct dt_wire_name name;
	size_t sum = 0;

	if (!dt_get_record(&m, &r))
		return;
	for (uint32_t i = 0; i < r.nactions; i++) {
		if (!dt_get_datum(&m, &d))
			abort();
		for (uint32_t k = 0; k < d.nnames; k++) {
			if (!dt_get_name(&d.names, &name))
				abort();
			sum += name.sym ? strlen(name.sym) : 0;
		}
		for (uint32_t k = 0; d.data && k < d.size; k++)
			sum += ((const uint8_t *)d.data)[k];
	}
	if (sum == SIZE_MAX)
		abort();
}

static void read_stream(const uint8_t *data, size_t n, size_t piece)
{
	dt_frames f = {0};
	dt_packet p;

	for (size_t at = 0; at < n; at += piece) {
		dt_frames_add(&f, data + at, n - at < piece ? n - at : piece);
		while (dt_frames_next(&f, &p) > 0) {
			dt_wire_is_well_formed(p.type, p.body);
			if (p.type == DT_M_RECORD)
				read_data(p.body);
		}
	}
	dt_frames_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	dt_message m;

	if (n < 2)
		return 0;
	read_stream(data + 1, n - 1, data[0] ? data[0] : n);
	m = dt_message_of(data + 2, n - 2);
	dt_wire_is_well_formed(data[1] % DT_M_MAX_, m);
	read_data(m);
	return 0;
}
