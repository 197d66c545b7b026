/*
 * text_print: print() shows any value with its type, as a C declaration.
 *
 *	int 0x2a                           point_t {
 *	char [30] "ab"                         int a = 0x1
 *	enum color green                       void *b = 0x2
 *	int [3] [ 0x1, 0x2, 0x3 ]              struct c = {
 *	                                           uint64_t when = 0x3
 *	                                       }
 *	                                       int d :4 = 0x5
 *	                                   }
 *
 * A structure ends at its brace; every other value ends the line. The walk follows the type and
 * takes bytes only where the datum has them: a member past its end prints <not recorded>.
 */
#include <ctype.h>

#include "consume/writer.h"

#define INDENT	  4
#define DEPTH_MAX 64

struct view {
	dt_buf *out;
	dt_types *ts;
	const struct dt_consumer_env *env;
	const uint8_t *data;
	uint64_t size;
};

static void put_value(const struct view *v, dt_type *t, uint64_t at, int depth, bool member);

static void indent(const struct view *v, int depth)
{
	dt_buf_printf(v->out, "%*s", depth * INDENT, "");
}

static bool recorded(const struct view *v, uint64_t at, uint64_t n)
{
	return at <= v->size && n <= v->size - at;
}

/* ---- names of types ---- */

/* An anonymous structure is just "struct". */
static void put_type(const struct view *v, dt_type *t)
{
	if ((t->kind == DT_K_STRUCT || t->kind == DT_K_UNION || t->kind == DT_K_ENUM) &&
	    (!t->name || !t->name[0]))
		dt_buf_puts(v->out, dt_kind_names[t->kind]);
	else
		dt_type_print(v->ts, t, NULL, v->out);
}

/* In a struct of a user program all pointers are userland ones: do not repeat it for each. */
static void drop_userland(dt_buf *b, size_t from)
{
	static const char word[] = "userland ";
	char *s;

	while ((s = memmem(b->s + from, b->n - from, word, sizeof(word) - 1)) != NULL) {
		memmove(s, s + sizeof(word) - 1, b->n + 1 - (size_t)(s + sizeof(word) - 1 - b->s));
		b->n -= sizeof(word) - 1;
	}
}

/* "int a", "void *b". */
static void put_declaration(const struct view *v, const dt_type *sou, const dt_member *m)
{
	size_t start = v->out->n;

	put_type(v, m->type);
	if (sou->user)
		drop_userland(v->out, start);
	if (v->out->n == 0 || v->out->s[v->out->n - 1] != '*')
		dt_buf_putc(v->out, ' ');
	dt_buf_puts(v->out, m->name ? m->name : "");
	if (m->bit_width)
		dt_buf_printf(v->out, " :%u", m->bit_width);
}

/* ---- scalars ---- */

static void put_hex(const struct view *v, uint64_t u)
{
	dt_buf_printf(v->out, u ? "0x%llx" : "%llx", (unsigned long long)u);
}

static void put_char(const struct view *v, uint8_t c)
{
	if (c >= ' ' && c <= '~')
		dt_buf_printf(v->out, "'%c'", c);
	else if (c == 0)
		dt_buf_puts(v->out, "'\\0'");
	else
		dt_buf_printf(v->out, "'\\%03o'", c);
}

static bool is_plain_char(const dt_type *t)
{
	return t->kind == DT_K_INTEGER && t->is_char && t->is_signed && t->size == 1;
}

/* `value` as an integer of the type, sign-extended if the type is signed. */
static void put_integer(const struct view *v, dt_type *t, uint64_t value, uint32_t bits)
{
	if (t->kind == DT_K_ENUM) {
		dt_type_complete(v->ts, t);
		for (uint32_t i = 0; i < t->nenumerators; i++) {
			if (t->enumerators[i].value == (int64_t)value) {
				dt_buf_puts(v->out, t->enumerators[i].name);
				return;
			}
		}
		dt_buf_printf(v->out, "%lld", (long long)value);
		return;
	}
	put_hex(v, bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value);
}

