/*
 * compile: drives the compiler, and handles all errors.
 *
 * dt_compile() parses the source; the parser passes on each clause as soon as it is complete
 * (dt_clause_compile), so that a declaration or a first assignment is known to the code after it.
 * dt_fail() fills in the error and unwinds by longjmp. Memory belongs to the arena, so nothing
 * leaks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lang/compiler.h"
#include "lang/split.h"

/* An arena this large means a hostile or broken program, not a long one. */
#define MEMORY_LIMIT ((size_t)1 << 30)

static void out_of_memory(void *arg)
{
	dt_compiler *cc = ((struct dt_shared *)arg)->active;

	dt_err(cc->err, EDT_NOMEM, "the program needs more than %zu MB to compile",
	       MEMORY_LIMIT >> 20);
	longjmp(cc->jmp, 1);
}

dt_compiler *dt_compiler_new(dt_types *ts, dt_options *opts, struct dt_macros *macros,
			     const struct dt_probe_source *probes)
{
	dt_compiler *cc = dt_xcalloc(1, sizeof(*cc));

	cc->shared = dt_xcalloc(1, sizeof(*cc->shared));
	cc->arena = dt_arena_new();
	cc->scratch = dt_arena_new();
	cc->types = ts;
	cc->opts = opts;
	cc->macros = macros;
	cc->probes = *probes;
	cc->shared->defined = dt_map_new();
	cc->shared->xlators = dt_map_new();
	cc->shared->providers = dt_map_new();
	cc->generation = cc->shared->generation = 1; /* 0: never */
	dt_idents_init(cc);
	return cc;
}

void dt_compiler_free(dt_compiler *cc)
{
	if (!cc)
		return;
	dt_map_free(cc->shared->globals);
	dt_map_free(cc->shared->thread_locals);
	dt_map_free(cc->shared->clause_locals);
	dt_map_free(cc->shared->aggs);
	dt_map_free(cc->shared->defined);
	dt_map_free(cc->shared->xlators);
	dt_map_free(cc->shared->providers);
	dt_map_free(cc->shared->kept);
	dt_modules_free(cc->shared);
	dt_arena_free(cc->scratch);
	dt_arena_free(cc->arena);
	free(cc->shared);
	free(cc);
}

/* Command-line programs are mostly one line, where a line number is useless: name the part. */
static const char *error_region(const dt_compiler *cc, dt_pos pos)
{
	if (!cc->one_line)
		return NULL;
	if (pos.line && cc->body && pos.column > cc->body)
		return "in action list: ";
	if (pos.line && cc->predicate && pos.column > cc->predicate)
		return "in predicate: ";
	return "";
}

void dt_fail(dt_compiler *cc, dt_pos pos, enum dt_tag tag, const char *fmt, ...)
{
	dt_error *e = cc->err;
	va_list ap;

	memset(e, 0, sizeof(*e));
	e->code = EDT_COMPILER;
	e->tag = tag;
	e->pos = pos;
	e->region = error_region(cc, pos);
	dt_lex_source_line(cc, pos, e->source, sizeof(e->source));
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	longjmp(cc->jmp, 1);
}

void dt_fail_error(dt_compiler *cc, dt_pos pos, const dt_error *e, enum dt_tag tag)
{
	dt_fail(cc, pos, e->tag ? e->tag : tag, "%s", e->text[0] ? e->text : dt_strerror(e->code));
}

/* ---- one compile ---- */

static void set_limits(dt_compiler *cc, size_t limit)
{
	dt_arena *arenas[] = {cc->arena, cc->scratch, dt_types_arena(cc->types)};

	for (size_t i = 0; i < DT_NELEM(arenas); i++)
		dt_arena_set_limit(arenas[i], limit, limit ? out_of_memory : NULL, cc->shared);
}

