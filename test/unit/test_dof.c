/* DOF: programs survive writing and reading; any input is handled safely. */
#include <stdlib.h>

#include "unit.h"
#include "dif/dof.h"
#include "dif/quantize.h"
#include "dif/format.h"

static const dt_diftype INT4 = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 4};
static const dt_diftype INT8 = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 8};
static const dt_diftype STR = {.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = 256};

static dt_arena *arena;

/* "setx v; ret" */
static dt_difo *constant(uint64_t v, dt_diftype t)
{
	static const dt_instr text[] = {DT_I_IDX(DT_OP_SETX, 0, 1), DT_I_FMT(DT_OP_RET, 0, 0, 1)};
	dt_difo *d = dt_arena_alloc(arena, sizeof(*d));

	d->text = dt_arena_dup(arena, text, sizeof(text));
	d->len = 2;
	d->inttab = dt_arena_dup(arena, &v, sizeof(v));
	d->intlen = 1;
	d->rtype = t;
	return d;
}

/* A string variable, set and read. */
static dt_difo *variable(void)
{
	static const dt_instr text[] = {DT_I_IDX(DT_OP_SETS, 1, 1), DT_I_IDX(DT_OP_STGS, 0x500, 1),
					DT_I_IDX(DT_OP_LDGS, 0x500, 2),
					DT_I_FMT(DT_OP_RET, 0, 0, 2)};
	static const char strs[] = "\0hello\0x";
	static const dt_difvar var = {
	    .name = 7,
	    .id = 0x500,
	    .kind = DT_VAR_SCALAR,
	    .flags = DT_VARF_READ | DT_VARF_WRITE,
	    .type = {.kind = DT_TYPE_STRING, .flags = DT_TF_BYREF, .size = 256}};
	dt_difo *d = dt_arena_alloc(arena, sizeof(*d));

	d->text = dt_arena_dup(arena, text, sizeof(text));
	d->len = 4;
	d->strtab = dt_arena_dup(arena, strs, sizeof(strs));
	d->strlen = sizeof(strs);
	d->vars = dt_arena_dup(arena, &var, sizeof(var));
	d->nvars = 1;
	d->rtype = STR;
	return d;
}

/* A kernel symbol: one relocation. */
static dt_difo *symbol(void)
{
	static const char strs[] = "\0vmlinux`jiffies";
	dt_difo *d = constant(0, INT8);

	d->strtab = dt_arena_dup(arena, strs, sizeof(strs));
	d->strlen = sizeof(strs);
	d->relocs = dt_arena_alloc(arena, 2 * sizeof(*d->relocs));
	d->nrelocs = 2;
	d->relocs[0] = (dt_reloc){.name = 1, .index = 0, .data = 8};
	d->relocs[1] = (dt_reloc){.name = 1, .index = 0, .data = 9, .user = true};
	return d;
}

