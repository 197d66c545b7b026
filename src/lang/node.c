/*
 * node: making, copying and printing syntax trees.
 *
 * The operator table here is the only place that defines the spelling and precedence of operators;
 * both the parser and the printer use it.
 */
#include "lang/compiler.h"

/* ---- operators ---- */

/* By operator; text NULL: it is not a binary one. */
static const struct {
	int8_t prec;
	const char *text;
} binary_ops[] = {
    ['*'] = {13, "*"},	    ['/'] = {13, "/"},	       ['%'] = {13, "%"},
    ['+'] = {12, "+"},	    ['-'] = {12, "-"},	       [T_SHL] = {11, "<<"},
    [T_SHR] = {11, ">>"},   ['<'] = {10, "<"},	       [T_LE] = {10, "<="},
    ['>'] = {10, ">"},	    [T_GE] = {10, ">="},       [T_EQ] = {9, "=="},
    [T_NE] = {9, "!="},	    ['&'] = {8, "&"},	       ['^'] = {7, "^"},
    ['|'] = {6, "|"},	    [T_ANDAND] = {5, "&&"},    [T_XORXOR] = {4, "^^"},
    [T_OROR] = {3, "||"},   ['='] = {1, "="},	       [T_ADD_EQ] = {1, "+="},
    [T_SUB_EQ] = {1, "-="}, [T_MUL_EQ] = {1, "*="},    [T_DIV_EQ] = {1, "/="},
    [T_MOD_EQ] = {1, "%="}, [T_AND_EQ] = {1, "&="},    [T_XOR_EQ] = {1, "^="},
    [T_OR_EQ] = {1, "|="},  [T_SHL_EQ] = {1, "<<="},   [T_SHR_EQ] = {1, ">>="},
    [','] = {0, ","},	    [T_OTHERWISE] = {2, "??"},
};

/* Levels that the code names; those of unary operators and above are not in the table. */
enum { PREC_ASSIGN = 1, PREC_COND = 2, PREC_UNARY = 14, PREC_POSTFIX = 15, PREC_PRIMARY = 16 };

static const struct {
	int op;
	const char *text;
} unary_ops[] = {
    {'!', "!"},
    {'~', "~"},
    {T_INC, "++"},
    {T_DEC, "--"},
    {T_POSTINC, "++"},
    {T_POSTDEC, "--"},
    {T_SIZEOF, "sizeof "},
    {T_STRINGOF, "stringof "},
    {T_ARROW, "->"},
    {'.', "."},
    {'[', "["},
    {'(', "("},
};

static bool is_binary(int op)
{
	return op >= 0 && op < (int)DT_NELEM(binary_ops) && binary_ops[op].text;
}

int dt_op_prec(int op)
{
	return is_binary(op) ? binary_ops[op].prec : -1;
}

bool dt_is_assign_op(int op)
{
	return dt_op_prec(op) == PREC_ASSIGN;
}

bool dt_is_step_op(int op)
{
	return op == T_INC || op == T_DEC || op == T_POSTINC || op == T_POSTDEC;
}

const char *dt_op_text(int op)
{
	if (is_binary(op))
		return binary_ops[op].text;
	for (size_t i = 0; i < DT_NELEM(unary_ops); i++)
		if (unary_ops[i].op == op)
			return unary_ops[i].text;
	return "?";
}

/* ---- making ---- */

dt_node *dt_node_new(dt_compiler *cc, enum dt_nkind kind, dt_pos pos)
{
	dt_node *n = dt_arena_alloc(cc->arena, sizeof(*n));

	n->kind = kind;
	n->pos = pos;
	return n;
}

dt_node *dt_node_int(dt_compiler *cc, dt_pos pos, uint64_t v, dt_type *t)
{
	dt_node *n = dt_node_new(cc, N_INT, pos);

	n->ival = v;
	n->type = t;
	return n;
}

dt_node *dt_node_op1(dt_compiler *cc, int op, dt_node *l)
{
	dt_node *n = dt_node_new(cc, N_OP1, l->pos);

	n->op = op;
	n->l = l;
	return n;
}

dt_node *dt_node_op2(dt_compiler *cc, int op, dt_node *l, dt_node *r)
{
	dt_node *n = dt_node_new(cc, N_OP2, l->pos);

	n->op = op;
	n->l = l;
	n->r = r;
	return n;
}

