/*
 * sub: a small language for subroutines that loop.
 *
 * String functions walk over bytes, and a loop in eBPF is a function that the bpf_loop helper
 * calls. Such code is unreadable as instructions, so it is written in lib.c as text, in a language
 * that looks like C, and compiled here into the program that needs it:
 *
 *	strchr(s, c) {
 *		n = str(A, s); i = 0;
 *		loop (n) { if (A[i] == c) break; i = i + 1; }
 *		if (i == n && c) return 0;
 *		return s + i;
 *	}
 *
 *   - All values are unsigned 64-bit. Variables need no declaration; they are words of
 *     the slot, so a loop body shares the variables of the enclosing function, and the verifier
 *     does not track them.
 *   - A B O T are byte buffers of a string's size, D one of 128 bytes, S the scratch memory.
 *     Outside a buffer there are zeros, and writes there do nothing.
 *   - loop (n) { ... } runs at most n times, break leaves it. return only outside loops.
 *   - Operators are C's, without assignment operators and ?:. Comparison is unsigned; slt(a, b) is
 *     signed.
 *   - field(dentry, d_name.len) is where a structure of the kernel has a member.
 *   - Built in: see the table in sub_builtin.c. fault(code); ends the subroutine with a fault.
 *   - A subroutine may call another (its arguments are written to the other's variables: no
 *     recursion).
 *
 * The texts are part of this program: an error in one is found by the first test that uses it, and
 * is reported as an internal error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bpf/code/sub_private.h"

/* ---- variables: words of the slot ---- */

/* Variables that last for the firing, not only for the call: the clauses of a probe may be several
 * BPF programs. */
static const struct {
	const char *name;
	int at;
} lasting[] = {{"S_TOKLIVE", S_TOKLIVE}, {"S_TOKLEN", S_TOKLEN}, {"S_TOKAT", S_TOKAT}};

static int var_at(struct sub *s, const char *name)
{
	uint32_t i;

	for (i = 0; i < DT_NELEM(lasting); i++)
		if (strcmp(lasting[i].name, name) == 0)
			return lasting[i].at;
	for (i = 0; i < s->nvars; i++)
		if (strcmp(s->vars[i], name) == 0)
			break;
	if (i == LOCALS_PER_FN) {
		dt_sub_bad(s, "too many variables");
		i = 0;
	}
	if (i == s->nvars)
		strcpy(s->vars[s->nvars++], name);
	return (int)(s->lib->locals + (s->base + i) * 8);
}

int dt_sub_temp(struct sub *s, uint32_t n)
{
	char name[NAME_MAX_LEN + 1];

	snprintf(name, sizeof(name), "%%%u", n);
	return var_at(s, name);
}

/* ---- buffers ---- */

static bool buffer_of(struct sub *s, const char *name, struct dt_sub_buffer *b)
{
	static const char names[] = "ABOTGP";
	const char *p;

	if (name[0] == 0 || name[1] != 0)
		return false;
	p = strchr(names, name[0]);
	if (p)
		*b = s->lib->buf[p - names];
	else if (name[0] == 'D')
		*b = (struct dt_sub_buffer){S_DIGITS, 128};
	else if (name[0] == 'S')
		*b = s->lib->scratch;
	else
		return false;
	return true;
}

/* ---- expressions: value in r0 ---- */

static void expr(struct sub *s);

static const char *source_of(const char *name)
{
	static const char *const *const libs[] = {dt_sub_sources, dt_sub_text_sources, dt_sub_cgroup_sources};
	size_t n = strlen(name);

	for (size_t l = 0; l < DT_NELEM(libs); l++)
		for (const char *const *s = libs[l]; *s; s++)
			if (strncmp(*s, name, n) == 0 && (*s)[n] == '(')
				return *s;
	return NULL;
}

static struct dt_sub_fn *libfn(dt_sub *lib, const char *name)
{
	const char *source = source_of(name);
	struct dt_sub_fn *f;
	char text[80];