static dt_program *sample(void)
{
	static dt_agg agg = {.name = "lat", .id = 1, .func = DT_ACT_LQUANTIZE, .nkeys = 1};
	static dt_agg *aggs[] = {&agg};
	static dt_options opts;
	static dt_action body[16];
	static dt_stmt stmts[16];
	static dt_clause clauses[3];
	static dt_program p;
	uint32_t n = 0, s = 0;

	memset(&opts, 0, sizeof(opts));
	opts.value[DT_O_STRSIZE] = 512;
	opts.is_set[DT_O_STRSIZE] = true;
	opts.value[DT_O_OFORMAT] = DT_OFORMAT_JSON;
	opts.is_set[DT_O_OFORMAT] = true;
	opts.is_set[DT_O_ZDEFS] = true; /* compile-time: not written */

	agg.param = dt_lquantize_param(0, 10, 5);
	/* printf("%d %s\n", 7, x) */
	stmts[s++] =
	    (dt_stmt){.kind = DT_ST_PRINTF, .first = n, .nactions = 2, .format_text = "%d %s\n"};
	body[n++] = (dt_action){
	    .kind = DT_ACT_PRINTF, .difo = constant(7, INT4), .ntuple = 2, .size = 4, .align = 4};
	body[n++] = (dt_action){.kind = DT_ACT_PRINTF, .difo = variable(), .size = 256, .align = 1};
	/* tracemem(p, 32, 8) */
	stmts[s++] = (dt_stmt){.kind = DT_ST_TRACEMEM, .first = n, .nactions = 2};
	body[n++] = (dt_action){
	    .kind = DT_ACT_TRACEMEM, .difo = constant(0, INT8), .arg = 32, .size = 32, .align = 1};
	body[n++] = (dt_action){
	    .kind = DT_ACT_TRACEMEM_DYNSIZE, .difo = constant(8, INT8), .size = 8, .align = 8};
	/* @lat[x] = lquantize(3, 0, 50, 5, 2) */
	stmts[s++] =
	    (dt_stmt){.kind = DT_ST_AGG, .first = n, .nactions = 3, .aggs = aggs, .naggs = 1};
	body[n++] =
	    (dt_action){.kind = DT_ACT_DIFEXPR, .difo = constant(1, INT4), .size = 4, .align = 4};
	body[n++] =
	    (dt_action){.kind = DT_ACT_DIFEXPR, .difo = variable(), .size = 256, .align = 1};
	body[n++] = (dt_action){.kind = DT_ACT_LQUANTIZE,
				.difo = constant(3, INT8),
				.incr = constant(2, INT8),
				.arg = agg.param,
				.ntuple = 2};
	agg.keys = &body[5];
	agg.nwords = dt_agg_words(agg.func, agg.param);
	/* printa("%s %@d\n", @lat); clear(@lat); ustack(5); trace(`jiffies); raise(9); exit(0) */
	stmts[s++] = (dt_stmt){.kind = DT_ST_PRINTA,
			       .first = n,
			       .nactions = 1,
			       .aggs = aggs,
			       .naggs = 1,
			       .format_text = "%s %@d\n"};
	body[n++] = (dt_action){.kind = DT_ACT_PRINTA};
	stmts[s++] =
	    (dt_stmt){.kind = DT_ST_CLEAR, .first = n, .nactions = 1, .aggs = aggs, .naggs = 1};
	body[n++] = (dt_action){.kind = DT_ACT_LIBACT, .arg = 17};
	stmts[s++] = (dt_stmt){.kind = DT_ST_STACK, .first = n, .nactions = 1};
	body[n++] = (dt_action){.kind = DT_ACT_USTACK, .arg = 5, .size = 48, .align = 8};
	stmts[s++] = (dt_stmt){.kind = DT_ST_PRINT, .first = n, .nactions = 1};
	body[n++] = (dt_action){.kind = DT_ACT_DIFEXPR, .difo = symbol(), .size = 8, .align = 8};
	stmts[s++] = (dt_stmt){.kind = DT_ST_KERNEL, .first = n, .nactions = 1};
	body[n++] = (dt_action){.kind = DT_ACT_RAISE, .difo = constant(9, INT4)};
	stmts[s++] = (dt_stmt){.kind = DT_ST_EXIT, .first = n, .nactions = 1};
	body[n++] =
	    (dt_action){.kind = DT_ACT_EXIT, .difo = constant(0, INT4), .size = 4, .align = 4};

	for (int i = 0; i < 2; i++)
		clauses[i] = (dt_clause){.desc = {.prov = "syscall",
						  .mod = "",
						  .func = i ? "write" : "read",
						  .name = "entry"},
					 .pred = i ? clauses[0].pred : constant(1, INT4),
					 .actions = body,
					 .nactions = n,
					 .stmts = stmts,
					 .nstmts = s,
					 .source = 4};
	clauses[2] = (dt_clause){.desc = {.id = 2, .prov = "", .mod = "", .func = "", .name = ""},
				 .source = 5};
	p = (dt_program){.clauses = clauses, .nclauses = 3, .options = &opts};
	return &p;
}

static void check_difo(const dt_difo *a, const dt_difo *b)
{
	CHECK(!a == !b);
	if (!a || !b)
		return;
	CHECK(a->len == b->len && memcmp(a->text, b->text, a->len * 4) == 0);
	CHECK(a->intlen == b->intlen &&
	      (!a->intlen || !memcmp(a->inttab, b->inttab, a->intlen * 8)));
	CHECK(a->strlen == b->strlen && (!a->strlen || !memcmp(a->strtab, b->strtab, a->strlen)));
	CHECK(a->nvars == b->nvars && (!a->nvars || !memcmp(a->vars, b->vars, a->nvars * 20)));
	CHECK(memcmp(&a->rtype, &b->rtype, 8) == 0);
	CHECK(a->nrelocs == b->nrelocs);
	for (uint32_t i = 0; i < a->nrelocs; i++)
		CHECK(a->relocs[i].name == b->relocs[i].name &&
		      a->relocs[i].index == b->relocs[i].index &&
		      a->relocs[i].data == b->relocs[i].data &&
		      a->relocs[i].user == b->relocs[i].user);
}

