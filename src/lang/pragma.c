/*
 * pragma: control lines.
 *
 *   # 12 "file" 1        position, from the C preprocessor (1: entering an include, 2: leaving)
 *   #line 12 "file"
 *   #error text          also after #pragma and #pragma D, as #line and #ident are
 *   #ident, #pragma x    ignored
 *   #pragma D option name[=value]
 *   #pragma D attributes Name/Data/Class identifier
 *   #pragma D attributes Name/Data/Class provider name {provider|module|function|name|args}
 *   #pragma D binding "version" identifier
 *   #pragma D depends_on {module|provider|library} name
 *
 * attributes and binding may come before the definition they apply to: they wait in cc->pragmas
 * until the identifier (or, for the word "translator", the next translator) is defined. If it never
 * is, that is an error.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lang/compiler.h"

#define MAX_WORDS 16

/* A control line cut into words; a quoted string is (part of) one word. */
struct line {
	const char *words[MAX_WORDS];
	const char *rest[MAX_WORDS]; /* the line from that word on */
	uint32_t n;
	dt_pos pos;
};

static bool is_space(const char *s)
{
	return isspace((unsigned char)*s) || (s[0] == '\\' && (s[1] == '\n' || s[1] == '\r'));
}

static const char *skip_space(const char *s)
{
	for (;;) {
		const char *close;
		if (*s && is_space(s))
			s++;
		else if (s[0] == '/' && s[1] == '*' && (close = strstr(s + 2, "*/")))
			s = close + 2;
		else if (s[0] == '/' && s[1] == '/')
			return s + strlen(s);
		else
			return s;
	}
}

static void split(dt_arena *arena, const char *text, size_t len, struct line *l)
{
	const char *s = skip_space(dt_arena_strndup(arena, text, len));

	for (l->n = 0; *s && l->n < MAX_WORDS; s = skip_space(s)) {
		const char *start = s;
		bool quoted = false;
		for (; *s && (quoted || !is_space(s)); s++) {
			if (*s == '"')
				quoted = !quoted;
			else if (!quoted && s[0] == '/' && s[1] == '*')
				break;
		}
		l->rest[l->n] = start;
		l->words[l->n++] = dt_arena_strndup(arena, start, (size_t)(s - start));
	}
}

/* A word without the quotes around it. */
static const char *unquote(dt_arena *arena, const char *s)
{
	size_t len = strlen(s);

	return len > 1 && s[0] == '"' && s[len - 1] == '"' ? dt_arena_strndup(arena, s + 1, len - 2)
							   : s;
}

_Noreturn static void malformed(dt_compiler *cc, const struct line *l, const char *usage)
{
	dt_fail(cc, l->pos, D_PRAGMA_MALFORM, "malformed #pragma; expected %s", usage);
}

/* ---- position ---- */

static void set_position(dt_compiler *cc, const struct line *l, uint32_t first)
{
	dt_lexer *lx = &cc->lex;
	char *end;
	unsigned long n = strtoul(l->words[first], &end, 10);
	size_t len;

	if (*end || n > UINT32_MAX)
		dt_fail(cc, l->pos, D_PRAGCTL_INVAL, "invalid line number \"%s\"", l->words[first]);
	lx->line = (uint32_t)n - 1; /* the newline that follows adds one */
	if (l->n <= first + 1)
		return;
	const char *name = l->words[first + 1];
	len = strlen(name);
	if (len < 2 || name[0] != '"' || name[len - 1] != '"')
		dt_fail(cc, l->pos, D_PRAGCTL_INVAL, "invalid file name in a line marker: %s",
			name);
	name = unquote(cc->arena, name);
	if (!lx->file || strcmp(lx->file, name) != 0)
		lx->file = name;
	if (!lx->main_file)
		lx->main_file = name;
	if (l->n > first + 2) {
		lx->has_marker_flags = true;
		if (strcmp(l->words[first + 2], "1") == 0)
			lx->include_depth++;
		else if (strcmp(l->words[first + 2], "2") == 0 && lx->include_depth > 0)
			lx->include_depth--;
	}
}

/* ---- #pragma D option ---- */

