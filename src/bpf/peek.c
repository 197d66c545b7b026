/*
 * peek: numbers out of kernel memory, at the price of a load.
 *
 * A call of probe_read_kernel() costs about 24 ns, twenty times a load. Since Linux 6.2 a program may look at any address
 * as if it were a structure of a type it names (bpf_rdonly_cast(), which makes no code), and load from it: where
 * the address is bad the kernel catches the fault, and the load is 0. So
 *
 *	r0 = *(size *)bpf_rdonly_cast(r3, struct pt_regs); if (r0 == 0) r0 = what the helper says
 *
 * is what the helper does, faults included: what can be read is seldom 0. Which type is named does not matter
 * as long as it begins with a number of 8 bytes.
 *
 * Both names are ids in the kernel's BTF. It is not opened for this, but programs that look at the kernel's
 * structures have it open; others go by the helper. If the kernel should refuse such a program it gets one without
 * (load.c).
 */
#include "bpf/image.h"

void dt_bpf_find_cast(dt_engine *e)
{
	dt_types *ts = e->cc ? dt_compiler_types(e->cc) : NULL;

	e->cast_type = ts ? dt_kernel_id(ts, "pt_regs", false) : 0;
	e->cast_func = e->cast_type ? dt_kernel_id(ts, "bpf_rdonly_cast", true) : 0;
}

bool dt_bpf_direct(dt_bpf_tr *t, uint32_t size)
{
	dt_bpf_code *c = t->c;

	if (!t->e->cast_func)
		return false;
	mov(c, R1, R3);
	movi(c, R2, (int32_t)t->e->cast_type);
	kernel_function(c, (int32_t)t->e->cast_func);
	ld(c, size, R0, R0, 0);
	return true;
}

void dt_bpf_peek(dt_bpf_tr *t, uint32_t size)
{
	dt_bpf_code *c = t->c;

	if (dt_bpf_direct(t, size))
		return;
	dt_bpf_lea(c, R1, S_TMP);
	movi(c, R2, (int32_t)size);
	helper(c, BPF_FUNC_probe_read_kernel); /* leaves zeros when it fails */
	ld(c, size, R0, R6, S_TMP);
}