static void check_clause(const dt_clause *a, const dt_clause *b)
{
	CHECK(a->desc.id == b->desc.id && a->source == b->source);
	CHECK_STR(b->desc.prov, a->desc.prov);
	CHECK_STR(b->desc.mod, a->desc.mod);
	CHECK_STR(b->desc.func, a->desc.func);
	CHECK_STR(b->desc.name, a->desc.name);
	check_difo(a->pred, b->pred);
	CHECK(a->nactions == b->nactions && a->nstmts == b->nstmts);
	for (uint32_t i = 0; i < a->nactions && i < b->nactions; i++) {
		const dt_action *x = &a->actions[i], *y = &b->actions[i];

		CHECK(x->kind == y->kind && x->arg == y->arg && x->ntuple == y->ntuple);
		CHECK(x->size == y->size && (!x->size || x->align == y->align));
		check_difo(x->difo, y->difo);
		check_difo(x->incr, y->incr);
	}
	for (uint32_t i = 0; i < a->nstmts && i < b->nstmts; i++) {
		const dt_stmt *x = &a->stmts[i], *y = &b->stmts[i];

		CHECK(y->kind == (x->kind == DT_ST_PRINT ? DT_ST_TRACE : x->kind));
		CHECK(x->first == y->first && x->nactions == y->nactions && x->naggs == y->naggs);
		CHECK(!x->format_text == !y->format_text);
		if (x->format_text) {
			CHECK_STR(y->format_text, x->format_text);
			CHECK(y->format && y->format->nconvs == 3);
		}
		for (uint32_t j = 0; j < x->naggs; j++) {
			CHECK_STR(y->aggs[j]->name, x->aggs[j]->name);
			CHECK(y->aggs[j]->id == x->aggs[j]->id &&
			      y->aggs[j]->func == x->aggs[j]->func &&
			      y->aggs[j]->param == x->aggs[j]->param &&
			      y->aggs[j]->nkeys == x->aggs[j]->nkeys &&
			      y->aggs[j]->nwords == x->aggs[j]->nwords);
		}
	}
}

static void test_round_trip(void)
{
	dt_program *p = sample(), *q;
	dt_buf file = {0}, again = {0}, text = {0};
	dt_error err = {0};

	dt_dof_write(p, &file);
	q = dt_dof_read(file.s, file.n, arena, &err);
	CHECK_STR(err.text, "");
	CHECK(q != NULL);
	if (!q)
		return;
	CHECK(q->nclauses == 3);
	for (uint32_t i = 0; i < 3; i++)
		check_clause(&p->clauses[i], &q->clauses[i]);
	CHECK(q->clauses[0].actions == q->clauses[1].actions); /* shared, as before */
	CHECK(q->clauses[0].stmts[2].aggs[0] == q->clauses[0].stmts[3].aggs[0]);
	CHECK(q->clauses[0].destructive && !q->clauses[2].destructive);
	CHECK(q->options->is_set[DT_O_STRSIZE] && q->options->value[DT_O_STRSIZE] == 512);
	CHECK(q->options->value[DT_O_OFORMAT] == DT_OFORMAT_JSON);
	CHECK(!q->options->is_set[DT_O_ZDEFS]);
	/* What was read can be written again, to the same bytes. */
	q->clauses[0].stmts[6].kind = DT_ST_PRINT;
	dt_dof_write(q, &again);
	CHECK(again.n == file.n && memcmp(again.s, file.s, file.n) == 0);
	CHECK(dt_dof_print(file.s, file.n, &text, &err) == 0);
	CHECK(strstr(text.s,
		     "id 0 provider \"syscall\" module \"\" function \"read\" name \"entry\"") !=
	      NULL);
	CHECK(strstr(text.s, "strsize (6) = 512") != NULL);
	CHECK(strstr(text.s, "string \"%d %s\\n\"") != NULL);
	CHECK(strstr(text.s, "damaged") == NULL);
	dt_buf_free(&file);
	dt_buf_free(&again);
	dt_buf_free(&text);
}

