/*
 * libFuzzer target: any bytes as DOF. What is read is printed and, unless it is destructive, run on the vm engine.
 *
 * Bytes at random rarely are DOF. So most inputs are programs that the compiler made here, in which references between
 * sections, instructions and actions are changed: calls between DIFOs, their tables, and the actions by which a
 * clause goes from block to block or calls its own functions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dif/dif.h"
#include "dif/dof_file.h"
#include "dtrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

/* ---- programs to begin with ---- */

#define LARGE "x = x * 3 + (x >> 2); x = x * 5 - (x & 9); x = x * 7 + (x | 4); x = x % 9 + (x ^ 3); x = x * 11 + (x << 2); "
#define VALUE "inline int f(int x) { " LARGE "return x * 2; } inline string s(string a, int x) { " LARGE                 \
	      "return strjoin(a, lltostr(x)); } "
#define VOID  "inline void v(int x, string w) { int i; " LARGE                                                            \
	     "for (i = 0; i < 3; i++) { @[w, i] = sum(x); printf(\"%s %d\", w, x); } if (x > 3) return; self->q = x; } "

static const char *const programs[] = {
    VALUE "BEGIN { trace(f(1) + f(2)); trace(s(\"a\", f(3))); @[s(\"b\", 1)] = max(f(4)); exit(0); }",
    VALUE "BEGIN /f(pid)/ { trace(f(f(7))); } BEGIN { self->x = f(2); this->y = s(\"c\", 3); printf(\"%s\", this->y); exit(0); }",
    VOID "self int q; BEGIN { v(1, \"a\"); v(2, \"b\"); v(3, \"c\"); v(4, \"d\"); exit(0); }",
    VOID "self int q; inline void w(int x) { " LARGE LARGE "v(x, \"w\"); } BEGIN { w(1); } BEGIN { v(2, \"b\"); w(2); } BEGIN { w(3); exit(0); }",
    VALUE VOID "inline void both(int x) { v(f(x), \"p\"); v(f(x + 1), \"q\"); trace(x); " LARGE "v(x, s(\"r\", x)); } "
	       "BEGIN { both(1); both(2); both(3); both(4); } ERROR { both(5); both(6); both(7); } BEGIN { exit(0); }",
    ("BEGIN { for (this->i = 0; this->i < 4; this->i++) { if (this->i & 1) continue; switch (this->i) { case 0: trace(1); break; "
     "default: @ = quantize(this->i, 2); } } this->s = speculation(); speculate(this->s); trace(2); } BEGIN { exit(0); }"),
};
#define NPROGRAMS (sizeof(programs) / sizeof(programs[0]))

static int ignore(dtrace_hdl_t *h, enum dtrace_diag_kind kind, const char *text, void *arg)
{
	(void)h, (void)kind, (void)text, (void)arg;
	return 0;
}

static dtrace_hdl_t *open_vm(void)
{
	dtrace_hdl_t *h = dtrace_open(NULL);

	if (!h)
		abort();
	dtrace_handle_diag(h, ignore, NULL);
	dtrace_setopt(h, "engine", "vm");
	dtrace_setopt(h, "zdefs", NULL);
	dtrace_setopt(h, "nolibs", NULL);
	dtrace_setopt(h, "loopmax", "50");
	return h;
}

/* The DOF of a program. */
static size_t begin_with(uint8_t *data, size_t most, unsigned which)
{
	static void *made[NPROGRAMS];
	static size_t sizes[NPROGRAMS];
	struct dtrace_compile_opts o = {.size = sizeof(o), .name = "seed.d"};

	if (!made[which]) {
		dtrace_hdl_t *h = open_vm();
		dtrace_prog_t *p = dtrace_compile_string(h, programs[which], &o);

		if (!p || dtrace_dof_create(h, p, &made[which], &sizes[which]) != 0)
			abort(); /* see dtrace_errtext(h) */
		dtrace_close(h);
	}
	if (sizes[which] > most)
		return 0;
	memcpy(data, made[which], sizes[which]);
	return sizes[which];
}

/* ---- changes ---- */

struct change {
	uint8_t *data;
	size_t n;
	struct dof_hdr hdr;
	uint64_t random;
};

static uint32_t any(struct change *c, uint32_t below)
{
	c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
	return below ? (uint32_t)(c->random >> 33) % below : 0;
}

static bool section(const struct change *c, uint32_t i, struct dof_sec *s)
{
	uint64_t at = c->hdr.secoff + (uint64_t)i * sizeof(*s);

	if (i >= c->hdr.secnum || at > c->n - sizeof(*s))
		return false;
	memcpy(s, c->data + at, sizeof(*s));
	return s->offset <= c->n && s->size <= c->n - s->offset;
}

/* A section of this type, or with luck any other. */
static uint32_t any_of(struct change *c, uint32_t type)
{
	uint32_t i = any(c, c->hdr.secnum);
	struct dof_sec s;

	for (uint32_t tries = 0; tries < 64 && section(c, i, &s) && s.type != type && any(c, 30); tries++)
		i = any(c, c->hdr.secnum);
	return i;
}