static void pragma_option(dt_compiler *cc, const struct line *l)
{
	const char *word = l->n == 4 ? l->words[3] : NULL, *equal, *value = NULL;
	dt_error err = {0};

	if (!word)
		malformed(cc, l, "#pragma D option name[=value], without blanks around the =");
	if ((equal = strchr(word, '='))) {
		value = unquote(cc->arena, equal + 1);
		word = dt_arena_strndup(cc->arena, word, (size_t)(equal - word));
	}
	if (cc->src && cc->src->is_library && strcmp(word, "destructive") == 0)
		dt_fail(cc, l->pos, D_PRAGMA_OPTSET,
			"a library cannot allow destructive actions: the program or -w must");
	if (dt_options_set(cc->opts, word, value, DT_WHEN_PRAGMA, &err) != 0)
		dt_fail(cc, l->pos, D_PRAGMA_OPTSET, "failed to set option '%s'%s%s%s: %s", word,
			value ? " to '" : "", value ? value : "", value ? "'" : "", err.text);
	dt_types_set_strsize(cc->types, dt_opt(cc->opts, DT_O_STRSIZE));
}

/* ---- #pragma D attributes, binding ---- */

static void apply_to_ident(const struct dt_pragma *p, dt_ident *id)
{
	if (p->kind == PRAGMA_ATTR) {
		id->attr = p->attr;
		id->flags |= IDF_ATTR;
	} else {
		id->version = p->version;
	}
}

/* Apply now if the name is defined in this program, else when it is defined. */
static void add_pragma(dt_compiler *cc, const struct line *l, struct dt_pragma p)
{
	dt_ident *id;
	struct dt_pragma *copy;

	if (strchr(p.name, '`'))
		dt_fail(cc, l->pos, D_PRAGMA_SCOPE,
			"#pragma cannot be applied to the external symbol \"%s\"", p.name);
	if (cc->module)
		p.name = dt_module_word(cc, p.name, 0);
	id = dt_ident_find(cc, p.name, 0);
	if (id && id->generation != cc->generation)
		dt_fail(cc, l->pos, D_PRAGMA_SCOPE,
			"#pragma cannot be applied to \"%s\", which is not defined in this program",
			p.name);
	if (id) {
		apply_to_ident(&p, id);
		return;
	}
	copy = dt_arena_dup(cc->arena, &p, sizeof(p));
	copy->next = dt_map_get(cc->pragmas, p.name);
	dt_map_set(cc->pragmas, p.name, copy);
}

static void provider_attributes(dt_compiler *cc, const struct line *l, dt_attr attr)
{
	static const char *const parts[] = {"provider", "module", "function", "name", "args"};
	struct dt_known_provider *p = dt_map_get(cc->shared->providers, l->words[5]);
	uint32_t part = 0;

	while (part < DT_NELEM(parts) && strcmp(l->words[6], parts[part]) != 0)
		part++;
	if (part == DT_NELEM(parts))
		malformed(cc, l, "one of provider, module, function, name, args");
	if (!p || !p->made)
		dt_fail(cc, l->pos, D_PRAGMA_UNUSED,
			"#pragma attributes for provider \"%s\", which is not defined",
			l->words[5]);
	p->decl.attrs[part] = attr;
}

_Noreturn static void invalid(dt_compiler *cc, const struct line *l, const char *what, uint32_t i)
{
	dt_fail(cc, l->pos, D_PRAGMA_INVAL, "invalid %s in #pragma: %s", what, l->words[i]);
}

static bool is_string(const char *word)
{
	return word[0] == '"';
}

/* A name, not a string or a number. */
static bool is_name(const char *word)
{
	return !is_string(word) && !isdigit((unsigned char)word[0]);
}

static void pragma_attributes(dt_compiler *cc, const struct line *l)
{
	struct dt_pragma p = {.kind = PRAGMA_ATTR, .pos = l->pos};
	bool provider = l->n == 7 && strcmp(l->words[4], "provider") == 0;

	if ((l->n != 5 && !provider) || !is_name(l->words[3]) || !is_name(l->words[4]))
		malformed(cc, l, "#pragma D attributes Name/Data/Class identifier");
	if (dt_attr_parse(l->words[3], &p.attr) != 0)
		invalid(cc, l, "attributes", 3);
	if (provider) {
		provider_attributes(cc, l, p.attr);
		return;
	}
	p.name = l->words[4];
	add_pragma(cc, l, p);
}