/* Without our own sections, statements follow from the actions. */
static void test_foreign(void)
{
	dt_action acts[] = {
	    {.kind = DT_ACT_PRINTF, .difo = constant(1, INT4)},
	    {.kind = DT_ACT_PRINTF, .difo = constant(2, INT4)},
	    {.kind = DT_ACT_DIFEXPR, .difo = constant(3, INT4)},
	    {.kind = DT_ACT_DIFEXPR, .difo = constant(6, INT4)},
	    {.kind = DT_ACT_DIFEXPR, .difo = constant(9, INT8)},
	    {.kind = DT_ACT_COUNT, .ntuple = 2},
	    {.kind = DT_ACT_PRINTA, .difo = constant(6, INT4)},
	};
	dt_stmt fmt = {.kind = DT_ST_PRINTF, .first = 0, .nactions = 2, .format_text = "%d %d\n"};
	dt_clause c = {.desc = {.prov = "", .mod = "", .func = "", .name = "BEGIN"},
		       .actions = acts,
		       .nactions = 7,
		       .stmts = &fmt,
		       .nstmts = 1};
	dt_program p = {.clauses = &c, .nclauses = 1}, *q;
	dt_buf file = {0};
	dt_error err = {0};
	uint32_t nsecs, type = 0;

	dt_dof_write(&p, &file);
	memcpy(&nsecs, file.s + 28, 4);
	for (uint32_t i = 0; i < nsecs; i++) { /* STATEMENTS becomes NONE */
		memcpy(&type, file.s + 64 + i * 32, 4);
		if (type == DT_DOF_STATEMENTS)
			memset(file.s + 64 + i * 32, 0, 4);
	}
	q = dt_dof_read(file.s, file.n, arena, &err);
	CHECK_STR(err.text, "");
	CHECK(q != NULL);
	if (q) {
		static const enum dt_stmt_kind want[] = {DT_ST_PRINTF, DT_ST_TRACE, DT_ST_AGG,
							 DT_ST_PRINTA};

		CHECK(q->clauses[0].nstmts == 4);
		for (int i = 0; i < 4; i++)
			CHECK(q->clauses[0].stmts[i].kind == want[i]);
		CHECK(q->clauses[0].stmts[0].nactions == 2 && q->clauses[0].stmts[0].format);
		CHECK(q->clauses[0].stmts[3].aggs[0]->id == 6);
		CHECK(q->clauses[0].stmts[2].aggs[0]->nkeys == 1);
	}
	dt_buf_free(&file);
}

static void test_provider(void)
{
	dt_types *ts = dt_types_new();
	dt_type *native[] = {dt_intrinsics(ts)->int_, dt_intrinsics(ts)->char_ptr};
	uint8_t map[] = {1, 0};
	dt_provider_probe probes[] = {
	    {.name = "start"},
	    {.name = "query-done",
	     .native = native,
	     .nnative = 2,
	     .xlated = native,
	     .nxlated = 2,
	     .map = map},
	};
	dt_provider_decl decl = {.name = "mydb", .probes = probes, .nprobes = 2};
	dt_program p = {.providers = &decl, .nproviders = 1}, *q;
	dt_buf file = {0}, text = {0};
	dt_error err = {0};

	for (int i = 0; i < 5; i++)
		decl.attrs[i] = (dt_attr){DT_STAB_EVOLVING, DT_STAB_PRIVATE, DT_CLASS_ISA};
	dt_dof_write(&p, &file);
	q = dt_dof_read(file.s, file.n, arena, &err);
	CHECK(q && q->nclauses == 0);
	CHECK(dt_dof_print(file.s, file.n, &text, &err) == 0);
	CHECK(strstr(text.s, "name \"mydb\"") != NULL);
	CHECK(strstr(text.s, "\"query-done\"") != NULL);
	CHECK(strstr(text.s, "\"char *\"") != NULL);
	CHECK(strstr(text.s, "2 arguments") != NULL);
	dt_buf_free(&file);
	dt_buf_free(&text);
	dt_types_free(ts);
}

/* ---- damage ---- */