static void put_float(const struct view *v, dt_type *t, uint64_t at)
{
	dt_value f = {.kind = DT_V_FLOAT, .data = v->data + at, .size = (uint32_t)t->size};

	if (t->size == sizeof(float))
		dt_buf_printf(v->out, "%+.7e", dt_value_double(&f));
	else if (t->size == sizeof(double))
		dt_buf_printf(v->out, "%+.13e", dt_value_double(&f));
	else
		dt_buf_printf(v->out, "%+.16Le", dt_value_long_double(&f));
}

static void put_pointer(const struct view *v, dt_type *t, uint64_t at)
{
	uint64_t address = dt_load_int(v->data + at, (uint32_t)t->size, false);
	dt_type *to = t->ref ? dt_type_resolve(t->ref) : NULL;
	dt_frame f = {0};

	if (to && to->kind == DT_K_FUNCTION && address) {
		if (!t->userland)
			dt_symbolise_kernel(v->env, address, &f);
		if (f.sym) {
			dt_text_frame(v->out, &f);
			return;
		}
	}
	put_hex(v, address);
}

static void put_bitfield(const struct view *v, const dt_member *m, uint64_t bit)
{
	dt_type *t = dt_type_resolve(m->type);
	uint64_t first = bit / 8, last = (bit + m->bit_width - 1) / 8, value = 0;
	uint32_t width = m->bit_width;

	if (width > 64 || !recorded(v, first, last - first + 1)) {
		dt_buf_puts(v->out, "<not recorded>");
		return;
	}
	for (uint32_t i = 0; i < width; i++) {
		uint64_t b = bit + i;

		value |= (uint64_t)(v->data[b / 8] >> (b % 8) & 1) << i;
	}
	if (t->kind == DT_K_ENUM && t->is_signed && width < 64 && value >> (width - 1) & 1)
		value |= ~UINT64_C(0) << width;
	put_integer(v, t, value, width);
}

/* ---- arrays ---- */

/* Printable up to its NUL, or to the end. */
static bool is_text(const uint8_t *p, uint64_t n, uint64_t *len)
{
	uint64_t i = 0;

	while (i < n && p[i] && (isprint(p[i]) || isspace(p[i])))
		i++;
	*len = i;
	return i == n || p[i] == '\0';
}

static void put_quoted(const struct view *v, const uint8_t *p, uint64_t n)
{
	dt_buf_putc(v->out, '"');
	dt_buf_escape(v->out, (const char *)p, n);
	dt_buf_putc(v->out, '"');
}

static void put_elements(const struct view *v, dt_type *t, uint64_t at, int depth)
{
	dt_type *elem = dt_type_resolve(t->ref);
	uint64_t size = dt_type_size(v->ts, t->ref);
	bool blocks = dt_type_is_sou(elem);

	dt_buf_puts(v->out, blocks ? "[ \n" : "[ ");
	for (uint64_t i = 0; i < t->nelems; i++) {
		if (i > 0)
			dt_buf_puts(v->out, blocks ? ", \n" : ", ");
		if (blocks)
			indent(v, depth + 1);
		if (size == 0 || !recorded(v, at + i * size, size)) {
			dt_buf_puts(v->out, "<not recorded>");
			break;
		}
		if (blocks) {
			put_type(v, t->ref);
			dt_buf_putc(v->out, ' ');
		}
		put_value(v, t->ref, at + i * size, depth + 1, true);
	}
	if (blocks) {
		dt_buf_putc(v->out, '\n');
		indent(v, depth);
		dt_buf_putc(v->out, ']');
	} else {
		dt_buf_puts(v->out, " ]");
	}
}

