/*
 * The code generator: exact code where it is fixed; for the rest, that the code computes the right
 * value with any use of registers. Random expressions are compiled with 8, 5 and 4 registers and
 * run by a small interpreter, and compared with the same expression computed in C.
 */
#include <stdlib.h>

#include "gen_world.h"

/* ---- a small interpreter: arithmetic, branches, scalar variables ---- */
struct machine {
	uint64_t reg[8];
	int64_t args[4];
	uint64_t local[512];
	int loads; /* of built-in variables */
};

static bool takes_branch(unsigned op, int64_t a, int64_t b)
{
	switch (op) {
	case DT_OP_BA: return true;
	case DT_OP_BE: return a == b;
	case DT_OP_BNE: return a != b;
	case DT_OP_BG: return a > b;
	case DT_OP_BGU: return (uint64_t)a > (uint64_t)b;
	case DT_OP_BGE: return a >= b;
	case DT_OP_BGEU: return (uint64_t)a >= (uint64_t)b;
	case DT_OP_BL: return a < b;
	case DT_OP_BLU: return (uint64_t)a < (uint64_t)b;
	case DT_OP_BLE: return a <= b;
	default: return (uint64_t)a <= (uint64_t)b;
	}
}

static uint64_t alu(unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case DT_OP_OR: return a | b;
	case DT_OP_XOR: return a ^ b;
	case DT_OP_AND: return a & b;
	case DT_OP_SLL: return a << (b & 63);
	case DT_OP_SRL: return a >> (b & 63);
	case DT_OP_SRA: return (uint64_t)((int64_t)a >> (b & 63));
	case DT_OP_SUB: return a - b;
	case DT_OP_ADD: return a + b;
	case DT_OP_MUL: return a * b;
	case DT_OP_UDIV: return a / b;
	case DT_OP_UREM: return a % b;
	case DT_OP_SDIV: return (uint64_t)((int64_t)a / (int64_t)b);
	default: return (uint64_t)((int64_t)a % (int64_t)b);
	}
}

static uint64_t run(const dt_difo *d, struct machine *m)
{
	int64_t fa = 0, fb = 0;

	for (uint32_t pc = 0; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		unsigned op = DT_I_OP(i), idx = DT_I_INDEX(i);
		uint64_t *rd = &m->reg[DT_I_RD(i) & 7], a = m->reg[DT_I_R1(i) & 7],
			 b = m->reg[DT_I_R2(i) & 7];

		m->reg[0] = 0;
		if (op >= DT_OP_BA && op <= DT_OP_BLEU) {
			if (takes_branch(op, fa, fb))
				pc = DT_I_LABEL(i) - 1;
			continue;
		}
		switch (op) {
		case DT_OP_RET: return *rd;
		case DT_OP_SETX: *rd = d->inttab[idx]; break;
		case DT_OP_MOV: *rd = a; break;
		case DT_OP_NOT: *rd = ~a; break;
		case DT_OP_CMP: fa = (int64_t)a, fb = (int64_t)b; break;
		case DT_OP_TST: fa = (int64_t)a, fb = 0; break;
		case DT_OP_LDGS:
			*rd = (uint64_t)m->args[idx - DT_VAR_ARG0];
			m->loads++;
			break;
		case DT_OP_LDLS: *rd = m->local[idx - DT_VAR_USER_MIN]; break;
		case DT_OP_STLS: m->local[idx - DT_VAR_USER_MIN] = *rd; break;
		default: *rd = alu(op, a, b);
		}
	}
	return 0xdead;
}

/* ---- random expressions ---- */
struct expr {
	int op; /* 'v' argument, 'k' constant, '=' this->t, 't' read this->t, else an operator */
	int64_t value;
	struct expr *a, *b, *c;
};
static const char *const op_text[128] = {
    ['+'] = "+",  ['-'] = "-",	['*'] = "*",  ['&'] = "&",  ['|'] = "|",
    ['^'] = "^",  ['<'] = "<",	['>'] = ">",  ['e'] = "==", ['n'] = "!=",
    ['A'] = "&&", ['O'] = "||", ['X'] = "^^", ['l'] = "<=", ['g'] = ">="};