static void pragma_binding(dt_compiler *cc, const struct line *l)
{
	struct dt_pragma p = {.kind = PRAGMA_BINDING, .pos = l->pos};

	if (l->n != 5 || !is_string(l->words[3]) || !is_name(l->words[4]))
		malformed(cc, l, "#pragma D binding \"version\" identifier");
	if (dt_version_parse(unquote(cc->arena, l->words[3]), &p.version) != 0)
		invalid(cc, l, "version", 3);
	p.name = l->words[4];
	add_pragma(cc, l, p);
}

/* Take the pragmas called `name` out of the waiting list; the caller applies them. */
static struct dt_pragma *take(dt_compiler *cc, const char *name)
{
	struct dt_pragma *taken = NULL, *p, *next;

	for (p = dt_map_get(cc->pragmas, name); p; p = next) { /* in the order they were written */
		next = p->next;
		p->next = taken;
		p->used = true;
		taken = p;
	}
	if (taken)
		dt_map_set(cc->pragmas, name, NULL);
	return taken;
}

void dt_pragma_apply(dt_compiler *cc, dt_ident *id)
{
	for (struct dt_pragma *p = take(cc, id->name); p; p = p->next)
		apply_to_ident(p, id);
}

void dt_pragma_apply_xlator(dt_compiler *cc, dt_xlator *x)
{
	for (struct dt_pragma *p = take(cc, "translator"); p; p = p->next) {
		if (p->kind == PRAGMA_ATTR)
			x->attr = p->attr;
		else
			x->version = p->version;
	}
}

void dt_pragma_check_unused(dt_compiler *cc)
{
	const char *name;
	struct dt_pragma *p = NULL;
	void *value;
	uint32_t it = 0;

	while (!p && dt_map_next(cc->pragmas, &it, &name, &value))
		p = value;
	if (p)
		dt_fail(cc, p->pos, D_PRAGMA_UNUSED,
			"#pragma %s for \"%s\", which is never defined",
			p->kind == PRAGMA_ATTR ? "attributes" : "binding", p->name);
}

/* ---- #pragma D depends_on ---- */

static bool module_is_loaded(const char *name)
{
	char path[256];

	if (strcmp(name, "vmlinux") == 0 || strcmp(name, "kernel") == 0 ||
	    strcmp(name, "genunix") == 0 || strcmp(name, "unix") == 0)
		return true;
	if (strchr(name, '/') ||
	    snprintf(path, sizeof(path), "/sys/module/%s", name) >= (int)sizeof(path))
		return false;
	return access(path, F_OK) == 0;
}

static bool provider_exists(dt_compiler *cc, const char *name)
{
	dt_probedesc desc = {.prov = name, .mod = "", .func = "", .name = ""};
	struct dt_probe_args found = {0};
	dt_error err = {0};

	if (!cc->probes.describe)
		return true;
	return cc->probes.describe(cc->probes.arg, cc, &desc, false, &found, &err) == 0 &&
	       found.nprobes > 0;
}

static void skip_library(dt_compiler *cc)
{
	memset(cc->err, 0, sizeof(*cc->err));
	cc->err->code = EDT_LIBSKIP;
	longjmp(cc->jmp, 2);
}

static void pragma_depends_on(dt_compiler *cc, const struct line *l)
{
	const char *what, *name;
	bool met = true;

	if (l->n != 5 || !is_name(l->words[3]) || !is_name(l->words[4]))
		malformed(cc, l, "#pragma D depends_on {module|provider|library} name");
	what = l->words[3];
	name = l->words[4];
	if (strcmp(what, "module") == 0)
		met = module_is_loaded(name);
	else if (strcmp(what, "provider") == 0)
		met = provider_exists(cc, name);
	else if (strcmp(what, "library") == 0)
		met = cc->src && cc->src->is_library && dt_library_require(cc, name);
	else
		invalid(cc, l, "class", 3);
	if (met)
		return;
	if (cc->src && cc->src->is_library)
		skip_library(cc);
	dt_fail(cc, l->pos, D_PRAGMA_DEPEND, "the program requires %s %s, which %s", what, name,
		strcmp(what, "library") == 0
		    ? "only a library can do: libraries are read when they are needed"
		    : "is not there");
}

