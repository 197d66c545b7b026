/* A compiler without kernel and probes, for tests of what it makes. */
#ifndef GEN_WORLD_H
#define GEN_WORLD_H

#include <stdlib.h>

#include "lang/lang.h"
#include "unit.h"

static int describe(void *arg, dt_compiler *cc, const dt_probedesc *d, bool want_args,
		    struct dt_probe_args *out, dt_error *err)
{
	(void)arg, (void)cc, (void)d, (void)want_args, (void)err;
	out->nprobes = 1;
	return 0;
}

struct world {
	dt_types *types;
	dt_options opts;
	struct dt_macros macros;
	dt_compiler *cc;
	dt_error err;
};

static void open_world(struct world *w)
{
	struct dt_probe_source ps = {.describe = describe};

	memset(w, 0, sizeof(*w));
	w->types = dt_types_new();
	dt_types_set_btf_path(w->types, NULL);
	dt_options_init(&w->opts);
	w->cc = dt_compiler_new(w->types, &w->opts, &w->macros, &ps);
}

static void close_world(struct world *w)
{
	dt_compiler_free(w->cc);
	dt_options_free(&w->opts);
	dt_types_free(w->types);
}

static inline dt_program *compile(struct world *w, const char *text)
{
	struct dt_source src = {.text = text, .len = strlen(text), .is_cmdline = true};
	dt_program *p = dt_compile(w->cc, &src, &w->err);

	if (p && dt_program_verify(p, &(struct dt_verify_opts){0}, &w->err) != 0)
		p = NULL;
	if (!p)
		printf("%.200s: [%s] %s\n", text, w->err.tag ? dt_tag_name(w->err.tag) : "", w->err.text);
	return p;
}

static inline const char *tag_of(struct world *w, const char *text)
{
	struct dt_source src = {.text = text, .len = strlen(text), .is_cmdline = true};

	if (dt_compile(w->cc, &src, &w->err))
		return "compiled";
	return w->err.tag ? dt_tag_name(w->err.tag) : "none";
}

#endif