	for (uint32_t i = 0; i < lib->fns.n; i++)
		if (strcmp(lib->fns.v[i].name, name) == 0)
			return &lib->fns.v[i];
	if (!source) {
		snprintf(text, sizeof(text), "internal: no subroutine \"%.40s\"", name);
		dt_sub_fail(lib, text);
	}
	f = dt_vec_add(&lib->fns, NULL);
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->source = source;
	f->func = dt_code_func_new(lib->c, name);
	f->locals = lib->nlocals;
	lib->nlocals += LOCALS_PER_FN;
	if (lib->nlocals > lib->most_locals)
		dt_sub_fail(lib, "too many different subroutines in one program");
	return f;
}

static uint32_t arguments(struct sub *s, uint32_t first)
{
	uint32_t n = 0;

	while (!dt_sub_is(s, ")") && s->kind != END) {
		s->temps++;
		expr(s);
		st(s->c, 8, R6, dt_sub_temp(s, first + n), R0);
		n++;
		if (!dt_sub_take(s, ","))
			break;
	}
	dt_sub_expect(s, ")");
	return n;
}

static void call_builtin(struct sub *s, const struct dt_sub_builtin *in)
{
	uint32_t first = s->temps;
	struct dt_sub_buffer b = {0};

	if (in->buffer) {
		if (s->kind != NAME || !buffer_of(s, s->name, &b))
			dt_sub_bad(s, "no buffer");
		dt_sub_next(s);
		if (in->nargs)
			dt_sub_expect(s, ",");
	}
	if (arguments(s, first) != in->nargs)
		dt_sub_bad(s, "arguments");
	in->emit(s, &b, first);
	s->temps = first;
}

/* peek(address, size): kernel memory, 0 when it cannot be read. The size is a number: 1, 2, 4 or 8. */
static void peek(struct sub *s)
{
	uint64_t size;

	expr(s);
	dt_sub_expect(s, ",");
	if (s->kind != NUM || s->num == 0 || s->num > 8)
		dt_sub_bad(s, "size");
	size = s->num;
	dt_sub_next(s);
	dt_sub_expect(s, ")");
	mov(s->c, R3, R0);
	dt_slot_lea(s->c, R1, S_TMP);
	movi(s->c, R2, (int32_t)size);
	helper(s->c, BPF_FUNC_probe_read_kernel); /* leaves zeros when it fails */
	ld(s->c, (uint32_t)size, R0, R6, S_TMP);
}

static void call(struct sub *s, const char *name)
{
	const struct dt_sub_builtin *in = dt_sub_builtin_find(name);
	uint32_t first = s->temps, n;
	struct dt_sub_fn f;

	if (in) {
		call_builtin(s, in);
		return;
	}
	n = arguments(s, first);
	f = *libfn(s->lib, name);
	for (uint32_t i = 0; i < n; i++) {
		ld(s->c, 8, R0, R6, dt_sub_temp(s, first + i));
		st(s->c, 8, R6, (int)(s->lib->locals + (f.locals + i) * 8), R0);
	}
	s->temps = first;
	mov(s->c, R1, R6);
	dt_code_call(s->c, f.func);
	dt_sub_stop_if_faulted(s);
}

/* BUF[i], i in r0: zero outside */
static void byte_load(struct sub *s, const struct dt_sub_buffer *b)
{
	uint32_t out = dt_code_label(s->c);

	mov(s->c, R1, R0);
	movi(s->c, R0, 0);
	jmpi(s->c, BPF_JGE, R1, (int32_t)b->size, out);
	alui(s->c, BPF_ADD, R1, (int32_t)b->off);
	alu(s->c, BPF_ADD, R1, R6);
	ld(s->c, 1, R0, R1, 0);
	dt_code_place(s->c, out);
}

/* field(STRUCT, MEMBER.MEMBER...) */
static void field(struct sub *s)
{
	char type[NAME_MAX_LEN + 1], path[3 * NAME_MAX_LEN] = "";
	uint32_t off = 0;

	strcpy(type, s->name);
	dt_sub_next(s);
	dt_sub_expect(s, ",");
	do {
		if (strlen(path) + strlen(s->name) + 2 > sizeof(path))
			dt_sub_bad(s, "long member");
		else
			strcat(strcat(path, *path ? "." : ""), s->name);
		dt_sub_next(s);
	} while (dt_sub_take(s, ".") && s->kind == NAME);
	dt_sub_expect(s, ")");
	if (s->lib->field(s->lib->arg, type, path, &off) == 0)
		movq(s->c, R0, off);
	else
		s->lib->failed = true;
}

