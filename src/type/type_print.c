/*
 * type_print: C spellings of types.
 *
 * A C declaration is written from the inside out: the name, then its derivations (array and
 * function to the right, pointer to the left), until a named type ends it. So the declarator is
 * built in a buffer while walking from the outermost type to that base, and the base goes in front
 * at the end. A pointer to an array or a function gets parentheses.
 */
#include "type/store.h"

enum { Q_CONST = 1, Q_VOLATILE = 2, Q_RESTRICT = 4 };

static unsigned qualifier_bit(const dt_type *t)
{
	switch (t->kind) {
	case DT_K_CONST: return Q_CONST;
	case DT_K_VOLATILE: return Q_VOLATILE;
	case DT_K_RESTRICT: return Q_RESTRICT;
	default: return 0;
	}
}

static void put_qualifiers(dt_buf *b, unsigned q)
{
	static const char *const words[] = {"const ", "volatile ", "restrict "};

	for (unsigned i = 0; i < DT_NELEM(words); i++)
		if (q & 1u << i)
			dt_buf_puts(b, words[i]);
}

static const dt_type *unqualified(const dt_type *t)
{
	while (qualifier_bit(t) != 0)
		t = t->ref;
	return t;
}

/* d becomes "*d", "*const d" or "(*d)". */
static void wrap_pointer(dt_buf *d, const dt_type *p, unsigned quals)
{
	enum dt_kind to = unqualified(p->ref)->kind;
	bool parens = to == DT_K_ARRAY || to == DT_K_FUNCTION;
	dt_buf b = {0};

	dt_buf_puts(&b, parens ? "(*" : "*");
	put_qualifiers(&b, quals);
	if (d->n != 0)
		dt_buf_add(&b, d->s, d->n);
	else if (quals != 0)
		b.s[--b.n] = '\0'; /* the blank after the last qualifier */
	if (parens)
		dt_buf_putc(&b, ')');
	dt_buf_free(d);
	*d = b;
}

static void put_params(dt_types *ts, const dt_type *f, dt_buf *d)
{
	dt_buf_putc(d, '(');
	if (f->nparams == 0 && !f->varargs)
		dt_buf_puts(d, "void");
	for (uint32_t i = 0; i < f->nparams; i++) {
		if (i > 0)
			dt_buf_puts(d, ", ");
		dt_type_print(ts, f->params[i], NULL, d);
	}
	if (f->varargs && f->nparams > 0)
		dt_buf_puts(d, ", ...");
	dt_buf_putc(d, ')');
}

static void put_base(const dt_type *t, dt_buf *out)
{
	const char *word = NULL;

	switch (t->kind) {
	case DT_K_STRUCT: word = "struct"; break;
	case DT_K_UNION: word = "union"; break;
	case DT_K_ENUM: word = "enum"; break;
	case DT_K_FORWARD: word = t->tag_is_union ? "union" : "struct"; break;
	default: break;
	}
	if (word != NULL)
		dt_buf_printf(out, "%s %s", word, t->name != NULL ? t->name : "{...}");
	else
		dt_buf_puts(out, t->name != NULL ? t->name : dt_kind_names[t->kind]);
}

static bool is_user_pointer(const dt_type *t)
{
	for (t = unqualified(t); t->kind == DT_K_ARRAY; t = unqualified(t->ref))
		;
	return t->kind == DT_K_POINTER && t->userland;
}

void dt_type_print(dt_types *ts, const dt_type *t, const char *name, dt_buf *out)
{
	dt_buf d = {0};
	unsigned quals = 0;

	if (name != NULL)
		dt_buf_puts(&d, name);
	if (is_user_pointer(t))
		dt_buf_puts(out, "userland ");
	for (;; t = t->ref) {
		if (qualifier_bit(t) != 0) {
			quals |= qualifier_bit(t);
		} else if (t->kind == DT_K_POINTER) {
			wrap_pointer(&d, t, quals);
			quals = 0;
		} else if (t->kind == DT_K_ARRAY) { /* qualifiers go on to the element */
			dt_buf_printf(&d, "[%llu]", (unsigned long long)t->nelems);
		} else if (t->kind == DT_K_FUNCTION) {
			put_params(ts, t, &d);
			quals = 0;
		} else {
			break;
		}
	}
	put_qualifiers(out, quals);
	put_base(t, out);
	if (d.n != 0) {
		dt_buf_putc(out, ' ');
		dt_buf_add(out, d.s, d.n);
	}
	dt_buf_free(&d);
}

const char *dt_type_name(dt_types *ts, const dt_type *t)
{
	dt_buf b = {0};
	const char *s;

	dt_type_print(ts, t, NULL, &b);
	s = dt_arena_strdup(ts->arena, b.s);
	dt_buf_free(&b);
	return s;
}
