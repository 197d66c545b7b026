/*
 * parse_expr: expressions; one function per level of the grammar, above each its rule.
 *
 * Binary operators are read by climbing the precedence table in node.c. Whether a parenthesis
 * begins a cast depends on what is inside: a type keyword or the name of a local type makes it one.
 * An unknown name is looked up among the kernel's types only if the text after it looks like a
 * cast: "(foo_t *)" or "(foo_t)" before an operand.
 */
#include "lang/decl.h"
#include "type/user.h"

static dt_node *parse_unary(dt_compiler *cc);

/* See DT_MAX_LINKS. The count starts again with each statement. */
static void add_link(dt_compiler *cc)
{
	if (++cc->nlinks > DT_MAX_LINKS)
		dt_syntax(cc, "expression too long: more than %d operators", DT_MAX_LINKS);
}

/* The source text of n begins at `from` and ends with the last token that was taken. */
static dt_node *written(dt_compiler *cc, dt_node *n, const char *from)
{
	n->from = from;
	n->written = (uint32_t)(cc->lex.end_before - from);
	return n;
}

/* ---- names known to be variables ---- */

#define NAME_BUCKETS 1024

/* A clause is checked after it is parsed, so the variables it creates are not identifiers yet when
 * "(x) - 1" must be distinguished from a cast. Assigned variables are remembered here. */
struct dt_name_set {
	struct name {
		const char *text;
		struct name *next;
	} * buckets[NAME_BUCKETS];
};

static struct name **find_assigned(dt_compiler *cc, const char *text)
{
	struct name **p = &cc->assigned->buckets[dt_hash_bytes(text, strlen(text)) % NAME_BUCKETS];

	while (*p && strcmp((*p)->text, text) != 0)
		p = &(*p)->next;
	return p;
}

static void note_assigned(dt_compiler *cc, const dt_node *n)
{
	struct name **p;

	if (n->kind != N_IDENT || n->scope)
		return;
	if (!cc->assigned)
		cc->assigned = dt_arena_alloc(cc->arena, sizeof(*cc->assigned));
	p = find_assigned(cc, n->name);
	if (*p)
		return;
	*p = dt_arena_alloc(cc->arena, sizeof(**p));
	(*p)->text = n->name;
}

static bool is_known_name(dt_compiler *cc, const char *text)
{
	int64_t value;
	dt_type *type;

	return (cc->assigned && *find_assigned(cc, text)) || dt_ident_find(cc, text, 0) ||
	       dt_enumerator_lookup(cc->types, text, false, &type, &value);
}

/* ---- lists ---- */

/* assignment { "," assignment } close; the current token is then the one after it */
static dt_node *parse_list(dt_compiler *cc, int close, const char *what)
{
	dt_node *first = NULL, **last = &first;

	for (;;) {
		*last = dt_parse_assign(cc);
		last = &(*last)->next;
		if (cc->lex.tok.kind != ',')
			break;
		dt_lex_next(cc);
	}
	dt_lex_expect(cc, close, what);
	return first;
}

/* "[" list "]" of a variable or an aggregation, if it is there. */
static void parse_keys(dt_compiler *cc, dt_node *n)
{
	if (cc->lex.tok.kind != '[')
		return;
	dt_lex_next(cc);
	n->args = parse_list(cc, ']', "]");
	n->flags |= NF_HAS_KEYS;
}

const char *dt_parse_member_name(dt_compiler *cc)
{
	const dt_token *t = &cc->lex.tok;
	const char *name = t->text ? dt_module_bare(cc, t->text) : NULL;
	bool keyword = t->kind >= T_KW_FIRST && t->kind <= T_KW_LAST;

	if ((t->kind != T_IDENT && !keyword) || t->module)
		dt_syntax(cc, "syntax error: expected the name of a member");
	dt_lex_next(cc);
	return name;
}

/* ---- primary expressions ---- */

/* <errno.h> makes errno a macro for (*__errno_location ()); with -C it still means D's own. */
static bool is_c_errno(const dt_node *n)
{
	return n->kind == N_CALL && !n->args && strcmp(n->name, "__errno_location") == 0;
}

