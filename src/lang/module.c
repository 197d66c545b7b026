/*
 * module: files whose names are their own.
 *
 *	module net 1.2;			net.dm
 *	import base;
 *	export inline int PORT = 80;	others write net::PORT
 *	inline int local = base::X;	private
 *
 * A name of a module is kept everywhere (identifiers, types, tags, enumerators) as "net::PORT", so
 * the tables need not know about modules, and what the compiler stores of a module (the expressions
 * of inlines and translators) has its full names, whoever uses it. Only the lexer changes names: in
 * the text of a module each word that the module defines becomes its full name, and "net::PORT" in
 * any text is one word, which is refused unless that text imports net and net exports PORT.
 *
 * So the names must be known before the module is parsed: exports.c finds them in the tokens. They
 * are the keys of `own`: "x" for variables, inlines, types and enumerators, ".x" for tags, "@x" for
 * aggregations (only those that are exported).
 *
 * self->, this-> and @ have no names of the language, so in a module all of these are its own,
 * declared or not. Other variables must be declared. What a program defines is not seen in modules.
 */
#include <stdio.h>

#include "lang/compiler.h"

#define SEPARATOR "::"

static const char exported = 'e', owned = 'o'; /* values in `own`: their addresses */

static const char *join(dt_compiler *cc, const char *module, const char *name)
{
	return dt_arena_printf(cc->arena, "%s" SEPARATOR "%s", module, name);
}

/* ---- names ---- */

void dt_module_note(dt_map *own, const char *name, int kind, bool is_exported)
{
	char key[256];

	if (kind && snprintf(key, sizeof(key), "%c%s", kind, name) >= (int)sizeof(key))
		return; /* its full name would be too long as well */
	name = kind ? key : name;
	if (is_exported || !dt_map_get(own, name))
		dt_map_set(own, name, (void *)(is_exported ? &exported : &owned));
}

static const char *find(dt_compiler *cc, const struct dt_module *m, const char *name, int kind)
{
	return dt_map_get(m->own, kind ? dt_arena_printf(cc->arena, "%c%s", kind, name) : name);
}

const char *dt_module_word(dt_compiler *cc, const char *word, int kind)
{
	return find(cc, cc->module, word, kind) ? join(cc, cc->module->name, word) : word;
}

const char *dt_module_private(dt_compiler *cc, const char *name)
{
	return cc->module && !strstr(name, SEPARATOR) ? join(cc, cc->module->name, name) : name;
}

const char *dt_module_bare(const dt_compiler *cc, const char *word)
{
	const char *bare = cc->module ? strstr(word, SEPARATOR) : NULL;

	return bare ? bare + strlen(SEPARATOR) : word;
}

bool dt_is_imported(const dt_compiler *cc, const char *module, size_t len)
{
	char name[256];

	if (!cc->imports || len >= sizeof(name))
		return false;
	memcpy(name, module, len);
	name[len] = 0;
	return dt_map_get(cc->imports, name);
}

const char *dt_module_name(dt_compiler *cc, dt_pos pos, const char *module, const char *name, int kind)
{
	const struct dt_module *m = cc->imports ? dt_map_get(cc->imports, module) : NULL;
	const char *how;

	if (cc->module && strcmp(cc->module->name, module) == 0)
		return join(cc, module, name);
	if (!m)
		dt_fail(cc, pos, D_MODULE, "%s" SEPARATOR "%s: module %s is not imported; write import %s; at the top",
			module, name, module, module);
	how = find(cc, m, name, kind);
	if (how != &exported)
		dt_fail(cc, pos, D_MODULE, "module %s %s%s%s" SEPARATOR "%s", module,
			how ? "does not export " : "has no ", kind == '@' ? "@" : "", module, name);
	return join(cc, module, name);
}

/* ---- import ---- */

static uint64_t version_of(dt_compiler *cc, const dt_token *t)
{
	const char *text = strchr(t->module, '.') ? t->module : dt_arena_printf(cc->arena, "%s.0", t->module);
	uint64_t v = 0;

	if (*t->module && dt_version_parse(text, &v) != 0)
		dt_fail(cc, t->pos, D_MODULE, "invalid version %s of module %s", t->module, t->text);
	return v;
}

