/*
 * library: looks for a name that neither the program nor the session knows in libraries.
 *
 * D libraries are compiled when a program uses a name that they define. The compiler asks for it
 * (struct dt_library_source of lang.h) where it would otherwise search the kernel or fail: for an
 * identifier, a type name, a tag, the output of a translator. The library is compiled inside this
 * compile, then the name is looked up again.
 *
 * Programs and libraries ask; single types and expressions do not, because those of the providers
 * are mostly kernel types. If an argument's type turns out to be unknown, dt_library_for_text()
 * asks for its words.
 *
 * An error inside a library is the error of the program that needs it, at the library's line.
 */
#include "lang/compiler.h"

/* Not an error in the current text, so ?? must not treat it as one. */
void dt_library_fail(dt_compiler *cc, const dt_error *e)
{
	cc->library_failed = true;
	*cc->err = *e;
	longjmp(cc->jmp, 1);
}

bool dt_library_for(dt_compiler *cc, const char *name)
{
	const struct dt_library_source *libs = &cc->shared->libraries;
	dt_error err = {0};
	int n;

	if (!libs->define || !cc->src)
		return false;
	n = libs->define(libs->arg, name, &err);
	if (n < 0)
		dt_library_fail(cc, &err);
	cc->shared->nlibraries += n > 0;
	return n > 0;
}

bool dt_library_for_type(dt_compiler *cc, const dt_type *t)
{
	bool found = false;

	for (; t; t = t->kind == DT_K_STRUCT || t->kind == DT_K_UNION ? NULL : t->ref)
		if (t->name && *t->name)
			found |= dt_library_for(cc, t->name);
	return found;
}

struct words {
	const char *text;
	DT_VEC(const char *) v;
};

static void find_words(dt_compiler *cc, void *arg)
{
	struct words *w = arg;

	dt_lex_start(cc, w->text, strlen(w->text), LEX_EXPR);
	for (dt_lex_next(cc); cc->lex.tok.kind != T_EOF; dt_lex_next(cc))
		if (cc->lex.tok.kind == T_IDENT)
			*dt_vec_add(&w->v, cc->arena) = cc->lex.tok.text;
}

bool dt_library_for_text(dt_compiler *cc, const char *text)
{
	struct words w = {.text = text};
	dt_error ignored;
	bool found = false;

	if (!text || !cc->src)
		return false;
	dt_compile_run(cc, find_words, &w, &ignored);
	for (uint32_t i = 0; i < w.v.n; i++)
		found |= dt_library_for(cc, w.v.v[i]);
	return found;
}

bool dt_library_require(dt_compiler *cc, const char *library)
{
	const struct dt_library_source *libs = &cc->shared->libraries;
	dt_error err = {0};
	int n;

	if (!libs->require)
		return true;
	n = libs->require(libs->arg, library, &err);
	if (n < 0)
		dt_library_fail(cc, &err);
	return n > 0;
}

void dt_compiler_set_libraries(dt_compiler *cc, const struct dt_library_source *libs)
{
	cc->shared->libraries = *libs;
}
