/* DIF: encoding, the listing, and every rule of the verifier broken once. */
#include "unit.h"
#include "dif/dif.h"

#define R3(op, a, b, d) DT_I_FMT(DT_OP_##op, a, b, d)
#define IX(op, i, d)	DT_I_IDX(DT_OP_##op, i, d)
#define RET(r)		DT_I_FMT(DT_OP_RET, 0, 0, r)

static const dt_diftype INT4 = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 4};
static const dt_diftype INT8 = {.kind = DT_TYPE_CTF, .ckind = DT_K_INTEGER, .size = 8};
static const dt_diftype STR = {
    .kind = DT_TYPE_STRING, .ckind = DT_K_UNKNOWN, .flags = DT_TF_BYREF, .size = 256};

static void test_encoding(void)
{
	CHECK(R3(SUB, 1, 2, 3) == 0x06010203);
	CHECK(DT_I_BR(DT_OP_BE, 6) == 0x12000006);
	CHECK(IX(SETX, 0, 1) == 0x25000001);
	CHECK(IX(LDGS, DT_VAR_EXECNAME, 1) == 0x29011801);
	CHECK(DT_I_OP(0x29011801u) == DT_OP_LDGS);
	CHECK(DT_I_INDEX(0x29011801u) == DT_VAR_EXECNAME);
	CHECK(DT_I_RD(0x29011801u) == 1);
	CHECK(DT_I_R1(0x06010203u) == 1 && DT_I_R2(0x06010203u) == 2);
	CHECK(DT_I_LABEL(0x12123456u) == 0x123456);
	CHECK(sizeof(dt_diftype) == 8 && sizeof(dt_difvar) == 20);
}

static void test_tables(void)
{
	CHECK_STR(dt_op_table[DT_OP_STGA].name, "stga");
	CHECK(dt_op_table[0].name == NULL && dt_op_table[81].name == NULL);
	for (size_t i = 0; i < dt_nsubrs; i++) {
		CHECK(i == 0 || dt_subrs[i - 1].id < dt_subrs[i].id);
		CHECK(dt_subr_find(dt_subrs[i].id) == &dt_subrs[i]);
		CHECK(strchr(dt_subrs[i].proto, '(') && !strchr(dt_subrs[i].name, ':'));
	}
	for (size_t i = 0; i < dt_nbuiltin_vars; i++) {
		CHECK(i == 0 || dt_builtin_vars[i - 1].id < dt_builtin_vars[i].id);
		CHECK(dt_builtin_var_find(dt_builtin_vars[i].id) == &dt_builtin_vars[i]);
	}
	CHECK_STR(dt_subr_find(DT_SUBR_SUBSTR)->name, "substr");
	CHECK_STR(dt_subr_find(DT_SUBR_SUBSTR)->proto, "string(string, int, [int])");
	CHECK_STR(dt_builtin_var_find(0x118)->name, "execname");
	CHECK(dt_subr_find(49) == NULL && dt_builtin_var_find(0x124) == NULL);
}

/* ---- printing ---- */

static void check_print(dt_difo *d, const char *want)
{
	dt_buf b = {0};
	char head[64];

	snprintf(head, sizeof(head), "\nDIFO 0x%lx returns ", (unsigned long)(uintptr_t)d);
	dt_difo_print(d, &b);
	CHECK(b.n > strlen(head) && memcmp(b.s, head, strlen(head)) == 0);
	CHECK_STR(b.s + strlen(head), want);
	dt_buf_free(&b);
}

/* The predicate /execname == "csh"/, as the seed shows it. */
static void test_print_sample(void)
{
	dt_instr text[] = {0x29011801, 0x26000102, 0x27010200, 0x12000006,
			   0x0e000001, 0x11000007, 0x25000001, 0x23000001};
	uint64_t ints[] = {1};
	char strs[] = "\0csh\0execname";
	dt_difvar vars[] = {{.name = 5,
			     .id = 0x118,
			     .kind = DT_VAR_SCALAR,
			     .scope = DT_SCOPE_GLOBAL,
			     .flags = DT_VARF_READ,
			     .type = STR}};
	dt_difo d = {.text = text,
		     .len = 8,
		     .inttab = ints,
		     .intlen = 1,
		     .strtab = strs,
		     .strlen = sizeof(strs),
		     .vars = vars,
		     .nvars = 1,
		     .rtype = INT4};

	check_print(&d, "D type (integer) (size 4)\n"
			"OFF OPCODE      INSTRUCTION\n"
			"00: 29011801    ldgs DT_VAR(280), %r1\t\t! DT_VAR(280) = \"execname\"\n"
			"01: 26000102    sets DT_STRING[1], %r2\t\t! \"csh\"\n"
			"02: 27010200    scmp %r1, %r2\n"
			"03: 12000006    be   6\n"
			"04: 0e000001    mov  %r0, %r1\n"
			"05: 11000007    ba   7\n"
			"06: 25000001    setx DT_INTEGER[0], %r1\t\t! 0x1\n"
			"07: 23000001    ret  %r1\n"
			"\n"
			"NAME             ID   KND SCP FLAG TYPE\n"
			"execname         118  scl glb r    string (unknown) by ref (size 256)\n");
}

