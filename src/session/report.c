/*
 * report: stability and argument types, for -v and -lv.
 *
 * A program's attributes are the minimum over everything it uses (the compiler keeps them). A
 * probe's come from its provider's table: the description's are the minimum of the name parts
 * that are not empty, those of the arguments are separate.
 */
#include "kernel/privilege.h"
#include "session/session.h"

static void print_attr(FILE *out, dt_attr a)
{
	fprintf(out, "\t\tIdentifier Names: %s\n", dt_stab_names[a.name & 7]);
	fprintf(out, "\t\tData Semantics:   %s\n", dt_stab_names[a.data & 7]);
	fprintf(out, "\t\tDependency Class: %s\n", dt_class_names[a.class_ < 6 ? a.class_ : 0]);
}

void dtrace_stability(const dtrace_prog_t *p, FILE *out)
{
	fprintf(out, "\nStability attributes for %s %s:\n", p->is_script ? "script" : "description",
		p->name ? p->name : "");
	fprintf(out, "\n\tMinimum Probe Description Attributes\n");
	print_attr(out, p->desc_attr);
	fprintf(out, "\n\tMinimum Statement Attributes\n");
	print_attr(out, p->stmt_attr);
	fprintf(out, "\n");
}

static dt_attr description_attr(const dt_probe *pr)
{
	const char *const parts[] = {pr->prov, pr->mod, pr->func, pr->name};
	dt_attr a = pr->provider->attrs[0];

	for (int i = 1; i < 4; i++)
		if (parts[i][0])
			a = dt_attr_min(a, pr->provider->attrs[i]);
	return a;
}

/* What a translator provides: args[0]->b_flags ... */
static void print_members(dtrace_hdl_t *h, const char *text, FILE *out)
{
	dt_error ignored = {0};
	dt_buf b = {0};
	dt_type *t;

	dt_libs_define(h, text);
	t = dt_compile_type(h->cc, text, &ignored);

	t = t ? dt_type_resolve(t) : NULL;
	if (t && t->kind == DT_K_POINTER)
		t = dt_type_resolve(t->ref);
	if (t && dt_type_is_sou(t))
		dt_type_complete(h->types, t);
	for (uint32_t i = 0; t && dt_type_is_sou(t) && i < t->nmembers; i++) {
		b.n = 0;
		dt_type_print(h->types, t->members[i].type, t->members[i].name, &b);
		fprintf(out, "\t\t\t%s\n", b.s);
	}
	dt_buf_free(&b);
}

static void print_instruction(dtrace_hdl_t *h, const dt_probe *pr, FILE *out)
{
	dt_buf b = {0};

	if (pr->provider->instruction && pr->provider->instruction(pr->provider, h->probes, pr, &b)) {
		dt_make_safe(b.s, b.n, false); /* names of functions are the program's */
		fprintf(out, "\n\tInstruction\n\t\t%s\n", b.s);
	}
	dt_buf_free(&b);
}

/* Would it run in the target process? */
static bool is_in_process(const dtrace_hdl_t *h)
{
	uint64_t engine = dt_opt(&h->opts, DT_O_ENGINE);

	return engine == DT_ENGINE_PROCESS || (engine == DT_ENGINE_AUTO && (dt_opt(&h->opts, DT_O_FAST) || !dt_privilege_to_trace()));
}

static void print_places(dtrace_hdl_t *h, const dt_probe *pr, FILE *out)
{
	dt_attach at = {0};
	char why[200] = "";
	dt_buf b = {0};

	if (pr->provider->places)
		pr->provider->places(pr->provider, h->probes, pr, &b);
	if (is_in_process(h) && pr->provider->attach && pr->provider->attach(pr->provider, h->probes, pr, &at, why, sizeof(why)) == 0)
		dt_engine_process.places(&h->placed, h->procs, pr, &at, &b);
	if (b.n) {
		char *rest = b.s;

		fprintf(out, "\n\tPlaces\n");
		for (char *line; (line = strsep(&rest, "\n")) && *line;) {
			dt_make_safe(line, strlen(line), false);
			fprintf(out, "\t\t%s\n", line);
		}
	}
	dt_buf_free(&b);
}

static void print_args(dtrace_hdl_t *h, const dt_probe *pr, FILE *out)
{
	const char *native[64] = {0}, *xlated[64] = {0};
	int map[64] = {0}, n = 0;

	if (pr->provider->args)
		n = pr->provider->args(pr->provider, h->probes, pr, native, xlated, map, 64);
	fprintf(out, "\n\tArgument Types\n");
	for (int i = 0; i < n && i < 64; i++) {
		fprintf(out, "\t\targs[%d]: %s\n", i, xlated[i] ? xlated[i] : native[i]);
		if (xlated[i] && strcmp(xlated[i], native[i] ? native[i] : "") != 0)
			print_members(h, xlated[i], out);
	}
	if (n <= 0)
		fprintf(out, "\t\tNone\n");
	fprintf(out, "\n");
}

int dtrace_probe_report(dtrace_hdl_t *h, unsigned id, FILE *out)
{
	const dt_probe *pr = dt_probes_by_id(h->probes, id);

	if (!pr)
		return dt_session_err(h, EDT_BADID, NULL);
	fprintf(out, "\n\tProbe Description Attributes\n");
	print_attr(out, description_attr(pr));
	fprintf(out, "\n\tArgument Attributes\n");
	print_attr(out, pr->provider->attrs[4]);
	print_instruction(h, pr, out);
	print_places(h, pr, out);
	print_args(h, pr, out);
	return 0;
}