static void primary(struct sub *s)
{
	char name[NAME_MAX_LEN + 1];
	struct dt_sub_buffer b;

	if (s->kind == NUM) {
		movq(s->c, R0, s->num);
		dt_sub_next(s);
	} else if (dt_sub_take(s, "(")) {
		expr(s);
		dt_sub_expect(s, ")");
	} else if (s->kind == NAME) {
		strcpy(name, s->name);
		dt_sub_next(s);
		if (strcmp(name, "STRSIZE") == 0) {
			movq(s->c, R0, s->lib->strsize);
		} else if (strcmp(name, "NSPEC") == 0) {
			movq(s->c, R0, s->lib->nspecs);
		} else if (dt_sub_is(s, "[") && buffer_of(s, name, &b)) {
			dt_sub_next(s);
			expr(s);
			dt_sub_expect(s, "]");
			byte_load(s, &b);
		} else if (dt_sub_take(s, "(")) {
			if (strcmp(name, "field") == 0)
				field(s);
			else if (strcmp(name, "peek") == 0)
				peek(s);
			else
				call(s, name);
		} else {
			ld(s->c, 8, R0, R6, var_at(s, name));
		}
	} else {
		dt_sub_bad(s, "expression");
	}
}

static void unary(struct sub *s)
{
	if (dt_sub_take(s, "!")) {
		unary(s);
		dt_sub_test(s, BPF_JEQ);
	} else if (dt_sub_take(s, "-")) {
		unary(s);
		dt_sub_settle(s);
		dt_code_insn(s->c, BPF_ALU64 | BPF_NEG, R0, 0, 0, 0);
	} else {
		primary(s);
	}
}

static void level(struct sub *s, int n);

/*
 * r0 = r0 op the operand that follows. The left one waits in a temp, unless the right one turns out to be
 * a single instruction, a constant or a variable: then it can have r1 at once, and the kernel has less to
 * verify.
 */
static void right_side(struct sub *s, size_t i)
{
	dt_code *c = s->c;
	struct bpf_insn last;
	uint32_t at;

	dt_sub_settle(s);
	at = c->insns.n;
	st(c, 8, R6, dt_sub_temp(s, s->temps++), R0);
	level(s, dt_sub_binary[i].level + 1);
	dt_sub_settle(s);
	last = c->insns.v[c->insns.n - 1];
	s->temps--;
	if (c->insns.n == at + 2 && last.code == (BPF_ALU64 | BPF_MOV | BPF_K)) {
		c->insns.n = at;
		dt_sub_apply(s, i, &last.imm);
		return;
	}
	if (c->insns.n == at + 2 && last.code == (BPF_LDX | BPF_MEM | BPF_DW)) {
		c->insns.n = at;
		ld(c, 8, R1, last.src_reg, last.off);
	} else {
		mov(c, R1, R0);
		ld(c, 8, R0, R6, dt_sub_temp(s, s->temps));
	}
	dt_sub_apply(s, i, NULL);
}

/* r0 = 0 or 1 */
static void settle_truth(struct sub *s)
{
	if (!s->test.op)
		dt_sub_test(s, BPF_JNE);
	dt_sub_settle(s);
}

static void level(struct sub *s, int n)
{
	uint32_t out;
	size_t i;

	if (n > DT_SUB_TIGHTEST) {
		unary(s);
		return;
	}
	level(s, n + 1);
	for (;;) {
		for (i = 0; i < DT_SUB_OPERATORS; i++)
			if (dt_sub_binary[i].level == n && dt_sub_is(s, dt_sub_binary[i].op))
				break;
		if (i == DT_SUB_OPERATORS)
			return;
		dt_sub_next(s);
		if (n <= 1) { /* r0 is kept if it decides */
			out = dt_code_label(s->c);
			settle_truth(s);
			jmpi(s->c, n == 0 ? BPF_JNE : BPF_JEQ, R0, 0, out);
			level(s, n + 1);
			settle_truth(s);
			dt_code_place(s->c, out);
			continue;
		}
		right_side(s, i);
	}
}

