/*
 * libs: D libraries, the *.d files of the -L directories and of the system directory.
 *
 * -L libraries are compiled before the first program. System libraries are compiled when a program
 * needs them: when the compiler meets a name that it does not know, it asks (struct
 * dt_library_source of lang.h), and the name is looked up among those that each library defines. So
 * `BEGIN { exit(0); }` opens no library at all, and a program that uses EPERM compiles only
 * errno.d. Libraries that a library needs, by name or by #pragma D depends_on library, are compiled
 * in the same way.
 *
 * Modules (NAME.dm in the same directories) are found by their names when a program or library imports them; nothing else
 * opens them.
 *
 * A library seen under the same file name in an earlier directory is skipped, so a -L library
 * replaces a system one. A library that depends on something absent is skipped silently; any other
 * error in a library fails the program that needs it, with the library's path in the message. So
 * does a library that is not a regular file, or that other users can write.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/budget.h"
#include "session/embedded.h"
#include "session/session.h"

#define SYSTEM_DIR "/usr/lib/dtrace"

#define NAME_BITS 12

/* A directory with libraries. */
struct dir {
	char *path;
	struct stat st;
	bool known; /* st is */
};

struct lib {
	char *name, *path;		    /* "errno.d", "/usr/lib/dtrace/errno.d" */
	const struct dir *dir;
	bool always;			    /* from -L */
	const char *module;		    /* it is the module of this name; NULL: an ordinary library */
	struct lib *importer;		    /* a module: what imports it, while it is being compiled */
	const struct dt_embedded *embedded; /* NULL: it is a file */
	char *text;			    /* NULL until read */
	size_t len;
	uint64_t hashes[(1 << NAME_BITS) / 64]; /* note_names() */
	struct dt_exports exports; /* lib_exports() */
	enum { LIB_NEW, LIB_BUSY, LIB_LOADED, LIB_SKIPPED } state;
};

struct dt_libs {
	dt_arena *arena;
	DT_VEC(struct lib *) libs;
	dt_map *by_name;
	DT_VEC(struct dir *) dirs;
	bool listed_system;
	struct lib *importing; /* the innermost module that is being compiled */
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

static struct dt_libs *libs_new(void)
{
	struct dt_libs *ls = dt_xcalloc(1, sizeof(*ls));

	ls->arena = dt_arena_new();
	ls->by_name = dt_map_new();
	return ls;
}

void dt_libs_free(struct dt_libs *ls)
{
	if (!ls)
		return;
	for (uint32_t i = 0; i < ls->libs.n; i++) {
		free(ls->libs.v[i]->text);
		dt_exports_free(&ls->libs.v[i]->exports);
	}
	dt_vec_free(&ls->libs);
	dt_vec_free(&ls->dirs);
	dt_map_free(ls->by_name);
	dt_arena_free(ls->arena);
	free(ls);
}

/* ---- finding them ---- */

static int by_lib_name(const void *a, const void *b)
{
	return strcmp((*(struct lib *const *)a)->name, (*(struct lib *const *)b)->name);
}

static const struct dir *dir_of(struct dt_libs *ls, const char *path)
{
	struct dir *d;

	for (uint32_t i = ls->dirs.n; i-- > 0;)
		if (strcmp(ls->dirs.v[i]->path, path) == 0)
			return ls->dirs.v[i];
	d = dt_arena_alloc(ls->arena, sizeof(*d));
	d->path = dt_arena_strdup(ls->arena, path);
	d->known = stat(*path ? path : "/", &d->st) == 0;
	*dt_vec_add(&ls->dirs, NULL) = d;
	return d;
}

static struct lib *add_lib(struct dt_libs *ls, const char *dir, const char *name)
{
	struct lib *l = dt_arena_alloc(ls->arena, sizeof(*l));

	l->dir = dir_of(ls, dir);
	l->name = dt_arena_strdup(ls->arena, name);
	l->path = dt_arena_printf(ls->arena, "%s/%s", dir, name);
	dt_map_set(ls->by_name, l->name, l);
	*dt_vec_add(&ls->libs, NULL) = l;
	return l;
}

/* Add the *.d files of a directory, in order of name. 0, or an errno. */
static int list_dir(struct dt_libs *ls, const char *dir, bool always)
{
	uint32_t first = ls->libs.n;
	struct dirent *e;
	DIR *d = opendir(dir);

	if (!d)
		return errno;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !ends_with(e->d_name, ".d") ||
		    dt_map_get(ls->by_name, e->d_name))
			continue;
		add_lib(ls, dir, e->d_name)->always = always;
	}
	closedir(d);
	if (ls->libs.n > first)
		qsort(ls->libs.v + first, ls->libs.n - first, sizeof(ls->libs.v[0]), by_lib_name);
	return 0;
}