/* name | name "(" [ list ] ")" | name "[" list "]" | module`name */
static dt_node *parse_ident(dt_compiler *cc)
{
	dt_token t = cc->lex.tok;
	dt_node *n = dt_node_new(cc, t.module ? N_SYM : N_IDENT, t.pos);

	n->name = t.text;
	n->module = t.module && *t.module ? t.module : NULL;
	dt_lex_next(cc);
	if (n->kind == N_SYM)
		return n;
	if (cc->lex.tok.kind != '(') {
		parse_keys(cc, n);
		return n;
	}
	n->kind = N_CALL;
	dt_lex_next(cc);
	if (cc->lex.tok.kind == ')')
		dt_lex_next(cc);
	else
		n->args = parse_list(cc, ')', ")");
	if (!is_c_errno(n))
		dt_call_ident(cc, n);
	return n;
}

static const char *parse_scoped_name(dt_compiler *cc)
{
	const char *full = cc->lex.tok.kind == T_IDENT ? cc->lex.tok.text : "", *name = dt_parse_member_name(cc);

	return strstr(full, "::") ? full : dt_module_private(cc, name);
}

/* ("self" | "this") "->" name [ "[" list "]" ] */
static dt_node *parse_scoped(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_IDENT, cc->lex.tok.pos);

	n->scope = cc->lex.tok.kind;
	dt_lex_next(cc);
	dt_lex_expect(cc, T_ARROW, "->");
	n->name = parse_scoped_name(cc);
	parse_keys(cc, n);
	return n;
}

/* "@" [ name ] [ "[" list "]" ] */
static dt_node *parse_aggregation(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_AGG, cc->lex.tok.pos);

	n->name = cc->lex.tok.text;
	dt_lex_next(cc);
	parse_keys(cc, n);
	if (cc->lex.tok.kind == '[')
		dt_fail(cc, cc->lex.tok.pos, D_AGG_MDIM,
			"aggregation @%s has one list of keys: write @%s[a, b], not @%s[a][b]",
			n->name, n->name, n->name);
	return n;
}

/* "offsetof" "(" type-name "," name { "." name } ")" */
static dt_node *parse_offsetof(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_OFFSETOF, cc->lex.tok.pos);

	dt_lex_next(cc);
	dt_lex_expect(cc, '(', "(");
	n->ctype = dt_parse_type_name(cc);
	dt_lex_expect(cc, ',', ",");
	n->name = dt_parse_member_name(cc);
	while (cc->lex.tok.kind == '.') {
		add_link(cc);
		dt_lex_next(cc);
		n->name = dt_arena_printf(cc->arena, "%s.%s", n->name, dt_parse_member_name(cc));
	}
	dt_lex_expect(cc, ')', ")");
	return n;
}

/* "xlate" "<" type-name ">" "(" expression ")" */
static dt_node *parse_xlate(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_XLATE, cc->lex.tok.pos);

	dt_lex_next(cc);
	dt_lex_expect(cc, '<', "<");
	n->ctype = dt_parse_type_name(cc);
	dt_lex_expect(cc, '>', ">");
	dt_lex_expect(cc, '(', "(");
	n->l = dt_parse_expr(cc);
	dt_lex_expect(cc, ')', ")");
	return n;
}

static dt_node *parse_constant(dt_compiler *cc)
{
	dt_token t = cc->lex.tok;
	dt_node *n;

	dt_lex_next(cc);
	if (t.kind == T_INT)
		return dt_node_int(cc, t.pos, t.ival, t.type);
	n = dt_node_new(cc, N_STRING, t.pos);
	n->str = t.text;
	n->len = t.len;
	return n;
}

