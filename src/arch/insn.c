/*
 * insn: see insn.h. The work is done by the folder of the CPU.
 */
#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/patch.h"

void dt_insn_kernel(struct dt_insn_mode *k)
{
	dt_arch_host()->code->kernel(k);
}

void dt_body_decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr)
{
	dt_arch_host()->code->decode(b, k, code, n, vaddr);
}

void dt_body_free(dt_body *b)
{
	dt_vec_free(&b->insns);
}

const dt_insn *dt_body_at(const dt_body *b, uint64_t offset)
{
	uint32_t lo = 0, hi = b->insns.n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (b->insns.v[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->insns.n && b->insns.v[lo].offset == offset ? &b->insns.v[lo] : NULL;
}

void dt_jump_targets_add(dt_jump_targets *to, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		    uint64_t vaddr)
{
	dt_arch_host()->code->targets(to, k, code, n, vaddr);
}

bool dt_insn_entry(const struct dt_insn_mode *k, const uint8_t *code, size_t n, bool first,
		   dt_insn *best)
{
	return dt_arch_host()->code->entry(k, code, n, first, best);
}

bool dt_insn_offer(struct dt_insn_choice *c, const dt_insn *x)
{
	bool cheap = (x->flags & (DT_INSN_CHEAP | DT_INSN_REFUSED)) == DT_INSN_CHEAP;

	if (!c->found || (!c->first && (cheap || c->best->flags & DT_INSN_REFUSED)))
		*c->best = *x;
	c->found = true;
	return !c->first && !cheap;
}

bool dt_insn_print(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out, uint64_t *target)
{
	*target = 0;
	return dt_arch_host()->code->print(k, code, n, vaddr, out, target);
}

const char *dt_patch_make(dt_patch *p)
{
	return dt_arch_host()->code->patch ? dt_arch_host()->code->patch(p) : "it is not available on this CPU";
}

const char *dt_patch_sample(dt_patch *p)
{
	return dt_arch_host()->code->sample ? dt_arch_host()->code->sample(p) : "it is not available on this CPU";
}

bool dt_insn_member(const uint8_t *code, size_t n, uint32_t *offset)
{
	return dt_arch_host()->code->member(code, n, offset);
}
