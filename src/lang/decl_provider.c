/*
 * decl_provider: provider definitions (USDT).
 *
 *   provider name { probe n(native args) : (translated args); ... };
 *
 * A double underscore in a probe name stands for '-'. With one list of arguments they are not
 * translated. With two, each translated argument is made from the native one of the same name or,
 * without names, from the one at the same position; if the types differ, a translator must exist
 * for the pair.
 */
#include <ctype.h>
#include <stdlib.h>

#include "lang/decl.h"

#define MAX_NAME 63
#define MAX_ARGS 255

/* ---- names ---- */

static void check_provider_name(dt_compiler *cc, const char *name, dt_pos pos)
{
	size_t len = strlen(name);

	if (len > MAX_NAME)
		dt_fail(cc, pos, D_PROV_BADNAME,
			"provider name \"%.80s\" is longer than %d characters", name, MAX_NAME);
	if (isdigit((unsigned char)name[len - 1]))
		dt_fail(cc, pos, D_PROV_BADNAME,
			"provider name \"%s\" cannot end in a digit: the "
			"process id is appended to it",
			name);
}

/* Words joined by '-' are one name; "__" becomes '-'. */
static const char *parse_probe_name(dt_compiler *cc)
{
	dt_pos pos = cc->lex.tok.pos;
	char name[MAX_NAME + 1];
	size_t n = 0;

	for (;;) {
		const char *s = cc->lex.tok.text;
		if ((cc->lex.tok.kind != T_IDENT && cc->lex.tok.kind < T_KW_FIRST) || !s)
			dt_syntax(cc, "syntax error: expected the name of a probe");
		while (*s && n < MAX_NAME) {
			bool dash = s[0] == '_' && s[1] == '_';
			name[n++] = dash ? '-' : *s;
			s += dash ? 2 : 1;
		}
		if (*s)
			dt_fail(cc, pos, D_PROV_BADNAME,
				"a probe name cannot be longer than %d characters", MAX_NAME);
		dt_lex_next(cc);
		if (cc->lex.tok.kind != '-')
			break;
		if (n < MAX_NAME)
			name[n++] = '-';
		dt_lex_next(cc);
	}
	name[n] = '\0';
	return dt_arena_strdup(cc->arena, name);
}

/* ---- arguments ---- */

/* "(" [ params ] ")" */
static void parse_args(dt_compiler *cc, const char *probe, dt_derive *out)
{
	dt_pos pos = cc->lex.tok.pos;

	memset(out, 0, sizeof(*out));
	out->pos = pos;
	dt_lex_expect(cc, '(', "(");
	if (cc->lex.tok.kind != ')')
		dt_parse_params(cc, ')', PARAM_VOID, out);
	dt_lex_next(cc);
	if (out->nparams > MAX_ARGS)
		dt_fail(cc, pos, D_PROV_PRARGLEN, "probe %s has %u arguments, more than %d", probe,
			out->nparams, MAX_ARGS);
}

static uint8_t native_for(dt_compiler *cc, const dt_provider_probe *p, const dt_derive *xlated,
			  uint32_t i)
{
	const char *name = xlated->params[i].name;
	uint32_t n = name ? 0 : i;

	if (name)
		while (n < p->nnative &&
		       (!p->native_names[n] || strcmp(p->native_names[n], name) != 0))
			n++;
	if (n >= p->nnative)
		dt_fail(cc, xlated->pos, D_DECL_PROTO_FORM,
			"translated argument %s of probe %s has no native argument to be made from",
			name ? name : dt_arena_printf(cc->arena, "%u", i), p->name);
	if (!dt_type_equal(cc->types, p->native[n], xlated->params[i].type) &&
	    !(dt_type_is_integer(p->native[n]) && dt_type_is_integer(xlated->params[i].type)) &&
	    !dt_xlator_find(cc, p->native[n], xlated->params[i].type))
		dt_fail(cc, xlated->pos, D_PROV_PRXLATOR,
			"argument %u of probe %s needs a translator from %s to %s", i, p->name,
			dt_tname(cc, p->native[n]), dt_tname(cc, xlated->params[i].type));
	return (uint8_t)n;
}

static void set_native(dt_compiler *cc, dt_provider_probe *p, const dt_derive *args)
{
	p->nnative = args->nparams;
	p->native = dt_arena_alloc(cc->arena, (args->nparams + 1) * sizeof(*p->native));
	p->native_names = dt_arena_alloc(cc->arena, (args->nparams + 1) * sizeof(*p->native_names));
	for (uint32_t i = 0; i < args->nparams; i++) {
		p->native[i] = args->params[i].type;
		p->native_names[i] = args->params[i].name;
	}
}

static void set_xlated(dt_compiler *cc, dt_provider_probe *p, const dt_derive *args, bool same)
{
	p->nxlated = args->nparams;
	p->xlated = dt_arena_alloc(cc->arena, (args->nparams + 1) * sizeof(*p->xlated));
	p->map = dt_arena_alloc(cc->arena, args->nparams + 1);
	for (uint32_t i = 0; i < args->nparams; i++) {
		p->xlated[i] = args->params[i].type;
		p->map[i] = same ? (uint8_t)i : native_for(cc, p, args, i);
	}
}