static void start(dt_compiler *cc, const dt_compiler *handle, dt_error *err)
{
	*cc = (dt_compiler){.shared = handle->shared,
			    .arena = handle->arena,
			    .scratch = handle->scratch,
			    .types = handle->types,
			    .opts = handle->opts,
			    .macros = handle->macros,
			    .probes = handle->probes,
			    .dump_parsed = handle->dump_parsed,
			    .dump_sugar = handle->dump_sugar,
			    .err = err,
			    .outer = handle->shared->active,
			    .generation = ++handle->shared->generation,
			    .pragmas = dt_map_new()};
	memset(err, 0, sizeof(*err));
	if (!cc->outer)
		set_limits(cc, MEMORY_LIMIT);
	cc->shared->active = cc;
}

static void finish(dt_compiler *cc)
{
	cc->shared->active = cc->outer;
	if (!cc->outer)
		set_limits(cc, 0);
	dt_map_free(cc->pragmas);
	dt_module_end(cc);
	dt_vec_free(&cc->undo);
	dt_vec_free(&cc->functions);
	dt_vec_free(&cc->clauses);
	dt_vec_free(&cc->clause_starts);
	dt_vec_free(&cc->prog_providers);
	dt_arena_free(cc->aside);
}

/* A separate function, so that no variable here changes between setjmp() and longjmp(). */
static bool attempt(dt_compiler *cc, dt_work_f *work, void *arg)
{
	if (setjmp(cc->jmp) != 0)
		return false;
	work(cc, arg);
	return true;
}

bool dt_compile_run(const dt_compiler *handle, dt_work_f *work, void *arg, dt_error *err)
{
	dt_compiler cc;
	bool ok;

	start(&cc, handle, err);
	ok = attempt(&cc, work, arg);
	if (!ok) {
		dt_idents_undo(&cc);
		dt_definitions_undo(&cc);
		dt_xlators_undo(&cc);
		dt_providers_undo(&cc);
	}
	finish(&cc);
	return ok;
}

/* ---- one program ---- */

/* The name of a command-line program: its text up to the first of { / ; */
static const char *program_name(dt_compiler *cc, const struct dt_source *src)
{
	char *text;

	if (src->name)
		return dt_arena_strdup(cc->arena, src->name);
	text = dt_arena_strndup(cc->arena, src->text, src->len);
	text[strcspn(text, "{/;")] = 0;
	return text;
}

static void start_program(dt_compiler *cc, const struct dt_source *src)
{
	cc->src = src;
	cc->one_line = src->is_cmdline && !memchr(src->text, '\n', src->len);
	cc->prog = dt_arena_alloc(cc->arena, sizeof(*cc->prog));
	cc->prog->name = program_name(cc, src);
	cc->prog->is_script = !src->is_cmdline;
	cc->prog->options = cc->opts;
}

/* ---- variables that became wider after code was generated ---- */

#define MAX_ROUNDS 16 /* y = x; x = w; w = wide: each tells the one before it */

static bool has_widened(dt_compiler *cc)
{
	bool widened = false;

	for (uint32_t i = 0; i < cc->undo.n; i++) {
		widened = widened || (cc->undo.v[i]->flags & IDF_WIDENED);
		cc->undo.v[i]->flags &= ~(uint32_t)IDF_WIDENED;
	}
	return widened;
}

/* No program is written like this; but then they are as wide as can be. */
static void widen_all(dt_compiler *cc)
{
	for (uint32_t i = 0; i < cc->undo.n; i++) {
		dt_ident *id = cc->undo.v[i];

		if ((id->flags & IDF_WIDENS) && dt_type_is_integer(id->type) &&
		    dt_type_size(cc->types, id->type) < 8)
			id->type = dt_intrinsics(cc->types)->int64;
	}
}

/* All clauses once more, with the types that the variables have now. */
static void compile_again(dt_compiler *cc, uint32_t nconditions)
{
	for (uint32_t i = 0; i < cc->undo.n; i++)
		if (cc->undo.v[i]->kind == ID_AGG)
			cc->undo.v[i]->agg->func = DT_ACT_NONE; /* its first use says what its keys are */
	cc->dump_parsed = cc->dump_sugar = NULL;
	cc->shared->nconditions = nconditions;
	cc->nsource_clauses = cc->ndescribed = 0;
	cc->clauses.n = 0;
	dt_parse_clauses_again(cc);
	if (cc->need_error_clause)
		dt_clause_compile(cc, dt_sugar_error_clause(cc));
}

