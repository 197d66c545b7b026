/*
 * kinst: single instructions of kernel functions, as kinst:<module>:<function>:<offset>. The offset
 * is in bytes from the start of the function, decimal; an empty one or a pattern means all
 * instructions that match.
 *
 * A kprobe can only be on the first byte of an instruction, and the kernel complains in its log
 * about any other place. So the code of the function is read and decoded first, to find where
 * instructions begin. Instructions that the kernel never accepts are skipped: breakpoints, the
 * traps of BUG(), jumps and calls that it rewrites itself (static keys, static calls), and the
 * padding after the function. A function in which another tracer has put breakpoints can be decoded
 * only up to the first of them.
 *
 * There are millions of instructions, so probes are created only for functions that a description
 * names. The kernel and its modules are close together (text_start), so 31 bits of
 * an address serve as an id, by which the instruction is found again. dt_probe.data is the index of
 * the function and the offset.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "kernel/ktrace.h"
#include "kernel/kcode.h"
#include "probe/providers/providers.h"

#define NAMED	    (1ull << 63)
#define FIRST_ID    ((uint32_t)DT_FIRST_ID_kinst) /* the kernel begins at 16 MB at the least */

/* ---- probes ---- */

/* Where the CPU does not fix it: modules are within 2 GB of the kernel, on either side. */
static uint64_t text_start(dt_probes *ps)
{
	uint64_t at = dt_arch_host()->kernel_text;

	if (at == 0 && dt_ksym_by_name(dt_probes_ksyms(ps), "vmlinux", "_stext", &at))
		at -= 1ull << 32;
	return at;
}

static void add(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint32_t index,
		uint32_t offset, bool named)
{
	uint64_t id = (dt_kfunc_address(dt_probes_kfuncs(ps), index) + offset - text_start(ps)) / dt_arch_host()->code_align;
	char name[16];
	dt_probe *pr;

	if (id < FIRST_ID || id > INT32_MAX)
		return;
	snprintf(name, sizeof(name), "%u", offset);
	pr = dt_probes_add(ps, p, (uint32_t)id, "kinst", f->module, f->name, name,
			   (uint64_t)index << 32 | offset);
	if (named)
		pr->data |= NAMED;
}

static void explain_offset(const dt_kcode *c, const char *func, uint64_t offset, char *why,
			   size_t whylen)
{
	const dt_insn *last = c->ninsns ? &c->body.insns.v[c->ninsns - 1] : NULL, *in = NULL;

	for (uint32_t i = 0; i < c->ninsns; i++)
		if (c->body.insns.v[i].offset <= offset)
			in = &c->body.insns.v[i];
	if (!last || offset >= last->offset + last->length)
		snprintf(
		    why, whylen,
		    c->body.whole || !last
			? "function %s has no offset %llu: it is %u bytes long"
			: "the code of %s is not known at offset %llu, only its first %u bytes are",
		    func, (unsigned long long)offset, last ? last->offset + last->length : 0);
	else if (in->offset != offset)
		snprintf(
		    why, whylen,
		    "offset %llu is inside an instruction of %s: the one at %u is %u bytes long",
		    (unsigned long long)offset, func, in->offset, in->length);
	else
		snprintf(why, whylen,
			 "the kernel does not let the instruction at offset %llu of %s be probed: it is "
			 "a trap, or one that the kernel itself rewrites",
			 (unsigned long long)offset, func);
}

static const dt_kplaces *places_of(const dt_provider *p, dt_probes *ps)
{
	void **kept = dt_probes_keep(ps, p, dt_kplaces_free);

	if (!*kept)
		*kept = dt_kplaces_read(dt_probes_ksyms(ps));
	return *kept;
}

/* All instructions of one function that match the name. */
static uint32_t add_function(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint32_t index,
			     const dt_probedesc *d, char *why, size_t whylen)
{
	bool exact = *d->name && !dt_glob_is_pattern(d->name);
	char problem[120], text[16];
	uint32_t found = 0;
	dt_kcode c;

	if (dt_kcode_read(dt_probes_kfuncs(ps), index, &c, problem, sizeof(problem)) < 0) {
		snprintf(why, whylen, "instructions of %s cannot be probed: %s", f->name, problem);
		return 0;
	}
	for (uint32_t i = 0; i < c.ninsns; i++) {
		const dt_insn *x = &c.body.insns.v[i];

		snprintf(text, sizeof(text), "%u", x->offset);
		if ((*d->name && !dt_glob_match(d->name, text)) ||
		    dt_arch_host()->code->kprobe_refuses(c.bytes, x->offset, x->length) ||
		    dt_kplaces_has(places_of(p, ps), c.addr + x->offset))
			continue;
		add(p, ps, f, index, x->offset, exact);
		found++;
	}
	if (!found && exact)
		explain_offset(&c, f->name, strtoull(d->name, NULL, 10), why, whylen);
	dt_kcode_free(&c);
	return found;
}

/* ---- the provider ---- */