static uint32_t seed = 12345;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static struct expr *make(dt_arena *a, int depth)
{
	static const char ops[] = "+-*&|^<>enAOXlgAO";
	struct expr *e = dt_arena_alloc(a, sizeof(*e));

	if (depth == 0 || rnd(8) == 0) {
		e->op = rnd(4) == 0 ? 'k' : rnd(8) == 0 ? 't' : 'v';
		e->value = e->op == 'k' ? (int64_t)rnd(7) - 3 : (int64_t)rnd(4);
		return e;
	}
	e->a = make(a, depth - 1);
	switch (rnd(10)) {
	case 0: e->op = '!'; break;
	case 1: e->op = '~'; break;
	case 2: e->op = '='; break;
	case 3:
	case 4:
		e->op = '?';
		e->b = make(a, depth - 1);
		e->c = make(a, depth - 1);
		break;
	default:
		e->op = ops[rnd(sizeof(ops) - 1)];
		e->b = rnd(6) == 0 ? e->a : make(a, depth - 1); /* the same again: for the cache */
	}
	return e;
}

static void show(const struct expr *e, dt_buf *out)
{
	switch (e->op) {
	case 'v': dt_buf_printf(out, "arg%d", (int)e->value); return;
	case 'k': dt_buf_printf(out, "(%d)", (int)e->value); return;
	case 't': dt_buf_puts(out, "this->t"); return;
	case '?':
		dt_buf_puts(out, "(");
		show(e->a, out);
		dt_buf_puts(out, " ? ");
		show(e->b, out);
		dt_buf_puts(out, " : ");
		show(e->c, out);
		break;
	case '!':
	case '~':
		dt_buf_printf(out, "(%c", e->op);
		show(e->a, out);
		break;
	case '=':
		dt_buf_puts(out, "(this->t = (int64_t)");
		show(e->a, out);
		break;
	default:
		dt_buf_puts(out, "((int64_t)");
		show(e->a, out);
		dt_buf_printf(out, " %s (int64_t)", op_text[e->op]);
		show(e->b, out);
	}
	dt_buf_puts(out, ")");
}

static int64_t eval(const struct expr *e, const int64_t *args, int64_t *t)
{
	int64_t a, b;

	switch (e->op) {
	case 'v': return args[e->value];
	case 'k': return e->value;
	case 't': return *t;
	case '?': return eval(e->a, args, t) ? eval(e->b, args, t) : eval(e->c, args, t);
	case '!': return !eval(e->a, args, t);
	case '~': return ~eval(e->a, args, t);
	case '=': return *t = eval(e->a, args, t);
	case 'A': return eval(e->a, args, t) && eval(e->b, args, t);
	case 'O': return eval(e->a, args, t) || eval(e->b, args, t);
	}
	a = eval(e->a, args, t);
	b = eval(e->b, args, t);
	switch (e->op) {
	case '+': return (int64_t)((uint64_t)a + (uint64_t)b);
	case '-': return (int64_t)((uint64_t)a - (uint64_t)b);
	case '*': return (int64_t)((uint64_t)a * (uint64_t)b);
	case '&': return a & b;
	case '|': return a | b;
	case '^': return a ^ b;
	case '<': return a < b;
	case '>': return a > b;
	case 'e': return a == b;
	case 'n': return a != b;
	case 'l': return a <= b;
	case 'g': return a >= b;
	default: return !a != !b;
	}
}