uint32_t dt_node_count(const dt_node *n)
{
	uint32_t total = 0;

	for (; n; n = n->next)
		total += 1 + dt_node_count(n->c) + dt_node_count(n->l) + dt_node_count(n->r) + dt_node_count(n->args);
	return total;
}

dt_node *dt_node_copy_list(dt_compiler *cc, const dt_node *n)
{
	dt_node *first = NULL, **last = &first;

	for (; n; n = n->next) {
		*last = dt_node_copy(cc, n);
		last = &(*last)->next;
	}
	return first;
}

/* The node's own `next` is not copied; the lists below it are. */
dt_node *dt_node_copy(dt_compiler *cc, const dt_node *n)
{
	dt_node *copy;

	if (!n)
		return NULL;
	copy = dt_arena_dup(cc->arena, n, sizeof(*n));
	copy->next = NULL;
	copy->c = dt_node_copy_list(cc, n->c);
	copy->l = dt_node_copy_list(cc, n->l);
	copy->r = dt_node_copy_list(cc, n->r);
	copy->args = dt_node_copy_list(cc, n->args);
	return copy;
}

uint32_t dt_list_len(const dt_node *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

/* ---- recursion guard ---- */

void dt_depth_enter(dt_compiler *cc, dt_pos pos)
{
	if (++cc->depth > DT_MAX_DEPTH)
		dt_fail(cc, pos, D_SYNTAX, "nested too deeply: more than %d levels", DT_MAX_DEPTH);
}

void dt_depth_leave(dt_compiler *cc)
{
	cc->depth--;
}

/* ---- printing expressions ---- */

static void print_expr(dt_compiler *cc, const dt_node *n, int min, dt_buf *out);

static void print_list(dt_compiler *cc, const dt_node *list, dt_buf *out)
{
	for (const dt_node *n = list; n; n = n->next) {
		if (n != list)
			dt_buf_puts(out, ", ");
		print_expr(cc, n, 1, out);
	}
}

static void print_keys(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	if (!n->args && !(n->flags & NF_HAS_KEYS))
		return;
	dt_buf_putc(out, '[');
	print_list(cc, n->args, out);
	dt_buf_putc(out, ']');
}

static void print_int(const dt_node *n, dt_buf *out)
{
	if (n->type && !dt_type_is_signed(n->type))
		dt_buf_printf(out, "%llu", (unsigned long long)n->ival);
	else
		dt_buf_printf(out, "%lld", (long long)n->ival);
}

static void print_ident(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	int scope = n->scope;

	if (n->kind == N_VAR)
		scope = n->ident->scope == DT_SCOPE_THREAD  ? T_SELF
			: n->ident->scope == DT_SCOPE_LOCAL ? T_THIS
							    : 0;
	dt_buf_puts(out, scope == T_SELF ? "self->" : scope == T_THIS ? "this->" : "");
	dt_buf_puts(out, n->kind == N_VAR ? n->ident->name : n->name);
	print_keys(cc, n, out);
}

static void print_op1(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	if (n->op == T_POSTINC || n->op == T_POSTDEC) {
		print_expr(cc, n->l, PREC_POSTFIX, out);
		dt_buf_puts(out, dt_op_text(n->op));
		return;
	}
	if (n->op == '(') {
		dt_type *t = n->ctype ? n->ctype : n->type;
		dt_buf_printf(out, "(%s)", t ? dt_type_name(cc->types, t) : "?");
	} else {
		dt_buf_puts(out, dt_op_text(n->op));
	}
	/* "- -x" is not "--x" */
	if (n->l->kind == N_OP1 && strchr("+-&", n->op) &&
	    dt_op_text(n->l->op)[0] == dt_op_text(n->op)[0] && n->l->op != T_POSTINC &&
	    n->l->op != T_POSTDEC)
		dt_buf_putc(out, ' ');
	else if (n->op == '-' && n->l->kind == N_INT && (int64_t)n->l->ival < 0)
		dt_buf_putc(out, ' ');
	print_expr(cc, n->l, PREC_UNARY, out);
}

static void print_op2(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	int prec;

	switch (n->op) {
	case '.':
	case T_ARROW:
		print_expr(cc, n->l, PREC_POSTFIX, out);
		dt_buf_printf(out, "%s%s", dt_op_text(n->op), n->name);
		return;
	case '[':
		print_expr(cc, n->l, PREC_POSTFIX, out);
		dt_buf_putc(out, '[');
		print_expr(cc, n->r, 0, out);
		dt_buf_putc(out, ']');
		return;
	default: break;
	}
	prec = dt_op_prec(n->op);
	print_expr(cc, n->l, prec == 1 ? PREC_UNARY : prec, out);
	dt_buf_printf(out, n->op == ',' ? "%s " : " %s ", dt_op_text(n->op));
	print_expr(cc, n->r, prec == 1 ? 1 : prec + 1, out);
}

static int node_prec(const dt_node *n)
{
	switch (n->kind) {
	case N_OP1: return n->op == T_POSTINC || n->op == T_POSTDEC ? PREC_POSTFIX : PREC_UNARY;
	case N_OP2:
		return n->op == '.' || n->op == T_ARROW || n->op == '[' ? PREC_POSTFIX
									: dt_op_prec(n->op);
	case N_OP3: return PREC_COND;
	case N_INT: return (int64_t)n->ival < 0 ? PREC_UNARY : PREC_PRIMARY;
	default: return PREC_PRIMARY;
	}
}

static void print_bare(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	switch (n->kind) {
	case N_INT: print_int(n, out); break;
	case N_STRING:
		dt_buf_putc(out, '"');
		dt_buf_escape(out, n->str, n->len);
		dt_buf_putc(out, '"');
		break;
	case N_IDENT:
	case N_VAR: print_ident(cc, n, out); break;
	case N_SYM: dt_buf_printf(out, "%s`%s", n->module ? n->module : "", n->name); break;
	case N_CALL:
	case N_FUNC:
		dt_buf_printf(out, "%s(", n->name ? n->name : n->ident->name);
		print_list(cc, n->args, out);
		dt_buf_putc(out, ')');
		break;
	case N_AGG:
		dt_buf_printf(out, "@%s", strcmp(n->name, "_") == 0 ? "" : n->name);
		print_keys(cc, n, out);
		break;
	case N_OP1: print_op1(cc, n, out); break;
	case N_OP2: print_op2(cc, n, out); break;
	case N_OP3:
		print_expr(cc, n->c, PREC_COND + 1, out);
		dt_buf_puts(out, " ? ");
		print_expr(cc, n->l, 0, out);
		dt_buf_puts(out, " : ");
		print_expr(cc, n->r, PREC_COND, out);
		break;
	case N_TYPE: dt_buf_printf(out, "(%s)", dt_type_name(cc->types, n->ctype)); break;
	case N_OFFSETOF:
		dt_buf_printf(out, "offsetof(%s, %s)", dt_type_name(cc->types, n->ctype), n->name);
		break;
	case N_XLATE:
		dt_buf_printf(out, "xlate < %s > (", dt_type_name(cc->types, n->ctype));
		print_expr(cc, n->l, 0, out);
		dt_buf_putc(out, ')');
		break;
	default: break;
	}
}

/* In parentheses when it binds less tightly than `min`. */
static void print_expr(dt_compiler *cc, const dt_node *n, int min, dt_buf *out)
{
	bool parens = node_prec(n) < min;

	if (parens)
		dt_buf_putc(out, '(');
	print_bare(cc, n, out);
	if (parens)
		dt_buf_putc(out, ')');
}

/* ---- printing statements and clauses ---- */

static void indent(dt_buf *out, int level)
{
	while (level-- > 0)
		dt_buf_putc(out, '\t');
}

static void print_stmts(dt_compiler *cc, const dt_node *list, int level, dt_buf *out);

static void print_body(dt_compiler *cc, const dt_node *list, int level, dt_buf *out)
{
	dt_buf_puts(out, "{\n");
	print_stmts(cc, list, level + 1, out);
	indent(out, level);
	dt_buf_putc(out, '}');
}

/* word (c) */
static void print_condition(dt_compiler *cc, const char *word, const dt_node *c, dt_buf *out)
{
	dt_buf_printf(out, "%s (", word);
	print_expr(cc, c, 0, out);
	dt_buf_puts(out, ") ");
}

static void print_if(dt_compiler *cc, const dt_node *n, int level, dt_buf *out)
{
	print_condition(cc, "if", n->c, out);
	print_body(cc, n->l, level, out);
	if (n->r) {
		dt_buf_puts(out, " else ");
		print_body(cc, n->r, level, out);
	}
}

static void print_stmt(dt_compiler *cc, const dt_node *n, int level, dt_buf *out);

/* Between the parentheses of a for: usually one expression, but functions may have been put there. */
static void print_step(dt_compiler *cc, const dt_node *list, int level, dt_buf *out)
{
	for (const dt_node *n = list; n; n = n->next) {
		if (n->kind == N_EXPR_STMT)
			print_expr(cc, n->l, 0, out);
		else
			print_stmt(cc, n, level, out);
		if (n->next)
			dt_buf_puts(out, ", ");
	}
}

static void print_loop(dt_compiler *cc, const dt_node *n, int level, dt_buf *out)
{
	if (n->op == T_WHILE && !n->r) {
		print_condition(cc, "while", n->c, out);
		print_body(cc, n->l, level, out);
	} else if (n->op == T_DO) {
		dt_buf_puts(out, "do ");
		print_body(cc, n->l, level, out);
		dt_buf_puts(out, " while (");
		print_expr(cc, n->c, 0, out);
		dt_buf_puts(out, ");");
	} else {
		dt_buf_puts(out, "for (");
		print_step(cc, n->args, level, out);
		dt_buf_puts(out, "; ");
		if (n->c)
			print_expr(cc, n->c, 0, out);
		dt_buf_puts(out, "; ");
		print_step(cc, n->r, level, out);
		dt_buf_puts(out, ") ");
		print_body(cc, n->l, level, out);
	}
}

static void print_stmt(dt_compiler *cc, const dt_node *n, int level, dt_buf *out)
{
	switch (n->kind) {
	case N_IF: print_if(cc, n, level, out); break;
	case N_LOOP: print_loop(cc, n, level, out); break;
	case N_SWITCH:
		print_condition(cc, "switch", n->c, out);
		print_body(cc, n->l, level, out);
		break;
	case N_CASE:
		dt_buf_puts(out, n->c ? "case " : "default");
		if (n->c)
			print_expr(cc, n->c, 0, out);
		dt_buf_putc(out, ':');
		break;
	case N_JUMP: dt_buf_puts(out, n->op == T_BREAK ? "break;" : "continue;"); break;
	case N_RETURN: dt_buf_puts(out, "return;"); break;
	case N_BODY: print_body(cc, n->l, level, out); break;
	case N_INVOKE: dt_buf_printf(out, "%s();", n->name); break;
	case N_INVOKED:
		dt_buf_printf(out, "%s() ", n->name);
		print_body(cc, n->l, level, out);
		break;
	default:
		print_expr(cc, n->kind == N_EXPR_STMT ? n->l : n, 0, out);
		dt_buf_putc(out, ';');
	}
}

static void print_stmts(dt_compiler *cc, const dt_node *list, int level, dt_buf *out)
{
	for (const dt_node *n = list; n; n = n->next) {
		indent(out, n->kind == N_CASE ? level - 1 : level);
		print_stmt(cc, n, level, out);
		dt_buf_putc(out, '\n');
	}
}

static void print_pdesc(const dt_node *n, dt_buf *out)
{
	const dt_probedesc *d = n->desc;

	if (d->id)
		dt_buf_printf(out, "%u", d->id);
	else
		dt_buf_printf(out, "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
}

static void print_clause(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	for (const dt_node *d = n->args; d; d = d->next) {
		print_pdesc(d, out);
		dt_buf_puts(out, d->next ? ",\n" : "\n");
	}
	if (n->c) {
		dt_buf_putc(out, '/');
		print_expr(cc, n->c, 0, out);
		dt_buf_puts(out, "/\n");
	}
	dt_buf_puts(out, "{\n");
	print_stmts(cc, n->l, 1, out);
	dt_buf_puts(out, "}\n");
}

void dt_node_print(dt_compiler *cc, const dt_node *n, dt_buf *out)
{
	switch (n->kind) {
	case N_CLAUSE: print_clause(cc, n, out); break;
	case N_PDESC: print_pdesc(n, out); break;
	case N_IF:
	case N_LOOP:
	case N_SWITCH:
	case N_CASE:
	case N_JUMP:
	case N_RETURN:
	case N_BODY:
	case N_INVOKE:
	case N_INVOKED:
	case N_EXPR_STMT: print_stmt(cc, n, 0, out); break;
	default: print_expr(cc, n, 0, out);
	}
}
