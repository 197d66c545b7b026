/*
 * native: what the makers of machine code have in common.
 */
#include <stdlib.h>

#include "arch/native.h"
#include "arch/arch.h"

const struct dt_native_ops *dt_native_host(void)
{
	return dt_arch_host()->native;
}

uint32_t dt_native_label(dt_native *n)
{
	*dt_vec_add(&n->labels, NULL) = UINT32_MAX;
	return n->labels.n - 1;
}

void dt_native_free(dt_native *n)
{
	free(n->code);
	dt_vec_free(&n->labels);
	dt_vec_free(&n->jumps);
}
