/*
 * kernel_types: which BTF images there are. vmlinux is opened at the first look-up of a kernel
 * type, a module when it is named or when vmlinux does not have the type. A file that cannot be
 * used is remembered and not tried again.
 */
#include <dirent.h>
#include <stdlib.h>

#include "type/btf.h"

/* The value of a module that was tried in vain. */
static char no_module;

void dt_kernel_close(dt_types *ts)
{
	for (uint32_t i = 0; i < ts->images.n; i++)
		dt_btf_close(ts->images.v[i]);
	dt_vec_free(&ts->images);
	free(ts->problem);
	ts->problem = NULL;
}

static struct dt_btf *open_image(dt_types *ts, const char *name, char **problem)
{
	char *path = dt_xasprintf("%s/%s", ts->btf_dir, name);
	struct dt_btf *b = dt_btf_open(ts, path, name, ts->vmlinux, problem);

	if (b != NULL)
		*dt_vec_add(&ts->images, NULL) = b;
	free(path);
	return b;
}

void dt_types_set_btf_path(dt_types *ts, const char *dir)
{
	/* Existing types point into their images, so those stay open. */
	dt_map_free(ts->modules);
	ts->modules = dt_map_new();
	dt_map_free(ts->ids);
	ts->ids = dt_map_new();
	ts->vmlinux = NULL;
	free(ts->problem);
	ts->problem = NULL;
	dt_map_free(ts->members);
	ts->members = dt_map_new();
	ts->modules_listed = ts->vmlinux_tried = ts->types_used = false;
	ts->tracepoints.n = 0;
	dt_map_free(ts->tracepoint_names);
	ts->tracepoint_names = NULL;
	free(ts->btf_dir);
	ts->btf_dir = dir != NULL ? dt_xstrdup(dir) : NULL;
}

/* For offsets and sizes. */
static struct dt_btf *image(dt_types *ts)
{
	if (ts->vmlinux_tried)
		return ts->vmlinux;
	ts->vmlinux_tried = true;
	if (ts->btf_dir == NULL) {
		ts->problem = dt_xstrdup("kernel types are turned off");
		return NULL;
	}
	ts->vmlinux = open_image(ts, "vmlinux", &ts->problem);
	return ts->vmlinux;
}

static struct dt_btf *vmlinux(dt_types *ts)
{
	ts->types_used = true;
	return image(ts);
}

const char *dt_types_kernel_problem(dt_types *ts)
{
	return vmlinux(ts) == NULL ? ts->problem : NULL;
}

static bool is_vmlinux(const char *module)
{
	return strcmp(module, "vmlinux") == 0 || strcmp(module, "kernel") == 0 ||
	       strcmp(module, "genunix") == 0;
}

static struct dt_btf *module_btf(dt_types *ts, const char *name)
{
	void *b = dt_map_get(ts->modules, name);

	if (b == NULL) {
		/* The name is part of a path: it must stay in the directory. */
		if (vmlinux(ts) == NULL || *name == '\0' || *name == '.' ||
		    strchr(name, '/') != NULL)
			return NULL;
		b = open_image(ts, name, NULL);
		dt_map_set(ts->modules, name, b != NULL ? b : &no_module);
	}
	return b == &no_module ? NULL : b;
}

static int is_module_file(const struct dirent *d)
{
	return d->d_name[0] != '.' && strcmp(d->d_name, "vmlinux") != 0;
}

/* Open every module; in order of name, so that the result does not depend on the order of the
 * directory. */