static void test_print_shapes(void)
{
	dt_instr text[] = {
	    R3(ADD, 1, 2, 3),
	    R3(NOT, 1, 0, 2),
	    R3(TST, 1, 0, 0),
	    R3(LDX, 1, 0, 2),
	    R3(STB, 1, 0, 2),
	    R3(NOP, 0, 0, 0),
	    IX(STTS, 0x500, 3),
	    R3(LDGA, DT_VAR_ARGS, 1, 2),
	    IX(CALL, DT_SUBR_STRLEN, 1),
	    R3(PUSHTV, 0, 0, 2),
	    R3(PUSHTR, 1, 2, 3),
	    IX(XLATE, 4, 1),
	    0xff000000,
	    IX(SETX, 9, 1),
	};
	char strs[] = "\0x\ty\0kernel`sym";
	dt_difvar vars[] = {
	    {.name = 1,
	     .id = 0x500,
	     .kind = DT_VAR_ARRAY,
	     .scope = DT_SCOPE_THREAD,
	     .flags = DT_VARF_READ | DT_VARF_WRITE,
	     .type = {
		 .kind = DT_TYPE_CTF, .ckind = DT_K_STRUCT, .flags = DT_TF_BYUREF, .size = 24}}};
	dt_reloc rels[] = {{.name = 5, .index = 2, .data = 0x10}};
	dt_difo d = {.text = text,
		     .len = 14,
		     .strtab = strs,
		     .strlen = sizeof(strs),
		     .vars = vars,
		     .nvars = 1,
		     .relocs = rels,
		     .nrelocs = 1,
		     .rtype = INT8};

	check_print(&d,
		    "D type (integer) (size 8)\n"
		    "OFF OPCODE      INSTRUCTION\n"
		    "00: 07010203    add  %r1, %r2, %r3\n"
		    "01: 0d010002    not  %r1, %r2\n"
		    "02: 10010000    tst  %r1\n"
		    "03: 22010002    ldx  [%r1], %r2\n"
		    "04: 3c010002    stb  %r1, [%r2]\n"
		    "05: 24000000    nop\n"
		    "06: 2d050003    stts %r3, DT_VAR(1280)\t\t! DT_VAR(1280) = \"x\\ty\"\n"
		    "07: 28000102    ldga DT_VAR(0), %r1, %r2\t\t! DT_VAR(0) = \"args\"\n"
		    "08: 2f000c01    call DIF_SUBR(12), %r1\t\t! strlen\n"
		    "09: 31000002    pushtv DT_TYPE(0), %r2\t\t! DT_TYPE(0) = D type\n"
		    "10: 30010203    pushtr DT_TYPE(1), %r2, %r3\t! DT_TYPE(1) = string\n"
		    "11: 4e000401    xlate DT_XLREF[4], %r1\n"
		    "12: ff000000    ???\n"
		    "13: 25000901    setx DT_INTEGER[9], %r1\n"
		    "\n"
		    "NAME             ID   KND SCP FLAG TYPE\n"
		    "x\\ty             500  arr tls r/w  D type (struct) by user ref (size 24)\n"
		    "\n"
		    "KREL OFFSET   DATA     NAME\n"
		    "1    10       10       kernel`sym\n");
}

/* ---- verifying ---- */

static uint64_t some_ints[] = {7, 8};
static char some_strs[] = "\0a\0b";

/* A DIFO of these instructions, with two integers and four bytes of strings. */
#define DIFO(...)                                                                                  \
	((dt_difo){.text = (dt_instr[]){__VA_ARGS__},                                              \
		   .len = sizeof((dt_instr[]){__VA_ARGS__}) / 4,                                   \
		   .inttab = some_ints,                                                            \
		   .intlen = 2,                                                                    \
		   .strtab = some_strs,                                                            \
		   .strlen = sizeof(some_strs),                                                    \
		   .rtype = INT8})

