/*
 * kcode: see kcode.h. The code is decoded as it is now, with everything the kernel patched at boot:
 * on some processors a function returns by a jump to a thunk. Cold parts are elsewhere, under a
 * symbol NAME.cold, and are decoded as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "kernel/kcode.h"
#include "kernel/ktext.h"

void dt_kcode_free(dt_kcode *c)
{
	free(c->bytes);
	dt_body_free(&c->body);
}

static int read_at(dt_ksyms *ks, uint64_t addr, dt_kcode *c, char *why, size_t whylen)
{
	uint64_t end = addr ? dt_ksym_end(ks, addr) : 0;
	const struct dt_arch_code *code = dt_arch_host()->code;
	struct dt_insn_mode k = {0};

	*c = (dt_kcode){.addr = addr};
	if (end <= addr || end - addr > DT_KCODE_MAX) {
		snprintf(why, whylen, "its address is not known");
		return -1;
	}
	c->n = end - addr;
	c->bytes = dt_xmalloc(c->n);
	if (dt_ktext_read(addr, c->bytes, c->n) < 0) {
		snprintf(why, whylen, "its code cannot be read (/proc/kcore: %s)",
			 dt_strerror(errno));
		dt_kcode_free(c);
		return -1;
	}
	if (code->kernel_tail)
		c->n -= code->kernel_tail(c->bytes, c->n);
	dt_body_decode(&c->body, &k, c->bytes, c->n, addr);
	c->ninsns = c->body.insns.n;
	while (c->body.whole && c->ninsns > 1 &&
	       code->is_padding(c->bytes + c->body.insns.v[c->ninsns - 1].offset, c->body.insns.v[c->ninsns - 1].length))
		c->ninsns--;
	return 0;
}

int dt_kcode_read(dt_kfuncs *kf, uint32_t index, dt_kcode *c, char *why, size_t whylen)
{
	return read_at(dt_kfuncs_ksyms(kf), dt_kfunc_address(kf, index), c, why, whylen);
}

/* ---- where it returns ---- */

struct returns {
	dt_ksyms *ks;
	const char *name; /* of the function */
	const dt_kcode *main;
	uint32_t n, offset; /* those found, and the last of them */
	bool leaves;	    /* it also ends by a jump to another function */
	uint64_t cold;	    /* a part of it elsewhere; 0: none */
};

static bool is_inside(const dt_kcode *c, uint64_t addr)
{
	return addr >= c->addr && addr - c->addr < c->n;
}

/* Is this symbol the cold part of the function? */
static bool is_cold_part(const char *name, const char *function)
{
	size_t n = strlen(function);

	return strncmp(name, function, n) == 0 && strncmp(name + n, ".cold", 5) == 0;
}

static void look_at_jump(struct returns *r, const dt_kcode *c, const dt_insn *x)
{
	const char *module, *name;
	uint64_t into;

	if (is_inside(c, x->target) || is_inside(r->main, x->target))
		return;
	if (!dt_ksym_by_addr(r->ks, x->target, &module, &name, &into)) {
		r->leaves = true;
	} else if (strstr(name, "return_thunk")) {
		r->n++;
		r->offset = x->offset;
	} else if (is_cold_part(name, r->name)) {
		r->leaves = r->leaves || (r->cold && r->cold != x->target - into);
		r->cold = x->target - into;
	} else {
		r->leaves = true;
	}
}

static void look_at(struct returns *r, const dt_kcode *c)
{
	r->leaves = r->leaves || !c->body.whole;
	for (uint32_t i = 0; i < c->ninsns && !r->leaves; i++) {
		const dt_insn *x = &c->body.insns.v[i];

		if (x->flags & DT_INSN_RETURN) {
			r->n++;
			r->offset = x->offset;
		} else if (x->flags & DT_INSN_INDIRECT) {
			r->leaves = true;
		} else if (x->flags & DT_INSN_JUMP) {
			look_at_jump(r, c, x);
		}
	}
}

uint32_t dt_kcode_return(dt_kfuncs *kf, dt_types *ts, uint32_t index)
{
	uint32_t n;
	const dt_kfunc *all = dt_kfuncs_all(kf, ts, &n);
	dt_kcode main, cold;
	struct returns r = {.ks = dt_kfuncs_ksyms(kf), .main = &main};
	uint32_t offset;
	char why[120];

	if (index >= n || dt_kcode_read(kf, index, &main, why, sizeof(why)) < 0)
		return 0;
	r.name = all[index].name;
	look_at(&r, &main);
	offset = r.offset;
	if (r.cold && r.n == 1 && !r.leaves) { /* a return in that part would have no offset */
		if (read_at(r.ks, r.cold, &cold, why, sizeof(why)) == 0) {
			look_at(&r, &cold);
			dt_kcode_free(&cold);
		} else {
			r.leaves = true;
		}
	}
	dt_kcode_free(&main);
	return r.n == 1 && !r.leaves ? offset : 0;
}