/* Text stands in brackets inside a structure, alone otherwise. */
static void put_array(const struct view *v, dt_type *t, uint64_t at, int depth, bool member)
{
	dt_type *elem = t->special == DT_S_STRING ? NULL : dt_type_resolve(t->ref);
	uint64_t room = v->size - at, n, len;

	n = elem ? t->nelems : dt_type_size(v->ts, t);
	if ((!elem && member) || n > room)
		n = n > room ? room : n;
	if (!elem || (is_plain_char(elem) && is_text(v->data + at, n, &len))) {
		if (!elem)
			len = strnlen((const char *)v->data + at, n);
		dt_buf_puts(v->out, member ? "[ " : "");
		put_quoted(v, v->data + at, len);
		dt_buf_puts(v->out, member ? " ]" : "");
		return;
	}
	put_elements(v, t, at, depth);
}

/* ---- structures ---- */

static void put_members(const struct view *v, dt_type *t, uint64_t at, int depth)
{
	for (uint32_t i = 0; i < t->nmembers; i++) {
		const dt_member *m = &t->members[i];
		uint64_t bit = at * 8 + m->bit_offset, offset = bit / 8;
		bool sou = dt_type_is_sou(m->type), named = m->name && m->name[0];
		uint64_t size = dt_type_size(v->ts, m->type);

		if (!named && !sou)
			continue; /* padding */
		indent(v, depth);
		put_declaration(v, t, m);
		dt_buf_puts(v->out, named ? " = " : " ");
		if (m->bit_width)
			put_bitfield(v, m, bit);
		else if (!sou && !recorded(v, offset, size))
			dt_buf_puts(v->out, "<not recorded>");
		else
			put_value(v, m->type, offset, depth, true);
		dt_buf_putc(v->out, '\n');
	}
}

static void put_structure(const struct view *v, dt_type *t, uint64_t at, int depth)
{
	dt_type_complete(v->ts, t);
	if (t->size == 0 && t->nmembers == 0) {
		dt_buf_puts(v->out, "<forward decl>");
		return;
	}
	dt_buf_puts(v->out, "{\n");
	if (depth < DEPTH_MAX)
		put_members(v, t, at, depth + 1);
	indent(v, depth);
	dt_buf_putc(v->out, '}');
}

/* ---- any value; `at` is inside the datum or at its end ---- */

static void put_value(const struct view *v, dt_type *type, uint64_t at, int depth, bool member)
{
	dt_type *t = dt_type_resolve(type);

	if (dt_type_is_sou(t)) {
		put_structure(v, t, at, depth);
		return;
	}
	if (t->special == DT_S_STRING || t->kind == DT_K_ARRAY) {
		if (at <= v->size && depth < DEPTH_MAX)
			put_array(v, t, at, depth, member);
		return;
	}
	if (t->kind == DT_K_FORWARD) {
		dt_buf_puts(v->out, "<forward decl>");
		return;
	}
	if (t->size == 0 || !recorded(v, at, t->size)) {
		dt_buf_puts(v->out, "<not recorded>");
		return;
	}
	switch (t->kind) {
	case DT_K_POINTER: put_pointer(v, t, at); break;
	case DT_K_FLOAT: put_float(v, t, at); break;
	default:
		if (is_plain_char(t))
			put_char(v, v->data[at]);
		else
			put_integer(v, t,
				    dt_load_int(v->data + at, (uint32_t)t->size,
						t->is_signed || t->kind == DT_K_ENUM),
				    t->size < 8 ? (uint32_t)t->size * 8 : 64);
	}
}

void dt_text_print(dt_buf *out, dt_types *ts, dt_type *t, const void *data, size_t n,
		   const struct dt_consumer_env *env)
{
	struct view v = {.out = out, .ts = ts, .env = env, .data = data, .size = n};

	if (!t) { /* a program read from a file has no types */
		if (n == 1 || n == 2 || n == 4 || n == 8) {
			put_hex(&v, dt_load_int(data, (uint32_t)n, false));
			dt_buf_putc(out, '\n');
		} else {
			dt_text_hexdump(out, data, n);
		}
		return;
	}
	put_type(&v, t);
	dt_buf_putc(out, ' ');
	put_value(&v, t, 0, 0, false);
	if (!dt_type_is_sou(dt_type_resolve(t)))
		dt_buf_putc(out, '\n');
}