/* nconditions: as it was before the program */
static void settle_variables(dt_compiler *cc, uint32_t nconditions)
{
	for (uint32_t round = 0; has_widened(cc) || cc->kept_grew; round++) {
		if (round == MAX_ROUNDS)
			widen_all(cc);
		cc->kept_grew = false;
		compile_again(cc, nconditions);
	}
}


static void finish_program(dt_compiler *cc)
{
	dt_program *p = cc->prog;

	if (cc->clauses.n == 0 && cc->prog_providers.n == 0 && !cc->src->is_library &&
	    !dt_opt(cc->opts, DT_O_EMPTY))
		dt_fail(cc, (dt_pos){0}, D_EMPTY, "empty D program translation unit");
	p->nclauses = cc->clauses.n;
	p->clauses = dt_arena_dup(cc->arena, cc->clauses.v, cc->clauses.n * sizeof(dt_clause));
	p->nproviders = cc->prog_providers.n;
	p->providers = dt_arena_alloc(cc->arena, (p->nproviders + 1) * sizeof(*p->providers));
	for (uint32_t i = 0; i < p->nproviders; i++)
		p->providers[i] = cc->prog_providers.v[i]->decl;
	p->desc_attr = p->stmt_attr = dt_best_attr;
	for (uint32_t i = 0; i < p->nclauses; i++) {
		p->desc_attr = dt_attr_min(p->desc_attr, p->clauses[i].desc_attr);
		p->stmt_attr = dt_attr_min(p->stmt_attr, p->clauses[i].stmt_attr);
	}
}

struct program_work {
	const struct dt_source *src;
	struct dt_macros none; /* a library sees no arguments */
	dt_program *prog;
};

static void compile_source(dt_compiler *cc, void *arg)
{
	struct program_work *w = arg;
	uint32_t nconditions = cc->shared->nconditions;

	if (w->src->is_library) {
		w->none.target = cc->macros ? cc->macros->target : 0;
		cc->macros = &w->none;
		cc->dump_parsed = cc->dump_sugar = NULL;
	}
	dt_types_set_strsize(cc->types, dt_opt(cc->opts, DT_O_STRSIZE));
	start_program(cc, w->src);
	if (w->src->module)
		dt_module_start(cc);
	dt_lex_start(cc, w->src->text, w->src->len, LEX_OUTER);
	dt_parse_program(cc);
	if (cc->need_error_clause)
		dt_clause_compile(cc, dt_sugar_error_clause(cc));
	settle_variables(cc, nconditions);
	dt_pragma_check_unused(cc);
	if (!w->src->is_library)
		dt_macro_check_unused(cc);
	finish_program(cc);
	if (cc->module)
		dt_module_finish(cc);
	w->prog = cc->prog;
}

dt_program *dt_compile(dt_compiler *cc, const struct dt_source *src, dt_error *err)
{
	struct program_work w = {.src = src};
	bool nested = src->is_library && cc->shared->active;
	bool hidden = dt_types_hide_headers(cc->types, nested);

	dt_compile_run(cc, compile_source, &w, err);
	dt_types_hide_headers(cc->types, hidden);
	return w.prog;
}

struct type_work {
	const char *text;
	dt_type *type;
};

static void compile_type(dt_compiler *cc, void *arg)
{
	struct type_work *w = arg;

	dt_lex_start(cc, w->text, strlen(w->text), LEX_EXPR);
	dt_lex_next(cc);
	w->type = dt_parse_type_name(cc);
	if (cc->lex.tok.kind != T_EOF)
		dt_syntax(cc, NULL);
}

dt_type *dt_compile_type(dt_compiler *cc, const char *text, dt_error *err)
{
	struct type_work w = {.text = text};

	return dt_compile_run(cc, compile_type, &w, err) ? w.type : NULL;
}

/* ---- one clause ---- */

