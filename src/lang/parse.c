/*
 * parse: programs, clauses and probe descriptions.
 *
 *   program   := { declaration | translator | provider | clause | import | ";" }
 *   clause    := description { "," description } [ "/" expression "/" ] [ "{" statements "}" ]
 *
 * A clause is handed to dt_clause_compile() as soon as it is complete, so that the code after it
 * sees the variables it creates. Statements are in parse_stmt.c, expressions in parse_expr.c, declarations in decl*.c.
 */
#include "lang/decl.h"

/* ---- probe descriptions ---- */

struct expansion {
	dt_compiler *cc;
	dt_pos pos;
};

static const char *expand_field(void *arg, const char *field)
{
	const struct expansion *e = arg;

	return dt_macro_in_field(e->cc, e->pos, field);
}

void dt_parse_pdesc(dt_compiler *cc, const char *text, dt_pos pos, dt_probedesc *out)
{
	struct expansion e = {cc, pos};
	struct dt_pdesc_input in = {.text = text,
				    .last = DT_PDESC_NAME - (cc->src ? (int)cc->src->spec : 0),
				    .arena = cc->arena,
				    .machines = dt_opt(cc->opts, DT_O_MACHINES),
				    .expand = expand_field,
				    .arg = &e};
	dt_error why = {0};

	if (dt_pdesc_parse(&in, out, &why) < 0)
		dt_fail(cc, pos, D_PDESC_INVAL, "invalid probe description \"%.300s\": %s", text,
			why.text);
}

/* description { "," description } */
static dt_node *parse_descriptions(dt_compiler *cc)
{
	dt_node *first = NULL, **last = &first;

	for (;;) {
		dt_probedesc *desc;

		if (cc->lex.tok.kind != T_PSPEC)
			dt_syntax(cc, "syntax error: expected a probe description");
		*last = dt_node_new(cc, N_PDESC, cc->lex.tok.pos);
		(*last)->desc = desc = dt_arena_alloc(cc->arena, sizeof(*desc));
		dt_parse_pdesc(cc, cc->lex.tok.text, cc->lex.tok.pos, desc);
		last = &(*last)->next;
		dt_lex_next(cc);
		if (cc->lex.tok.kind != ',')
			return first;
		dt_lex_next(cc);
	}
}

/* ---- clauses ---- */

static void parse_predicate(dt_compiler *cc, dt_node *clause)
{
	cc->predicate = cc->lex.tok.pos.column;
	dt_lex_next(cc);
	clause->c = dt_parse_whole(cc);
	if (cc->lex.tok.kind != T_PRED_CLOSE)
		dt_syntax(cc, NULL);
	dt_lex_next(cc);
	if (cc->lex.tok.kind != '{')
		dt_syntax(cc, "syntax error: a predicate must be followed by { and actions");
}

/* Bare descriptions are for the command line. On return the last token of the clause is current:
 * '}', or the ';' or end of input after a bare description. */
static void parse_clause(dt_compiler *cc)
{
	dt_node *n = dt_node_new(cc, N_CLAUSE, cc->lex.tok.pos);
	const char *text = cc->lex.tok.text;

	n->args = parse_descriptions(cc);
	if (cc->lex.tok.kind == T_PSPEC)
		dt_syntax(cc,
			  "syntax error: \"%.60s\" is not the name of a type, and a probe "
			  "description must be followed by , / or {",
			  text);
	if (cc->lex.tok.kind == T_PRED_OPEN)
		parse_predicate(cc, n);
	if (cc->lex.tok.kind == '{') {
		n->flags |= NF_HAS_BODY;
		cc->body = cc->lex.tok.pos.column;
		dt_lex_next(cc);
		n->l = dt_parse_statements(cc);
	} else if (!cc->src || !cc->src->is_cmdline ||
		   (cc->lex.tok.kind != T_EOF && cc->lex.tok.kind != ';')) {
		dt_syntax(cc, NULL);
	}
	dt_clause_compile(cc, n);
}

/* ---- programs ---- */

static void parse_external(dt_compiler *cc)
{
	switch (cc->lex.tok.kind) {
	case ';': break;
	case T_PSPEC:
		*dt_vec_add(&cc->clause_starts, NULL) = cc->lex;
		parse_clause(cc);
		break;
	case T_TRANSLATOR: dt_parse_translator(cc); break;
	case T_PROVIDER: dt_parse_provider(cc); break;
	case T_IMPORT: dt_parse_import(cc); break;
	case T_MODULE: dt_parse_module(cc); break;
	default:
		if (cc->lex.mode != LEX_EXPR || cc->lex.tok.kind < 256)
			dt_syntax(cc, NULL);
		dt_parse_declaration(cc);
	}
}

void dt_parse_program(dt_compiler *cc)
{
	cc->nformals = 0;
	cc->assigned = NULL;
	for (;;) {
		cc->lex.mode = LEX_OUTER;
		cc->lex.in_predicate = false;
		cc->predicate = cc->body = 0;
		dt_lex_next(cc);
		if (cc->lex.tok.kind == T_EOF)
			return;
		parse_external(cc);
	}
}

void dt_parse_clauses_again(dt_compiler *cc)
{
	for (uint32_t i = 0; i < cc->clause_starts.n; i++) {
		cc->lex = cc->clause_starts.v[i];
		cc->nahead = 0;
		cc->predicate = cc->body = 0;
		parse_clause(cc);
	}
}