/* Is this code linked into the program, or in libdtrace.so? */
static bool is_in_program(const Dl_info *here)
{
	Dl_info program;

	return dladdr((const void *)getauxval(AT_ENTRY), &program) &&
	       program.dli_fbase == here->dli_fbase;
}

/* The system directory: the option; or lib in the build directory that the program or library is in (a
 * link to that of the tree, which is thus usable in place); or <prefix>/lib/dtrace for
 * <prefix>/sbin/dtrace and <prefix>/lib/libdtrace.so; or the traditional place. A directory counts
 * if it contains errno.d. Files that differ by CPU are in a subdirectory. */
static char *system_dir(const dt_options *o)
{
	static const char *const beside[] = {"lib", "../lib", "dtrace", "../lib/dtrace"};
	char *path, *slash;
	Dl_info info;
	struct stat st;

	if (o->text[DT_O_SYSLIBDIR])
		return dt_xstrdup(o->text[DT_O_SYSLIBDIR]);
	if (!dladdr((const void *)system_dir, &info) || !info.dli_fname)
		return dt_xstrdup(SYSTEM_DIR);
	/* for the program itself it has only argv[0], which the parent can set to anything */
	path = realpath(is_in_program(&info) ? "/proc/self/exe" : info.dli_fname, NULL);
	slash = path ? strrchr(path, '/') : NULL;
	for (size_t i = 0; slash && i < DT_NELEM(beside); i++) {
		char *dir = dt_xasprintf("%.*s/%s", (int)(slash - path), path, beside[i]);
		char *probe = dt_xasprintf("%s/errno.d", dir);
		bool found = stat(probe, &st) == 0;

		free(probe);
		if (found) {
			free(path);
			return dir;
		}
		free(dir);
	}
	free(path);
	return dt_xstrdup(SYSTEM_DIR);
}

int dtrace_embedded(int i, const char **dir, const char **name, const char **text, size_t *len)
{
	const struct dt_embedded *e = dt_embedded_files;

	for (; e && e->name && i > 0; i--)
		e++;
	if (!e || !e->name || i < 0)
		return 0;
	*dir = e->dir;
	*name = e->name;
	*text = e->text;
	*len = (size_t)(e->end - e->text);
	return 1;
}

/* Those inside the program. */
static void list_embedded(struct dt_libs *ls)
{
	for (const struct dt_embedded *e = dt_embedded_files; e && e->name; e++)
		if (strncmp(e->dir, "lib", 3) == 0 && ends_with(e->name, ".d") && !dt_map_get(ls->by_name, e->name))
			add_lib(ls, e->dir, e->name)->embedded = e;
}

static void list_system(struct dt_libs *ls, const dt_options *o)
{
	char *dir, *own;

	ls->listed_system = true;
	if (dt_embedded_files && !o->text[DT_O_SYSLIBDIR]) {
		list_embedded(ls);
		return;
	}
	dir = system_dir(o);

	own = dt_xasprintf("%s/%s", dir, dt_arch_host()->folder);
	list_dir(ls, dir, false); /* none there: no libraries */
	list_dir(ls, own, false);
	free(own);
	free(dir);
}

/* ---- reading ---- */

/* A user who can write a library controls what root traces and prints. NULL: it can be trusted as
 * far as its directory. */
static const char *why_not_trusted(const struct lib *l, int fd)
{
	const struct stat *up = &l->dir->st;
	struct stat st;

	if (fstat(fd, &st) < 0 || !l->dir->known)
		return "its permissions are not known";
	if (st.st_mode & S_IWOTH)
		return "every user can write it";
	if (up->st_mode & S_IWOTH && !(up->st_mode & S_ISVTX))
		return "every user can write its directory";
	if (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != up->st_uid)
		return "it belongs to a user who is neither root, you, nor the owner of its "
		       "directory";
	return NULL;
}

/* ---- names that a library may define ----
 *
 * All libraries are read for the first name that the compiler does not know, and most do not define it. So a library's
 * text is gone over once, for the words that are followed by what can follow a declared name, and only their hashes are
 * noted. A library that has the hash of a name is then read by the lexer. */

/* Sets of characters, a bit for each. */
static const uint64_t words[4] = {0x03ff000000000000, 0x07fffffe87fffffe};  /* 0-9 A-Z _ a-z */
static const uint64_t blanks[4] = {0x0000000100003e00};
static const uint64_t name_ends[4] = {0x3800930800000001, 0x28000000b8000000}; /* ;,=[]{}()</#_\ and 0 */