static dt_node *parse_primary(dt_compiler *cc)
{
	dt_node *n;

	switch (cc->lex.tok.kind) {
	case T_INT:
	case T_STRING: return parse_constant(cc);
	case T_IDENT: return parse_ident(cc);
	case T_SELF:
	case T_THIS: return parse_scoped(cc);
	case T_AGG: return parse_aggregation(cc);
	case T_OFFSETOF: return parse_offsetof(cc);
	case T_XLATE: return parse_xlate(cc);
	case '(':
		dt_lex_next(cc);
		n = dt_parse_expr(cc);
		dt_lex_expect(cc, ')', ")");
		return n;
	default: dt_syntax(cc, NULL);
	}
}

/* ---- postfix ---- */

/* "[" expression "]" on something that is not a variable, or has its keys already */
static dt_node *parse_index(dt_compiler *cc, dt_node *l)
{
	dt_pos pos = cc->lex.tok.pos;
	dt_node *index;

	dt_lex_next(cc);
	index = parse_list(cc, ']', "]");
	if (index->next)
		dt_fail(cc, pos, D_ARR_BADREF,
			"a list of keys can only follow the name of an associative array");
	return dt_node_op2(cc, '[', l, index);
}

static dt_node *parse_member(dt_compiler *cc, dt_node *l)
{
	dt_node *n = dt_node_op2(cc, cc->lex.tok.kind, l, NULL);

	dt_lex_next(cc);
	n->pos = cc->lex.tok.pos;
	if (cc->lex.tok.kind == T_INT || cc->lex.tok.kind == T_STRING)
		dt_fail(cc, n->pos, D_OP_IDENT, "operator %s must be followed by an identifier",
			dt_op_text(n->op));
	n->name = dt_parse_member_name(cc);
	return n;
}

/* postfix := primary { "[" .. "]" | "." name | "->" name | "++" | "--" } */
static dt_node *parse_postfix(dt_compiler *cc)
{
	const char *from = cc->lex.tok.from;
	dt_node *n = parse_primary(cc);

	for (;; add_link(cc)) {
		written(cc, n, from);
		switch (cc->lex.tok.kind) {
		case '[': n = parse_index(cc, n); break;
		case '.':
		case T_ARROW: n = parse_member(cc, n); break;
		case T_INC:
		case T_DEC:
			note_assigned(cc, n);
			n = dt_node_op1(cc, cc->lex.tok.kind == T_INC ? T_POSTINC : T_POSTDEC, n);
			dt_lex_next(cc);
			break;
		case '(':
			dt_fail(cc, cc->lex.tok.pos, D_FUNC_IDENT,
				"only a function named by an identifier can be called");
		default: return n;
		}
	}
}

/* ---- casts and sizeof ---- */

/* Can a token begin the operand of a cast? Signs, '*' and '&' could also continue an expression;
 * they are considered last, if the name is not known otherwise. */
static bool begins_operand(int kind)
{
	switch (kind) {
	case T_IDENT:
	case T_INT:
	case T_STRING:
	case T_SELF:
	case T_THIS:
	case T_SIZEOF:
	case T_STRINGOF:
	case T_OFFSETOF:
	case T_XLATE:
	case '(':
	case '!':
	case '~':
	case '-':
	case '+':
	case '*':
	case '&': return true;
	default: return false;
	}
}

/* At '(': is a type inside? `operand`: must an operand follow (a cast), or not (sizeof)? */
static bool at_type_in_parens(dt_compiler *cc, bool operand)
{
	dt_token t = *dt_lex_peek(cc, 0);
	int after, then;

	if (dt_is_type_keyword(t.kind))
		return true;
	if (t.kind != T_IDENT)
		return false;
	for (uint32_t i = 0; i < cc->nformals; i++)
		if (cc->formals[i].name && strcmp(cc->formals[i].name, t.text) == 0)
			return false;
	if (!t.module) {
		if (dt_named_type(cc, NULL, t.text, false))
			return true;
		if (is_known_name(cc, t.text))
			return false;
	}
	after = dt_lex_peek(cc, 1)->kind;
	if (after == '[' && !operand && t.module) /* sizeof (mod`foo_t[2]) */
		return dt_named_type(cc, t.module, t.text, true) != NULL;
	if (after == '[' && !operand && dt_library_for(cc, t.text))
		return dt_named_type(cc, NULL, t.text, false) != NULL;
	if (after != ')' && after != '*')
		return false;
	then = dt_lex_peek(cc, 2)->kind;
	if (after == '*' ? then != '*' && then != ')' : operand && !begins_operand(then))
		return false;
	if (dt_named_type(cc, t.module, t.text, true))
		return true;
	if (after == '*' && then == ')' && dt_module_is_user(t.module))
		return true; /* dt_parse_type_name() will say why there is no such type */
	if (after == '*' && then == ')') /* can be nothing else */
		dt_fail(cc, t.pos, D_SYNTAX, "type \"%s\" is not known", t.text);
	return false;
}