static const char *desc_text(dt_compiler *cc, const dt_probedesc *d)
{
	if (d->id)
		return dt_arena_printf(cc->arena, "%u", d->id);
	return dt_arena_printf(cc->arena, "%s%s%s:%s:%s:%s", d->machine ? d->machine : "", d->machine ? ":" : "",
			       d->prov, d->mod, d->func, d->name);
}

void dt_compiler_set_here(dt_compiler *cc, const struct dt_here *here)
{
	cc->shared->here = here;
}

/* Is the clause for this machine? */
static bool is_for_us(const dt_compiler *cc, const dt_probedesc *d)
{
	const struct dt_here *here = cc->shared->here;

	if (!here)
		return true;
	if (!d->machine)
		return !here->is_agent;
	return dt_glob_match(d->machine, here->name) || dt_glob_match(d->machine, here->os);
}

/* May a machine behind this relay run it? */
static bool is_for_others(const dt_compiler *cc, const dt_probedesc *d)
{
	return cc->shared->here->is_relay && d->machine && strcmp(d->machine, "host") != 0;
}

/* Which probes match the description? None is an error, unless -Z, or other machines may have some. */
static void match_description(dt_compiler *cc, const dt_probedesc *d, dt_pos pos, dt_clause *out)
{
	struct dt_probe_args found = {0};
	dt_error why = {0};

	if (cc->probes.describe(cc->probes.arg, cc, d, false, &found, &why) != 0)
		dt_fail(cc, pos, D_PDESC_INVAL, "invalid probe description %s: %s",
			desc_text(cc, d), why.text);
	if (found.nprobes == 0 && !dt_opt(cc->opts, DT_O_ZDEFS) && !d->machine)
		dt_fail(cc, pos, why.tag ? why.tag : D_PDESC_ZERO,
			"probe description %s does not match any probes%s%s", desc_text(cc, d),
			why.text[0] ? ": " : "", why.text);
	out->desc_attr = found.nprobes
			     ? found.desc_attr
			     : (dt_attr){DT_STAB_UNSTABLE, DT_STAB_UNSTABLE, DT_CLASS_COMMON};
}

/* ---- three passes: parse (done), check the whole clause, generate code for each statement ---- */

struct clause_work {
	const dt_node *clause;	/* as parsed */
	dt_node *statements;	/* to check: those of the clause, or a copy of them */
	bool keep;		/* it is needed again: work on copies */
	dt_node *body;		/* checked */
	dt_node *pred;		/* checked; NULL: none */
};

/* Checking changes the tree, so each check except the last works on a copy. */
static void check_body(dt_compiler *cc, void *arg)
{
	struct clause_work *w = arg;

	cc->expanded = 0;
	cc->in_switch = 0;
	w->body = w->keep ? dt_node_copy_list(cc, w->statements) : w->statements;
	dt_blocks_check(cc, w->body);
}

static void check_predicate(dt_compiler *cc, struct clause_work *w)
{
	dt_node *pred = dt_check(cc, w->keep ? dt_node_copy(cc, w->clause->c) : w->clause->c);

	if (!dt_type_is_scalar(pred->type) || dt_type_is_float(pred->type))
		dt_fail(cc, pred->pos, D_PRED_SCALAR,
			"predicate result must be of scalar type, not %s",
			dt_tname(cc, pred->type));
	w->pred = pred;
}

/* Can the predicate define a variable? It must assign to it, itself or by what it calls. */
static bool can_define(dt_compiler *cc, const dt_node *n)
{
	const dt_ident *id;

	for (; n; n = n->next) {
		if (n->kind == N_IDENT && (id = dt_ident_find(cc, n->name, n->scope)) &&
		    id->kind == ID_INLINE)
			return true;
		if (n->kind == N_CALL || n->kind == N_XLATE ||
		    (n->kind == N_OP1 && dt_is_step_op(n->op)) ||
		    (n->kind == N_OP2 && dt_is_assign_op(n->op)) || can_define(cc, n->c) ||
		    can_define(cc, n->l) || can_define(cc, n->r) || can_define(cc, n->args))
			return true;
	}
	return false;
}