static bool in_set(const uint64_t set[4], unsigned char c)
{
	return set[c >> 6] >> (c & 63) & 1;
}

#define HASH_ADD(h, c) ((h) * 33 + (unsigned char)(c))

static uint64_t *hash_bit(struct lib *l, uint32_t hash, uint64_t *bit)
{
	uint32_t at = hash * 0x9e3779b1u >> (32 - NAME_BITS);

	*bit = 1ull << at % 64;
	return &l->hashes[at / 64];
}

/* What is_declared() of lang/exports.c takes for the end of a name, or a comment, a control line, a word that is skipped,
 * the end of the text. */
static bool ends_name(const char *s)
{
	while (in_set(blanks, *s))
		s++;
	return in_set(name_ends, *s);
}

static void note_names(struct lib *l)
{
	uint32_t hash = 0;
	uint64_t bit;

	for (const char *s = l->text, *end = s + l->len; s <= end; s++) { /* there is a 0 at the end */
		if (in_set(words, *s)) {
			hash = HASH_ADD(hash, *s);
			continue;
		}
		if (hash && ends_name(s))
			*hash_bit(l, hash, &bit) |= bit;
		hash = 0;
	}
}

static bool may_define(struct lib *l, const char *name)
{
	uint32_t hash = 0;
	uint64_t bit;

	for (; in_set(words, *name); name++)
		hash = HASH_ADD(hash, *name);
	return *name || *hash_bit(l, hash, &bit) & bit; /* other characters: not a word of D */
}

static int lib_open(struct lib *l, dt_error *err)
{
	char chunk[16384];
	const char *why;
	dt_buf b = {0};
	ssize_t n = 0;
	int fd;

	if (l->embedded) {
		l->len = (size_t)(l->embedded->end - l->embedded->text);
		l->text = memcpy(dt_xmalloc(l->len + 1), l->embedded->text, l->len + 1);
		return 0;
	}
	fd = dt_open_regular(AT_FDCWD, l->path, 0, DT_MAX_LIBRARY, err);
	if (fd < 0) /* the sentence begins with the path */
		return dt_err(err, err->code, "failed to open library \"%s\"%s", l->path,
			      err->text + strlen(l->path));
	why = why_not_trusted(l, fd);
	while (!why && b.n <= DT_MAX_LIBRARY && (n = read(fd, chunk, sizeof(chunk))) > 0)
		dt_buf_add(&b, chunk, (size_t)n);
	if (!why && n != 0)
		why = n < 0 ? strerror(errno) : "it is larger than 16 MB";
	close(fd);
	if (why) {
		dt_buf_free(&b);
		return dt_err(err, EDT_FIO, "failed to read library \"%s\": %s", l->path, why);
	}
	dt_buf_putc(&b, 0); /* so that an empty file has text as well */
	l->text = b.s;
	l->len = b.n - 1;
	return 0;
}

static int lib_read(struct lib *l, dt_error *err)
{
	if (lib_open(l, err) < 0)
		return -1;
	note_names(l);
	return 0;
}

/* What a library that has been read defines and needs: found when first asked for. */
static const struct dt_exports *lib_exports(dtrace_hdl_t *h, struct lib *l)
{
	if (!l->exports.names)
		dt_exports_read(h->cc, l->text, l->len, &l->exports);
	return &l->exports;
}

static bool lib_defines(dtrace_hdl_t *h, struct lib *l, const char *name)
{
	return may_define(l, name) && memmem(l->text, l->len, name, strlen(name)) &&
	       dt_map_get(lib_exports(h, l)->names, name);
}

/* ---- compiling ---- */

static int cycle_error(const struct dt_libs *ls, const struct lib *l, dt_error *err)
{
	dt_buf b = {0};

	for (uint32_t i = 0; i < ls->libs.n; i++)
		if (ls->libs.v[i]->state == LIB_BUSY)
			dt_buf_printf(&b, "%s\"%s\"", b.n ? ", " : "", ls->libs.v[i]->path);
	dt_err(err, EDT_COMPILER, "circular dependency of libraries (found at %s): %s", l->name,
	       b.s);
	dt_buf_free(&b);
	return -1;
}

