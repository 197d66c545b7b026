/*
 * files: see files.h. A busy system has a few hundred, of a few hundred bytes each; but a process
 * can map one file under new names without end. Above the budget the least recently used half of
 * the files is forgotten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "elf/elf.h"
#include "proc/files.h"

#define DELETED " (deleted)"

struct root {
	dev_t ns_dev, dir_dev;
	ino_t ns, dir; /* mount namespace, directory */
	int fd;
};

struct dt_files {
	dt_jail *jail;
	dt_map *by_key;
	size_t bytes;	/* of paths */
	uint32_t last;	/* id */
	uint64_t clock; /* counts uses */
	struct root roots[DT_MAX_ROOTS];
	uint32_t nroots; /* roots[0] is ours */
};

/* ---- roots ---- */

static bool stat_root(const char *proc, struct root *r)
{
	char path[64];
	struct stat st;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", proc);
	if (stat(path, &st) < 0)
		return false;
	r->ns_dev = st.st_dev;
	r->ns = st.st_ino;
	snprintf(path, sizeof(path), "/proc/%s/root", proc);
	if (stat(path, &st) < 0)
		return false;
	r->dir_dev = st.st_dev;
	r->dir = st.st_ino;
	return true;
}

static bool same_root(const struct root *a, const struct root *b)
{
	return a->ns == b->ns && a->dir == b->dir && a->ns_dev == b->ns_dev &&
	       a->dir_dev == b->dir_dev;
}

uint32_t dt_files_root_of(dt_files *fs, long pid, uint32_t otherwise)
{
	char name[32], path[64];
	struct root r;

	snprintf(name, sizeof(name), "%ld", pid);
	if (!stat_root(name, &r))
		return otherwise;
	for (uint32_t i = 0; i < fs->nroots; i++)
		if (same_root(&fs->roots[i], &r))
			return i;
	if (fs->nroots == DT_MAX_ROOTS)
		return otherwise;
	snprintf(path, sizeof(path), "/proc/%ld/root", pid);
	r.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r.fd < 0)
		return otherwise;
	fs->roots[fs->nroots] = r;
	return fs->nroots++;
}

void dt_files_root_path(const dt_files *fs, uint32_t root, char *to, size_t n)
{
	if (root == 0 || root >= fs->nroots)
		snprintf(to, n, "%s", "");
	else
		snprintf(to, n, "/proc/self/fd/%d", fs->roots[root].fd);
}

/* ---- the table ---- */

dt_files *dt_files_new(dt_jail *jail)
{
	dt_files *fs = dt_xcalloc(1, sizeof(*fs));

	fs->jail = jail;
	fs->by_key = dt_map_new();
	stat_root("self", &fs->roots[0]);
	fs->nroots = 1;
	return fs;
}

void dt_files_free(dt_files *fs)
{
	if (!fs)
		return;
	dt_files_forget(fs, UINT64_MAX);
	for (uint32_t i = 1; i < fs->nroots; i++)
		close(fs->roots[i].fd);
	dt_map_free(fs->by_key);
	free(fs);
}

static char *key_of(const dt_file *f, int path_len)
{
	char id[64] = "";
	int n = 0;

	if (f->build_id_len == 0 && !f->anon)
		snprintf(id, sizeof(id), "%x:%x:%llx", f->dev_major, f->dev_minor,
			 (unsigned long long)f->inode);
	for (uint8_t i = 0; i < f->build_id_len && i < sizeof(f->build_id); i++)
		n += snprintf(id + n, sizeof(id) - (size_t)n, "%02x", f->build_id[i]);
	return dt_xasprintf("%u %s %.*s", f->root, id, path_len, f->path);
}

static dt_file *new_file(dt_files *fs, const dt_file *like, size_t path_len)
{
	dt_file *f = dt_xmalloc(sizeof(*f));
	char *path = dt_xmalloc(path_len + 1), *slash;

	memcpy(path, like->path, path_len);
	path[path_len] = 0;
	slash = strrchr(path, '/');
	*f = *like;
	f->id = ++fs->last;
	f->path = path;
	f->base = slash && slash[1] ? slash + 1 : path;
	return f;
}