static void survive(const void *data, size_t n, bool print)
{
	/* An exact heap copy, so that the sanitizer sees a read past the end. */
	void *copy = malloc(n ? n : 1);
	dt_arena *a = dt_arena_new();
	dt_buf out = {0};
	dt_error err = {0};
	dt_program *p;

	if (n)
		memcpy(copy, data, n);
	p = dt_dof_read(copy, n, a, &err);
	if (!p && (err.code == 0 || !err.text[0]))
		CHECK(!"an error without a reason");
	if (p && print)
		dt_program_print(p, &out);
	if (print)
		dt_dof_print(copy, n, &out, &err);
	dt_buf_free(&out);
	dt_arena_free(a);
	free(copy);
}

static void test_damage(void)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	dt_buf file = {0};

	dt_dof_write(sample(), &file);
	for (size_t n = 0; n < file.n; n++)
		survive(file.s, n, false);
	for (size_t i = 0; i < file.n; i++) {
		char was = file.s[i];

		for (size_t v = 0; v < sizeof(values); v++) {
			file.s[i] = (char)values[v];
			survive(file.s, file.n, v == 4);
		}
		for (int bit = 0; bit < 8; bit++) {
			file.s[i] = (char)(was ^ 1 << bit);
			survive(file.s, file.n, false);
		}
		file.s[i] = was;
	}
	CHECK(file.n > 1000);
	dt_buf_free(&file);
}

static void put32(dt_buf *f, size_t at, uint32_t v)
{
	memcpy(f->s + at, &v, 4);
}

static void expect(dt_buf *f, const char *what)
{
	dt_arena *a = dt_arena_new();
	dt_error err = {0};

	CHECK(dt_dof_read(f->s, f->n, a, &err) == NULL);
	if (!strstr(err.text, what))
		printf("got \"%s\"\n", err.text);
	CHECK(strstr(err.text, what) != NULL);
	dt_arena_free(a);
}

static void test_messages(void)
{
	struct {
		size_t at;
		uint32_t value;
		const char *what;
	} t[] = {
	    {0, 0, "does not begin with"},
	    {4, 0x02020101, "64-bit"},
	    {4, 0x02020202, "byte order"},
	    {4, 0x02090102, "unknown DOF version"},
	    {4, 0x09020102, "unknown DIF version"},
	    {8, 0x00000809, "registers"},
	    {16, 1, "header flags"},
	    {20, 60, "header size"},
	    {24, 60, "section header size"},
	    {28, 0x10000000, "section table extends"},
	    {32, 65, "section table offset"},
	    {48, 1, "not as long"},
	    {64 + 4, 3, "DOF section 0 (STRTAB): alignment 3"},
	    {64 + 8, 5, "DOF section 0 (STRTAB): unknown flags"},
	    {64 + 16, 0x7fffffff, "DOF section 0 (STRTAB): extends past"},
	    {64 + 28, 0x7fffffff, "DOF section 0 (STRTAB): extends past"},
	};
	dt_buf f = {0};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		dt_buf_reset(&f);
		dt_dof_write(sample(), &f);
		put32(&f, t[i].at, t[i].value);
		expect(&f, t[i].what);
	}
	dt_buf_free(&f);
}

/* 20,000 clauses that share one large body: refused before it grows. */
static void test_expansion(void)
{
	enum { NCLAUSES = 20000, NACTS = 500 };
	dt_action *acts = dt_arena_alloc(arena, NACTS * sizeof(*acts));
	dt_stmt *stmts = dt_arena_alloc(arena, NACTS * sizeof(*stmts));
	dt_clause *cs = dt_arena_alloc(arena, NCLAUSES * sizeof(*cs));
	dt_program p = {.clauses = cs, .nclauses = NCLAUSES};
	dt_buf f = {0};

	for (uint32_t i = 0; i < NACTS; i++) {
		acts[i] = (dt_action){.kind = DT_ACT_DIFEXPR, .difo = constant(i, INT8)};
		stmts[i] = (dt_stmt){.kind = DT_ST_TRACE, .first = i, .nactions = 1};
	}
	for (uint32_t i = 0; i < NCLAUSES; i++)
		cs[i] = (dt_clause){.desc = {.prov = "", .mod = "", .func = "", .name = "x"},
				    .actions = acts,
				    .nactions = NACTS,
				    .stmts = stmts,
				    .nstmts = NACTS};
	dt_dof_write(&p, &f);
	expect(&f, "larger than 32 MB");
	dt_buf_free(&f);
}

int main(void)
{
	arena = dt_arena_new();
	test_round_trip();
	test_foreign();
	test_provider();
	test_messages();
	test_damage();
	test_expansion();
	dt_arena_free(arena);
	return unit_done();
}