/* "(" type-name ")" */
static dt_type *parse_type_in_parens(dt_compiler *cc)
{
	dt_type *t;

	dt_lex_next(cc);
	t = dt_parse_type_name(cc);
	dt_lex_expect(cc, ')', ")");
	return t;
}

static dt_node *parse_sizeof(dt_compiler *cc, dt_pos pos)
{
	dt_node *l;

	if (cc->lex.tok.kind == '(' && at_type_in_parens(cc, false)) {
		l = dt_node_new(cc, N_TYPE, pos);
		l->ctype = parse_type_in_parens(cc);
	} else {
		l = parse_unary(cc);
	}
	return dt_node_op1(cc, T_SIZEOF, l);
}

static dt_node *parse_cast(dt_compiler *cc)
{
	bool implied;
	dt_type *t;
	dt_node *n;

	dt_lex_next(cc);
	t = dt_parse_cast_type(cc, &implied);
	dt_lex_expect(cc, ')', ")");
	n = dt_node_op1(cc, '(', parse_unary(cc));
	n->ctype = t;
	if (implied)
		n->flags |= NF_IMPLIED_USER;
	return n;
}

/* ---- unary ---- */

static dt_node *d_errno(dt_compiler *cc, dt_pos pos)
{
	dt_node *n = dt_node_new(cc, N_IDENT, pos);

	n->name = "errno";
	return n;
}

static dt_node *parse_unary_inner(dt_compiler *cc)
{
	int op = cc->lex.tok.kind;
	const char *from = cc->lex.tok.from;
	dt_pos pos = cc->lex.tok.pos;
	dt_node *n;

	switch (op) {
	case '!':
	case '~':
	case '+':
	case '-':
	case '*':
	case '&':
	case T_INC:
	case T_DEC:
	case T_STRINGOF:
		dt_lex_next(cc);
		n = parse_unary(cc);
		n = op == '*' && is_c_errno(n) ? d_errno(cc, pos) : dt_node_op1(cc, op, n);
		break;
	case T_SIZEOF:
		dt_lex_next(cc);
		n = parse_sizeof(cc, pos);
		break;
	case T_ALIGNOF:
		dt_lex_next(cc);
		if (cc->lex.tok.kind != '(')
			dt_syntax(cc, NULL);
		n = dt_node_int(cc, pos, dt_type_align(cc->types, parse_type_in_parens(cc)),
				dt_intrinsics(cc->types)->size);
		break;
	case '(':
		if (!at_type_in_parens(cc, true))
			return parse_postfix(cc);
		n = parse_cast(cc);
		break;
	default: return parse_postfix(cc);
	}
	n->pos = pos;
	return written(cc, n, from);
}

/* unary := postfix | op unary | "(" type-name ")" unary | "sizeof" ... | "stringof" unary
 * Every nesting of expressions passes here once, so this is where depth is counted. */
static dt_node *parse_unary(dt_compiler *cc)
{
	dt_node *n;

	dt_depth_enter(cc, cc->lex.tok.pos);
	n = parse_unary_inner(cc);
	dt_depth_leave(cc);
	return n;
}

/* ---- binary, conditional, assignment, comma ---- */