static void put(struct change *c, uint64_t at, const void *value, size_t size)
{
	if (at <= c->n && size <= c->n - at)
		memcpy(c->data + at, value, size);
}

/* Which DIFO is called, or a table of it. */
static void change_links(struct change *c, const struct dof_sec *s)
{
	uint32_t nlinks = (uint32_t)((s->size - sizeof(struct dof_difohdr)) / 4);
	uint32_t types[] = {DT_DOF_DIFOHDR, DT_DOF_DIFOHDR, DT_DOF_DIF, DT_DOF_INTTAB, DT_DOF_STRTAB, DT_DOF_VARTAB};
	uint32_t to = any_of(c, types[any(c, DT_NELEM(types))]);

	if (nlinks)
		put(c, s->offset + sizeof(struct dof_difohdr) + any(c, nlinks) * 4ull, &to, 4);
}

static void change_text(struct change *c, const struct dof_sec *s)
{
	uint32_t i = any(c, (uint32_t)(s->size / 4)), index = DT_CALL_FUNCTION + any(c, any(c, 5) ? 3 : 0x8000);
	dt_instr instr = DT_I_IDX(DT_OP_CALL, index, any(c, 8));

	if (any(c, 3) == 0)
		instr = (dt_instr)any(c, UINT32_MAX);
	put(c, s->offset + i * 4ull, &instr, 4);
}

static void change_action(struct change *c, const struct dof_sec *s)
{
	static const uint32_t kinds[] = {DT_ACT_BRANCH, DT_ACT_JUMP,   DT_ACT_AGAIN,   DT_ACT_CALL,
					 DT_ACT_RETURN, DT_ACT_DIFEXPR, DT_ACT_SPECULATE};
	uint32_t n = (uint32_t)(s->size / sizeof(struct dof_act)), i = any(c, n);
	struct dof_act a;
	uint64_t at = s->offset + i * sizeof(a);

	if (!n || at > c->n - sizeof(a))
		return;
	memcpy(&a, c->data + at, sizeof(a));
	switch (any(c, 5)) {
	case 0: a.kind = kinds[any(c, DT_NELEM(kinds))]; break;
	case 1: a.difo = any_of(c, DT_DOF_DIFOHDR); break;
	case 2: a.ntuple = any(c, 5); break;
	case 3: a.arg = (uint64_t)any(c, any(c, 4) ? 4 : 300) << 32 | any(c, n + 2); break;
	default:
		a.kind = kinds[any(c, DT_NELEM(kinds))];
		a.arg = (uint64_t)any(c, 4) << 32 | any(c, n + 2);
		a.difo = any(c, 2) ? DOF_NONE : a.difo;
	}
	put(c, at, &a, sizeof(a));
}

static void change_byte(struct change *c, const struct dof_sec *s)
{
	uint8_t byte = (uint8_t)any(c, 256);

	if (s->size)
		put(c, s->offset + any(c, (uint32_t)s->size), &byte, 1);
}

/* Most sections are tables of DIFOs; what joins them is more interesting. */
static void change(struct change *c)
{
	static const uint32_t types[] = {DT_DOF_DIFOHDR, DT_DOF_ACTDESC, DT_DOF_ACTDESC, DT_DOF_ACTDESC, DT_DOF_DIF};
	struct dof_sec s;

	if (!section(c, any_of(c, types[any(c, DT_NELEM(types))]), &s))
		return;
	if (s.type == DT_DOF_DIFOHDR && s.size >= sizeof(struct dof_difohdr))
		change_links(c, &s);
	else if (s.type == DT_DOF_DIF)
		change_text(c, &s);
	else if (s.type == DT_DOF_ACTDESC)
		change_action(c, &s);
	else
		change_byte(c, &s);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
	struct change c = {.data = data, .random = seed * 2654435761u + 1};
	uint32_t times;

	if (any(&c, 8) == 0)
		return LLVMFuzzerMutate(data, n, most);
	if (n < sizeof(c.hdr) || memcmp(data, DOF_MAGIC, 4) != 0 || any(&c, 20) == 0)
		n = begin_with(data, most, any(&c, NPROGRAMS));
	if (n < sizeof(c.hdr))
		return LLVMFuzzerMutate(data, n, most);
	c.n = n;
	memcpy(&c.hdr, data, sizeof(c.hdr));
	times = 1 + any(&c, 3);
	for (uint32_t i = 0; i < times; i++)
		change(&c);
	return n;
}

/* ---- what must hold ---- */

static void run(const uint8_t *data, size_t n)
{
	dtrace_hdl_t *h = open_vm();
	dtrace_prog_t *p = dtrace_dof_load(h, data, n);
	FILE *null = fopen("/dev/null", "w");
	uint64_t destructive = 0;

	if (!null)
		abort();
	dtrace_getopt(h, "destructive", &destructive);
	if (p && !destructive && dtrace_enable(h, p, NULL) >= 0 && dtrace_go(h) >= 0) {
		dtrace_work(h, null);
		dtrace_stop(h);
		dtrace_work(h, null);
		dtrace_aggregate_print(h, null);
	}
	fclose(null);
	dtrace_close(h);
}

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
	if (p)
		run(data, n);
	return 0;
}
