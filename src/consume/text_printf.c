/*
 * text_printf: the conversions of printf(), printa(), system() and freopen().
 *
 * One table defines how each letter prints; all other code is common. A conversion gets its value
 * decoded (dt_value); the compiler's checks that protect memory are repeated here, since formats
 * and sizes can come from a file: an argument that is missing or of the wrong kind prints as zero
 * or nothing.
 *
 * Text is padded here rather than by C's printf, so that strings may hold any byte.
 */
#include <arpa/inet.h>
#include <langinfo.h>
#include <locale.h>
#include <netdb.h>
#include <stdlib.h>
#include <time.h>

#include "consume/writer.h"

#define WIDTH_MAX 65535

/* One conversion at work. */
struct job {
	dt_buf *out;
	const struct dt_format_env *fe;
	const dt_conv *conv;
	const dt_value *v;
	uint32_t flags;
	int width, prec; /* -1: none */
};

/* ---- text with width and precision ---- */

static void put_padded(const struct job *j, const char *s, size_t n)
{
	size_t pad = j->width > 0 && (size_t)j->width > n ? (size_t)j->width - n : 0;

	if (!(j->flags & DT_CF_LEFT))
		dt_buf_pad(j->out, ' ', pad);
	dt_buf_add(j->out, s ? s : "", n);
	if (j->flags & DT_CF_LEFT)
		dt_buf_pad(j->out, ' ', pad);
}

static void put_text(const struct job *j, const char *s, size_t n)
{
	if (j->prec >= 0 && (size_t)j->prec < n)
		n = (size_t)j->prec;
	put_padded(j, s, n);
}

/* The bytes of a string or char array, up to its NUL. */
static size_t text_of(const dt_value *v, const char **s)
{
	*s = "";
	if (v->kind != DT_V_STRING && v->kind != DT_V_BYTES)
		return 0;
	*s = v->data;
	return strnlen(*s, v->size);
}

/* ---- numbers ---- */

/* Thousands by commas, for a locale that has no separator of its own (C, POSIX). */
static void put_grouped(const struct job *j, char letter, uint64_t u)
{
	bool negative = letter == 'd' && (int64_t)u < 0;
	char digits[24], text[48], *p = text;
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)(negative ? -u : u));

	if (negative || (letter == 'd' && (j->flags & (DT_CF_SIGN | DT_CF_SPACE))))
		*p++ = negative ? '-' : j->flags & DT_CF_SIGN ? '+' : ' ';
	for (int i = 0; i < n; i++) {
		*p++ = digits[i];
		if (i + 1 < n && (n - i - 1) % 3 == 0)
			*p++ = ',';
	}
	put_padded(j, text, (size_t)(p - text));
}

/* "%#0-+ '*.*" and what follows: C's printf does the rest. */
static void c_format(const struct job *j, char spec[32], const char *tail)
{
	static const struct {
		uint32_t flag;
		char c;
	} flags[] = {{DT_CF_ALT, '#'},	{DT_CF_ZERO, '0'},   {DT_CF_LEFT, '-'},
		     {DT_CF_SIGN, '+'}, {DT_CF_GROUP, '\''}, {DT_CF_SPACE, ' '}};
	char *p = spec;

	*p++ = '%';
	for (size_t i = 0; i < DT_NELEM(flags); i++)
		if (j->flags & flags[i].flag)
			*p++ = flags[i].c;
	snprintf(p, 32 - (size_t)(p - spec), "*.*%s", tail);
}

/* Only grouping depends on the user's locale; the library does not change it permanently. */
static locale_t group_begin(const struct job *j, locale_t *old)
{
	locale_t l = j->flags & DT_CF_GROUP ? newlocale(LC_NUMERIC_MASK, "", (locale_t)0) : 0;

	if (l)
		*old = uselocale(l);
	return l;
}