/* Only a description that names kinst matches: ::vfs_read: is fbt's. */
static bool claims(const dt_provider *p, const char *pattern)
{
	return strcmp(pattern, p->name) == 0 ||
	       (strncmp(pattern, "kin", 3) == 0 && dt_glob_match(pattern, p->name));
}

static bool possible(const dt_probedesc *d, char *why, size_t whylen)
{
	const char *s = d->name;

	while (isdigit((unsigned char)*s))
		s++;
	if (*s && !dt_glob_is_pattern(d->name))
		snprintf(why, whylen,
			 "kinst probes are named by a decimal offset in the function, such as "
			 "kinst::vfs_read:0, not \"%s\"",
			 d->name);
	else if (!*d->func || strspn(d->func, "*") == strlen(d->func))
		snprintf(
		    why, whylen,
		    "kinst needs the name of a function, as in kinst::vfs_read:");
	else
		return true;
	return false;
}

/* The instruction with this id. */
static void discover_id(const dt_provider *p, dt_probes *ps, uint32_t id, char *why, size_t whylen)
{
	uint64_t addr = text_start(ps) + (uint64_t)id * dt_arch_host()->code_align, offset;
	const char *module, *name;
	uint32_t it = 0, n;
	char text[16];
	const dt_kfunc *all = dt_kfuncs_all(dt_probes_kfuncs(ps), dt_probes_types(ps), &n);

	if (!dt_ksym_by_addr(dt_probes_ksyms(ps), addr, &module, &name, &offset))
		return;
	while (it < n && dt_kfunc_address(dt_probes_kfuncs(ps), it) != addr - offset)
		it++;
	snprintf(text, sizeof(text), "%u", (uint32_t)offset);
	if (it < n && !all[it].refused && offset < DT_KCODE_MAX)
		add_function(p, ps, &all[it], it, &(dt_probedesc){.name = text}, why, whylen);
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen)
{
	dt_kfuncs *kf = dt_probes_kfuncs(ps);
	bool exact = !dt_glob_is_pattern(d->func);
	const char *module = dt_kfunc_module(d->mod);
	uint32_t n, found = 0;
	const dt_kfunc *all;
	struct dt_ktrace k;

	(void)listing;
	if (!d->id && !possible(d, why, whylen))
		return 0;
	dt_ktrace_probe(&k, NULL);
	if (!k.kprobe) {
		snprintf(
		    why, whylen, "%s",
		    *k.why
			? k.why
			: "this kernel refuses kprobes: it is locked down (confidentiality mode)");
		return 0;
	}
	if (d->id) {
		discover_id(p, ps, d->id, why, whylen);
		return 0;
	}
	all = dt_kfuncs_all(kf, dt_probes_types(ps), &n);
	for (uint32_t i = 0; i < n; i++) {
		const dt_kfunc *f = &all[i];

		if (exact ? strcmp(f->name, d->func) != 0 : !dt_glob_match(d->func, f->name))
			continue;
		if (f->refused || (*module && !dt_glob_match(module, f->module)))
			continue;
		found++;
		add_function(p, ps, f, i, d, why, whylen);
	}
	if (!found)
		dt_fbt_explain(ps, d, why, whylen);
	return 0;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	(void)p, (void)ps, (void)why, (void)whylen;
	at->kind = DT_AT_INSTRUCTION;
	at->event = pr->func;
	at->module = strcmp(pr->mod, "vmlinux") == 0 ? NULL : pr->mod;
	at->number = (pr->data & ~NAMED) >> 32;
	at->number++;
	at->offset = (uint32_t)pr->data;
	at->optional = !(pr->data & NAMED);
	return 0;
}

static bool instruction(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_buf *out)
{
	uint32_t index = (uint32_t)((pr->data & ~NAMED) >> 32), at = (uint32_t)pr->data;
	struct dt_insn_mode mode = {0};
	const char *module, *name;
	uint64_t target, offset;
	char ignored[120];
	bool known;
	dt_kcode c;

	(void)p;
	if (dt_kcode_read(dt_probes_kfuncs(ps), index, &c, ignored, sizeof(ignored)) < 0)
		return false;
	known = at < c.n && dt_insn_print(&mode, c.bytes + at, c.n - at, c.addr + at, out, &target);
	if (known && target >= c.addr && target < c.addr + c.n)
		dt_buf_printf(out, " <%s+%llu>", pr->func, (unsigned long long)(target - c.addr));
	else if (known && target && dt_ksym_by_addr(dt_probes_ksyms(ps), target, &module, &name, &offset) && name && !offset)
		dt_buf_printf(out, " <%s>", name);
	dt_kcode_free(&c);
	return known;
}

const dt_provider dt_provider_kinst = {
    .name = "kinst",
    DT_PROVIDER_IDS(kinst),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),
	      DT_ATTR(PRIVATE, PRIVATE, ISA)},
    .claims = claims,
    .discover = discover,
    .instruction = instruction,
    .attach = attach,
};