static void test_random(int nregs, int rounds, int depth)
{
	struct world w;
	dt_arena *a = dt_arena_new();
	dt_buf text = {0};
	int wrong = 0;

	open_world(&w);
	w.opts.value[DT_O_IREGS] = (uint64_t)nregs;
	compile(&w, "BEGIN { this->t = arg0; }"); /* its type, and local variable 0 */
	for (int i = 0; i < rounds; i++) {
		struct expr *e = make(a, 1 + (int)rnd((uint32_t)depth));
		dt_program *p;

		dt_buf_reset(&text);
		dt_buf_puts(&text, "BEGIN { trace((int64_t)");
		show(e, &text);
		dt_buf_puts(&text, "); }");
		p = compile(&w, text.s);
		for (int k = 0; p && k < 4; k++) {
			struct machine m = {.args = {(int64_t)rnd(5) - 2, (int64_t)rnd(3) - 1,
						     (int64_t)rnd(100), -(int64_t)rnd(2)}};
			int64_t t = m.args[2] + 1, want;
			m.local[0] = (uint64_t)t;
			want = eval(e, m.args, &t);
			uint64_t got = run(p->clauses[0].actions[0].difo, &m);
			if ((int64_t)got != want || m.local[0] != (uint64_t)t) {
				printf("%d registers: got %lld, want %lld: %s\n", nregs,
				       (long long)got, (long long)want, text.s);
				wrong++;
				break;
			}
		}
		wrong += p == NULL;
	}
	CHECK(wrong == 0);
	dt_buf_free(&text);
	dt_arena_free(a);
	close_world(&w);
}

/* ---- exact code ---- */
static void check_words(const dt_difo *d, const char *want)
{
	dt_buf b = {0};

	for (uint32_t i = 0; i < d->len; i++)
		dt_buf_printf(&b, "%s%08x", i ? " " : "", d->text[i]);
	CHECK_STR(b.s, want);
	dt_buf_free(&b);
}

static void test_contract(void)
{
	struct world w;
	dt_program *p;
	dt_difo *d;
	dt_buf b = {0};

	open_world(&w);
	p = compile(&w, "BEGIN /execname == \"csh\"/ { trace(arg0); }");
	CHECK(p != NULL);
	if (p) {
		d = p->clauses[0].pred;
		check_words(d, "29011801 26000102 27010200 12000006 0e000001 11000007 25000001 "
			       "23000001");
		CHECK_STR(d->strtab + 1, "csh");
		CHECK(d->intlen == 1 && d->inttab[0] == 1);
		CHECK(d->nvars == 1 && d->vars[0].id == 0x118 && d->vars[0].flags == DT_VARF_READ);
		CHECK_STR(d->strtab + d->vars[0].name, "execname");
		dt_diftype_print(&d->rtype, &b);
		CHECK_STR(b.s, "D type (integer) (size 4)");
		check_words(p->clauses[0].actions[0].difo, "29010601 23000001");
		CHECK(p->clauses[0].actions[0].size == 8);
	}
	dt_buf_free(&b);
	close_world(&w);
}

static const dt_difo *difo_of(struct world *w, const char *text)
{
	dt_program *p = compile(w, text);

	return p && p->clauses[0].nactions ? p->clauses[0].actions[0].difo : NULL;
}

/* ---- registers ---- */
static void test_deep(void)
{
	struct world w[2];
	dt_buf text = {0};
	const dt_difo *d[2];
	int64_t want = 0;

	dt_buf_puts(&text, "BEGIN { trace(");
	for (int i = 0; i < 400; i++) {
		dt_buf_printf(&text, "arg%d * %d + (", i % 4, i);
		want += (int64_t)(i % 4 + 1) * i;
	}
	dt_buf_puts(&text, "0");
	for (int i = 0; i < 400; i++)
		dt_buf_putc(&text, ')');
	dt_buf_puts(&text, "); }");
	for (int i = 0; i < 2; i++) {
		struct machine m = {.args = {1, 2, 3, 4}};
		open_world(&w[i]);
		d[i] = difo_of(&w[i], text.s);
		CHECK(d[i] != NULL);
		if (d[i])
			CHECK(run(d[i], &m) == (uint64_t)want);
	}
	if (d[0] && d[1])
		CHECK(d[0]->len == d[1]->len &&
		      memcmp(d[0]->text, d[1]->text, d[0]->len * sizeof(dt_instr)) == 0);
	close_world(&w[0]);
	close_world(&w[1]);
	dt_buf_free(&text);
}

