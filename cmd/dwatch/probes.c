/*
 * probes: what a word means, and lists of probes.
 *
 * A word with a colon is a description. Another one is a function if there is one of that name:
 * first a system call, then any other that has an entry. Otherwise it is the first of these that
 * matches: a name of probes, a provider, a module.
 */
#include <stdlib.h>
#include <string.h>

#include "dwatch.h"

/* What matches a word as one of the four parts of a description. */
struct matches {
	unsigned n;
	bool syscall, entry;
	char *provider; /* of all; NULL: they differ */
	char *entry_provider;
};

static int look(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	struct matches *m = arg;

	(void)h;
	if (m->n++ == 0) {
		m->provider = text_of("%s", p->provider);
	} else if (m->provider && strcmp(m->provider, p->provider) != 0) {
		free(m->provider);
		m->provider = NULL;
	}
	if (strcmp(p->name, "entry") == 0) {
		m->syscall |= strcmp(p->provider, "syscall") == 0;
		if (!m->entry)
			m->entry_provider = text_of("%s", p->provider);
		m->entry = true;
	}
	return 0;
}

static struct matches find(dtrace_hdl_t *h, const char *word, enum dtrace_spec spec)
{
	struct matches m = {0};

	dtrace_probe_iter(h, word, spec, look, &m); /* an error: nothing matches */
	return m;
}

static char *describe(const struct matches *m, const char *word, enum dtrace_spec spec)
{
	const char *provider = m->provider ? m->provider : "";

	switch (spec) {
	case DTRACE_SPEC_NAME: return text_of("%s:::%s", provider, word);
	case DTRACE_SPEC_FUNC: return text_of("%s::%s:", provider, word);
	case DTRACE_SPEC_MOD: return text_of("%s:%s::", provider, word);
	default: return text_of("%s:::", word);
	}
}

static char *guess(dtrace_hdl_t *h, const char *word)
{
	static const enum dtrace_spec others[] = {DTRACE_SPEC_NAME, DTRACE_SPEC_PROVIDER,
						  DTRACE_SPEC_MOD};
	struct matches m = find(h, word, DTRACE_SPEC_FUNC);
	enum dtrace_spec spec = DTRACE_SPEC_FUNC;
	bool is_profile;
	char *desc;

	for (size_t i = 0; !m.n && i < sizeof(others) / sizeof(others[0]); i++)
		m = find(h, word, spec = others[i]);
	if (!m.n) {
		is_profile = profile_exists(word);
		fatal("no probe matches '%s'; %s%s", word,
		      is_profile ? "there is a profile of that name: dwatch -X "
				 : "dwatch -l lists the probes",
		      is_profile ? word : "");
	}
	if (spec == DTRACE_SPEC_FUNC && m.entry)
		desc = text_of("%s::%s:entry", m.syscall ? "syscall" : m.entry_provider, word);
	else
		desc = describe(&m, word, spec);
	free(m.provider);
	free(m.entry_provider);
	return desc;
}

char *probe_of_word(dtrace_hdl_t *h, const char *word, int spec)
{
	static const struct matches any;

	if (!is_description(word))
		fatal("'%s' is not a probe: it has characters that probes do not have", word);
	if (strchr(word, ':'))
		return text_of("%s", word);
	if (spec >= 0)
		return describe(&any, word, (enum dtrace_spec)spec);
	return guess(h, word);
}

struct first {
	char *text;
	unsigned n;
};

static int keep_first(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	struct first *f = arg;

	(void)h;
	if (f->n++ == 0)
		f->text = text_of("%s:%s:%s:%s", p->provider, p->module, p->function, p->name);
	return f->n > 1;
}

char *probe_title(dtrace_hdl_t *h, const char *desc)
{
	struct first f = {0};

	if (!strchr(desc, '$'))
		dtrace_probe_iter(h, desc, DTRACE_SPEC_NAME, keep_first, &f);
	if (f.n == 1)
		return f.text;
	free(f.text);
	return text_of("%s", desc);
}

/* ---- -l ---- */

struct listing {
	const struct options *o;
	struct list found;
};

static int add_probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	struct listing *l = arg;
	char *line;

	(void)h;
	switch (l->o->spec) {
	case DTRACE_SPEC_NAME: line = text_of("%s", p->name); break;
	case DTRACE_SPEC_FUNC: line = text_of("%s", p->function); break;
	case DTRACE_SPEC_MOD: line = text_of("%s", p->module); break;
	case DTRACE_SPEC_PROVIDER: line = text_of("%s", p->provider); break;
	default: line = text_of("%s:%s:%s:%s", p->provider, p->module, p->function, p->name);
	}
	if (*line && (!l->o->block || regexec(l->o->block, line, 0, NULL, 0) == 0))
		list_add(&l->found, line);
	free(line);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As in watching, a word without a colon can be any part of a description. */
static void list_word(dtrace_hdl_t *h, const char *word, struct listing *l)
{
	static const enum dtrace_spec all[] = {DTRACE_SPEC_FUNC, DTRACE_SPEC_NAME,
					       DTRACE_SPEC_PROVIDER, DTRACE_SPEC_MOD};
	bool whole = !*word || strchr(word, ':');

	if (*word && !is_description(word))
		fatal("'%s' is not a probe: it has characters that probes do not have", word);
	for (size_t i = 0; i < (whole || l->o->spec >= 0 ? 1 : sizeof(all) / sizeof(all[0])); i++)
		dtrace_probe_iter(h, word,
				  whole		    ? DTRACE_SPEC_NAME
				  : l->o->spec >= 0 ? (enum dtrace_spec)l->o->spec
						    : all[i],
				  add_probe, l);
}

void probe_list(dtrace_hdl_t *h, const struct options *o, FILE *out)
{
	static struct listing l; /* static: its list is never lost */

	l.o = o;
	if (o->words.n == 0)
		list_word(h, "", &l);
	for (int i = 0; i < o->words.n; i++)
		list_word(h, o->words.v[i], &l);
	if (l.found.n == 0)
		fatal("no probe matches");
	qsort(l.found.v, (size_t)l.found.n, sizeof(*l.found.v), by_text);
	for (int i = 0; i < l.found.n; i++)
		if (i == 0 || strcmp(l.found.v[i], l.found.v[i - 1]) != 0)
			fprintf(out, "%s\n", l.found.v[i]);
}
