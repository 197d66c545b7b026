/*
 * parse_stmt: statements.
 *
 *   statement := ";" | expression ";"
 *              | "if" "(" expression ")" body [ "else" body ]
 *              | "while" "(" expression ")" body
 *              | "do" body "while" "(" expression ")" ";"
 *              | "for" "(" [ expression ] ";" [ expression ] ";" [ expression ] ")" body
 *              | "switch" "(" expression ")" "{" { "case" constant ":" | "default" ":" | statement } "}"
 *              | "break" ";" | "continue" ";"
 *   body      := statement | "{" { statement } "}"
 */
#include "lang/decl.h"

dt_node *dt_parse_whole(dt_compiler *cc)
{
	dt_node *n;

	cc->nlinks = 0;
	n = dt_parse_expr(cc);
	dt_check_offsets(cc, n);
	return n;
}

/* Words of C that are not statements here: say so instead of "syntax error". */
static void reject_reserved(dt_compiler *cc)
{
	switch (cc->lex.tok.kind) {
	case T_GOTO:
	case T_RETURN: dt_syntax(cc, "D has no goto and no return: a clause runs to its end");
	case T_CASE:
	case T_DEFAULT: dt_syntax(cc, "case and default belong directly into the braces of a switch");
	case T_ELSE: dt_syntax(cc, "else without if");
	default:
		if (dt_is_type_keyword(cc->lex.tok.kind))
			dt_syntax(cc, "variables are declared outside of clauses");
	}
}

static dt_node *parse_statement(dt_compiler *cc);

/* A block or one statement; always a list, perhaps empty. */
static dt_node *parse_body(dt_compiler *cc)
{
	dt_node *list;

	if (cc->lex.tok.kind != '{')
		return parse_statement(cc);
	dt_lex_next(cc);
	list = dt_parse_statements(cc);
	dt_lex_expect(cc, '}', "}");
	return list;
}

static dt_node *parse_loop_body(dt_compiler *cc)
{
	dt_node *list;

	cc->in_loop++;
	cc->in_breakable++;
	list = parse_body(cc);
	cc->in_loop--;
	cc->in_breakable--;
	return list;
}

/* "(" expression ")" */
static dt_node *parse_condition(dt_compiler *cc)
{
	dt_node *n;

	dt_lex_expect(cc, '(', "(");
	n = dt_parse_whole(cc);
	dt_lex_expect(cc, ')', ")");
	return n;
}

/* The semicolon may be missing before '}'. */
static void expect_end(dt_compiler *cc)
{
	if (cc->lex.tok.kind != '}')
		dt_lex_expect(cc, ';', ";");
}

static dt_node *parse_expression(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_EXPR_STMT, cc->lex.tok.pos);

	n->l = dt_parse_whole(cc);
	return n;
}

static void parse_if(dt_compiler *cc, dt_node *n)
{
	n->kind = N_IF;
	n->c = parse_condition(cc);
	n->l = parse_body(cc);
	if (cc->lex.tok.kind == T_ELSE) {
		dt_lex_next(cc);
		n->r = parse_body(cc);
	}
}

static void parse_for(dt_compiler *cc, dt_node *n)
{
	dt_lex_expect(cc, '(', "(");
	if (cc->lex.tok.kind != ';')
		n->args = parse_expression(cc);
	dt_lex_expect(cc, ';', ";");
	if (cc->lex.tok.kind != ';')
		n->c = dt_parse_whole(cc);
	dt_lex_expect(cc, ';', ";");
	if (cc->lex.tok.kind != ')')
		n->r = parse_expression(cc);
	dt_lex_expect(cc, ')', ")");
	n->l = parse_loop_body(cc);
}

static void parse_do(dt_compiler *cc, dt_node *n)
{
	n->l = parse_loop_body(cc);
	if (cc->lex.tok.kind != T_WHILE)
		dt_syntax(cc, "syntax error: do must be followed by while after its statements");
	dt_lex_next(cc);
	n->c = parse_condition(cc);
	expect_end(cc);
}

/* "case" constant ":" or "default" ":" */
static dt_node *parse_case(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_CASE, cc->lex.tok.pos);
	bool is_default = cc->lex.tok.kind == T_DEFAULT;

	dt_lex_next(cc);
	if (!is_default) {
		cc->nlinks = 0;
		n->c = dt_parse_assign(cc);
	}
	dt_lex_expect(cc, ':', ":");
	return n;
}

static void parse_switch(dt_compiler *cc, dt_node *n)
{
	dt_node **last = &n->l;

	n->kind = N_SWITCH;
	n->c = parse_condition(cc);
	if (cc->lex.tok.kind != '{')
		dt_syntax(cc, "syntax error: switch must be followed by { and cases");
	dt_lex_next(cc);
	cc->in_breakable++;
	while (cc->lex.tok.kind != '}') {
		bool label = cc->lex.tok.kind == T_CASE || cc->lex.tok.kind == T_DEFAULT;

		if (!label && !n->l)
			dt_syntax(cc, "syntax error: the statements of a switch begin with a case");
		*last = label ? parse_case(cc) : parse_statement(cc);
		while (*last)
			last = &(*last)->next;
	}
	cc->in_breakable--;
	dt_lex_expect(cc, '}', "}");
}

static void parse_jump(dt_compiler *cc, dt_node *n)
{
	n->kind = N_JUMP;
	if (n->op == T_BREAK && !cc->in_breakable)
		dt_fail(cc, n->pos, D_SYNTAX, "break outside of a loop or switch");
	if (n->op == T_CONTINUE && !cc->in_loop)
		dt_fail(cc, n->pos, D_SYNTAX, "continue outside of a loop");
	expect_end(cc);
}

/* A statement that begins with the word at hand. */
static dt_node *parse_control(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_LOOP, cc->lex.tok.pos);

	n->op = cc->lex.tok.kind;
	dt_depth_enter(cc, n->pos);
	dt_lex_next(cc);
	switch (n->op) {
	case T_IF: parse_if(cc, n); break;
	case T_FOR: parse_for(cc, n); break;
	case T_DO: parse_do(cc, n); break;
	case T_SWITCH: parse_switch(cc, n); break;
	case T_BREAK:
	case T_CONTINUE: parse_jump(cc, n); break;
	default: /* while */
		n->c = parse_condition(cc);
		n->l = parse_loop_body(cc);
	}
	dt_depth_leave(cc);
	return n;
}

/* One statement with its semicolon. NULL: an empty one. */
static dt_node *parse_statement(dt_compiler *cc)
{
	dt_node *n;

	switch (cc->lex.tok.kind) {
	case ';': dt_lex_next(cc); return NULL;
	case T_IF:
	case T_WHILE:
	case T_DO:
	case T_FOR:
	case T_SWITCH:
	case T_BREAK:
	case T_CONTINUE: return parse_control(cc);
	default:
		if (dt_function_statement(cc, &n))
			return n;
		reject_reserved(cc);
		n = parse_expression(cc);
		expect_end(cc);
		return n;
	}
}

dt_node *dt_parse_statements(dt_compiler *cc)
{
	dt_node *first = NULL, **last = &first;

	while (cc->lex.tok.kind != '}') {
		*last = parse_statement(cc);
		while (*last) /* a declaration of local variables is several */
			last = &(*last)->next;
	}
	return first;
}