static void expr(struct sub *s)
{
	level(s, 0);
	dt_sub_settle(s);
}

/* Does an || follow in the parentheses that we are in? */
static bool or_follows(const struct sub *s)
{
	int depth = dt_sub_is(s, "(");

	for (const char *p = s->p; *p && depth >= 0; p++) {
		depth += (*p == '(') - (*p == ')');
		if (depth == 0 && p[0] == '|' && p[1] == '|')
			return true;
	}
	return false;
}

/* To `no` if the expression is false. */
static void condition(struct sub *s, uint32_t no)
{
	uint32_t yes = dt_code_label(s->c), other;
	bool more;

	do {
		more = or_follows(s);
		other = more ? dt_code_label(s->c) : no;
		level(s, 2);
		while (dt_sub_take(s, "&&")) {
			dt_sub_jump(s, false, other);
			level(s, 2);
		}
		dt_sub_jump(s, more, more ? yes : no);
		if (more)
			dt_code_place(s->c, other);
	} while (dt_sub_take(s, "||"));
	dt_code_place(s->c, yes);
}

/* ---- statements ---- */

static void statement(struct sub *s);

static void block(struct sub *s)
{
	if (!dt_sub_take(s, "{")) {
		statement(s);
		return;
	}
	while (!dt_sub_is(s, "}") && s->kind != END)
		statement(s);
	dt_sub_expect(s, "}");
}

static void skip_block(struct sub *s)
{
	int depth = 0;

	do {
		depth += dt_sub_is(s, "{");
		depth -= dt_sub_is(s, "}");
		dt_sub_next(s);
	} while (depth > 0 && s->kind != END);
}

/*	*(u64 *)(fp - 8) = slot; bpf_loop(n, body, fp - 8, 0) */
static void loop(struct sub *s)
{
	dt_code *c = s->c;
	const char *body;
	uint32_t func;

	dt_sub_expect(s, "(");
	expr(s);
	mov(c, R1, R0);
	if (!dt_sub_is(s, ")"))
		dt_sub_bad(s, ")");
	body = s->p;
	dt_sub_next(s);
	func = dt_code_func_new(c, "loop");
	st(c, 8, R10, -8, R6);
	dt_code_func_addr(c, R2, func);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -8);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
	dt_sub_stop_if_faulted(s);
	if (s->npending == DT_NELEM(s->pending)) {
		dt_sub_bad(s, "too many loops");
		return;
	}
	s->pending[s->npending].at = body;
	s->pending[s->npending++].func = func;
	skip_block(s);
}

static void conditional(struct sub *s)
{
	uint32_t no = dt_code_label(s->c), done;

	dt_sub_expect(s, "(");
	condition(s, no);
	dt_sub_expect(s, ")");
	s->dead = false;
	block(s);
	if (dt_sub_is_word(s, "else")) {
		bool dead = s->dead;

		dt_sub_next(s);
		done = dt_code_label(s->c);
		if (!dead)
			ja(s->c, done);
		dt_code_place(s->c, no);
		s->dead = false;
		block(s);
		dt_code_place(s->c, done);
		s->dead = s->dead && dead;
		return;
	}
	dt_code_place(s->c, no);
	s->dead = false;
}

static void assignment(struct sub *s)
{
	char name[NAME_MAX_LEN + 1];
	struct dt_sub_buffer b;
	uint32_t out;

	strcpy(name, s->name);
	dt_sub_next(s);
	if (dt_sub_is(s, "[") && buffer_of(s, name, &b)) {
		dt_sub_next(s);
		expr(s);
		dt_sub_expect(s, "]");
		dt_sub_expect(s, "=");
		st(s->c, 8, R6, dt_sub_temp(s, s->temps++), R0);
		expr(s);
		ld(s->c, 8, R1, R6, dt_sub_temp(s, --s->temps));
		out = dt_code_label(s->c);
		jmpi(s->c, BPF_JGE, R1, (int32_t)b.size, out);
		alui(s->c, BPF_ADD, R1, (int32_t)b.off);
		alu(s->c, BPF_ADD, R1, R6);
		st(s->c, 1, R1, 0, R0);
		dt_code_place(s->c, out);
	} else {
		dt_sub_expect(s, "=");
		expr(s);
		st(s->c, 8, R6, var_at(s, name), R0);
	}
	dt_sub_expect(s, ";");
}