static int loads(struct world *w, const char *text)
{
	struct machine m = {.args = {1, 2, 3, 4}};
	const dt_difo *d = difo_of(w, text);

	if (!d)
		return -1;
	run(d, &m);
	return m.loads;
}

static int count_op(const dt_difo *d, enum dt_op op)
{
	int n = 0;

	for (uint32_t i = 0; d && i < d->len; i++)
		n += DT_I_OP(d->text[i]) == op;
	return n;
}

static void test_common(void)
{
	struct world w;
	const dt_difo *d;

	open_world(&w);
	CHECK(loads(&w, "BEGIN { trace(arg0 + arg0); }") == 1);
	CHECK(loads(&w, "BEGIN { trace(arg0 * arg1 + arg0 * arg1); }") == 2);
	CHECK(loads(&w, "BEGIN { trace(arg0 == 5 || arg0 == 6 || arg0 == 1); }") == 1);
	/* a value first computed on one path only is not known on the other */
	CHECK(loads(&w, "BEGIN { trace((arg1 == 0 ? arg0 : 5) + arg0); }") == 2);
	/* what follows a || b where neither is true knows what both computed */
	CHECK(loads(&w, "BEGIN { trace(arg1 == 0 || arg0 == 0 ? 5 : arg0); }") == 2);
	CHECK(loads(&w, "BEGIN { trace(arg1 == 0 || arg0 == 0 || arg2 == 0 ? 5 : arg0 + arg2); }") == 3);
	/* an operand of what is computed again is still held, and so is known */
	CHECK(loads(&w, "BEGIN { trace(arg0 * 7 * (arg1 != 0 && arg0 * 7 + 1 == 3 ? 1 : arg0 * 7 + 1)); }") == 2);
	/* a chain of loads, and that a call ends it */
	compile(&w, "struct s { int a; struct s *n; }; struct s *p; BEGIN {}");
	d = difo_of(&w, "BEGIN { trace(p->n->a + p->n->a); }");
	CHECK(count_op(d, DT_OP_LDX) == 1 && count_op(d, DT_OP_LDSW) == 1);
	/* computed again, on another path: each operand once more */
	d = difo_of(&w, "BEGIN { trace((arg0 ? p->n->a * (int64_t)p->n->n : 0) + p->n->a * (int64_t)p->n->n); }");
	CHECK(count_op(d, DT_OP_LDX) == 4 && count_op(d, DT_OP_LDSW) == 2);
	d = difo_of(&w, "BEGIN { trace(p->n->a + rand() + p->n->a); }");
	CHECK(count_op(d, DT_OP_LDX) == 2 && count_op(d, DT_OP_LDSW) == 2);
	d = difo_of(&w, "BEGIN { trace(arg0 + rand() + arg0); }");
	CHECK(count_op(d, DT_OP_LDGS) == 1);
	close_world(&w);
}

static void test_registers_run_out(void)
{
	struct world w;

	open_world(&w);
	w.opts.value[DT_O_IREGS] = 2;
	CHECK_STR(tag_of(&w, "BEGIN { trace(arg0 + arg1); }"), "D_NOREG");
	CHECK_STR(tag_of(&w, "BEGIN { trace(arg0); }"), "compiled");
	w.opts.value[DT_O_IREGS] = 8;
	CHECK_STR(tag_of(&w, "BEGIN { a[1,2,3,4,5,6,7,8] = 1; }"), "compiled");
	CHECK_STR(tag_of(&w, "BEGIN { b[1,2,3,4,5,6,7,8,9] = 1; }"), "D_UNKNOWN");
	close_world(&w);
}