static int lib_load(dtrace_hdl_t *h, struct lib *l, dt_error *err)
{
	struct dt_source src = {.name = l->path, .is_library = true, .is_ours = !l->always && !l->module, .module = l->module};
	dt_program *p;

	if (l->state == LIB_LOADED || l->state == LIB_SKIPPED)
		return 0;
	if (l->state == LIB_BUSY)
		return cycle_error(h->libs, l, err);
	if (!l->text && lib_read(l, err) < 0)
		return -1;
	src.text = l->text;
	src.len = l->len;
	l->state = LIB_BUSY;
	p = dt_compile(h->cc, &src, err);
	if (p) {
		l->state = LIB_LOADED;
		dt_session_debug(h, "compiled %s: %u clauses", l->path, p->nclauses);
		return 0;
	}
	l->state = err->code == EDT_LIBSKIP ? LIB_SKIPPED : LIB_NEW;
	if (l->state == LIB_NEW) /* the next program that needs it fails in the same way */
		return -1;
	dt_session_debug(h, "library %s: skipped, something it depends on is absent", l->path);
	memset(err, 0, sizeof(*err));
	return 0;
}

/* ---- finding requested names ---- */

/* The -L directories, once. */
static int open_libs(dtrace_hdl_t *h, dt_error *err)
{
	const dt_options *o = &h->opts;
	struct dt_libs *ls;

	if (h->libs)
		return 0;
	ls = libs_new();
	for (uint32_t i = 0; i < o->list[DT_O_LIBDIR].n; i++) {
		int e = list_dir(ls, o->list[DT_O_LIBDIR].v[i], true);

		if (!e)
			continue;
		dt_libs_free(ls);
		return dt_err(err, e, "failed to open library directory \"%s\": %s",
			      o->list[DT_O_LIBDIR].v[i], strerror(e));
	}
	h->libs = ls;
	return 0;
}

/* A library that needs a name of another must not load it while that one waits for the first. */
static bool waits_for_busy(dtrace_hdl_t *h, struct lib *l, int depth)
{
	const struct dt_exports *exports;
	const char *name;
	uint32_t it = 0;
	void *value;

	if (l->state == LIB_BUSY || depth > 64)
		return true;
	if (!l->text)
		return false;
	exports = lib_exports(h, l);
	while (dt_map_next(exports->depends, &it, &name, &value)) {
		struct lib *d = dt_map_get(h->libs->by_name, name);

		if (d && d->state != LIB_LOADED && waits_for_busy(h, d, depth + 1))
			return true;
	}
	return false;
}

/* Every library that defines the name. */
static int define(void *arg, const char *name, dt_error *err)
{
	dtrace_hdl_t *h = arg;
	struct dt_libs *ls;
	int found = dt_machines_define(h, name, err);

	if (found || dt_opt(&h->opts, DT_O_NOLIBS))
		return found;
	if (open_libs(h, err) < 0)
		return -1;
	ls = h->libs;
	if (!ls->listed_system)
		list_system(ls, &h->opts);
	for (uint32_t i = 0; i < ls->libs.n; i++) {
		struct lib *l = ls->libs.v[i];

		if (l->state != LIB_NEW || l->module)
			continue;
		if (!l->text && lib_read(l, err) < 0)
			return -1;
		if (!lib_defines(h, l, name) || waits_for_busy(h, l, 0))
			continue;
		if (lib_load(h, l, err) < 0)
			return -1;
		found |= l->state == LIB_LOADED;
	}
	return found;
}

static int require(void *arg, const char *library, dt_error *err)
{
	dtrace_hdl_t *h = arg;
	struct lib *l;

	if (dt_opt(&h->opts, DT_O_NOLIBS))
		return 1;
	if (open_libs(h, err) < 0)
		return -1;
	l = dt_map_get(h->libs->by_name, library);
	if (!l && !h->libs->listed_system) {
		list_system(h->libs, &h->opts);
		l = dt_map_get(h->libs->by_name, library);
	}
	if (!l)
		return 0;
	return lib_load(h, l, err) < 0 ? -1 : l->state == LIB_LOADED;
}

/* ---- modules ---- */

static struct lib *add_module(struct dt_libs *ls, const char *dir, const char *name)
{
	struct lib *l = add_lib(ls, dir, dt_arena_printf(ls->arena, "%s.dm", name));

	l->module = dt_arena_strdup(ls->arena, name);
	return l;
}

static struct lib *embedded_module(struct dt_libs *ls, const char *name, const char *file)
{
	for (const struct dt_embedded *e = dt_embedded_files; e && e->name; e++)
		if (strncmp(e->dir, "lib", 3) == 0 && strcmp(e->name, file) == 0) {
			struct lib *l = add_module(ls, e->dir, name);

			l->embedded = e;
			return l;
		}
	return NULL;
}