dt_file *dt_files_get(dt_files *fs, const dt_file *like)
{
	size_t len = like->anon ? 0 : strlen(like->path), cut = strlen(DELETED);
	dt_file *f;
	char *key;

	if (len > cut && strcmp(like->path + len - cut, DELETED) == 0)
		len -= cut;
	key = key_of(like, (int)len);
	f = dt_map_get(fs->by_key, key);
	if (!f) {
		f = new_file(fs, like, len);
		fs->bytes += len + strlen(key);
		dt_map_set(fs->by_key, key, f);
	}
	f->pid = like->pid;
	f->used = ++fs->clock;
	free(key);
	return f;
}

/* ---- the budget ---- */

void dt_files_use(dt_files *fs, const dt_file *f)
{
	((dt_file *)f)->used = ++fs->clock;
}

static int by_use(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool dt_files_are_many(const dt_files *fs)
{
	return dt_map_count(fs->by_key) > DT_MAX_FILES || fs->bytes > DT_MAX_FILE_PATHS;
}

uint64_t dt_files_older_half(const dt_files *fs)
{
	size_t n = dt_map_count(fs->by_key), i = 0;
	uint64_t *used = dt_xcalloc(n + 1, sizeof(*used)), until;
	const char *key;
	uint32_t it = 0;
	void *f;

	while (i < n && dt_map_next(fs->by_key, &it, &key, &f))
		used[i++] = ((dt_file *)f)->used;
	qsort(used, i, sizeof(*used), by_use);
	until = used[i / 2];
	free(used);
	return until;
}

/* The table is rebuilt, since deleting does not make it smaller. */
void dt_files_forget(dt_files *fs, uint64_t until)
{
	dt_map *left = dt_map_new();
	const char *key;
	uint32_t it = 0;
	void *value;

	while (dt_map_next(fs->by_key, &it, &key, &value)) {
		dt_file *f = value;

		if (f->used > until) {
			dt_map_set(left, key, f);
			continue;
		}
		fs->bytes -= strlen(f->path) + strlen(key);
		free((char *)f->path);
		free(f);
	}
	dt_map_free(fs->by_key);
	fs->by_key = left;
}

/* ---- opening ---- */

/* Is this the file that was mapped? The caller keeps the descriptor. */
static bool is_file(const dt_files *fs, int fd, const dt_file *f)
{
	struct dt_elf_place place = {.path = f->path, .jail = fs->jail};
	struct stat st;
	const uint8_t *id;
	dt_error err;
	dt_elf *e;
	uint32_t n;
	bool ok;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (f->build_id_len == 0)
		return f->inode == 0 || st.st_ino == f->inode;
	if (!(e = dt_elf_open_fd(dup(fd), &place, &err)))
		return false;
	id = dt_elf_build_id(e, &n);
	ok = n == f->build_id_len && memcmp(id, f->build_id, n) == 0;
	dt_elf_free(e);
	return ok;
}

static int open_checked(const dt_files *fs, const char *path, const dt_file *f)
{
	int fd = dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, NULL);

	if (fd < 0 || is_file(fs, fd, f))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* Through a process that has it mapped: the only way to open a file without a name. */
static int open_mapped(const dt_files *fs, const dt_file *f)
{
	dt_error err;
	dt_maps *m = dt_maps_read(f->pid, &err);
	int fd = -1;

	for (uint32_t i = 0; m && fd < 0 && i < m->n; i++) {
		if (!m->v[i].exec || strcmp(m->v[i].base, f->base) != 0)
			continue; /* the path depends on the root directory: from inside a root, or from
				     outside */
		fd = dt_mapping_open(f->pid, &m->v[i]);
		if (fd >= 0 && !is_file(fs, fd, f)) {
			close(fd);
			fd = -1;
		}
	}
	dt_maps_free(m);
	return fd;
}

int dt_files_open(dt_files *fs, const dt_file *f)
{
	char root[64], *path;
	int fd, why;

	if (f->path[0] != '/' || f->anon) {
		errno = ENOENT;
		return -1;
	}
	dt_files_root_path(fs, f->root, root, sizeof(root));
	path = dt_xasprintf("%s%s", root, f->path);
	fd = open_checked(fs, path, f);
	why = errno;
	free(path);
	if (fd < 0)
		fd = open_mapped(fs, f);
	if (fd < 0 && root[0])
		fd = open_checked(fs, f->path, f); /* as /proc shows paths in a root below ours */
	errno = why;
	return fd;
}