static void note_dependency(struct dt_exports *e, const struct line *l)
{
	if (l->n == 5 && strcmp(l->words[0], "pragma") == 0 && strcmp(l->words[1], "D") == 0 &&
	    strcmp(l->words[2], "depends_on") == 0 && strcmp(l->words[3], "library") == 0)
		dt_map_set(e->depends, l->words[4], e);
}

/* ---- the tables ---- */

static const struct {
	const char *name;
	void (*run)(dt_compiler *cc, const struct line *l);
} d_pragmas[] = {
    {"attributes", pragma_attributes},
    {"binding", pragma_binding},
    {"depends_on", pragma_depends_on},
    {"option", pragma_option},
};

/* The words after #error, without the quotes around strings. */
_Noreturn static void user_error(dt_compiler *cc, const struct line *l, uint32_t first)
{
	dt_buf b = {0};
	const char *text;

	for (uint32_t i = first; i < l->n; i++)
		dt_buf_printf(&b, "%s%s", i > first ? " " : "", unquote(cc->arena, l->words[i]));
	text = dt_arena_strdup(cc->arena, b.s ? b.s : "");
	dt_buf_free(&b);
	dt_fail(cc, l->pos, D_PRAGERR, "#error: %.900s", text);
}

/* What may stand after #, #pragma and #pragma D: word `i` of the line. False if it is none of them. */
static bool common_word(dt_compiler *cc, const struct line *l, uint32_t i)
{
	const char *word = l->words[i];

	if (strcmp(word, "error") == 0)
		user_error(cc, l, i + 1);
	if (strcmp(word, "line") == 0 &&
	    (l->n <= i + 1 || !isdigit((unsigned char)*l->words[i + 1])))
		malformed(cc, l, "#line number [\"file\"]");
	if (strcmp(word, "line") == 0)
		set_position(cc, l, i + 1);
	return strcmp(word, "line") == 0 || strcmp(word, "ident") == 0;
}

static void pragma(dt_compiler *cc, const struct line *l)
{
	const char *names[DT_NELEM(d_pragmas)];

	if (l->n < 2 || (strcmp(l->words[1], "D") != 0 && !common_word(cc, l, 1)))
		return; /* for another compiler */
	if (strcmp(l->words[1], "D") != 0 || (l->n > 2 && common_word(cc, l, 2)))
		return;
	if (l->n < 3)
		malformed(cc, l, "#pragma D option, attributes, binding or depends_on");
	for (size_t i = 0; i < DT_NELEM(d_pragmas); i++) {
		names[i] = d_pragmas[i].name;
		if (strcmp(l->words[2], names[i]) == 0) {
			d_pragmas[i].run(cc, l);
			return;
		}
	}
	dt_fail(cc, l->pos, D_PRAGMA_INVAL, "unknown D pragma \"%s\"%s", l->words[2],
		dt_did_you_mean(l->words[2], names, DT_NELEM(names)).text);
}

static bool is_preprocessor_word(const char *s)
{
	static const char *const names[] = {"include", "define", "undef", "if",	  "ifdef",
					    "ifndef",  "elif",	 "else",  "endif"};

	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (strcmp(s, names[i]) == 0)
			return true;
	return false;
}

void dt_control_line(dt_compiler *cc, const char *text, size_t len)
{
	struct line l = {.pos = dt_lex_pos(cc)};
	const char *word;

	split(cc->arena, text, len, &l);
	if (l.n == 0)
		return;
	if (cc->exports) {
		note_dependency(cc->exports, &l);
		return;
	}
	word = l.words[0];
	if (isdigit((unsigned char)*word))
		set_position(cc, &l, 0);
	else if (strcmp(word, "pragma") == 0)
		pragma(cc, &l);
	else if (!common_word(cc, &l, 0))
		dt_fail(cc, l.pos, D_PRAGCTL_INVAL, "unknown control line: #%s%s", word,
			is_preprocessor_word(word) ? "; preprocessing needs the -C option" : "");
}