static void open_modules(dt_types *ts)
{
	struct dirent **list;
	int n;

	if (ts->modules_listed || vmlinux(ts) == NULL)
		return;
	ts->modules_listed = true;
	n = scandir(ts->btf_dir, &list, is_module_file, alphasort);
	for (int i = 0; i < n; i++) {
		module_btf(ts, list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

/* The next module that could be read. */
static struct dt_btf *next_module(dt_types *ts, uint32_t *it)
{
	void *b;

	while (dt_map_next(ts->modules, it, NULL, &b))
		if (b != &no_module)
			return b;
	return NULL;
}

dt_type *dt_kernel_lookup(dt_types *ts, const char *module, enum dt_namespace ns, const char *name)
{
	struct dt_btf *k = vmlinux(ts), *b;
	dt_type *t = NULL;
	uint32_t it = 0;

	if (k == NULL)
		return NULL;
	if (module != NULL && !is_vmlinux(module)) {
		b = module_btf(ts, module);
		if (b != NULL && (t = dt_btf_lookup(b, ns, name)) == NULL)
			t = dt_btf_lookup(k, ns, name); /* a module sees the kernel's types */
		return t;
	}
	t = dt_btf_lookup(k, ns, name);
	if (t != NULL || module != NULL)
		return t;
	open_modules(ts);
	while (t == NULL && (b = next_module(ts, &it)) != NULL)
		t = dt_btf_lookup(b, ns, name);
	return t;
}

bool dt_kernel_offset(dt_types *ts, const char *type, const char *path, uint32_t *offset)
{
	char *key = dt_xasprintf("%s %s", type, path);
	uintptr_t known = (uintptr_t)dt_map_get(ts->members, key);
	struct dt_btf *b;

	*offset = 0;
	if (known == 0 && (b = image(ts)) && dt_btf_offset(b, type, path, offset)) {
		known = *offset + (uintptr_t)1;
		dt_map_set(ts->members, key, (void *)known);
	}
	free(key);
	*offset = known ? (uint32_t)(known - 1) : 0;
	return known;
}

bool dt_kernel_size(dt_types *ts, const char *type, uint32_t *size)
{
	struct dt_btf *b = image(ts);

	return b && dt_btf_size(b, type, size);
}

bool dt_kernel_enum_value(dt_types *ts, const char *type, const char *name, int64_t *value)
{
	struct dt_btf *b = image(ts);

	return b && dt_btf_enum_value(b, type, name, value);
}

uint32_t dt_kernel_id(dt_types *ts, const char *name, bool function)
{
	uintptr_t known = (uintptr_t)dt_map_get(ts->ids, name);

	if (ts->vmlinux == NULL || !ts->types_used)
		return 0;
	if (known == 0) {
		known = dt_btf_find(ts->vmlinux, name,
				    DT_BTF_KIND(function ? BTF_KIND_FUNC : BTF_KIND_STRUCT)) +
			(uintptr_t)1;
		dt_map_set(ts->ids, name, (void *)known);
	}
	return (uint32_t)(known - 1);
}

bool dt_kernel_enumerator(dt_types *ts, const char *name, dt_type **type, int64_t *value)
{
	struct dt_btf *k = vmlinux(ts), *b;
	uint32_t it = 0;

	if (k == NULL || *name == '\0')
		return false;
	if (dt_btf_enumerator(k, name, type, value))
		return true;
	open_modules(ts);
	while ((b = next_module(ts, &it)) != NULL)
		if (dt_btf_enumerator(b, name, type, value))
			return true;
	return false;
}

dt_type *dt_type_of_symbol(dt_types *ts, const char *module, const char *symbol)
{
	struct dt_btf *k = vmlinux(ts), *b;
	dt_type *t = NULL;
	uint32_t it = 0;

	if (k == NULL || symbol == NULL || *symbol == '\0')
		return NULL;
	if (module != NULL && *module != '\0' && !is_vmlinux(module)) {
		b = module_btf(ts, module);
		return b != NULL ? dt_btf_symbol(b, symbol) : NULL;
	}
	t = dt_btf_symbol(k, symbol);
	if (t != NULL || (module != NULL && *module != '\0'))
		return t;
	open_modules(ts);
	while (t == NULL && (b = next_module(ts, &it)) != NULL)
		t = dt_btf_symbol(b, symbol);
	return t;
}

uint32_t dt_type_function_id(dt_types *ts, const char *module, const char *name)
{
	struct dt_btf *b = vmlinux(ts);

	if (b != NULL && module != NULL && *module != '\0' && !is_vmlinux(module))
		b = module_btf(ts, module);
	return b != NULL ? dt_btf_find(b, name, DT_BTF_KIND(BTF_KIND_FUNC)) : 0;
}

/* A tracepoint NAME is a typedef btf_trace_NAME of a pointer to a function. */
#define TRACEPOINT "btf_trace_"

/* All of them, in the order of BTF's strings. Nothing else is named so, and to look at the types as well takes four times as
 * long; what is not such a type has no dt_tracepoint_type(). */
static void list_tracepoints(dt_types *ts)
{
	const char *name;

	if (ts->tracepoints.n || vmlinux(ts) == NULL)
		return;
	open_modules(ts);
	for (uint32_t i = 0; i < ts->images.n; i++)
		for (uint32_t at = 0; (name = dt_btf_next_string(ts->images.v[i], &at, TRACEPOINT));)
			*dt_vec_add(&ts->tracepoints, NULL) = name + sizeof(TRACEPOINT) - 1;
}

bool dt_tracepoint_next(dt_types *ts, uint32_t *it, const char **name)
{
	list_tracepoints(ts);
	if (*it >= ts->tracepoints.n)
		return false;
	*name = ts->tracepoints.v[(*it)++];
	return true;
}

bool dt_tracepoint_exists(dt_types *ts, const char *name)
{
	if (ts->tracepoints.n == 0)
		return dt_tracepoint_type(ts, name) != NULL;
	if (ts->tracepoint_names == NULL) {
		ts->tracepoint_names = dt_map_new();
		for (uint32_t i = 0; i < ts->tracepoints.n; i++)
			dt_map_set(ts->tracepoint_names, ts->tracepoints.v[i], ts);
	}
	return dt_map_get(ts->tracepoint_names, name) != NULL;
}

dt_type *dt_tracepoint_type(dt_types *ts, const char *name)
{
	char *full = dt_xasprintf(TRACEPOINT "%s", name);
	dt_type *t = dt_kernel_lookup(ts, NULL, DT_NS_ORDINARY, full);

	free(full);
	t = t != NULL ? dt_type_resolve(t) : NULL;
	if (t == NULL || t->kind != DT_K_POINTER)
		return NULL;
	t = dt_type_resolve(t->ref);
	dt_type_complete(ts, t);
	return t->kind == DT_K_FUNCTION ? t : NULL;
}

void dt_kernel_forward(dt_type *f)
{
	dt_types *ts = dt_btf_types(f->btf);

	f->lazy = false;
	if (f->name != NULL)
		f->ref = dt_kernel_lookup(ts, NULL, f->tag_is_union ? DT_NS_UNION : DT_NS_STRUCT,
					  f->name);
}
