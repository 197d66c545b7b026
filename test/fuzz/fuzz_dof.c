/*
 * libFuzzer target: any bytes as DOF. Build with
 *	clang -g -fsanitize=fuzzer,address,undefined -Isrc -Iinclude -D_GNU_SOURCE \
 *		test/fuzz/fuzz_dof.c src/.../.c -lbpf -lm
 * and start it with DOF files as the corpus.
 */
#include <stdint.h>
#include <stdlib.h>

#include "dif/dof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	dt_arena *a = dt_arena_new();
	dt_buf out = {0};
	dt_error err = {0};
	dt_program *p = dt_dof_read(data, n, a, &err);

	if (p)
		dt_program_print(p, &out);
	else if (err.code == 0 || !err.text[0])
		abort(); /* every refusal has a reason */
	dt_dof_print(data, n, &out, &err);
	dt_buf_free(&out);
	dt_arena_free(a);
	return 0;
}
