/*
 * macro: $1, $$1, $target and the other names that begin with a dollar sign.
 *
 * In an expression a macro becomes one token. An argument that reads as an integer or as an
 * identifier becomes that, anything else a string; $$1 is always a string. In a probe description
 * a macro becomes text, inside a field (pid$target::main:entry).
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "lang/compiler.h"

/* ---- values ---- */

enum macro_id {
	M_EGID,
	M_EUID,
	M_GID,
	M_PID,
	M_PGID,
	M_PPID,
	M_PROJID,
	M_SID,
	M_TARGET,
	M_TASKID,
	M_UID,
};

static const char *const macro_names[] = {
    [M_EGID] = "egid",	   [M_EUID] = "euid",	  [M_GID] = "gid",	 [M_PID] = "pid",
    [M_PGID] = "pgid",	   [M_PPID] = "ppid",	  [M_PROJID] = "projid", [M_SID] = "sid",
    [M_TARGET] = "target", [M_TASKID] = "taskid", [M_UID] = "uid",
};

static long macro_value(const dt_compiler *cc, enum macro_id id)
{
	switch (id) {
	case M_EGID: return (long)getegid();
	case M_EUID: return (long)geteuid();
	case M_GID: return (long)getgid();
	case M_PID: return (long)getpid();
	case M_PGID: return (long)getpgid(0);
	case M_PPID: return (long)getppid();
	case M_SID: return (long)getsid(0);
	case M_TARGET: return cc->macros ? cc->macros->target : 0;
	case M_UID: return (long)getuid();
	case M_PROJID:
	case M_TASKID: return 0; /* Solaris notions */
	}
	return 0;
}

static int find_macro(const char *name)
{
	for (size_t i = 0; i < DT_NELEM(macro_names); i++)
		if (strcmp(name, macro_names[i]) == 0)
			return (int)i;
	return -1;
}

/* Argument n, marked as used; NULL when it was not given. */
static const char *argument(dt_compiler *cc, unsigned long n)
{
	struct dt_macros *m = cc->macros;

	if (!m || n > INT_MAX || (int)n >= m->argc || !m->argv[n])
		return NULL;
	if (m->used)
		m->used[n] = true;
	return m->argv[n];
}

/* ---- tokens ---- */

static void set_int(dt_token *t, uint64_t v, dt_type *type)
{
	t->kind = T_INT;
	t->ival = v;
	t->type = type;
}

static void set_string(dt_compiler *cc, dt_token *t, const char *s, size_t len)
{
	t->kind = T_STRING;
	t->text = dt_arena_strndup(cc->arena, s, len);
	t->len = (uint32_t)len;
}

static bool is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

/* All of s is an integer as C writes it, with an optional sign. */
static bool is_integer(const char *s, uint64_t *v, bool *negative, bool *overflow)
{
	char *end;

	*negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*v = strtoull(s, &end, 0);
	*overflow = errno == ERANGE;
	return *end == '\0';
}

static void token_from_text(dt_compiler *cc, const char *s, const char *name, dt_token *t)
{
	size_t len = strlen(s);
	bool negative, overflow;
	uint64_t v;

	if (is_integer(s, &v, &negative, &overflow)) {
		if (overflow || (negative && v > (uint64_t)INT64_MAX + 1))
			dt_fail(cc, t->pos, D_MACRO_OFLOW,
				"macro argument $%s is %s, which does not fit in 64 bits", name, s);
		set_int(t, negative ? -v : v,
			dt_int_constant_type(cc, negative && v ? v - 1 : v, true, false, 0));
	} else if (is_identifier(s)) {
		t->kind = T_IDENT;
		t->text = dt_arena_strdup(cc->arena, s);
		t->len = (uint32_t)len;
	} else if (len > 1 && s[0] == '"' && s[len - 1] == '"') {
		set_string(cc, t, s + 1, len - 2);
	} else {
		set_string(cc, t, s, len);
	}
}

static void expand_argument(dt_compiler *cc, const char *name, bool as_string, dt_token *t)
{
	const char *s;

	errno = 0;
	unsigned long n = strtoul(name, NULL, 10);
	if (errno == ERANGE || n > INT_MAX)
		dt_fail(cc, t->pos, D_MACRO_OFLOW, "macro argument number $%s is too large", name);
	s = argument(cc, n);
	if (!s && !dt_opt(cc->opts, DT_O_DEFAULTARGS))
		dt_fail(cc, t->pos, D_MACRO_UNDEF, "macro argument $%s%s is not defined",
			as_string ? "$" : "", name);
	if (as_string)
		set_string(cc, t, s ? s : "", s ? strlen(s) : 0);
	else if (s)
		token_from_text(cc, s, name, t);
	else
		set_int(t, 0, dt_intrinsics(cc->types)->int_);
}

void dt_macro_expand(dt_compiler *cc, const char *name, bool as_string, dt_token *t)
{
	int id;
	long v;

	if (isdigit((unsigned char)*name)) {
		expand_argument(cc, name, as_string, t);
		return;
	}
	id = find_macro(name);
	if (id < 0) {
		const char *near = dt_nearest(name, macro_names, DT_NELEM(macro_names));
		dt_fail(cc, t->pos, D_MACRO_UNDEF, "macro variable $%s is not defined%s%s%s", name,
			near ? "; did you mean $" : "", near ? near : "", near ? "?" : "");
	}
	v = macro_value(cc, (enum macro_id)id);
	if (as_string) {
		const char *s = dt_arena_printf(cc->arena, "%ld", v);
		set_string(cc, t, s, strlen(s));
	} else {
		set_int(t, (uint64_t)v,
			dt_int_constant_type(cc, v < 0 ? 0 : (uint64_t)v, true, false, 0));
	}
}

/* ---- probe descriptions ---- */

const char *dt_macro_in_field(dt_compiler *cc, dt_pos pos, const char *field)
{
	const char *dollar = strchr(field, '$'), *name, *end, *value = NULL;
	int id;

	if (!dollar)
		return field;
	name = dollar + (dollar[1] == '$' ? 2 : 1);
	end = name;
	if (isdigit((unsigned char)*name))
		while (isdigit((unsigned char)*end))
			end++;
	else
		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
	name = dt_arena_strndup(cc->arena, name, (size_t)(end - name));
	if (strchr(end, '$'))
		dt_fail(cc, pos, D_PDESC_INVAL,
			"invalid probe description \"%s\": only one macro "
			"fits in a field",
			field);
	if (isdigit((unsigned char)*name)) {
		value = argument(cc, strtoul(name, NULL, 10));
		if (!value && dt_opt(cc->opts, DT_O_DEFAULTARGS))
			value = "";
	} else if ((id = find_macro(name)) >= 0) {
		value = dt_arena_printf(cc->arena, "%ld", macro_value(cc, (enum macro_id)id));
	}
	if (!value)
		dt_fail(cc, pos, D_PDESC_INVAL,
			"invalid probe description \"%s\": Undefined macro "
			"variable in probe description",
			field);
	return dt_arena_printf(cc->arena, "%.*s%s%s", (int)(dollar - field), field, value, end);
}

/* Only the last argument is checked: a script that uses $2 need not use $1. */
void dt_macro_check_unused(dt_compiler *cc)
{
	const struct dt_macros *m = cc->macros;

	if (!m || !m->used || m->argc < 2 || m->used[m->argc - 1] || dt_opt(cc->opts, DT_O_ARGREF))
		return;
	dt_fail(cc, (dt_pos){0}, D_MACRO_UNUSED, "extraneous argument '%s' ($%d is not referenced)",
		m->argv[m->argc - 1], m->argc - 1);
}
