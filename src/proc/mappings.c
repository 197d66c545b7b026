/*
 * mappings: see mappings.h. A line of /proc/PID/maps:
 *
 *	7f1c2a000000-7f1c2a028000 r-xp 00026000 fd:01 394182      /usr/lib/libc.so.6
 *
 * The kernel writes a newline in a path as \012; a path that really contains those four characters
 * cannot be distinguished, but is still found through map_files.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/hold.h"
#include "base/budget.h"
#include "proc/mappings.h"

#define DELETED " (deleted)"

static enum dt_map_kind kind_of(const dt_mapping *m)
{
	static const struct {
		const char *name;
		enum dt_map_kind kind;
	} names[] = {
	    {"[vdso]", DT_MAP_VDSO},   {"[vsyscall]", DT_MAP_VSYSCALL}, {"[heap]", DT_MAP_HEAP},
	    {"[stack]", DT_MAP_STACK}, {"//anon", DT_MAP_ANON},		{"", DT_MAP_ANON},
	};

	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (strcmp(m->path, names[i].name) == 0)
			return names[i].kind;
	if (strncmp(m->path, "[anon", 5) == 0)
		return DT_MAP_ANON;
	/* /dev/zero, memfd: and /SYSV segments are also files, though without a name to open. */
	return m->path[0] == '/' && m->inode ? DT_MAP_FILE : DT_MAP_OTHER;
}

/* Undo "\012". */
static void unescape_newlines(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (strncmp(s, "\\012", 4) == 0) {
			*to++ = '\n';
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

static void set_path(dt_mapping *m, char *path)
{
	size_t len = strlen(path);

	if (len > strlen(DELETED) && strcmp(path + len - strlen(DELETED), DELETED) == 0) {
		path[len - strlen(DELETED)] = 0;
		m->deleted = true;
	}
	m->path = path;
	m->base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	m->kind = kind_of(m);
}

static bool parse_line(char *line, dt_mapping *m)
{
	unsigned long long start, end, offset, inode;
	unsigned major, minor;
	char perms[5];
	int at = 0;
	char *path;

	memset(m, 0, sizeof(*m));
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major,
		   &minor, &inode, &at) < 7 ||
	    at == 0 || end <= start || strlen(perms) != 4)
		return false;
	path = line + at;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	m->dev_major = major;
	m->dev_minor = minor;
	m->read = perms[0] == 'r';
	m->write = perms[1] == 'w';
	m->exec = perms[2] == 'x';
	m->shared = perms[3] == 's';
	unescape_newlines(path);
	set_path(m, path);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const dt_mapping *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Takes the text. */
static dt_maps *parse(char *text)
{
	DT_VEC(dt_mapping) v = {0};
	dt_maps *m = dt_xcalloc(1, sizeof(*m));
	char *next;

	for (char *line = text; *line; line = next) {
		dt_mapping one;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (parse_line(line, &one))
			*dt_vec_add(&v, NULL) = one;
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_start);
	m->v = v.v;
	m->n = v.n;
	m->text = text;
	return m;
}

dt_maps *dt_maps_parse(const char *text, size_t n)
{
	char *copy = dt_xmalloc(n + 1);

	memcpy(copy, text, n);
	copy[n] = 0;
	return parse(copy);
}

dt_maps *dt_maps_read(long pid, dt_error *err)
{
	const char *problem = dt_proc_problem();
	char path[64], *text;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	if (!problem && (text = dt_slurp(AT_FDCWD, path, &n)))
		return parse(text);
	if (problem)
		dt_err(err, ENOENT, "%s", problem);
	else if (errno == ENOENT || errno == ESRCH)
		dt_err(err, ESRCH, "no process %ld", pid);
	else
		dt_err(err, errno, "the mappings of process %ld: %s", pid, dt_strerror(errno));
	return NULL;
}

/* ---- only code ---- */

/* Of Linux 6.11, <linux/fs.h>: one mapping that an address is in or below, of those with these properties. */
struct procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define QUERY _IOWR('f', 17, struct procmap_query)
enum { READABLE = 1, WRITABLE = 2, EXECUTABLE = 4, SHARED = 8, OR_NEXT = 16, FILE_BACKED = 32 };

/* The next one from an address on; its path is added to *paths. 0 or an errno: ENOENT at the end. */
static int query_next(int fd, uint64_t from, dt_mapping *m, dt_buf *paths)
{
	char name[4096];
	struct procmap_query q = {
	    .size = sizeof(q),
	    .query_flags = EXECUTABLE | FILE_BACKED | OR_NEXT,
	    .query_addr = from,
	    .vma_name_size = sizeof(name),
	    .vma_name_addr = (uintptr_t)name,
	};

	if (ioctl(fd, QUERY, &q) < 0)
		return errno;
	*m = (dt_mapping){
	    .start = q.vma_start,
	    .end = q.vma_end,
	    .offset = q.vma_offset,
	    .inode = q.inode,
	    .dev_major = q.dev_major,
	    .dev_minor = q.dev_minor,
	    .read = q.vma_flags & READABLE,
	    .write = q.vma_flags & WRITABLE,
	    .exec = true,
	    .shared = q.vma_flags & SHARED,
	};
	dt_buf_add(paths, q.vma_name_size ? name : "", q.vma_name_size ? strnlen(name, sizeof(name) - 1) : 0);
	dt_buf_putc(paths, 0);
	return 0;
}

/* NULL: the kernel cannot be asked. */
static dt_maps *query_code(int fd)
{
	dt_maps *m = dt_xcalloc(1, sizeof(*m));
	DT_VEC(dt_mapping) v = {0};
	dt_buf paths = {0};
	dt_mapping one;
	char *path;
	int rc;

	for (uint64_t from = 0; (rc = query_next(fd, from, &one, &paths)) == 0; from = one.end)
		*dt_vec_add(&v, NULL) = one;
	*m = (dt_maps){.v = v.v, .n = v.n, .text = paths.s};
	path = paths.s;
	for (uint32_t i = 0; i < v.n; i++) {
		size_t n = strlen(path) + 1;

		set_path(&v.v[i], path);
		path += n;
	}
	if (rc == ENOENT || rc == ESRCH)
		return m;
	dt_maps_free(m);
	return NULL;
}

dt_maps *dt_maps_code(long pid, dt_error *err)
{
	dt_maps *m = NULL;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	fd = dt_proc_problem() ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		m = query_code(fd);
		close(fd);
	}
	return m ? m : dt_maps_read(pid, err);
}

