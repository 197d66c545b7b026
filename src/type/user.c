/*
 * user: objects of processes, and look-ups in them.
 *
 * A module is the name of a process, "pid123", or of one object of it, "pid123`libc.so.6". The
 * session opens the object's file (struct dt_user_source); here it is identified by device, inode
 * and change time, so that one file is read once, however many processes map it. An object has a
 * reader for its DWARF, one for its CTF, or both, which are used in that order.
 *
 * Errors carry the tag under which the compiler reports them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "type/user_remote.h"

void dt_types_set_user(dt_types *ts, const struct dt_user_source *source)
{
	ts->user_source = dt_arena_dup(ts->arena, source, sizeof(*source));
}

static int fail(dt_error *err, enum dt_tag tag, const char *fmt, ...) DT_PRINTF(3, 4);
static int fail(dt_error *err, enum dt_tag tag, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	dt_err(err, EDT_NOTYPE, text != NULL ? "%s" : NULL, text);
	err->tag = tag;
	free(text);
	return -1;
}

/* ---- objects ---- */

/* The identity of the file, independent of its name. */
static char *file_key(const dt_elf *e, const char *name)
{
	struct stat st;

	if (dt_elf_fd(e) < 0 || fstat(dt_elf_fd(e), &st) != 0)
		return dt_xasprintf("%s:%p", name, (const void *)e);
	return dt_xasprintf("%llu:%llu:%lld.%09ld", (unsigned long long)st.st_dev,
			    (unsigned long long)st.st_ino, (long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec);
}

static void no_readers(struct dt_user_object *o)
{
	if (o->nreaders == 0 && o->problem == NULL)
		o->problem = dt_xasprintf(
		    "%s has no type data: build it with -g (DWARF) or -gctf, or install its "
		    "debug file",
		    o->name);
}

static void ask_remote(struct dt_user_object *o, bool *split)
{
	o->readers[0] = dt_remote_open(o, split, &o->problem);
	o->nreaders = o->readers[0] != NULL;
}

/* Have a helper read it. If a part of it is in other files (.dwo), libdw has to open these itself,
 * and does so in a helper that may; but a stranger does not choose what is opened. */
static void open_remote(struct dt_user_object *o)
{
	dt_elf *dwarf = dt_elf_dwarf(o->elf);
	bool split = false;

	ask_remote(o, &split);
	if (split && dwarf != NULL && !dt_dwarf_is_foreign(o, dt_elf_fd(dwarf))) {
		if (o->nreaders != 0)
			o->readers[0]->ops->close(o->readers[0]);
		free(o->problem);
		o->problem = NULL;
		dt_jail_let_open(dt_elf_jail(o->elf));
		ask_remote(o, &split);
	} else if (split && o->problem == NULL) {
		o->problem =
		    dt_xasprintf("%s belongs to another user, and a part of its DWARF is in "
				 "other files (.dwo)",
				 o->name);
	}
	no_readers(o);
}

static void open_readers(struct dt_user_object *o)
{
	char *problem = NULL;
	struct dt_user_reader *(*const open[])(struct dt_user_object *, char **) = {dt_dwarf_open,
										    dt_ctf_open};

	if (!dt_elf_is_64(o->elf)) {
		o->problem =
		    dt_xasprintf("%s is a 32-bit object: its types are not supported", o->name);
		return;
	}
	if (dt_elf_jail(o->elf) != NULL) {
		open_remote(o);
		return;
	}
	for (size_t i = 0; i < DT_NELEM(open); i++) {
		struct dt_user_reader *r = open[i](o, &problem);

		if (r != NULL)
			o->readers[o->nreaders++] = r;
		if (problem != NULL && o->problem == NULL)
			o->problem = problem;
		else
			free(problem);
		problem = NULL;
	}
	no_readers(o);
}

struct dt_user_object *dt_user_object(dt_types *ts, dt_elf *e, const char *name)
{
	char *key = file_key(e, name);
	struct dt_user_object *o = dt_map_get(ts->user_files, key);

	if (o != NULL) {
		dt_elf_free(e);
	} else {
		o = dt_xcalloc(1, sizeof(*o));
		o->ts = ts;
		o->elf = e;
		o->name = dt_arena_strdup(ts->arena, name);
		o->functions = dt_map_new();
		open_readers(o);
		dt_map_set(ts->user_files, key, o);
	}
	free(key);
	return o;
}

void dt_user_close(dt_types *ts)
{
	uint32_t it = 0;
	void *value;

	while (dt_map_next(ts->user_files, &it, NULL, &value)) {
		struct dt_user_object *o = value;

		for (uint32_t i = 0; i < o->nreaders; i++)
			o->readers[i]->ops->close(o->readers[i]);
		dt_map_free(o->functions);
		dt_elf_free(o->elf);
		free(o->problem);
		free(o);
	}
	dt_map_free(ts->user_files);
	dt_map_free(ts->user_places);
	dt_map_free(ts->user_paths);
}

/* ---- modules ---- */

bool dt_module_is_user(const char *module)
{
	return module != NULL && strncmp(module, "pid", 3) == 0 &&
	       isdigit((unsigned char)module[3]) &&
	       module[3 + strspn(module + 3, "0123456789")] == (strchr(module, '`') ? '`' : '\0');
}

/* "pid12`LM1`libc.so.6": the link map does not matter here. */
static bool split_module(const char *module, long *pid, const char **object, dt_error *err)
{
	const char *quote = strchr(module, '`'), *part;

	errno = 0;
	*pid = strtol(module + 3, NULL, 10);
	if (errno != 0 || *pid <= 0 || *pid > INT32_MAX) {
		fail(err, D_PROC_BADPID,
		     *pid == 0 ? "%.*s: there is no target process: use -c or -p"
			       : "%.*s is not a process",
		     quote != NULL ? (int)(quote - module) : 64, module);
		return false;
	}
	*object = quote != NULL ? quote + 1 : NULL;
	if (*object != NULL && strncmp(*object, "LM", 2) == 0 &&
	    (part = strchr(*object, '`')) != NULL)
		*object = part + 1;
	return true;
}

/* An object of a process and where it is loaded. */
struct place {
	struct dt_user_object *o;
	uint64_t bias;
};

/* object NULL: the nth. False with *err, or without an error code when there is no nth. */
static bool open_object(dt_types *ts, long pid, const char *object, uint32_t nth, struct place *p,
			dt_error *err)
{
	const struct dt_user_source *src = ts->user_source;
	char *key = dt_xasprintf("%ld:%u:%s", pid, nth, object != NULL ? object : "");
	const struct place *known = dt_map_get(ts->user_places, key);
	dt_error why = {0};
	char *name = NULL;
	dt_elf *e = NULL;

	if (known != NULL) {
		*p = *known;
		free(key);
		return true;
	}

	if (src == NULL)
		fail(&why, D_PROC_GRAB, "pid%ld: processes cannot be inspected here", pid);
	else
		e = src->open(src->arg, pid, object, nth, &name, &p->bias, &why);
	if (e != NULL) {
		p->o = dt_user_object(ts, e, name);
		dt_map_set(ts->user_places, key, dt_arena_dup(ts->arena, p, sizeof(*p)));
	} else if (err != NULL) {
		*err = why;
	}
	free(name);
	free(key);
	return e != NULL;
}

/* ---- types ---- */

static dt_type *find_in(struct dt_user_object *o, enum dt_namespace ns, const char *name)
{
	dt_type *t = NULL;

	for (uint32_t i = 0; t == NULL && i < o->nreaders; i++)
		t = o->readers[i]->ops->lookup(o->readers[i], ns, name);
	return t;
}

static const char *damage_of(const struct dt_user_object *o)
{
	for (uint32_t i = 0; i < o->nreaders; i++) {
		const char *s = o->readers[i]->ops->damage(o->readers[i]);

		if (s != NULL)
			return s;
	}
	return o->problem;
}

static const char *const words[] = {[DT_NS_ORDINARY] = "",
				    [DT_NS_STRUCT] = "struct ",
				    [DT_NS_UNION] = "union ",
				    [DT_NS_ENUM] = "enum "};

/* A suggestion: the same name as another kind of type, or one with a similar spelling.
 */
static char *suggestion(struct dt_user_object *o, enum dt_namespace ns, const char *name)
{
	DT_VEC(const char *) names = {0};
	const char *s, *near;
	char *text = NULL;

	for (size_t i = 0; i < DT_NELEM(words); i++)
		if (i != ns && find_in(o, (enum dt_namespace)i, name) != NULL)
			return dt_xasprintf("%s%s", words[i], name);
	for (uint32_t i = 0; i < o->nreaders; i++) {
		uint32_t it = 0;

		while ((s = o->readers[i]->ops->name(o->readers[i], ns, &it)) != NULL)
			*dt_vec_add(&names, NULL) = s;
	}
	near = dt_nearest(name, names.v, names.n);
	if (near != NULL)
		text = dt_xasprintf("%s%s", words[ns], near);
	dt_vec_free(&names);
	return text;
}

static void no_such_type(struct dt_user_object *o, enum dt_namespace ns, const char *name,
			 dt_error *err)
{
	const char *damage = damage_of(o);
	char *near;

	if (err == NULL)
		return;
	if (o->nreaders == 0 || damage != NULL) {
		fail(err, D_TYPE_ERR, "there is no %s%s%s: %s",
		     ns == DT_NS_ORDINARY ? "type " : words[ns], name, "", damage);
		return;
	}
	near = suggestion(o, ns, name);
	fail(err, D_DECL_IDENT, "there is no %s%s in %s%s%s%s",
	     ns == DT_NS_ORDINARY ? "type " : words[ns], name, o->name,
	     near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
	     near != NULL ? "\"?" : "");
	free(near);
}

dt_type *dt_user_type(dt_types *ts, const char *module, enum dt_namespace ns, const char *name,
		      dt_error *err)
{
	struct place p, first = {0};
	const char *object;
	dt_error why = {0};
	dt_type *t = NULL;
	long pid;

	if (!split_module(module, &pid, &object, err))
		return NULL;
	if (object != NULL) {
		if (!open_object(ts, pid, object, 0, &p, err))
			return NULL;
		first = p;
		t = find_in(p.o, ns, name);
	}
	for (uint32_t i = 0; object == NULL && t == NULL; i++) {
		if (!open_object(ts, pid, NULL, i, &p, &why))
			break;
		if (i == 0)
			first = p;
		t = find_in(p.o, ns, name);
	}
	if (t == NULL && first.o != NULL)
		no_such_type(first.o, ns, name, err);
	else if (t == NULL && err != NULL)
		*err = why;
	return t;
}

void dt_user_complete(dt_type *t)
{
	struct dt_user_object *o = t->user->object;

	t->lazy = false;
	if (o->depth > 32)
		return; /* a struct in a struct in a struct ... all of one size: a hostile file */
	o->depth++;
	t->open = true;
	t->user->ops->complete(t->user, t);
	t->open = false;
	o->depth--;
}

void dt_user_forward(dt_type *f)
{
	f->lazy = false;
	if (f->name != NULL)
		f->ref = f->user->ops->definition(f->user, f);
}

/* ---- variables and functions ---- */

static dt_type *function_type(struct dt_user_object *o, const dt_elfsym *s)
{
	struct dt_user_function f = {0};

	for (uint32_t i = 0; i < o->nreaders; i++)
		if (o->readers[i]->ops->function(o->readers[i], s->name, s->vaddr, &f))
			return dt_type_function(o->ts, f.ret, f.params, f.nparams, false);
	return NULL;
}

static dt_type *symbol_in(const struct place *p, const char *symbol, const dt_elfsym **found)
{
	struct dt_user_object *o = p->o;
	const dt_elfsym *s = dt_elf_data_named(o->elf, symbol);
	dt_type *t = NULL;

	if (s != NULL)
		for (uint32_t i = 0; t == NULL && i < o->nreaders; i++)
			t = o->readers[i]->ops->variable(o->readers[i], symbol);
	else if ((s = dt_elf_function_named(o->elf, symbol)) != NULL)
		t = function_type(o, s);
	*found = s;
	return t;
}

dt_type *dt_user_symbol(dt_types *ts, const char *module, const char *symbol, uint64_t *address,
			dt_error *err)
{
	const dt_elfsym *found = NULL;
	struct place p = {0}, with = {0};
	const char *object;
	dt_error why = {0};
	dt_type *t = NULL;
	long pid;

	if (!split_module(module, &pid, &object, err))
		return NULL;
	for (uint32_t i = 0; t == NULL && open_object(ts, pid, object, i, &p, &why); i++) {
		t = symbol_in(&p, symbol, &found);
		if (found != NULL) {
			*address = found->vaddr + p.bias;
			with = p;
		}
		if (object != NULL)
			break;
	}
	if (t != NULL)
		return t;
	if (with.o != NULL)
		fail(err, D_SYM_NOTYPES, "%s`%s: %s", module, symbol,
		     with.o->problem != NULL ? with.o->problem
					     : "the debug data does not say what type it has");
	else if (why.code != 0 && err != NULL)
		*err = why;
	else
		fail(err, D_IDENT_UNDEF, "there is no symbol %s in %s", symbol, module);
	return NULL;
}