/* ---- stores ---- */
static void test_stores(void)
{
	struct world w;
	const dt_difo *d;

	open_world(&w);
	compile(&w,
		"struct t { int a:3; int b:7; char c; short d[4]; }; this struct t s; struct t *q;"
		"int i; string str; self int n; int arr[string, int]; BEGIN {}");
	/* int + 1 is cut to 32 bits; the old value is not kept if it is not used */
	d = difo_of(&w, "BEGIN { i++; }");
	CHECK(count_op(d, DT_OP_STGS) == 1 && count_op(d, DT_OP_SRA) == 1 &&
	      count_op(d, DT_OP_MOV) == 0);
	CHECK(d && d->rtype.size == 0 && d->vars[0].flags == (DT_VARF_READ | DT_VARF_WRITE));
	d = difo_of(&w, "BEGIN { i = pid; }");
	CHECK(d && d->len == 3);
	d = difo_of(&w, "BEGIN { arr[\"x\", 3] += 4; }");
	CHECK(count_op(d, DT_OP_FLUSHTS) == 2 && count_op(d, DT_OP_LDGAA) == 1 &&
	      count_op(d, DT_OP_STGAA) == 1 && count_op(d, DT_OP_SETS) == 1);
	d = difo_of(&w, "BEGIN { this->s.b = 5; }");
	CHECK(count_op(d, DT_OP_STW) == 1 && count_op(d, DT_OP_LDUW) == 1);
	d = difo_of(&w, "BEGIN { this->s.d[2] = 5; }");
	CHECK(count_op(d, DT_OP_STH) == 1 && count_op(d, DT_OP_ADD) == 1);
	d = difo_of(&w, "BEGIN { this->s = *q; }");
	CHECK(count_op(d, DT_OP_STLS) == 1);
	d = difo_of(&w, "BEGIN { self->n = 0; }");
	CHECK(d && d->len == 3 && count_op(d, DT_OP_STTS) == 1);
	d = difo_of(&w, "BEGIN { str = execname; }");
	CHECK(d && d->len == 3);
	d = difo_of(&w, "BEGIN { trace(q->a); }");
	CHECK(count_op(d, DT_OP_SLL) == 1 && count_op(d, DT_OP_SRA) == 1);
	d = difo_of(&w, "BEGIN { q += 2; }");
	CHECK(d && d->inttab[0] == 24);
	close_world(&w);
}

/* ---- types narrower than a register: arg0 is -1, arg1 2, arg2 300, arg3 -5 ---- */
static void test_convert(void)
{
	static const struct {
		const char *text;
		int64_t want;
	} cases[] = {
	    {"(uint8_t)arg2", 44},
	    {"(int8_t)(arg2 + 100)", -112},
	    {"(uint32_t)arg0", 0xffffffff},
	    {"(uint32_t)arg0 / 2", 0x7fffffff},
	    {"(uint32_t)arg0 >> 31", 1},
	    {"(int)arg0 >> 31", -1},
	    {"(uint32_t)arg0 > (int)arg1", 1},
	    {"(uint32_t)arg0 == (int)arg0", 1},
	    {"(int)arg0 < (int)arg1", 1},
	    {"((uint32_t)arg1 - (uint32_t)arg2) / 2 > 5", 1},
	    {"(uint32_t)(int8_t)arg0", 0xffffffff},
	    {"(int64_t)(uint16_t)arg3", 65531},
	    {"(unsigned char)arg2 * 2", 88},
	    {"arg3 / arg1", -2},
	    {"arg3 % arg1", -1},
	    {"(this->c = (char)arg2)", 44},
	    {"(this->c += 100)", -112},
	    {"this->c++", 44},
	    {"++this->c", 45},
	    {"(this->b = (_Bool)arg2)", 1},
	    {"arg1 ? (char)arg0 : (int64_t)5", -1},
	    {"-(int)arg0", 1},
	    {"~(uint32_t)0 == 0xffffffff", 1},
	};
	struct world w;
	char text[128];

	open_world(&w);
	compile(&w, "this char c; this _Bool b; BEGIN {}");
	for (size_t i = 0; i < DT_NELEM(cases); i++) {
		struct machine m = {.args = {-1, 2, 300, -5}, .local = {44}};
		const dt_difo *d;

		snprintf(text, sizeof(text), "BEGIN { trace(%s); }", cases[i].text);
		d = difo_of(&w, text);
		if (d && (int64_t)run(d, &m) != cases[i].want)
			printf("%s\n", cases[i].text);
		CHECK(d && (int64_t)m.reg[DT_I_RD(d->text[d->len - 1])] == cases[i].want);
	}
	close_world(&w);
}

