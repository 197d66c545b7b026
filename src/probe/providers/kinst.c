/*
 * kinst: single instructions of kernel functions, as kinst:<module>:<function>:<offset>. The offset
 * is in bytes from the start of the function, decimal; an empty one or a pattern means all
 * instructions that match.
 *
 * A kprobe can sit on the first byte of an instruction only, and the kernel complains in its log
 * when asked for another place. So the code of the function is read and decoded before anything is
 * made, and where instructions begin is known. Left out are those that the kernel never takes:
 * breakpoints, the traps of BUG(), and the padding behind the function. A function that another
 * tracer has put breakpoints into can be decoded only up to the first of them.
 *
 * There are millions of instructions: probes are made for functions that a description names. Their
 * ids come from a hash of its name. dt_probe.data is the index of the function and the offset.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/attach_kernel.h"
#include "probe/providers/providers.h"
#include "proc/insn.h"
#include "sym/ktext.h"

#define NAMED	     (1ull << 63)
#define MAX_FUNCTION (256u << 10)

/* ---- the code of a function ---- */

struct code {
	uint8_t *bytes;
	size_t n;
	dt_body body;
	uint32_t ninsns; /* without the padding at the end */
};

static void code_free(struct code *c)
{
	free(c->bytes);
	dt_body_free(&c->body);
}

static bool is_padding(const uint8_t *at, uint8_t length)
{
	return at[0] == 0xcc || at[0] == 0x90 ||
	       (length > 1 && at[0] == 0x66 && is_padding(at + 1, length - 1)) ||
	       (length > 2 && at[0] == 0x0f && at[1] == 0x1f);
}

/* Instructions that kprobes refuse: int3, ud2 and ud1 (BUG, WARN), iret. */
static bool is_refused(const uint8_t *at, uint8_t length)
{
	return at[0] == 0xcc || at[0] == 0xcf || (at[0] == 0x48 && length > 1 && at[1] == 0xcf) ||
	       (length > 1 && at[0] == 0x0f && (at[1] == 0x0b || at[1] == 0xb9 || at[1] == 0xff));
}

static int code_read(dt_probes *ps, uint32_t index, struct code *c, char *why, size_t whylen)
{
	uint64_t addr = dt_kfunc_address(dt_probes_kfuncs(ps), index),
		 end = dt_ksym_end(dt_probes_ksyms(ps), addr);
	struct dt_insn_mode k = {0};

	*c = (struct code){0};
	if (!addr || end <= addr || end - addr > MAX_FUNCTION) {
		snprintf(why, whylen, "its place in memory is not known");
		return -1;
	}
	c->n = end - addr;
	c->bytes = dt_xmalloc(c->n);
	if (dt_ktext_read(addr, c->bytes, c->n) < 0) {
		snprintf(why, whylen, "its code cannot be read (/proc/kcore: %s)",
			 dt_strerror(errno));
		code_free(c);
		return -1;
	}
	dt_body_decode(&c->body, &k, c->bytes, c->n, addr);
	c->ninsns = c->body.insns.n;
	while (c->body.whole && c->ninsns > 1 &&
	       is_padding(c->bytes + c->body.insns.v[c->ninsns - 1].offset,
			  c->body.insns.v[c->ninsns - 1].length))
		c->ninsns--;
	return 0;
}

/* ---- probes ---- */

/* The instructions of a function follow each other, wherever it begins. */
static uint32_t make_id(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint64_t data)
{
	char key[256];
	uint32_t at;

	snprintf(key, sizeof(key), "%s:%s", f->module, f->name);
	at = (uint32_t)(dt_hash_bytes(key, strlen(key)) % p->id_count) + (uint32_t)data;
	for (uint32_t i = 0; i < p->id_count; i++) {
		uint32_t id = p->id_base + (at + i) % p->id_count;
		const dt_probe *pr = dt_probes_known(ps, id);

		if (!pr || (pr->data & ~NAMED) == data)
			return id;
	}
	return 0;
}

static void add(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint32_t index,
		uint32_t offset, bool named)
{
	uint64_t data = (uint64_t)index << 32 | offset;
	char name[16];
	dt_probe *pr;
	uint32_t id;

	snprintf(name, sizeof(name), "%u", offset);
	id = make_id(p, ps, f, data);
	if (!id)
		return;
	pr = dt_probes_add(ps, p, id, "kinst", f->module, f->name, name, data);
	if (named)
		pr->data |= NAMED;
}

static void explain_offset(const struct code *c, const char *func, uint64_t offset, char *why,
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
			 "the kernel cannot probe the instruction at offset %llu of %s",
			 (unsigned long long)offset, func);
}

/* All instructions of one function that match the name. */
static uint32_t add_function(const dt_provider *p, dt_probes *ps, const dt_kfunc *f, uint32_t index,
			     const dt_probedesc *d, char *why, size_t whylen)
{
	bool exact = *d->name && !dt_glob_is_pattern(d->name);
	char problem[120], text[16];
	uint32_t found = 0;
	struct code c;

	if (code_read(ps, index, &c, problem, sizeof(problem)) < 0) {
		snprintf(why, whylen, "instructions of %s cannot be probed: %s", f->name, problem);
		return 0;
	}
	for (uint32_t i = 0; i < c.ninsns; i++) {
		const dt_insn *x = &c.body.insns.v[i];

		snprintf(text, sizeof(text), "%u", x->offset);
		if (is_refused(c.bytes + x->offset, x->length) ||
		    (*d->name && !dt_glob_match(d->name, text)))
			continue;
		add(p, ps, f, index, x->offset, exact);
		found++;
	}
	if (!found && exact)
		explain_offset(&c, f->name, strtoull(d->name, NULL, 10), why, whylen);
	code_free(&c);
	return found;
}

/* ---- the provider ---- */

/* Only who names kinst means it: ::vfs_read: is fbt's. */
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
		    "kinst makes probes for functions that are named, such as kinst::vfs_read:");
	else
		return true;
	return false;
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
	if (d->id || !possible(d, why, whylen))
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

const dt_provider dt_provider_kinst = {
    .name = "kinst",
    .id_base = 500000,
    .id_count = 400000,
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),
	      DT_ATTR(PRIVATE, PRIVATE, ISA)},
    .claims = claims,
    .discover = discover,
    .attach = attach,
};