/* "probe" name [ args [ ":" args ] ] ";" */
static dt_provider_probe parse_probe(dt_compiler *cc)
{
	dt_provider_probe p = {0};
	dt_derive args = {0};

	dt_lex_expect(cc, T_PROBE, "probe");
	p.name = parse_probe_name(cc);
	if (cc->lex.tok.kind == '(')
		parse_args(cc, p.name, &args);
	set_native(cc, &p, &args);
	if (cc->lex.tok.kind == ':') {
		dt_lex_next(cc);
		parse_args(cc, p.name, &args);
		set_xlated(cc, &p, &args, false);
	} else {
		set_xlated(cc, &p, &args, true);
	}
	dt_lex_expect(cc, ';', ";");
	return p;
}

/* ---- the provider ---- */

static bool same_types(dt_compiler *cc, dt_type **a, uint32_t na, dt_type **b, uint32_t nb)
{
	if (na != nb)
		return false;
	for (uint32_t i = 0; i < na; i++)
		if (!dt_type_equal(cc->types, a[i], b[i]))
			return false;
	return true;
}

static bool same_provider(dt_compiler *cc, const dt_provider_decl *a, const dt_provider_decl *b)
{
	if (a->nprobes != b->nprobes)
		return false;
	for (uint32_t i = 0; i < a->nprobes; i++) {
		const dt_provider_probe *p = &a->probes[i], *q = &b->probes[i];
		if (strcmp(p->name, q->name) != 0 ||
		    !same_types(cc, p->native, p->nnative, q->native, q->nnative) ||
		    !same_types(cc, p->xlated, p->nxlated, q->xlated, q->nxlated))
			return false;
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_duplicates(dt_compiler *cc, const dt_provider_decl *prov, dt_pos pos)
{
	const char **names = dt_arena_alloc(cc->arena, (prov->nprobes + 1) * sizeof(*names));

	for (uint32_t i = 0; i < prov->nprobes; i++)
		names[i] = prov->probes[i].name;
	qsort(names, prov->nprobes, sizeof(*names), by_name);
	for (uint32_t i = 1; i < prov->nprobes; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			dt_fail(cc, pos, D_PROV_PRDUP, "probe %s:::%s is declared twice",
				prov->name, names[i]);
}

static void parse_probes(dt_compiler *cc, dt_provider_decl *prov)
{
	DT_VEC(dt_provider_probe) list = {0};

	dt_lex_expect(cc, '{', "{");
	while (cc->lex.tok.kind != '}') {
		dt_provider_probe p = parse_probe(cc);
		*dt_vec_add(&list, cc->arena) = p;
	}
	dt_lex_next(cc);
	if (cc->lex.tok.kind != ';')
		dt_syntax(cc, "syntax error: expected ; after a provider");
	prov->probes = list.v;
	prov->nprobes = list.n;
}

/* Known to the session, and part of this program. */
static void add_provider(dt_compiler *cc, const dt_provider_decl *prov, dt_pos pos)
{
	struct dt_known_provider *p = dt_map_get(cc->shared->providers, prov->name);

	if (p && p->made && !same_provider(cc, &p->decl, prov))
		dt_fail(cc, pos, D_PROV_INCOMPAT, "provider %s was declared differently before",
			prov->name);
	if (!p) {
		p = dt_arena_alloc(cc->arena, sizeof(*p));
		dt_map_set(cc->shared->providers, prov->name, p);
	}
	if (!p->made) {
		p->decl = *prov;
		p->made = cc->generation;
	}
	if (p->declared != cc->generation)
		*dt_vec_add(&cc->prog_providers, NULL) = p;
	p->declared = cc->generation;
}

void dt_providers_undo(dt_compiler *cc)
{
	for (uint32_t i = 0; i < cc->prog_providers.n; i++)
		if (cc->prog_providers.v[i]->made == cc->generation)
			cc->prog_providers.v[i]->made = 0;
	cc->prog_providers.n = 0;
}

void dt_parse_provider(dt_compiler *cc)
{
	dt_provider_decl prov = {0};
	dt_pos pos;

	dt_lex_next(cc); /* provider */
	pos = cc->lex.tok.pos;
	prov.name = cc->lex.tok.text;
	dt_lex_expect(cc, T_IDENT, "the name of a provider");
	check_provider_name(cc, prov.name, pos);
	for (size_t i = 0; i < DT_NELEM(prov.attrs); i++)
		prov.attrs[i] = (dt_attr){DT_STAB_UNSTABLE, DT_STAB_UNSTABLE, DT_CLASS_COMMON};
	parse_probes(cc, &prov);
	check_duplicates(cc, &prov, pos);
	add_provider(cc, &prov, pos);
}