/* A copy of the statements that lasts until the next clause: few clauses need it. */
static const dt_node *set_aside(dt_compiler *cc, const dt_node *statements)
{
	dt_arena *arena = cc->arena;
	const dt_node *copy;

	if (cc->aside)
		dt_arena_reset(cc->aside);
	else
		cc->aside = dt_arena_new();
	cc->arena = cc->aside;
	copy = dt_node_copy_list(cc, statements);
	cc->arena = arena;
	return copy;
}

/* The body comes first, so that the predicate knows the variables that the body creates. If the
 * body has a name that only the predicate can create, as in /n++ < 3/ { trace(n); }, it is checked
 * again after the predicate. */
static void check_clause(dt_compiler *cc, struct clause_work *w, bool more)
{
	const dt_node *again = NULL; /* the statements, not yet checked; NULL: no need */
	dt_error err = {0};

	w->keep = more;
	w->statements = w->clause->l;
	if (!w->clause->c) {
		check_body(cc, w);
		return;
	}
	if (more)
		again = w->clause->l;
	else if (can_define(cc, w->clause->c))
		again = set_aside(cc, w->clause->l);
	if (dt_attempt(cc, check_body, w, &err)) {
		check_predicate(cc, w);
		return;
	}
	if (err.tag == D_IDENT_UNDEF || err.tag == D_VAR_UNDEF)
		check_predicate(cc, w);
	else
		again = NULL;
	if (!again) {
		*cc->err = err;
		longjmp(cc->jmp, 1);
	}
	w->statements = dt_node_copy_list(cc, again);
	check_body(cc, w);
}

void dt_compiler_set_cgroup(dt_compiler *cc, uint64_t id, uint32_t level)
{
	cc->shared->cgroup.id = id;
	cc->shared->cgroup.level = level;
}

static bool is_of_processes(const dt_probedesc *d)
{
	static const char *const others[] = {"BEGIN", "END", "ERROR"};

	if (strcmp(d->prov, "dtrace") == 0)
		return false;
	for (size_t i = 0; i < DT_NELEM(others); i++)
		if (strcmp(d->name, others[i]) == 0)
			return false;
	return strncmp(d->name, "tick-", 5) != 0;
}

/* cgroupat(level) == id, and the clause's own predicate. */
static dt_node *in_cgroup(dt_compiler *cc, dt_node *pred, dt_pos pos)
{
	const struct dt_intrinsics *types = dt_intrinsics(cc->types);
	dt_node *call = dt_node_new(cc, N_CALL, pos), *test, *both;

	call->name = "cgroupat";
	call->args = dt_node_int(cc, pos, cc->shared->cgroup.level, types->int_);
	dt_call_ident(cc, call);
	test =
	    dt_check(cc, dt_node_op2(cc, T_EQ, call,
				     dt_node_int(cc, pos, cc->shared->cgroup.id, types->uint64)));
	if (!pred)
		return test;
	both = dt_node_op2(cc, T_ANDAND, test, pred);
	both->type = test->type;
	both->attr = pred->attr;
	return both;
}

static void take_actions(dt_clause *c, const dt_clause_builder *b)
{
	c->actions = b->actions.v;
	c->nactions = b->actions.n;
	c->stmts = b->stmts.v;
	c->nstmts = b->stmts.n;
}

/* One that uses what several machines share: *c becomes its machine's part. */
static void compile_split(dt_compiler *cc, const struct dt_split *s)
{
	dt_clause *c = s->clause, *front;
	dt_clause_builder machine = {.clause = c}, rest = {0};
	dt_node *pred = NULL;

	dt_split_clause(cc, s, &machine, &pred);
	front = dt_arena_dup(cc->arena, c, sizeof(*c));
	front->rest = NULL;
	rest.clause = front;
	dt_blocks_compile(cc, &rest, s->body);
	take_actions(front, &rest);
	front->pred = *s->pred ? dt_gen_expr(cc, *s->pred, true) : NULL;
	front->stmt_attr = cc->clause_attr;
	((dt_rest *)c->rest)->clause = front;
	take_actions(c, &machine);
	c->pred = pred ? dt_gen_expr(cc, pred, true) : NULL;
}