static void statement(struct sub *s)
{
	if (s->kind != NAME) {
		dt_sub_bad(s, "statement");
	} else if (dt_sub_is_word(s, "if")) {
		dt_sub_next(s);
		conditional(s);
	} else if (dt_sub_is_word(s, "loop")) {
		dt_sub_next(s);
		loop(s);
	} else if (dt_sub_is_word(s, "break")) {
		dt_sub_next(s);
		dt_sub_expect(s, ";");
		movi(s->c, R0, 1);
		leave(s->c);
		s->dead = true;
	} else if (dt_sub_is_word(s, "return")) {
		dt_sub_next(s);
		expr(s);
		dt_sub_expect(s, ";");
		leave(s->c);
		s->dead = true;
		if (s->in_loop)
			dt_sub_bad(s, "return inside a loop");
	} else if (dt_sub_is_word(s, "fault")) {
		dt_sub_next(s);
		dt_sub_expect(s, "(");
		sti(s->c, 4, R6, S_FAULT, (int32_t)s->num + 1);
		sti(s->c, 8, R6, S_FVALUE, 0);
		dt_sub_next(s);
		dt_sub_expect(s, ")");
		dt_sub_expect(s, ";");
		s->stops = true;
		ja(s->c, s->stop);
		s->dead = true;
	} else {
		assignment(s);
	}
}

/* ---- functions ---- */

static void end_function(struct sub *s)
{
	if (!s->dead) {
		movi(s->c, R0, 0);
		leave(s->c);
	}
	if (s->stops) {
		dt_code_place(s->c, s->stop);
		movi(s->c, R0, s->in_loop);
		leave(s->c);
	}
}

static void begin_function(struct sub *s, uint32_t func, bool in_loop)
{
	if (in_loop)
		dt_code_func_begin(s->c, func); /* the kernel requires callbacks to be static */
	else
		dt_code_func_begin_global(s->c, func, 1);
	s->stop = dt_code_label(s->c);
	s->stops = s->dead = false;
	s->in_loop = in_loop;
	s->temps = in_loop ? s->temps : 0;
}

static void compile(dt_sub *lib, const struct dt_sub_fn *f)
{
	struct sub s = {.lib = lib, .c = lib->c, .p = f->source, .base = f->locals};

	dt_sub_next(&s);
	dt_sub_next(&s);
	dt_sub_expect(&s, "(");
	while (s.kind == NAME) {
		var_at(&s, s.name);
		dt_sub_next(&s);
		dt_sub_take(&s, ",");
	}
	dt_sub_expect(&s, ")");
	begin_function(&s, f->func, false);
	mov(s.c, R6, R1);
	block(&s);
	end_function(&s);
	for (; s.ndone < s.npending; s.ndone++) {
		/* A loop body must not use the temps of expressions around it: it has its own above
		 * them. */
		s.temps = 0;
		s.p = s.pending[s.ndone].at;
		dt_sub_next(&s);
		begin_function(&s, s.pending[s.ndone].func, true);
		ld(s.c, 8, R6, R2, 0);
		block(&s);
		end_function(&s);
	}
}

uint32_t dt_sub_args(dt_sub *lib, const char *name)
{
	return lib->locals + libfn(lib, name)->locals * 8;
}

uint32_t dt_sub_func(dt_sub *lib, const char *name)
{
	return libfn(lib, name)->func;
}

void dt_sub_emit(dt_sub *lib)
{
	for (uint32_t i = 0; i < lib->fns.n && !lib->failed; i++) { /* compiling may add more */
		struct dt_sub_fn f = lib->fns.v[i];

		if (f.source)
			compile(lib, &f);
	}
}