/* Numbers and arithmetic with them: their value is known before any name is looked up. */
static bool is_number(const dt_node *n)
{
	switch (n->kind) {
	case N_INT: return true;
	case N_OP1:
		return (n->op == '-' || n->op == '~' || n->op == '!' || n->op == '+' ||
			(n->op == '(' && dt_type_is_integer(n->ctype))) &&
		       is_number(n->l);
	case N_OP2: return dt_op_prec(n->op) > 2 && is_number(n->l) && is_number(n->r);
	default: return false;
	}
}

static void check_divisor(dt_compiler *cc, dt_node *n)
{
	if (n->op != '/' && n->op != '%' && n->op != T_DIV_EQ && n->op != T_MOD_EQ)
		return;
	if (is_number(n->r))
		n->r = dt_check(cc, n->r);
	if (n->r->kind == N_INT && n->r->ival == 0)
		dt_fail(cc, n->pos, D_DIV_ZERO, "expression contains division by zero");
}

/* Operators of at least `min`; all of them associate to the left. */
static dt_node *parse_binary(dt_compiler *cc, int min)
{
	const char *from = cc->lex.tok.from;
	dt_node *l = parse_unary(cc);

	for (;; add_link(cc)) {
		int op = cc->lex.tok.kind, prec = dt_op_prec(op);
		dt_pos pos = cc->lex.tok.pos;
		if (prec < min)
			return l;
		dt_lex_next(cc);
		l = dt_node_op2(cc, op, l, parse_binary(cc, prec + 1));
		l->pos = pos;
		check_divisor(cc, l);
		written(cc, l, from);
	}
}

/* conditional := binary [ "?" expression ":" conditional ] */
static dt_node *parse_conditional(dt_compiler *cc)
{
	const char *from = cc->lex.tok.from;
	dt_node *c = parse_binary(cc, 3), *n;

	if (cc->lex.tok.kind != '?')
		return c;
	add_link(cc);
	dt_depth_enter(cc, cc->lex.tok.pos);
	n = dt_node_new(cc, N_OP3, cc->lex.tok.pos);
	dt_lex_next(cc);
	n->c = c;
	n->l = dt_parse_expr(cc);
	dt_lex_expect(cc, ':', ":");
	n->r = parse_conditional(cc);
	dt_depth_leave(cc);
	return written(cc, n, from);
}

/* alternatives := conditional { "??" conditional } */
static dt_node *parse_alternatives(dt_compiler *cc)
{
	dt_node *l = parse_conditional(cc), **last = &l;

	/* to the right: a ?? (b ?? c), so that the first that holds is found first */
	for (; cc->lex.tok.kind == T_OTHERWISE; last = &(*last)->r) {
		dt_pos pos = cc->lex.tok.pos;
		add_link(cc);
		dt_lex_next(cc);
		*last = dt_node_op2(cc, T_OTHERWISE, *last, parse_conditional(cc));
		(*last)->pos = pos;
	}
	return l;
}

/* assignment := alternatives [ "=" assignment ]   (and "+=" ...) */
dt_node *dt_parse_assign(dt_compiler *cc)
{
	const char *from = cc->lex.tok.from;
	dt_node *l = parse_alternatives(cc);
	int op = cc->lex.tok.kind;
	dt_pos pos = cc->lex.tok.pos;

	if (dt_op_prec(op) != 1)
		return l;
	add_link(cc);
	note_assigned(cc, l);
	dt_depth_enter(cc, pos);
	dt_lex_next(cc);
	l = dt_node_op2(cc, op, l, dt_parse_assign(cc));
	l->pos = pos;
	check_divisor(cc, l);
	dt_depth_leave(cc);
	return written(cc, l, from);
}

/* expression := assignment { "," assignment } */
dt_node *dt_parse_expr(dt_compiler *cc)
{
	const char *from = cc->lex.tok.from;
	dt_node *l = dt_parse_assign(cc);

	while (cc->lex.tok.kind == ',') {
		dt_pos pos = cc->lex.tok.pos;
		add_link(cc);
		dt_lex_next(cc);
		l = dt_node_op2(cc, ',', l, dt_parse_assign(cc));
		l->pos = pos;
		written(cc, l, from);
	}
	return l;
}
