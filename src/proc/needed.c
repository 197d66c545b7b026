/*
 * needed: follows DT_NEEDED from the executable of a process, as the dynamic linker will: DT_RPATH
 * and DT_RUNPATH, LD_LIBRARY_PATH of the process, then the usual directories. It does not read
 * ld.so.cache, and ignores hardware capabilities.
 */
#include "proc/needed.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "proc/mappings.h"

#define MOST 512 /* libraries; no program has this many */

struct search {
	char root[64]; /* prefix of paths of the process */
	dt_map *seen;  /* by name and by path */
	DT_VEC(char *) queue;
	char *env; /* LD_LIBRARY_PATH; NULL: none */
	char *usual;
	void (*file)(void *arg, const char *path);
	void *arg;
};

static char *usual_directories(void)
{
	const char *own = dt_arch_host()->triplet;

	return dt_xasprintf("/lib/%s:/usr/lib/%s:/lib64:/usr/lib64:/lib:/usr/lib:"
			    "/usr/local/lib/%s:/usr/local/lib",
			    own, own, own);
}

static bool add(struct search *s, const char *path)
{
	char *full = dt_xasprintf("%s%s", s->root, path);
	int fd = dt_open_path(AT_FDCWD, full, 0);
	bool ok = fd >= 0;

	if (ok)
		close(fd);
	if (ok && !dt_map_get(s->seen, full) && s->queue.n < MOST) {
		dt_map_set(s->seen, full, s);
		*dt_vec_add(&s->queue, NULL) = dt_xstrdup(path);
		s->file(s->arg, full);
	}
	free(full);
	return ok;
}

/* One directory of a list: "$ORIGIN" and "${ORIGIN}" at its start mean where the object itself is.
 */
static bool look_in(struct search *s, const char *dir, size_t n, const char *object,
		    const char *name)
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(object, '/');
	char *path = NULL;
	bool ok;

	for (size_t i = 0; i < DT_NELEM(origins) && slash && !path; i++) {
		size_t k = strlen(origins[i]);

		if (n >= k && strncmp(dir, origins[i], k) == 0)
			path = dt_xasprintf("%.*s%.*s/%s", (int)(slash - object), object,
					    (int)(n - k), dir + k, name);
	}
	if (!path)
		path = dt_xasprintf("%.*s/%s", (int)n, dir, name);
	ok = n > 0 && add(s, path);
	free(path);
	return ok;
}

static bool look_along(struct search *s, const char *list, const char *object, const char *name)
{
	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, ":");

		if (look_in(s, p, n, object, name))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

static void follow(struct search *s, dt_elf *e, const char *object)
{
	char *const *names;
	const char *paths;
	uint32_t n = dt_elf_is_64(e) ? dt_elf_needed(e, &names, &paths) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (dt_map_get(s->seen, names[i]))
			continue;
		dt_map_set(s->seen, names[i], s);
		if (strchr(names[i], '/'))
			add(s, names[i]);
		else if (!look_along(s, paths, object, names[i]) &&
			 !look_along(s, s->env, object, names[i]))
			look_along(s, s->usual, object, names[i]);
	}
}

static char *library_path(long pid)
{
	static const char name[] = "LD_LIBRARY_PATH=";
	char path[64], buf[65536];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : -1;
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	for (const char *p = buf; n > 0 && p < buf + n; p += strlen(p) + 1)
		if (strncmp(p, name, sizeof(name) - 1) == 0)
			return dt_xstrdup(p + sizeof(name) - 1);
	return NULL;
}

void dt_needed(long pid, dt_jail *jail, void (*file)(void *arg, const char *path), void *arg)
{
	struct search s = {.seen = dt_map_new(),
			   .env = library_path(pid),
			   .usual = usual_directories(),
			   .file = file,
			   .arg = arg};
	char link[64], exe[PATH_MAX];
	dt_error err;
	ssize_t n;

	dt_proc_root(pid, s.root, sizeof(s.root));
	snprintf(link, sizeof(link), "/proc/%ld/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	if (n > 0)
		add(&s, exe);
	for (uint32_t i = 0; i < s.queue.n; i++) {
		char *full = dt_xasprintf("%s%s", s.root, s.queue.v[i]);
		dt_elf *e = dt_elf_open(full, &(struct dt_elf_place){.jail = jail}, &err);

		if (e) {
			const char *interp = dt_elf_interp(e);

			if (interp)
				add(&s, interp);
			follow(&s, e, s.queue.v[i]);
			dt_elf_free(e);
		}
		free(full);
	}
	for (uint32_t i = 0; i < s.queue.n; i++)
		free(s.queue.v[i]);
	dt_vec_free(&s.queue);
	dt_map_free(s.seen);
	free(s.env);
	free(s.usual);
}

static void installed_in(const char *dir, const char *name, void (*file)(void *arg, const char *path), void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = e->d_type == DT_REG || e->d_type == DT_UNKNOWN ? dt_xasprintf("%s/%s", dir, e->d_name) : NULL;

		if (path && strstr(e->d_name, ".so") && dt_object_is_called(name, e->d_name, path, false))
			file(arg, path);
		free(path);
	}
	if (d)
		closedir(d);
}

void dt_installed_libraries(const char *name, void (*file)(void *arg, const char *path), void *arg)
{
	char *dirs = usual_directories(), *rest = dirs, *dir, real[PATH_MAX];
	dt_map *seen = dt_map_new();

	while ((dir = strsep(&rest, ":"))) {
		if (!realpath(dir, real) || dt_map_get(seen, real)) /* /lib is often a link to /usr/lib */
			continue;
		dt_map_set(seen, real, dirs);
		installed_in(real, name, file, arg);
	}
	dt_map_free(seen);
	free(dirs);
}