static struct lib *module_in(struct dt_libs *ls, const char *dir, const char *name)
{
	char *path = dt_xasprintf("%s/%s.dm", dir, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found ? add_module(ls, dir, name) : NULL;
}

/* The module, which may have been found before. NULL: *err. */
static struct lib *find_module(dtrace_hdl_t *h, const char *name, dt_error *err)
{
	const dt_options *o = &h->opts;
	struct dt_libs *ls = h->libs;
	char *file = dt_arena_printf(ls->arena, "%s.dm", name), *dir;
	struct lib *l = dt_map_get(ls->by_name, file);

	for (uint32_t i = 0; !l && i < o->list[DT_O_LIBDIR].n; i++)
		l = module_in(ls, o->list[DT_O_LIBDIR].v[i], name);
	if (!l && dt_embedded_files && !o->text[DT_O_SYSLIBDIR])
		l = embedded_module(ls, name, file);
	if (l)
		return l;
	dir = system_dir(o);
	l = module_in(ls, dir, name);
	if (!l)
		dt_err(err, EDT_COMPILER, "module %s is not found: there is no %s in %s%s", name, file,
		       o->list[DT_O_LIBDIR].n ? "the directories of -L and " : "", dir);
	free(dir);
	return l;
}

/* Is l waiting for what is being compiled? Then the error says by which imports. */
static bool is_circular(const struct dt_libs *ls, const struct lib *l, dt_error *err)
{
	DT_VEC(const char *) names = {0};
	dt_buf b = {0};

	if (l->state != LIB_BUSY)
		return false;
	for (const struct lib *m = ls->importing; m; m = m == l ? NULL : m->importer)
		*dt_vec_add(&names, NULL) = m->module;
	while (names.n--)
		dt_buf_printf(&b, "%s imports ", names.v[names.n]);
	dt_err(err, EDT_COMPILER, "modules import each other: %s%s", b.s ? b.s : "", l->module);
	dt_vec_free(&names);
	dt_buf_free(&b);
	return true;
}

static int import(void *arg, const char *name, dt_error *err)
{
	dtrace_hdl_t *h = arg;
	struct lib *l;
	int rc;

	if (dt_opt(&h->opts, DT_O_NOLIBS))
		return dt_err(err, EDT_COMPILER, "module %s cannot be used with option nolibs", name);
	if (open_libs(h, err) < 0)
		return -1;
	l = find_module(h, name, err);
	if (!l || is_circular(h->libs, l, err))
		return -1;
	l->importer = h->libs->importing;
	h->libs->importing = l;
	rc = lib_load(h, l, err);
	h->libs->importing = l->importer;
	if (rc == 0 && l->state == LIB_SKIPPED)
		rc = dt_err(err, EDT_COMPILER, "module %s (%s) cannot be used: something it depends on is absent",
			    name, l->path);
	return rc;
}

/* The names defined by libraries that were read but not compiled. */
static uint32_t unloaded_names(void *arg, const char **out, uint32_t max)
{
	dtrace_hdl_t *h = arg;
	const struct dt_libs *ls = h->libs;
	uint32_t n = 0, it;
	const char *name;
	void *value;

	for (uint32_t i = 0; ls && i < ls->libs.n; i++) {
		struct lib *l = ls->libs.v[i];

		if (!l->text || l->state != LIB_NEW || l->module)
			continue;
		it = 0;
		while (dt_map_next(lib_exports(h, l)->names, &it, &name, &value)) {
			if (n < max)
				out[n] = name;
			n++;
		}
	}
	return max && n > max ? max : n;
}

void dt_libs_open(dtrace_hdl_t *h)
{
	dt_compiler_set_libraries(h->cc, &(struct dt_library_source){.arg = h,
								     .define = define,
								     .require = require,
								     .import = import,
								     .names = unloaded_names});
}

void dt_libs_define(dtrace_hdl_t *h, const char *type)
{
	char *word = dt_xstrdup(strncmp(type, "struct ", 7) == 0 ? type + 7 : type);
	dt_error ignored = {0};

	word[strcspn(word, " *")] = 0;
	define(h, word, &ignored);
	free(word);
}

int dt_libs_load_user(dtrace_hdl_t *h, dt_error *err)
{
	int rc = 0;

	if (dt_opt(&h->opts, DT_O_NOLIBS))
		return 0;
	if (open_libs(h, err) < 0)
		return -1;
	for (uint32_t i = 0; i < h->libs->libs.n && rc == 0; i++)
		if (h->libs->libs.v[i]->always)
			rc = lib_load(h, h->libs->libs.v[i], err);
	return rc;
}