/* ---- actions ---- */
static void test_actions(void)
{
	struct world w;
	dt_program *p;

	open_world(&w);
	p = compile(&w, "BEGIN { @a[execname, pid, stack(5)] = lquantize(arg0, 0, 10, 2, 3); }");
	CHECK(p && p->clauses[0].nactions == 5);
	if (p) {
		dt_action *a = p->clauses[0].actions;
		CHECK(a[0].kind == DT_ACT_DIFEXPR && a[1].size == 256 && a[1].difo->bound == 16);
		CHECK(a[3].kind == DT_ACT_STACK && a[3].size == 40 && a[3].arg == 5);
		CHECK(a[4].kind == DT_ACT_LQUANTIZE && a[4].ntuple == 4 && a[4].incr);
		CHECK(a[4].arg == ((uint64_t)2 << 48 | (uint64_t)5 << 32));
		CHECK(p->clauses[0].stmts[0].aggs[0]->nwords == 8);
	}
	p = compile(&w, "BEGIN { printf(\"%s %d\\n\", execname, pid); printf(\"x\"); exit(0); }");
	CHECK(p && p->clauses[0].nstmts == 3 && p->clauses[0].nactions == 4);
	if (p)
		CHECK(p->clauses[0].actions[0].ntuple == 2 && !p->clauses[0].actions[2].difo &&
		      p->clauses[0].actions[3].size == 4);
	p = compile(&w,
		    "BEGIN { ustack(3, 100); usym(arg0); tracemem(arg0, 16, arg1); raise(9); }");
	if (p) {
		dt_action *a = p->clauses[0].actions;
		CHECK(a[0].size == 132 && a[0].arg == (3 | (uint64_t)100 << 32));
		CHECK(a[1].size == 16 && a[2].size == 16 && a[3].size == 8 && a[4].size == 0);
		CHECK(p->clauses[0].destructive);
	}
	p = compile(&w, "BEGIN { if (arg0) { trace(1); } else if (arg1) { trace(2); } trace(3); }");
	CHECK(p && p->nclauses == 1 && p->clauses[0].nactions == 6);
	if (p) { /* 0: BRANCH 3; trace; JUMP 5; 3: BRANCH 5 ... */
		dt_action *a = p->clauses[0].actions;
		CHECK(a[0].kind == DT_ACT_BRANCH && dt_control_target(&a[0]) == 3);
		CHECK(a[2].kind == DT_ACT_JUMP && dt_control_target(&a[2]) == 5);
		CHECK(a[3].kind == DT_ACT_BRANCH && dt_control_target(&a[3]) == 5);
	}
	p = compile(&w, "BEGIN { while (arg0) { if (arg1) break; trace(1); } trace(2); }");
	CHECK(p && p->clauses[0].nactions == 6);
	if (p) {
		dt_action *a = p->clauses[0].actions;
		CHECK(a[0].kind == DT_ACT_BRANCH && dt_control_target(&a[0]) == 5);
		CHECK(a[2].kind == DT_ACT_JUMP && dt_control_target(&a[2]) == 5);
		CHECK(a[4].kind == DT_ACT_AGAIN && dt_control_target(&a[4]) == 1 && a[4].difo);
	}
	close_world(&w);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400;

	test_contract();
	test_deep();
	test_common();
	test_registers_run_out();
	test_stores();
	test_convert();
	test_actions();
	test_random(8, rounds, 7);
	test_random(5, rounds, 7);
	test_random(4, rounds, 6);
	return unit_done();
}
