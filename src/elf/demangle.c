/*
 * demangle: readable names of C++ and Rust functions.
 *
 * libiberty does the work. Rust's older mangling looks like C++ with a hash at the end ("::h" and
 * 16 hexadecimal digits); libiberty leaves the hash out.
 *
 * Both manglings can refer back to parts of themselves, so a name of 200 characters can expand to
 * gigabytes. libiberty prints in pieces to a callback, without using the heap; at DT_MAX_DEMANGLED
 * the callback aborts it (longjmp), and the name stays mangled. Its work without output is limited
 * in advance: it searches everything that an expansion refers to for a pack of template arguments,
 * repeatedly where one part is referred to twice. So a name in which the pack is not at the
 * beginning of its expansion may have only few references.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else /* Fedora */
#include <demangle.h>
#endif

#include "base/budget.h"
#include "elf/elf.h"
#include "jail/message.h"

#define MAX_REFERENCES 16 /* where each can double the time */

struct output {
	char text[DT_MAX_DEMANGLED + 1];
	size_t n;
	jmp_buf full;
};

static void print(const char *s, size_t n, void *arg)
{
	struct output *o = arg;

	if (n > DT_MAX_DEMANGLED - o->n)
		longjmp(o->full, 1);
	memcpy(o->text + o->n, s, n);
	o->n += n;
}

/* Is this T_, T0_ ..., perhaps after letters for a reference or a pointer? If so, the search ends
 * at once. */
static bool is_pack(const char *p)
{
	p += strspn(p, "ROPK");
	if (*p++ != 'T')
		return false;
	p += strspn(p, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return *p == '_';
}

/* Would libiberty search for long? Dp, sp: expansions; S_, S0_, T_, T0_: references. */
static bool is_costly(const char *name)
{
	uint32_t searches = 0, references = 0;

	for (const char *p = name; *p; p++) {
		searches += (p[0] == 'D' || p[0] == 's') && p[1] == 'p' && !is_pack(p + 2);
		references +=
		    (p[0] == 'S' || p[0] == 'T') &&
		    (p[1] == '_' || isdigit((unsigned char)p[1]) || isupper((unsigned char)p[1]));
	}
	return searches && references > MAX_REFERENCES;
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

static int demangle(const char *name, int options, struct output *o)
{
	if (name[1] == 'R')
		return rust_demangle_callback(name, options, print, o);
	/* Rust's older mangling is C++ with a hash, which only Rust's printer leaves out. */
	if (rust_demangle_callback(name, options, print, o))
		return 1;
	o->n = 0;
	return cplus_demangle_v3_callback(name, options, print, o);
}

char *dt_demangle(const char *name, bool params)
{
	int options = DMGL_AUTO | (params ? DMGL_PARAMS | DMGL_ANSI : 0);
	struct output *o;
	char *s = NULL;

	/* Both manglings begin with _Z or _R; so do names of ordinary C functions, but rarely. */
	if (!is_mangled(name) || strnlen(name, DT_MAX_MANGLED + 1) > DT_MAX_MANGLED ||
	    is_costly(name))
		return NULL;
	o = dt_xmalloc(sizeof(*o));
	o->n = 0;
	if (setjmp(o->full) == 0 && demangle(name, options, o)) {
		o->text[o->n] = 0;
		s = dt_xstrdup(o->text);
	}
	free(o);
	return s;
}

/* ---- by a helper ---- */

static void serve(struct dt_question *q, dt_buf *out)
{
	dt_message m = dt_message_of(q->data, q->size);
	bool params = dt_get_u32(&m);

	while (!m.bad && m.p < m.end) {
		const char *name = dt_get_string(&m);
		char *s = name ? dt_demangle(name, params) : NULL;

		dt_put_string(out, s);
		free(s);
	}
}

static bool take(const dt_buf *answer, uint32_t n, char **out)
{
	dt_message m = dt_message_of(answer->s, answer->n);

	for (uint32_t i = 0; i < n; i++) {
		const char *s = dt_get_string(&m);

		if (s && strlen(s) > DT_MAX_DEMANGLED)
			return false;
		out[i] = s ? dt_xstrdup(s) : NULL;
	}
	return dt_message_is_done(&m);
}

void dt_demangle_all(dt_jail *j, const char *const *names, uint32_t n, bool params, char **out)
{
	dt_buf text = {0}, answer = {0};
	struct dt_question q = {0};
	const char *first = NULL;
	char *what;

	memset(out, 0, n * sizeof(*out));
	dt_put_u32(&text, params);
	for (uint32_t i = 0; i < n; i++) {
		bool ask = j && is_mangled(names[i]);

		first = ask && !first ? names[i] : first;
		if (!j)
			out[i] = dt_demangle(names[i], params);
		dt_put_string(&text, ask ? names[i] : "");
	}
	if (first) {
		q.data = text.s;
		q.size = text.n;
		what = dt_xasprintf("readable names of functions such as %.100s", first);
		if (dt_jail_ask(j, what, serve, &q, &answer, NULL) == 0 && !take(&answer, n, out)) {
			dt_jail_reject(j, what, &q, NULL);
			for (uint32_t i = 0; i < n; i++) {
				free(out[i]);
				out[i] = NULL;
			}
		}
		free(what);
	}
	dt_buf_free(&text);
	dt_buf_free(&answer);
}
