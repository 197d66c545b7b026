/*
 * libFuzzer target: any bytes as an .eh_frame section. For any input the result is a table that can
 * be searched: rows by address, each different from the one before, NONE at the end.
 */
#include <stdint.h>
#include <stdlib.h>

#include "elf/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Addresses are mostly relative to their own position; the code is then near the section. */
static const struct dt_unwind_segment segs[] = {
    {.vaddr = 0, .size = 0x4000, .offset = 0},
    {.vaddr = 0x10000, .size = 0x10000, .offset = 0x8000},
    {.vaddr = 0x400000, .size = 0xffff0000, .offset = 0x100000}, /* too large for the file */
    {.vaddr = 0x400000, .size = 0x800000, .offset = 0x100000},
    {.vaddr = UINT64_MAX - 10, .size = 100, .offset = 0x10000000},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const uint64_t vaddrs[] = {0, 0x18000, 0x404000, UINT64_MAX - 100};
	dt_buf text = {0};
	dt_unwind u;

	if (n == 0)
		return 0;
	dt_unwind_parse(&dt_arch_x86_64, data + 1, n - 1, vaddrs[data[0] & 3], segs, DT_NELEM(segs), &u);
	for (uint32_t i = 0; i < u.n; i++) {
		const dt_unwind_row *r = &u.rows[i];

		if (i && (r->pc <= r[-1].pc ||
			  (r->cfa == r[-1].cfa && r->fp == r[-1].fp && r->base == r[-1].base)))
			abort();
		if (dt_unwind_find(&u, r->pc) != r || DT_UW_KIND(r->cfa) > DT_UW_STOP)
			abort();
		dt_unwind_print(r, &text);
	}
	if (u.n && (u.n == 1 || DT_UW_KIND(u.rows[u.n - 1].cfa) != DT_UW_NONE))
		abort();
	dt_buf_free(&text);
	dt_unwind_free(&u);
	return 0;
}
