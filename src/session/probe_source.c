/*
 * probe_source: answers the compiler's queries about probes (struct dt_probe_source of lang.h).
 *
 * Providers describe argument types as D text, which the compiler turns into types. Several probes
 * can match one description: args[] is valid only if all of them have the same arguments, which is
 * decided on the text, so that a description that matches everything costs no type look-ups.
 *
 * Nothing is kept between calls, so the registry is the only state.
 */
#include "session/probe_source.h"

#define MAX_ARGS 32

struct signature {
	int n; /* -1: untyped */
	const char *native[MAX_ARGS], *xlated[MAX_ARGS], *why[MAX_ARGS];
	dt_type *types[MAX_ARGS]; /* if the provider has them, not only their names */
	int mapping[MAX_ARGS];
};

/* Unstable/Unstable/Common: a description that matches nothing known. */
static const dt_attr unknown_attr = {DT_STAB_UNSTABLE, DT_STAB_UNSTABLE, DT_CLASS_COMMON};

static void read_signature(dt_probes *ps, const dt_probe *pr, struct signature *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < MAX_ARGS; i++)
		s->mapping[i] = i;
	s->n = -1;
	if (pr->provider->args)
		s->n = pr->provider->args(pr->provider, ps, pr, s->native, s->xlated, s->mapping,
					  MAX_ARGS);
	if (s->n > 0 && pr->provider->types)
		pr->provider->types(pr->provider, ps, pr, s->types, s->why, s->n);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!same_text(a->native[i], b->native[i]) ||
		    !same_text(a->xlated[i], b->xlated[i]) || a->mapping[i] != b->mapping[i] ||
		    a->types[i] != b->types[i])
			return false;
	return true;
}

bool dt_probe_same_args(dt_probes *ps, const dt_probe *a, const dt_probe *b)
{
	struct signature x, y;

	read_signature(ps, a, &x);
	read_signature(ps, b, &y);
	return same_signature(&x, &y);
}

/* The non-empty parts of a description count, each with its own stability. */
static dt_attr desc_stability(const dt_provider *p, const dt_probedesc *d)
{
	dt_attr a = p->attrs[0];

	if (d->mod && *d->mod)
		a = dt_attr_min(a, p->attrs[1]);
	if (d->func && *d->func)
		a = dt_attr_min(a, p->attrs[2]);
	if (d->name && *d->name)
		a = dt_attr_min(a, p->attrs[3]);
	return a;
}

static void add_stability(dt_probe **probes, int n, const dt_probedesc *d,
			  struct dt_probe_args *out)
{
	const dt_provider *last = NULL;

	out->desc_attr = out->args_attr = unknown_attr;
	for (int i = 0; i < n; i++) {
		const dt_provider *p = probes[i]->provider;
		dt_attr desc_attr;

		/* Probes come in order of id, so those of one provider are together. */
		if (p == last)
			continue;
		desc_attr = desc_stability(p, d);
		out->desc_attr = last ? dt_attr_min(out->desc_attr, desc_attr) : desc_attr;
		out->args_attr = last ? dt_attr_min(out->args_attr, p->attrs[4]) : p->attrs[4];
		last = p;
	}
}

/* NULL: an unknown type; using the argument is D_ARGS_TYPE. */
static dt_type *compile_type(dt_compiler *cc, const char *text)
{
	dt_error ignored = {0};

	return text ? dt_compile_type(cc, text, &ignored)
		    : dt_intrinsics(dt_compiler_types(cc))->uintptr;
}

static void compile_signature(dt_compiler *cc, const struct signature *s, struct dt_probe_args *out)
{
	out->typed = s->n >= 0;
	out->nargs = s->n > 0 ? (uint32_t)s->n : 0;
	out->args = dt_arena_alloc(dt_compiler_arena(cc), (out->nargs + 1) * sizeof(*out->args));
	for (uint32_t i = 0; i < out->nargs; i++) {
		out->args[i].native = s->types[i] ? s->types[i] : compile_type(cc, s->native[i]);
		out->args[i].unknown = s->why[i] ? s->why[i] : s->native[i];
		if (s->xlated[i] && !same_text(s->xlated[i], s->native[i])) {
			out->args[i].xlated = compile_type(cc, s->xlated[i]);
			out->args[i].unknown = s->xlated[i];
			if (!out->args[i].xlated)
				out->args[i].native = NULL;
		}
		out->args[i].mapping = s->mapping[i];
	}
}

/* Is this one of a provider's variants of a probe that came before (the same system call of 32-bit
 * programs)? If both match, it has that one's arguments. */
static bool is_variant(dt_probe **probes, int n)
{
	const dt_probe *x = probes[n];

	for (int i = 0; i < n && x->provider->variants; i++)
		if (probes[i]->provider == x->provider && strcmp(probes[i]->func, x->func) == 0 &&
		    strcmp(probes[i]->name, x->name) == 0)
			return true;
	return false;
}

static int describe(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *err)
{
	dt_probes *ps = arg;
	struct signature first, next;
	dt_probe **probes;
	int n = dt_probes_match(ps, d, false, &probes, err);

	memset(out, 0, sizeof(*out));
	if (n < 0)
		return -1;
	out->nprobes = (uint32_t)n;
	add_stability(probes, n, d, out);
	if (want_args && n == 0) /* -Z: a table may know what the arguments would be */
		n = dt_probes_lacking(ps, d, &probes);
	if (!want_args || n == 0)
		return 0;
	read_signature(ps, probes[0], &first);
	for (int i = 1; i < n && !out->differ; i++) {
		read_signature(ps, probes[i], &next);
		out->differ = !same_signature(&first, &next) && !is_variant(probes, i);
	}
	compile_signature(cc, &first, out);
	return 0;
}

static int symbol(void *arg, const char *module, const char *name, uint64_t *address)
{
	return dt_ksym_by_name(dt_probes_ksyms(arg), module, name, address) ? 0 : -1;
}

void dt_probe_source_init(dt_probes *ps, struct dt_probe_source *out)
{
	out->arg = ps;
	out->describe = describe;
	out->symbol = symbol;
}