static bool ok(dt_difo d, const struct dt_verify_opts *o)
{
	dt_error err = {0};

	return dt_difo_verify(&d, o, &err) == 0;
}

#define GOOD(...) CHECK(ok(DIFO(__VA_ARGS__), NULL))
#define BAD(...)  CHECK(!ok(DIFO(__VA_ARGS__), NULL))
#define THEN_RET  RET(0)

static void test_verify_text(void)
{
	dt_error err = {0};
	dt_difo d = DIFO(IX(SETX, 0, 1), R3(MOV, 1, 0, 9), RET(1));

	CHECK(dt_difo_verify(&d, NULL, &err) == -1);
	CHECK(err.code == EDT_DIFINVAL);
	CHECK_STR(err.text, "at DIF offset 4: invalid register %r9");

	GOOD(RET(0));
	GOOD(IX(SETX, 1, 1), IX(SETS, 4, 2), R3(ADD, 1, 2, 7), RET(7));
	BAD(0, THEN_RET);		/* opcode 0 */
	BAD(81u << 24, THEN_RET);	/* above the last */
	BAD(IX(XLATE, 0, 1), THEN_RET); /* not resolved */
	BAD(IX(XLARG, 0, 1), THEN_RET);
	BAD(R3(ADD, 8, 0, 1), THEN_RET); /* registers */
	BAD(R3(ADD, 0, 8, 1), THEN_RET);
	BAD(R3(ADD, 0, 0, 8), THEN_RET);
	BAD(R3(ADD, 1, 2, 0), THEN_RET); /* %r0 written */
	BAD(IX(SETX, 0, 0), THEN_RET);
	BAD(IX(LDGS, 0x500, 0), THEN_RET);
	BAD(IX(CALL, 0, 0), THEN_RET);
	BAD(R3(STX, 1, 0, 0), THEN_RET); /* store to %r0 */
	BAD(R3(NOT, 1, 1, 1), THEN_RET); /* unused fields */
	BAD(R3(CMP, 1, 1, 1), THEN_RET);
	BAD(R3(TST, 1, 1, 0), THEN_RET);
	BAD(R3(LDX, 1, 1, 1), THEN_RET);
	BAD(R3(STX, 1, 1, 1), THEN_RET);
	BAD(R3(NOP, 0, 0, 1), THEN_RET);
	BAD(R3(RET, 1, 0, 1));
	BAD(DT_I_BR(DT_OP_BA, 2), THEN_RET); /* branches */
	BAD(DT_I_BR(DT_OP_BA, 0), THEN_RET);
	BAD(R3(NOP, 0, 0, 0), DT_I_BR(DT_OP_BA, 0), THEN_RET);
	GOOD(DT_I_BR(DT_OP_BE, 1), THEN_RET);
	BAD(R3(NOP, 0, 0, 0));	       /* no ret at the end */
	BAD(IX(SETX, 2, 1), THEN_RET); /* tables */
	BAD(IX(SETS, 5, 1), THEN_RET);
	BAD(IX(LDGS, 0xff, 1), THEN_RET); /* variables */
	BAD(IX(STGS, 0x4ff, 1), THEN_RET);
	BAD(IX(STGAA, 0x100, 1), THEN_RET);
	GOOD(IX(STGS, 0x500, 1), IX(LDLS, 0x500, 1), IX(LDGS, 0x100, 1), THEN_RET);
	BAD(IX(CALL, 49, 1), THEN_RET); /* subroutines */
	BAD(IX(CALL, 999, 1), THEN_RET);
	BAD(R3(PUSHTV, 1, 0, 1), THEN_RET); /* tuple types */
	BAD(R3(PUSHTR, 2, 0, 1), THEN_RET);
	GOOD(R3(PUSHTR, 1, 2, 1), R3(PUSHTV, 0, 0, 1), THEN_RET);
}

static void test_verify_limits(void)
{
	struct dt_verify_opts o = {.nregs = 4, .max_global = 0x501, .max_thread = 0x4ff};

	CHECK(!ok(DIFO(R3(MOV, 0, 0, 4), THEN_RET), &o));
	CHECK(ok(DIFO(IX(LDGS, 0x501, 1), THEN_RET), &o));
	CHECK(!ok(DIFO(IX(LDGS, 0x502, 1), THEN_RET), &o));
	CHECK(!ok(DIFO(IX(STTS, 0x500, 1), THEN_RET), &o));
	CHECK(ok(DIFO(IX(STLS, 0x600, 1), THEN_RET), &o));
	o.allow_xlate = true;
	CHECK(ok(DIFO(IX(XLATE, 0, 1), THEN_RET), &o));
}