void dt_maps_free(dt_maps *m)
{
	if (!m)
		return;
	dt_vec_release(m->v);
	free(m->text);
	free(m);
}

const dt_mapping *dt_maps_find(const dt_maps *m, uint64_t addr)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->n && m->v[lo].start <= addr ? &m->v[lo] : NULL;
}

const dt_mapping *dt_maps_exe(const dt_maps *m, long pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%ld/exe", pid);
	if (stat(path, &st) < 0)
		return NULL;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->v[i].kind == DT_MAP_FILE && m->v[i].inode == st.st_ino)
			return &m->v[i];
	return NULL;
}

/* ---- files ---- */

/* For overlay file systems the device in maps differs from that of stat(): compare only the inode. */
static bool is_file(int fd, uint64_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (inode == 0 || st.st_ino == inode);
}

static int open_checked(const char *path, uint64_t inode)
{
	int fd = dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, NULL);

	if (fd < 0 || is_file(fd, inode))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int dt_mapping_open(long pid, const dt_mapping *m)
{
	char link[96], *path;
	int fd, why;

	if (m->kind != DT_MAP_FILE) {
		errno = ENOENT;
		return -1;
	}
	snprintf(link, sizeof(link), "/proc/%ld/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	if ((fd = open_checked(link, 0)) >= 0)
		return fd;
	why = errno;
	if (m->deleted) {
		errno = why;
		return -1;
	}
	path = dt_proc_path(pid, m->path);
	fd = open_checked(path, m->inode);
	free(path);
	return fd;
}

/* Do two links of /proc have the same target? */
static bool same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void dt_proc_root(long pid, char *to, size_t n)
{
	char root[64], ns[64];

	snprintf(root, sizeof(root), "/proc/%ld/root", pid);
	snprintf(ns, sizeof(ns), "/proc/%ld/ns/mnt", pid);
	if (same(ns, "/proc/self/ns/mnt") && same(root, "/proc/self/root"))
		root[0] = 0;
	snprintf(to, n, "%s", root);
}

char *dt_proc_path(long pid, const char *path)
{
	char root[64];

	dt_proc_root(pid, root, sizeof(root));
	return dt_xasprintf("%s%s%s", root, path[0] == '/' ? "" : "/", path);
}

long dt_proc_inner_pid(long pid)
{
	char path[64], *text, *line, *end;
	long inner = pid;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	if (!(text = dt_slurp(AT_FDCWD, path, &n)))
		return pid;
	if ((line = strstr(text, "\nNSpid:"))) {
		line += strlen("\nNSpid:");
		line[strcspn(line, "\n")] = 0;
		for (long v; (v = strtol(line, &end, 10)), end != line; line = end)
			inner = v;
	}
	free(text);
	return inner;
}

/* ---- names of objects ---- */

static bool matches_text(const char *pattern, const char *text)
{
	return dt_glob_is_pattern(pattern) ? dt_glob_match(pattern, text)
					   : strcmp(pattern, text) == 0;
}

/* "libc" and "libc.so" also mean libc.so.6; "libm" does not mean libmount.so. */
static bool is_short_for(const char *pattern, const char *base)
{
	size_t n = strlen(pattern);

	return strncmp(pattern, base, n) == 0 &&
	       (base[n] == '.' || (base[n] == '-' && isdigit((unsigned char)base[n + 1])));
}

bool dt_object_is_called(const char *pattern, const char *base, const char *path, bool exe)
{
	const char *tick = strchr(pattern, '`');

	if (tick && strncmp(pattern, "LM", 2) == 0) /* link maps are not distinguished */
		pattern = tick + 1;
	if (!*pattern || matches_text(pattern, base) || (exe && matches_text(pattern, "a.out")))
		return true;
	if (strchr(pattern, '/'))
		return matches_text(pattern, path);
	return !dt_glob_is_pattern(pattern) && is_short_for(pattern, base);
}

/* Only the name of a command has links that matter; libraries are named by their files. */
static bool is_command(const char *name)
{
	return *name && !strchr(name, '/') && !strstr(name, ".so") && !dt_glob_is_pattern(name);
}

/* The next directory in which commands are searched for, with the root before it and the name after it; NULL: none is left. */
static char *next_command(const char **dirs, const char *root, const char *name)
{
	const char *dir = *dirs;
	size_t n = dir ? strcspn(dir, ":") : 0;

	if (!n)
		return NULL;
	*dirs += n + (dir[n] == ':');
	return dt_xasprintf("%s%.*s/%s", root, (int)n, dir, name);
}

/* stat() that stays in the root directory that the path begins with. */
static bool stat_inside(const char *path, struct stat *st)
{
	int fd = dt_open_path(AT_FDCWD, path, 0);
	bool ok = fd >= 0 && fstat(fd, st) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool is_same(const char *path, const struct stat *file)
{
	struct stat st;

	return stat_inside(path, &st) && st.st_ino == file->st_ino && st.st_dev == file->st_dev;
}

bool dt_exe_has_link(long pid, const char *name, const char *path)
{
	const char *slash = strrchr(path, '/'), *dirs = getenv("PATH");
	char root[64] = "", *try;
	struct stat st;
	bool yes;

	if (!is_command(name) || !slash)
		return false;
	dt_proc_root(pid, root, sizeof(root));
	try = dt_xasprintf("%s%s", root, path);
	yes = stat_inside(try, &st);
	free(try);
	if (!yes)
		return false;
	try = dt_xasprintf("%s%.*s/%s", root, (int)(slash - path), path, name);
	do {
		yes = is_same(try, &st);
		free(try);
	} while (!yes && (try = next_command(&dirs, root, name)));
	return yes;
}

char *dt_command_path(const char *name)
{
	const char *dirs = getenv("PATH");
	char *path = NULL, *try;

	while (!path && is_command(name) && (try = next_command(&dirs, "", name))) {
		path = access(try, X_OK) == 0 ? realpath(try, NULL) : NULL;
		free(try);
	}
	return path;
}