static void check_elsewhere(dt_compiler *cc, void *arg)
{
	check_clause(cc, arg, true);
}

/* A clause of other machines, at an agent. It does not run here, but may be the first to assign a variable that ours use. */
static void study_elsewhere(dt_compiler *cc, struct clause_work *w, const dt_probedesc *d)
{
	dt_error ignored = {0};

	if (!cc->shared->kept)
		return;
	cc->desc = d;
	cc->pargs = NULL;
	dt_attempt(cc, check_elsewhere, w, &ignored);
	cc->desc = NULL;
}

static void compile_one(dt_compiler *cc, dt_node *clause, dt_node *pdesc, uint32_t source)
{
	dt_clause c = {.desc = *pdesc->desc,
		       .pos = pdesc->pos,
		       .source = source,
		       .number = cc->ndescribed++,
		       .elsewhere = !is_for_us(cc, pdesc->desc)};
	dt_clause_builder b = {.clause = &c};
	struct clause_work w = {.clause = clause};
	struct dt_split split = {.clause = &c, .pred = &w.pred};

	if (c.elsewhere && cc->shared->here->is_agent && !is_for_others(cc, pdesc->desc)) { /* only the front has to know what it would do */
		study_elsewhere(cc, &w, pdesc->desc);
		return;
	}
	cc->shared->clause++;
	cc->desc = pdesc->desc;
	cc->pargs = NULL;
	cc->clause_attr = dt_best_attr;
	match_description(cc, pdesc->desc, pdesc->pos, &c);
	check_clause(cc, &w, pdesc->next != NULL);
	if (cc->shared->cgroup.id && is_of_processes(pdesc->desc))
		w.pred = in_cgroup(cc, w.pred, pdesc->pos);
	split.body = w.body;
	if (cc->shared->here && dt_opt(cc->opts, DT_O_MACHINES) && dt_split_study(cc, &split)) {
		compile_split(cc, &split);
	} else {
		dt_blocks_compile(cc, &b, w.body);
		if (w.pred)
			c.pred = dt_gen_expr(cc, w.pred, true);
		take_actions(&c, &b);
	}
	c.stmt_attr = cc->clause_attr;
	*dt_vec_add(&cc->clauses, NULL) = c;
	cc->desc = NULL;
}

void dt_clause_compile(dt_compiler *cc, dt_node *clause)
{
	uint32_t source = cc->nsource_clauses++;

	if (cc->dump_parsed && clause->pos.line) /* not one that we made */
		dt_node_print(cc, clause, cc->dump_parsed);
	if (cc->src->is_library)
		dt_fail(cc, clause->pos, D_SYNTAX, "a library may not contain probe clauses");
	if (cc->shared->nprocedures) {
		cc->expanded = 0;
		dt_invoke_begin(cc, clause);
		dt_procedures_paste(cc, &clause->l);
		dt_hoist_from_predicate(cc, clause);
		dt_invoke_end(cc, clause);
	}
	for (dt_node *c = dt_desugar(cc, clause); c; c = c->next)
		for (dt_node *d = c->args; d; d = d->next)
			compile_one(cc, c, d, source);
}

/* ---- queries of other modules ---- */

uint32_t dt_compiler_max_var(dt_compiler *cc, int scope)
{
	uint32_t next = scope == DT_SCOPE_THREAD  ? cc->shared->next_thread
			: scope == DT_SCOPE_LOCAL ? cc->shared->next_local
						  : cc->shared->next_global;
	return next == DT_VAR_USER_MIN ? 0 : next - 1;
}

dt_types *dt_compiler_types(dt_compiler *cc)
{
	return cc->types;
}

dt_arena *dt_compiler_arena(dt_compiler *cc)
{
	return cc->arena;
}

void dt_compiler_set_dump(dt_compiler *cc, dt_buf *parsed, dt_buf *desugared)
{
	cc->dump_parsed = parsed;
	cc->dump_sugar = desugared;
}