static bool type_ok(dt_diftype t)
{
	dt_difo d = DIFO(THEN_RET);

	d.rtype = t;
	return ok(d, NULL);
}

static bool var_ok(dt_difvar v)
{
	dt_difo d = DIFO(THEN_RET);

	d.vars = &v;
	d.nvars = 1;
	return ok(d, NULL);
}

static void test_verify_tables(void)
{
	dt_difo d = DIFO(THEN_RET);
	dt_reloc rel = {.name = 1, .index = 1};
	dt_difvar v = {.name = 1, .id = 0x500, .kind = DT_VAR_SCALAR, .type = INT8};
	dt_difvar big = v;
	dt_diftype t = INT8;
	dt_error err = {0};

	CHECK(type_ok(t) && type_ok(STR));
	t.size = 3;
	CHECK(!type_ok(t));
	t.flags = DT_TF_BYREF;
	CHECK(type_ok(t));
	t.kind = 2;
	CHECK(!type_ok(t));

	CHECK(var_ok(v));
	v.scope = 3;
	CHECK(!var_ok(v));
	v.scope = 0, v.kind = 2;
	CHECK(!var_ok(v));
	v.kind = DT_VAR_SCALAR, v.id = 0x10000;
	CHECK(!var_ok(v));
	v.id = 0x500, v.name = 5;
	CHECK(!var_ok(v));
	v.name = 1, v.type = STR, v.type.size = 0;
	CHECK(!var_ok(v));
	big.type = STR;
	big.type.size = DT_STATIC_VAR_MAX + 1;
	CHECK(!var_ok(big));
	big.scope = DT_SCOPE_LOCAL;
	CHECK(!var_ok(big));
	big.scope = DT_SCOPE_THREAD;
	CHECK(var_ok(big));

	d.len = 0;
	CHECK(!ok(d, NULL));
	d = DIFO(THEN_RET);
	d.strtab = "abc";
	d.strlen = 3;
	CHECK(!ok(d, NULL));
	d = DIFO(THEN_RET);
	d.intlen = DT_DIFO_MAXSIZE / 8;
	CHECK(dt_difo_verify(&d, NULL, &err) == -1 && err.code == EDT_DIFSIZE);
	d = DIFO(THEN_RET);
	d.relocs = &rel, d.nrelocs = 1;
	CHECK(ok(d, NULL));
	rel.index = 2;
	CHECK(!ok(d, NULL));
	rel.index = 1, rel.name = 5;
	CHECK(!ok(d, NULL));
}

static void test_destructive(void)
{
	dt_error err = {0};
	dt_difo d = DIFO(IX(CALL, DT_SUBR_COPYOUT, 1), THEN_RET);
	dt_difo e = DIFO(R3(STGA, DT_VAR_UREGS, 1, 2), THEN_RET);
	dt_difo f = DIFO(IX(CALL, DT_SUBR_COPYIN, 1), THEN_RET);
	dt_action raise = {.kind = DT_ACT_RAISE, .difo = &f};
	dt_clause c[2] = {{.pred = &d}, {.actions = &raise, .nactions = 1}};
	dt_program p = {.clauses = c, .nclauses = 2};

	CHECK(dt_difo_verify(&d, NULL, &err) == 0 && d.destructive);
	CHECK(dt_difo_verify(&e, NULL, &err) == 0 && e.destructive);
	CHECK(dt_difo_verify(&f, NULL, &err) == 0 && !f.destructive);
	CHECK(dt_program_verify(&p, NULL, &err) == 0);
	CHECK(c[0].destructive && c[1].destructive);
}

