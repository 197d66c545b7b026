/*
 * compile_expr: a single expression, for the tables of stable probes.
 *
 * A stable probe is described in D: the condition under which the event counts, and the arguments
 * (probe/attach.h). This text is compiled when the probe is enabled, after the program, with the
 * same identifiers and types; so it may keep a value in a thread-local variable for a later event.
 */
#include "lang/compiler.h"

static const dt_probedesc nameless = {.prov = "", .mod = "", .func = "", .name = ""};

struct work {
	const char *text;
	struct dt_probe_args *args;
	dt_difo *difo;
};

static void compile(dt_compiler *cc, void *arg)
{
	struct work *w = arg;
	dt_node *n;

	cc->unjudged = 1;
	cc->shared->clause++;
	cc->desc = &nameless;
	cc->pargs = w->args;
	dt_lex_start(cc, w->text, strlen(w->text), LEX_EXPR);
	dt_lex_next(cc);
	n = dt_parse_expr(cc);
	if (cc->lex.tok.kind != T_EOF)
		dt_syntax(cc, NULL);
	n = dt_check(cc, n);
	if (!dt_type_is_scalar(n->type) && !dt_type_is_byref(n->type))
		dt_fail(cc, n->pos, D_OP_SCALAR, "%s is of type %s, which is not a value", w->text,
			dt_tname(cc, n->type));
	w->difo = dt_gen_expr(cc, n, true);
}

dt_difo *dt_compile_expr(dt_compiler *cc, const char *text, struct dt_probe_args *args,
			 dt_error *err)
{
	struct work w = {.text = text, .args = args};

	return dt_compile_run(cc, compile, &w, err) ? w.difo : NULL;
}