static const char *version_text(dt_compiler *cc, uint64_t v)
{
	unsigned major = (unsigned)(v >> 24), minor = (unsigned)(v >> 12) & 0xfff, micro = (unsigned)v & 0xfff;

	return micro ? dt_arena_printf(cc->arena, "%u.%u.%u", major, minor, micro)
		     : dt_arena_printf(cc->arena, "%u.%u", major, minor);
}

/* As numbers of versions are commonly used: the first counts incompatible changes, the others additions. */
static void check_version(dt_compiler *cc, dt_pos pos, const struct dt_module *m, uint64_t needed)
{
	if (!needed || (m->version >> 24 == needed >> 24 && m->version >= needed))
		return;
	if (!m->version)
		dt_fail(cc, pos, D_MODULE, "module %s (%s) has no version, but %s is needed", m->name, m->path,
			version_text(cc, needed));
	dt_fail(cc, pos, D_MODULE, "module %s (%s) is version %s, which is too %s: %s%s is needed", m->name,
		m->path, version_text(cc, m->version), m->version < needed ? "old" : "new",
		version_text(cc, needed), m->version < needed ? " or later" : "");
}

void dt_parse_import(dt_compiler *cc)
{
	const struct dt_library_source *libs = &cc->shared->libraries;
	dt_token t = cc->lex.tok;
	uint64_t needed = version_of(cc, &t);
	struct dt_module *m = cc->shared->modules ? dt_map_get(cc->shared->modules, t.text) : NULL;
	dt_error err = {0};

	if (!m && libs->import && libs->import(libs->arg, t.text, &err) < 0) {
		if (err.pos.line || err.tag) /* in the module: as it is */
			dt_library_fail(cc, &err);
		dt_fail(cc, t.pos, D_MODULE, "%s", err.text);
	}
	m = cc->shared->modules ? dt_map_get(cc->shared->modules, t.text) : NULL;
	if (!m)
		dt_fail(cc, t.pos, D_MODULE, "module %s is not available", t.text);
	check_version(cc, t.pos, m, needed);
	if (!cc->imports)
		cc->imports = dt_map_new();
	dt_map_set(cc->imports, m->name, m);
}

/* ---- the module itself ---- */

void dt_parse_module(dt_compiler *cc)
{
	const dt_token *t = &cc->lex.tok;

	if (!cc->module)
		dt_fail(cc, t->pos, D_MODULE, "module %s must be a file %s.dm, which is imported by its name", t->text,
			t->text);
	if (strcmp(t->text, cc->module->name) != 0)
		dt_fail(cc, t->pos, D_MODULE, "the file of module %s declares module %s", cc->module->name, t->text);
	cc->module->version = version_of(cc, t);
	cc->module->declared = true;
}

void dt_module_start(dt_compiler *cc)
{
	cc->module = dt_arena_alloc(cc->arena, sizeof(*cc->module));
	cc->module->name = dt_arena_strdup(cc->arena, cc->src->module);
	cc->module->path = cc->prog->name;
	if (!cc->shared->modules)
		cc->shared->modules = dt_map_new();
	cc->module->own = dt_map_new();
	dt_exports_of_module(cc, cc->src->text, cc->src->len, cc->module->own);
}

void dt_module_finish(dt_compiler *cc)
{
	if (!cc->module->declared)
		dt_fail(cc, (dt_pos){0}, D_MODULE, "%s does not begin with module %s;", cc->module->path,
			cc->module->name);
	dt_map_set(cc->shared->modules, cc->module->name, cc->module);
}

void dt_module_end(dt_compiler *cc)
{
	dt_map_free(cc->imports);
	if (cc->module && dt_map_get(cc->shared->modules, cc->module->name) != cc->module)
		dt_map_free(cc->module->own);
}

void dt_modules_free(struct dt_shared *shared)
{
	const char *name;
	uint32_t it = 0;
	void *m;

	while (shared->modules && dt_map_next(shared->modules, &it, &name, &m))
		dt_map_free(((struct dt_module *)m)->own);
	dt_map_free(shared->modules);
}