/* Every place that has a DIFO, in order, and which action it belongs to. */
static void test_functions(void)
{
	dt_difo f = DIFO(THEN_RET), d = DIFO(IX(CALL, DT_CALL_FUNCTION, 1), RET(1)), *list[] = {&f}, *outer[] = {&d};
	dt_action act = {.kind = DT_ACT_DIFEXPR, .difo = &d};
	dt_clause c = {.actions = &act, .nactions = 1};
	dt_program p = {.clauses = &c, .nclauses = 1};
	dt_error err = {0};
	uint32_t n = 0;

	CHECK(!ok(d, NULL)); /* it has none */
	d.functions = list, d.nfunctions = 1;
	CHECK(ok(d, NULL));
	DT_EACH_DIFO(it, &c)
		n += it.difo == (n ? &f : &d) && it.action == 1;
	CHECK(n == 2);
	CHECK(dt_program_verify(&p, NULL, &err) == 0);
	f.text = (dt_instr[]){IX(CALL, DT_CALL_FUNCTION, 1)}; /* does not end */
	CHECK(dt_program_verify(&p, NULL, &err) == -1);
	f.text = (dt_instr[]){IX(CALL, DT_SUBR_COPYOUT, 1), THEN_RET};
	f.len = 2;
	CHECK(dt_program_verify(&p, NULL, &err) == 0 && c.destructive);
	f.functions = outer, f.nfunctions = 1; /* two levels */
	CHECK(dt_program_verify(&p, NULL, &err) == -1);
	CHECK_STR(err.text, "clause 1, action #1: function 0 calls functions");
	d.functions = outer; /* itself */
	CHECK(!ok(d, NULL));
}

static void test_each_difo(void)
{
	dt_difo d[4] = {{.len = 1}, {.len = 2}, {.len = 3}, {.len = 4}};
	dt_difvar regs = {.id = DT_VAR_REGS, .scope = DT_SCOPE_GLOBAL};
	dt_action a[] = {{.difo = &d[1]}, {0}, {.difo = &d[2], .incr = &d[3]}, {.incr = &d[1]}};
	dt_clause c = {.pred = &d[0], .actions = a, .nactions = 4}, none = {0};
	char got[64] = "";

	DT_EACH_DIFO(it, &c)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u@%u ", it.difo->len, it.action);
	CHECK_STR(got, "1@0 2@1 3@3 4@3 2@4 ");
	DT_EACH_DIFO(it, &none)
		CHECK(!"a clause without expressions has no DIFO");
	CHECK(!dt_clause_reads(&c, DT_VAR_REGS) && !dt_clause_is_destructive(&c));
	d[3].vars = &regs, d[3].nvars = 1;
	CHECK(dt_clause_reads(&c, DT_VAR_REGS) && !dt_clause_reads(&c, DT_VAR_UREGS));
	regs.scope = DT_SCOPE_LOCAL;
	CHECK(!dt_clause_reads(&c, DT_VAR_REGS));
	d[3].destructive = true;
	CHECK(dt_clause_is_destructive(&c));
	a[2].incr = NULL;
	CHECK(!dt_clause_is_destructive(&c));
	a[1].kind = DT_ACT_STOP;
	CHECK(dt_clause_is_destructive(&c));
}

/* One variable, two clauses: the definitions must agree. */
static int agree(dt_difvar a, dt_difvar b, dt_error *err)
{
	dt_difo d = DIFO(THEN_RET), e = DIFO(THEN_RET);
	dt_action act = {.kind = DT_ACT_DIFEXPR, .difo = &e};
	dt_clause c[] = {{.pred = &d}, {.actions = &act, .nactions = 1}};
	dt_program p = {.clauses = c, .nclauses = 2};

	d.vars = &a, d.nvars = 1;
	e.vars = &b, e.nvars = 1;
	return dt_program_verify(&p, NULL, err);
}

static void test_agreement(void)
{
	dt_difvar a = {.name = 1, .id = 0x500, .kind = DT_VAR_SCALAR, .type = INT8}, b = a;
	dt_difo bad = DIFO(R3(NOP, 0, 0, 0));
	dt_action act[] = {{.kind = DT_ACT_STOP}, {.kind = DT_ACT_DIFEXPR, .difo = &bad}};
	dt_clause c = {.actions = act, .nactions = 2};
	dt_program p = {.clauses = &c, .nclauses = 1};
	dt_error err = {0};

	CHECK(agree(a, b, &err) == 0);
	b.type.size = 4;
	CHECK(agree(a, b, &err) == -1);
	CHECK_STR(err.text, "clause 2, action #1: variable 1280 changed its size");
	b.type.size = 0;
	CHECK(agree(a, b, &err) == 0);
	b = a, b.kind = DT_VAR_ARRAY;
	CHECK(agree(a, b, &err) == -1);
	b = a, b.type = STR;
	CHECK(agree(a, b, &err) == -1);
	b = a, b.type.flags = DT_TF_BYREF;
	CHECK(agree(a, b, &err) == -1);
	b = a, b.scope = DT_SCOPE_THREAD, b.type = STR;
	CHECK(agree(a, b, &err) == 0);
	a.id = b.id = 0x100, a.scope = b.scope = 0;
	CHECK(agree(a, b, &err) == 0);
	CHECK(dt_program_verify(&p, NULL, &err) == -1);
	CHECK_STR(err.text,
		  "clause 1, action #2: at DIF offset 0: the last instruction is not ret");
}

