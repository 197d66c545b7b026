/*
 * translate: shared by all translators: setup, errors, constants, subroutines of lib.c.
 */
#include <stdarg.h>
#include <stdio.h>

#include "bpf/translate/translate.h"

void dt_tr_maps_init(struct dt_tr_maps *m)
{
	*m = (struct dt_tr_maps){.control = -1,
				 .cpus = -1,
				 .slots = -1,
				 .rodata = -1,
				 .globals = -1,
				 .threads = -1,
				 .rings = -1,
				 .tails = -1,
				 .aggs = -1,
				 .specs = -1,
				 .wake = -1,
				 .family = -1,
				 .left = -1,
				 .clock = -1,
				 .aside = -1,
				 .spare = -1,
				 .refused = -1,
				 .names = -1,
				 .text = -1,
				 .epids = -1,
				 .uw_objects = -1,
				 .uw_wanted = -1,
				 .uw_banks = -1,
				 .uw_first_bank = -1,
				 .identify = -1};
}

void dt_tr_fail(dt_tr *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (t->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->failed = true;
	dt_err(t->err, EDT_DIFINVAL, "%s", text);
}

/* ---- subroutines ---- */

static int sub_field(void *arg, const char *type, const char *path, uint32_t *offset)
{
	return dt_tr_field(arg, type, path, offset);
}

static void sub_read(void *arg, int read)
{
	dt_tr_read(arg, read);
}

static void sub_fail(void *arg, const char *text)
{
	dt_tr_fail(arg, "%s", text);
}

uint32_t dt_tr_sub_args(dt_tr *t, const char *name)
{
	return dt_sub_args(&t->sub, name);
}

void dt_tr_sub_run(dt_tr *t, const char *name)
{
	mov(t->c, R1, R6);
	dt_code_call(t->c, dt_sub_func(&t->sub, name));
	ld(t->c, 4, R1, R6, S_FAULT);
	jmpi(t->c, BPF_JNE, R1, 0, t->fault_exit);
	dt_tr_can_fault(t);
}

/* ---- a program under construction ---- */

void dt_tr_init(dt_tr *t, const struct dt_tr_input *in, dt_code *c, dt_error *err)
{
	const struct dt_plan_layout *at = in->at;

	*t = (dt_tr){.plan = in->plan,
		     .need = in->need,
		     .at = at,
		     .maps = in->maps,
		     .ro = in->ro,
		     .loads = &in->loads,
		     .c = c,
		     .kind = PK_BEGIN,
		     .prog_kind = PK_BEGIN,
		     .prog = UINT32_MAX,
		     .no_thread = UINT32_MAX,
		     .err = err};
	t->sub = (dt_sub){.c = c,
			  .scratch = {at->scratch, at->scratch_size},
			  .strsize = (uint32_t)in->plan->strsize,
			  .locals = at->sub_locals,
			  .most_locals = at->nsub_locals,
			  .nspecs = in->plan->nspecs,
			  .fd_specs = in->maps->specs,
			  .arg = t,
			  .field = sub_field,
			  .read = sub_read,
			  .fail = sub_fail};
	for (uint32_t i = 0; i < DT_NELEM(t->sub.buf); i++)
		t->sub.buf[i] = (struct dt_sub_buffer){at->buf[i], at->buf_size};
}

uint32_t dt_tr_string(dt_tr *t, const char *s)
{
	uint32_t at = t->collect ? dt_rodata_string(t->collect, s) : dt_rodata_find(t->ro, s);

	if (at == UINT32_MAX) {
		dt_tr_fail(t, "internal: the string \"%.40s\" has no place", s);
		at = 0;
	}
	return at;
}

const struct dt_plan_prog *dt_tr_prog(const dt_tr *t)
{
	return &t->plan->progs.v[t->prog];
}

const struct dt_prog_place *dt_tr_prog_at(const dt_tr *t)
{
	static const struct dt_prog_place none;

	return t->prog < t->at->progs.n ? &t->at->progs.v[t->prog] : &none;
}

const struct dt_prog_maps *dt_tr_prog_maps(const dt_tr *t)
{
	static const struct dt_prog_maps none = {.events = -1, .places = -1, .next = -1};

	return t->prog < t->maps->nprogs ? &t->maps->prog[t->prog] : &none;
}

/* ---- maps ---- */

/* r0, the result of a map's function, with its sign: before Linux 6.4 these return an int, and the upper half of r0 is
 * anything. */
void dt_tr_map_result(dt_tr *t)
{
	alui(t->c, BPF_LSH, R0, 32);
	alui(t->c, BPF_ARSH, R0, 32);
}

void dt_tr_entry(dt_tr *t, int fd, int at, int32_t key, uint32_t none)
{
	dt_code *c = t->c;

	st(c, 4, R10, key, at);
	map(c, R1, fd);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, key);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JEQ, R0, 0, none);
}

void dt_tr_row(dt_tr *t, int fd, int at, uint64_t rows, uint32_t size, uint32_t none)
{
	dt_code *c = t->c;

	if (!dt_layout_is_one_value(rows, size)) {
		dt_tr_entry(t, fd, at, -4, none);
		return;
	}
	jmpi(c, BPF_JGE, at, (int32_t)rows, none);
	mov(c, R0, at);
	alui(c, BPF_MUL, R0, (int32_t)size);
	map_value(c, R1, fd, 0);
	alu(c, BPF_ADD, R0, R1);
}