static void group_end(locale_t l, locale_t old)
{
	if (l) {
		uselocale(old);
		freelocale(l);
	}
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(const struct job *j, char letter, uint64_t u)
{
	char tail[4] = {'l', 'l', letter, 0}, spec[32];
	locale_t old = 0, l;

	if (!j->flags && j->prec < 0 && (letter == 'd' || letter == 'u')) {
		dt_buf_put_int(j->out, u, letter == 'd', j->width < 0 ? 0 : (size_t)j->width);
		return;
	}
	l = group_begin(j, &old);
	if (j->flags & DT_CF_GROUP && strchr("du", letter) && *nl_langinfo(THOUSEP) == '\0') {
		put_grouped(j, letter, u);
	} else {
		c_format(j, spec, tail);
		dt_buf_printf(j->out, spec, j->width < 0 ? 0 : j->width, j->prec, (unsigned long long)u);
	}
	group_end(l, old);
}

static void conv_float(const struct job *j)
{
	char tail[3] = {'L', j->conv->letter, 0}, spec[32];
	locale_t old = 0, l = group_begin(j, &old);

	c_format(j, spec, tail);
	dt_buf_printf(j->out, spec, j->width < 0 ? 0 : j->width, j->prec,
		      dt_value_long_double(j->v));
	group_end(l, old);
}
#pragma GCC diagnostic pop

/* d: by the sign of the argument's type; i: signed; u o x X: the bits of the type. */
static void conv_int(const struct job *j)
{
	char letter = j->conv->letter;
	uint64_t u = dt_value_unsigned(j->v);

	if (letter == 'i' && j->v->kind == DT_V_INT)
		put_number(j, 'd', dt_load_int(j->v->data, j->v->size, true));
	else if (letter == 'd' && j->v->is_signed)
		put_number(j, 'd', j->v->u);
	else
		put_number(j, letter == 'd' || letter == 'i' ? 'u' : letter, u);
}

static void conv_pointer(const struct job *j)
{
	put_number(j, 'x', dt_value_unsigned(j->v));
}

/* ---- characters and strings ---- */

static size_t utf8_encode(uint32_t c, char *p)
{
	if (c < 0x80) {
		p[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		p[0] = (char)(0xc0 | c >> 6);
		p[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		p[0] = (char)(0xe0 | c >> 12);
		p[1] = (char)(0x80 | (c >> 6 & 0x3f));
		p[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	if (c > 0x10ffff)
		return utf8_encode(0xfffd, p);
	p[0] = (char)(0xf0 | c >> 18);
	p[1] = (char)(0x80 | (c >> 12 & 0x3f));
	p[2] = (char)(0x80 | (c >> 6 & 0x3f));
	p[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void conv_char(const struct job *j)
{
	char text[4] = {(char)j->v->u};
	size_t n = j->conv->size[0] ? utf8_encode((uint32_t)j->v->u, text) : 1;

	put_padded(j, text, n);
}

static void conv_escaped_char(const struct job *j)
{
	char c = (char)j->v->u;
	dt_buf b = {0};

	dt_buf_escape(&b, &c, 1);
	put_padded(j, b.s, b.n);
	dt_buf_free(&b);
}

static void conv_wide_string(const struct job *j)
{
	dt_buf b = {0};
	char text[4];

	for (uint32_t i = 0; j->v->kind == DT_V_BYTES && i + 4 <= j->v->size; i += 4) {
		uint32_t c = (uint32_t)dt_load_int((const char *)j->v->data + i, 4, false);

		if (c == 0)
			break;
		dt_buf_add(&b, text, utf8_encode(c, text));
	}
	put_text(j, b.s, b.n);
	dt_buf_free(&b);
}

static void conv_string(const struct job *j)
{
	size_t n, from = j->out->n;
	const char *s;

	if (j->conv->size[0]) {
		conv_wide_string(j);
	} else {
		n = text_of(j->v, &s);
		put_text(j, s, n);
	}
	if (!j->fe->command)
		dt_text_guard(j->out, from, j->fe->env);
}

/* The NUL that ends a string shows as \0, as in DTrace. */
static void conv_escaped_string(const struct job *j)
{
	dt_buf b = {0};
	const char *s;
	size_t n = text_of(j->v, &s);

	dt_buf_escape(&b, s, n);
	if (n < (j->v->kind == DT_V_STRING ? j->v->full : j->v->size))
		dt_buf_escape(&b, "", 1);
	put_text(j, b.s, b.n);
	dt_buf_free(&b);
}

/* ---- addresses and stacks ---- */

static void conv_address(const struct job *j)
{
	dt_buf b = {0};
	dt_frame f;

	if (j->v->kind == DT_V_SYMBOL) {
		dt_text_symbol(&b, j->v, j->fe->env);
	} else {
		if (j->conv->letter == 'A')
			dt_symbolise_user(j->fe->env, 0, j->v->time, dt_value_unsigned(j->v), &f);
		else
			dt_symbolise_kernel(j->fe->env, dt_value_unsigned(j->v), &f);
		dt_text_frame(&b, &f);
	}
	put_text(j, b.s, b.n);
	dt_buf_free(&b);
}

static void conv_stack(const struct job *j)
{
	int indent = (int)dt_opt(j->fe->env->opts, DT_O_STACKINDENT);

	if (j->flags & DT_CF_LEFT && j->width >= 0)
		indent = j->width;
	if (j->v->kind == DT_V_STACK)
		dt_text_stack(j->out, j->v, indent, j->fe->env);
}

/* ---- names of hosts and ports ---- */

static void conv_host(const struct job *j)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6};
	char text[INET6_ADDRSTRLEN + 1] = "", name[NI_MAXHOST];
	struct sockaddr *sa = NULL;
	socklen_t len = 0;
	const char *s;
	size_t n = text_of(j->v, &s);

	if (n < sizeof(text))
		memcpy(text, s, n);
	if (inet_pton(AF_INET, text, &sin.sin_addr) == 1) {
		sa = (struct sockaddr *)&sin;
		len = sizeof(sin);
	} else if (inet_pton(AF_INET6, text, &sin6.sin6_addr) == 1) {
		sa = (struct sockaddr *)&sin6;
		len = sizeof(sin6);
	}
	if (sa && getnameinfo(sa, len, name, sizeof(name), NULL, 0, NI_NAMEREQD) == 0)
		put_text(j, name, strlen(name));
	else
		put_text(j, s, n);
}

static void conv_port(const struct job *j)
{
	uint16_t port = (uint16_t)j->v->u;
	struct servent entry, *found = NULL;
	char memory[1024];

	if (getservbyport_r(htons(port), NULL, &entry, memory, sizeof(memory), &found) == 0 &&
	    found)
		put_text(j, found->s_name, strlen(found->s_name));
	else
		put_number(j, 'u', port);
}

/* ---- time ---- */

static void conv_time(const struct job *j)
{
	const char *layout =
	    j->conv->letter == 'Y' ? "%Y %b %e %H:%M:%S" : "%a, %d %b %Y %H:%M:%S %Z";
	int64_t ns = (int64_t)j->v->u;
	time_t sec = ns / 1000000000 - (ns % 1000000000 < 0);
	struct tm tm;
	char text[128] = "";

	if (localtime_r(&sec, &tm))
		strftime(text, sizeof(text), layout, &tm);
	put_text(j, text, strlen(text));
}

/* A number of nanoseconds: 950ns, 12.345us, 1.234ms, 3.210s, 2m05s, 1h02m03s, 3d04h05m. */
static void conv_duration(const struct job *j)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	bool negative = j->v->is_signed && (int64_t)j->v->u < 0;
	uint64_t ns = negative ? -j->v->u : dt_value_unsigned(j->v), s = ns / 1000000000;
	int prec = j->prec < 0 ? 3 : j->prec > 9 ? 9 : j->prec;
	const char *sign = negative ? "-" : j->flags & DT_CF_SIGN ? "+" : "";
	char text[64];
	size_t i = 0;

	while (i < DT_NELEM(units) && ns < units[i].ns)
		i++;
	if (i == DT_NELEM(units))
		snprintf(text, sizeof(text), "%s%uns", sign, (unsigned)ns);
	else if (s < 60)
		snprintf(text, sizeof(text), "%s%.*Lf%s", sign, prec, (long double)ns / (long double)units[i].ns,
			 units[i].name);
	else if (s < 3600)
		snprintf(text, sizeof(text), "%s%um%02us", sign, (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(text, sizeof(text), "%s%uh%02um%02us", sign, (unsigned)(s / 3600),
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
	else
		snprintf(text, sizeof(text), "%s%llud%02uh%02um", sign, (unsigned long long)(s / 86400),
			 (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60));
	put_padded(j, text, strlen(text));
}

/* ---- enums ---- */

/* The enumerator of this value; else those whose bits are set, joined by |, and what is left in hexadecimal. */
static void conv_flags(const struct job *j)
{
	const dt_type *t = j->v->type ? dt_type_resolve(j->v->type) : NULL;
	uint64_t left = dt_value_unsigned(j->v);
	dt_buf b = {0};

	if (t && t->kind == DT_K_ENUM)
		dt_type_complete(j->fe->env->types, (dt_type *)t);
	else
		t = NULL; /* read from DOF */
	for (uint32_t i = 0; t && i < t->nenumerators; i++)
		if (t->enumerators[i].value == (int64_t)j->v->u) {
			put_text(j, t->enumerators[i].name, strlen(t->enumerators[i].name));
			return;
		}
	for (uint32_t i = 0; t && i < t->nenumerators; i++) {
		uint64_t bits = (uint64_t)t->enumerators[i].value;

		if (bits && (left & bits) == bits) {
			dt_buf_printf(&b, "%s%s", b.n ? "|" : "", t->enumerators[i].name);
			left &= ~bits;
		}
	}
	if (left || b.n == 0)
		dt_buf_printf(&b, "%s0x%llx", b.n ? "|" : "", (unsigned long long)left);
	put_text(j, b.s, b.n);
	dt_buf_free(&b);
}

/* ---- the table ---- */

static const struct {
	const char *letters;
	void (*print)(const struct job *j);
} conversions[] = {
    {"diuoxX", conv_int},	{"c", conv_char},    {"C", conv_escaped_char}, {"s", conv_string},
    {"S", conv_escaped_string}, {"p", conv_pointer}, {"aA", conv_address},     {"k", conv_stack},
    {"eEfgG", conv_float},	{"I", conv_host},    {"P", conv_port},	       {"TY", conv_time},
    {"D", conv_duration},	{"b", conv_flags},
};

/* Width or precision from an argument: -1 when there is none. */
static int dynamic(const struct dt_format_env *fe, int arg)
{
	int64_t n;

	if (arg < 0 || (uint32_t)arg >= fe->nargs || fe->args[arg].kind != DT_V_INT)
		return -1;
	n = (int64_t)fe->args[arg].u;
	return n > WIDTH_MAX ? WIDTH_MAX : n < -WIDTH_MAX ? -WIDTH_MAX : (int)n;
}

static void set_up(struct job *j, const dt_conv *c)
{
	j->conv = c;
	j->flags = c->flags;
	j->width = c->width;
	j->prec = c->prec;
	if (c->flags & DT_CF_DYNWIDTH) {
		j->width = dynamic(j->fe, c->width_arg);
		if (j->width < -1 || (j->width == -1 && c->width_arg >= 0)) {
			j->flags |= DT_CF_LEFT;
			j->width = -j->width;
		}
	}
	if (c->flags & DT_CF_DYNPREC)
		j->prec = dynamic(j->fe, c->prec_arg);
	if (j->prec <= 0) /* as in DTrace: 0 means no precision */
		j->prec = -1;
}

static void put_value(struct job *j, const dt_value *v)
{
	j->v = v;
	for (size_t i = 0; i < DT_NELEM(conversions); i++) {
		if (strchr(conversions[i].letters, j->conv->letter)) {
			if (v->kind != DT_V_NONE || conversions[i].print == conv_string)
				conversions[i].print(j);
			return;
		}
	}
}

/* %@.99q */
static void put_quantile(struct job *j, const dt_aggset *s, const uint64_t *value)
{
	uint32_t whole = 1, part = 1;
	int64_t number;

	for (int i = 0; i < j->conv->prec_digits; i++)
		whole *= 10;
	if (j->conv->prec >= 0 && whole > 1)
		part = (uint32_t)j->conv->prec;
	else
		whole = 2; /* the median */
	number = dt_agg_quantile(s->agg, value, part, whole);
	j->prec = -1;
	put_number(j, 'd', (uint64_t)number);
}

/* %@: the value of an aggregation; a distribution is a graph, whatever the letter, except for %@q. */
static void put_agg(struct job *j, uint32_t which)
{
	const struct dt_format_env *fe = j->fe;
	const dt_aggset *s;
	dt_value v = {.kind = DT_V_INT, .size = 8};

	if (fe->nsets == 0)
		return;
	if (which >= fe->nsets)
		which = fe->nsets - 1;
	s = fe->sets[which];
	if (dt_agg_is_quantizer(s->agg) && j->conv->letter == 'q') {
		put_quantile(j, s, fe->values[which]);
		return;
	}
	if (dt_agg_is_quantizer(s->agg)) {
		dt_text_quantize(j->out, s->agg, fe->values[which], s->normal, fe->env->opts);
		return;
	}
	v.u = (uint64_t)dt_agg_number(s->agg, fe->values[which], s->normal);
	v.is_signed = s->agg->func != DT_ACT_COUNT;
	v.data = &v.u;
	put_value(j, &v);
}

static void put_conv(struct job *j)
{
	static const dt_value nothing;
	int arg = j->conv->arg;

	put_value(j, arg >= 0 && (uint32_t)arg < j->fe->nargs ? &j->fe->args[arg] : &nothing);
}

int dt_text_format(dt_buf *out, const dt_format *f, const struct dt_format_env *fe, dt_error *err)
{
	struct job j = {.out = out, .fe = fe};
	uint32_t naggs = 0;

	(void)err;
	for (uint32_t i = 0; i < f->nconvs; i++) {
		const dt_conv *c = &f->convs[i];

		if (c->textlen)
			dt_buf_add(out, c->text, c->textlen);
		if (c->letter == 0)
			continue;
		if (c->letter == '%') {
			dt_buf_putc(out, '%');
			continue;
		}
		set_up(&j, c);
		if (c->flags & DT_CF_AGG && c->letter == 'N')
			put_number(&j, 'd', fe->nlines);
		else if (c->flags & DT_CF_AGG)
			put_agg(&j, naggs++);
		else
			put_conv(&j);
	}
	return 0;
}