/* ---- the graph of a clause ---- */

#define GRAPH 9
#define TO(number, target) ((uint64_t)(number) << 32 | (target))

/* 0, or -1 and what is wrong with the actions when action i is another one. */
static int verify_graph(uint32_t i, enum dt_act kind, uint64_t arg, dt_error *err)
{
	dt_action a[GRAPH] = {
	    {.kind = DT_ACT_CALL, .arg = TO(0, 3)},   {.kind = DT_ACT_CALL, .arg = TO(1, 6)},
	    {.kind = DT_ACT_JUMP, .arg = TO(0, 9)},   {.kind = DT_ACT_CALL, .arg = TO(1, 6)}, /* function 0 */
	    {.kind = DT_ACT_JUMP, .arg = TO(0, 5)},   {.kind = DT_ACT_RETURN, .arg = TO(0, 3)},
	    {.kind = DT_ACT_AGAIN, .arg = TO(0, 6)}, /* function 1 */
	    {.kind = DT_ACT_JUMP, .arg = TO(0, 8)},   {.kind = DT_ACT_RETURN, .arg = TO(1, 6)},
	};
	dt_stmt stmts[GRAPH];
	dt_clause c = {.actions = a, .nactions = GRAPH, .stmts = stmts, .nstmts = GRAPH};

	for (uint32_t k = 0; k < GRAPH; k++)
		stmts[k] = (dt_stmt){.kind = DT_ST_CONTROL, .first = k, .nactions = 1};
	a[i].kind = kind;
	a[i].arg = arg;
	*err = (dt_error){0};
	CHECK(dt_clause_functions(&c) <= 301);
	return dt_control_verify(&c, err);
}

static void test_graph(void)
{
	static const struct {
		uint32_t i;
		enum dt_act kind;
		uint64_t arg;
		const char *why;
	} bad[] = {
	    {0, DT_ACT_CALL, TO(0, 4), "action #1 calls no function"}, /* into its middle */
	    {0, DT_ACT_CALL, TO(2, 6), "action #1 calls no function"},
	    {0, DT_ACT_CALL, TO(0, 10), "action #1 continues outside all statements"},
	    {3, DT_ACT_CALL, TO(0, 3), "action #4 goes in the wrong direction"}, /* itself */
	    {7, DT_ACT_CALL, TO(0, 3), "action #8 goes in the wrong direction"}, /* its caller */
	    {1, DT_ACT_JUMP, TO(0, 4), "action #2 continues in another function"},
	    {4, DT_ACT_BRANCH, TO(0, 7), "action #5 continues in another function"},
	    {7, DT_ACT_AGAIN, TO(0, 4), "action #8 continues in another function"},
	    {7, DT_ACT_AGAIN, TO(64, 6), "action #8: more than 64 loops"},
	    {2, DT_ACT_DIFEXPR, 0, "action #6 does not end a function"}, /* it would be run into */
	    {5, DT_ACT_JUMP, TO(0, 6), "action #9 does not end a function"}, /* number 0 is missing */
	    {5, DT_ACT_RETURN, TO(0, 0), "action #6 does not end a function"},
	    {5, DT_ACT_RETURN, TO(300, 3), "action #6 does not end a function"},
	    {8, DT_ACT_RETURN, TO(1, 4), "action #9 does not end a function"}, /* inside of another */
	};
	dt_error err;

	CHECK(verify_graph(4, DT_ACT_JUMP, TO(0, 5), &err) == 0);
	CHECK(verify_graph(4, DT_ACT_JUMP, TO(0, 9), &err) == 0); /* to the end of the clause */
	for (size_t i = 0; i < DT_NELEM(bad); i++) {
		CHECK(verify_graph(bad[i].i, bad[i].kind, bad[i].arg, &err) == -1);
		CHECK_STR(err.text, bad[i].why);
	}
}

int main(void)
{
	test_graph();
	test_encoding();
	test_tables();
	test_print_sample();
	test_print_shapes();
	test_verify_text();
	test_verify_limits();
	test_verify_tables();
	test_destructive();
	test_each_difo();
	test_functions();
	test_agreement();
	return unit_done();
}
