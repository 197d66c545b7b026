/*
 * process_objects: the objects of processes, for look-ups of types in them (type/user.h).
 *
 * A process of the session is held (proc/control.h), any other one is read while it runs. The first
 * object is the executable, which is also called a.out; the others come in the order of their
 * addresses. The names are those that probe descriptions use: "libc" and "libc.so" also mean
 * libc.so.6.
 */
#include <errno.h>
#include <stdio.h>

#include "proc/mappings.h"
#include "session/session.h"
#include "type/user.h"

static bool same_file(const dt_mapping *a, const dt_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* The first mapping of code of an object. */
static bool is_object(const dt_maps *maps, uint32_t i)
{
	const dt_mapping *m = &maps->v[i];

	if (m->kind != DT_MAP_FILE || !m->exec)
		return false;
	while (i-- > 0)
		if (maps->v[i].kind == DT_MAP_FILE && maps->v[i].exec && same_file(&maps->v[i], m))
			return false;
	return true;
}

/* By name, or (name NULL) the nth; NULL: there is none. */
static const dt_mapping *find_object(const dt_maps *maps, long pid, const char *name, uint32_t nth)
{
	const dt_mapping *exe = dt_maps_exe(maps, pid);
	uint32_t seen = 1; /* the executable is object 0, at any address */

	for (uint32_t i = 0; i < maps->n; i++) {
		const dt_mapping *m = &maps->v[i];
		bool is_exe = exe && same_file(m, exe);

		if (!is_object(maps, i))
			continue;
		if (name ? dt_object_is_called(name, m->base, m->path, is_exe) || (is_exe && dt_exe_has_link(pid, name, m->path))
			 : (is_exe ? 0 : seen++) == nth)
			return m;
	}
	return NULL;
}

static const char *debug_dir(void *arg)
{
	return ((dtrace_hdl_t *)arg)->opts.text[DT_O_DEBUGDIR];
}

static dt_elf *open_mapping(dtrace_hdl_t *h, long pid, const dt_mapping *m, uint64_t *bias,
			    dt_error *err)
{
	char root[64];
	struct dt_elf_place place = {.root = root, .path = m->path, .debug_dir = debug_dir(h)};
	dt_elf *e;
	int fd;

	dt_proc_root(pid, root, sizeof(root));
	fd = dt_mapping_open(pid, m);
	if (fd < 0) {
		dt_err(err, errno, "%s of process %ld cannot be opened: %s", m->base, pid,
		       strerror(errno));
		return NULL;
	}
	place.jail = dt_jail_like(h->jail); /* its types need a helper that remembers */
	place.own_jail = true;
	e = dt_elf_open_fd(fd, &place, err);
	if (e && !dt_elf_bias(e, m->start, m->offset, bias))
		*bias = 0;
	return e;
}

/* What a process has mapped, and in it the object, NULL if it has no such. A command that has only
 * started runs until its libraries are loaded if one of them is needed. */
static dt_maps *look_into(dtrace_hdl_t *h, long pid, const char *object, uint32_t nth,
			  const dt_mapping **m, dt_error *err)
{
	dt_maps *maps = dt_maps_read(pid, err);

	*m = maps ? find_object(maps, pid, object, nth) : NULL;
	if (!maps || *m || !dt_procs_find(h->procs, pid))
		return maps;
	dt_maps_free(maps);
	maps = dt_procs_need(h->procs, pid, err) ? dt_maps_read(pid, err) : NULL;
	*m = maps ? find_object(maps, pid, object, nth) : NULL;
	return maps;
}

static dt_elf *open_object(void *arg, long pid, const char *object, uint32_t nth, char **name,
			   uint64_t *bias, dt_error *err)
{
	dtrace_hdl_t *h = arg;
	const dt_mapping *m;
	dt_maps *maps = look_into(h, pid, object, nth, &m, err);
	dt_elf *e = NULL;

	if (!maps) {
		err->tag = err->tag ? err->tag : D_PROC_GRAB;
		return NULL;
	}
	if (m) {
		*name = dt_xstrdup(m->base);
		e = open_mapping(h, pid, m, bias, err);
		if (!e)
			err->tag = D_PROC_LIB;
	} else if (object || nth == 0) {
		dt_err(err, EDT_NOMOD, "process %ld has no object%s%s", pid, object ? " " : "s",
		       object ? object : "");
		err->tag = D_PROC_LIB;
	}
	dt_maps_free(maps);
	return e;
}

void dt_objects_offer(dtrace_hdl_t *h)
{
	dt_types_set_user(
	    h->types, &(struct dt_user_source){
			  .arg = h, .jail = h->jail, .open = open_object, .debug_dir = debug_dir});
}
