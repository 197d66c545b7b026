/*
 * libs: D libraries, the *.d files of the -L directories and of the system directory.
 *
 * -L libraries are compiled before the first program. System libraries are compiled when a program
 * needs them: the words of the program (words.c) that the compiler does not know are looked up
 * among the names each library defines. So `BEGIN { exit(0); }` opens no library at all, and a
 * program that says EPERM compiles errno.d and nothing else. A library is followed by what it
 * depends on
 * (#pragma D depends_on library) and by what its own words need.
 *
 * A library seen under the same file name in an earlier directory is skipped, so a -L library
 * replaces a system one. A library that depends on something absent is skipped silently; any other
 * error in a library fails the program that needs it, with the library's path in the message.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "arch/arch.h"
#include "session/session.h"
#include "lang/compiler.h" /* dt_ident_find: what the compiler knows already */

#define SYSTEM_DIR  "/usr/lib/dtrace"
#define LIBRARY_MAX (16u << 20)

struct lib {
	char *name, *path; /* "errno.d", "/usr/lib/dtrace/errno.d" */
	bool always;	   /* from -L */
	char *text;	   /* NULL until read */
	size_t len;
	dt_map *defines;
	const char **depends;
	uint32_t ndepends;
	enum { LIB_NEW, LIB_BUSY, LIB_LOADED, LIB_SKIPPED } state;
};

struct dt_libs {
	dt_arena *arena;
	DT_VEC(struct lib *) libs;
	dt_map *by_name;
	bool listed_system;
};

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
		dt_map_free(ls->libs.v[i]->defines);
	}
	dt_vec_free(&ls->libs);
	dt_map_free(ls->by_name);
	dt_arena_free(ls->arena);
	free(ls);
}

/* ---- finding them ---- */

static int by_lib_name(const void *a, const void *b)
{
	return strcmp((*(struct lib *const *)a)->name, (*(struct lib *const *)b)->name);
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
		size_t n = strlen(e->d_name);
		struct lib *l;

		if (n < 3 || e->d_name[0] == '.' || strcmp(e->d_name + n - 2, ".d") != 0 ||
		    dt_map_get(ls->by_name, e->d_name))
			continue;
		l = dt_arena_alloc(ls->arena, sizeof(*l));
		l->name = dt_arena_strdup(ls->arena, e->d_name);
		l->path = dt_arena_printf(ls->arena, "%s/%s", dir, e->d_name);
		l->always = always;
		dt_map_set(ls->by_name, l->name, l);
		*dt_vec_add(&ls->libs, NULL) = l;
	}
	closedir(d);
	if (ls->libs.n > first)
		qsort(ls->libs.v + first, ls->libs.n - first, sizeof(ls->libs.v[0]), by_lib_name);
	return 0;
}

/* The system directory: the option; or lib in the build directory this library was loaded from (a
 * link to that of the tree, which is thus usable in place); or <prefix>/lib/dtrace for
 * <prefix>/lib/libdtrace.so; or the traditional place. A directory counts when it holds errno.d. What
 * differs by CPU is in a folder of it. */
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
	path = realpath(info.dli_fname, NULL);
	if (!path) /* linked into the program itself, started by name */
		path = realpath("/proc/self/exe", NULL);
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

static void list_system(struct dt_libs *ls, const dt_options *o)
{
	char *dir = system_dir(o), *own;

	own = dt_xasprintf("%s/%s", dir, dt_arch_host()->folder);
	list_dir(ls, dir, false); /* none there: no libraries */
	list_dir(ls, own, false);
	ls->listed_system = true;
	free(own);
	free(dir);
}

/* ---- reading ---- */

static int lib_read(dtrace_hdl_t *h, struct lib *l)
{
	FILE *f = fopen(l->path, "re");
	dt_buf b = {0};
	char chunk[16384];
	size_t n;
	bool failed;

	if (!f)
		return dt_session_err(h, errno, "failed to open library \"%s\": %s", l->path,
				      strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 && b.n <= LIBRARY_MAX)
		dt_buf_add(&b, chunk, n);
	failed = ferror(f);
	fclose(f);
	if (failed || b.n > LIBRARY_MAX) {
		dt_buf_free(&b);
		return dt_session_err(h, EDT_FIO, "failed to read library \"%s\": %s", l->path,
				      failed ? strerror(errno) : "it is larger than 16 MB");
	}
	dt_buf_putc(&b, 0); /* so that an empty file has text, too */
	l->text = b.s;
	l->len = b.n - 1;
	l->defines = dt_map_new();
	dt_words_defined(l->text, l->len, l->defines);
	l->ndepends = dt_scan_depends(l->text, l->len, h->libs->arena, &l->depends);
	return 0;
}

/* ---- choosing ---- */

static bool is_keyword(const char *s)
{
	static const char *const words[] = {
	    "auto",	"break",    "case",	  "char",     "const",	  "continue", "counter",
	    "default",	"do",	    "double",	  "else",     "enum",	  "extern",   "float",
	    "for",	"goto",	    "if",	  "import",   "inline",	  "int",      "long",
	    "offsetof", "probe",    "provider",	  "register", "restrict", "return",   "self",
	    "short",	"signed",   "sizeof",	  "static",   "string",	  "stringof", "struct",
	    "switch",	"this",	    "translator", "typedef",  "union",	  "unsigned", "userland",
	    "void",	"volatile", "while",	  "xlate",
	};

	for (size_t i = 0; i < DT_NELEM(words); i++)
		if (strcmp(words[i], s) == 0)
			return true;
	return false;
}

static bool is_known(dtrace_hdl_t *h, const char *name)
{
	return is_keyword(name) || dt_ident_find(h->cc, name, 0) ||
	       dt_type_lookup_local(h->types, DT_NS_ORDINARY, name) ||
	       dt_type_lookup_local(h->types, DT_NS_STRUCT, name);
}

/* Names in text that only a library could explain. */
static dt_map *unknown_words(dtrace_hdl_t *h, const char *text, size_t len)
{
	dt_map *used = dt_map_new(), *unknown = dt_map_new(), *own = dt_map_new();
	const char *name;
	void *value;
	uint32_t it = 0;

	dt_words_used(text, len, used);
	dt_words_tags(text, len, own);
	for (int i = 1; i < h->macros.argc; i++)
		dt_map_set(used, h->macros.argv[i], h);
	while (dt_map_next(used, &it, &name, &value))
		if (!is_known(h, name) && !dt_map_get(own, name))
			dt_map_set(unknown, name, h);
	dt_map_free(used);
	dt_map_free(own);
	return unknown;
}

static bool lib_answers(const struct lib *l, const dt_map *words)
{
	const char *name;
	void *value;
	uint32_t it = 0;

	while (dt_map_next(words, &it, &name, &value))
		if (dt_map_get(l->defines, name))
			return true;
	return false;
}

/* ---- loading ---- */

static int load_for_words(dtrace_hdl_t *h, const dt_map *words);

static int cycle_error(dtrace_hdl_t *h, const struct lib *l)
{
	dt_buf b = {0};

	for (uint32_t i = 0; i < h->libs->libs.n; i++)
		if (h->libs->libs.v[i]->state == LIB_BUSY)
			dt_buf_printf(&b, "%s\"%s\"", b.n ? ", " : "", h->libs->libs.v[i]->path);
	dt_session_err(h, EDT_COMPILER,
		       "libraries depend on each other in a circle (found at %s): %s", l->name,
		       b.s);
	dt_buf_free(&b);
	return -1;
}

/* Load what l depends on; *met is false when one of them is missing. */
static int load_depends(dtrace_hdl_t *h, struct lib *l, bool *met);

static int lib_load(dtrace_hdl_t *h, struct lib *l)
{
	const char *name;
	uint32_t it = 0;
	bool met = true;
	dt_map *words;
	void *value;
	int rc;

	if (l->state == LIB_LOADED || l->state == LIB_SKIPPED)
		return 0;
	if (l->state == LIB_BUSY)
		return cycle_error(h, l);
	if (!l->text && lib_read(h, l) < 0)
		return -1;
	l->state = LIB_BUSY;
	if (load_depends(h, l, &met) < 0)
		return -1;
	if (!met) {
		dt_session_debug(h, "library %s: skipped, something it depends on is absent",
				 l->path);
		l->state = LIB_SKIPPED;
		return 0;
	}
	words = unknown_words(h, l->text, l->len);
	while (dt_map_next(l->defines, &it, &name, &value))
		dt_map_del(words, name);
	rc = load_for_words(h, words);
	dt_map_free(words);
	if (rc < 0)
		return -1;
	l->state = LIB_LOADED;
	if (!dt_session_compile_library(h, l->text, l->len, l->path)) {
		l->state = h->err.code == EDT_LIBSKIP ? LIB_SKIPPED : LIB_NEW;
		return l->state == LIB_SKIPPED ? 0 : -1;
	}
	return 0;
}

static int load_depends(dtrace_hdl_t *h, struct lib *l, bool *met)
{
	for (uint32_t i = 0; i < l->ndepends; i++) {
		struct lib *d = dt_map_get(h->libs->by_name, l->depends[i]);

		if (!d && !h->libs->listed_system) {
			list_system(h->libs, &h->opts);
			d = dt_map_get(h->libs->by_name, l->depends[i]);
		}
		if (d && lib_load(h, d) < 0)
			return -1;
		if (!d || d->state == LIB_SKIPPED)
			*met = false;
	}
	return 0;
}

/* A library that needs a name of another must not load it while that one waits for the first. */
static bool waits_for_busy(const struct dt_libs *ls, const struct lib *l, int depth)
{
	if (l->state == LIB_BUSY || depth > 64)
		return true;
	for (uint32_t i = 0; i < l->ndepends; i++) {
		struct lib *d = dt_map_get(ls->by_name, l->depends[i]);

		if (d && d->state != LIB_LOADED && waits_for_busy(ls, d, depth + 1))
			return true;
	}
	return false;
}

/* Every library that defines one of the words. */
static int load_for_words(dtrace_hdl_t *h, const dt_map *words)
{
	struct dt_libs *ls = h->libs;

	if (dt_map_count(words) == 0)
		return 0;
	if (!ls->listed_system)
		list_system(ls, &h->opts);
	for (uint32_t i = 0; i < ls->libs.n; i++) {
		struct lib *l = ls->libs.v[i];

		if (l->state != LIB_NEW)
			continue;
		if (!l->text && lib_read(h, l) < 0)
			return -1;
		if (lib_answers(l, words) && !waits_for_busy(ls, l, 0) && lib_load(h, l) < 0)
			return -1;
	}
	return 0;
}

/* What the system libraries that were looked into, but not loaded, define. */
static uint32_t unloaded_names(void *arg, const char **out, uint32_t max)
{
	const struct dt_libs *ls = arg;
	uint32_t n = 0, it;
	const char *name;
	void *value;

	for (uint32_t i = 0; i < ls->libs.n; i++) {
		const struct lib *l = ls->libs.v[i];

		if (!l->text || l->state != LIB_NEW)
			continue;
		it = 0;
		while (dt_map_next(l->defines, &it, &name, &value)) {
			if (n < max)
				out[n] = name;
			n++;
		}
	}
	return max && n > max ? max : n;
}

/* The -L directories, once. */
static int list_user(dtrace_hdl_t *h)
{
	const dt_options *o = &h->opts;

	h->libs = libs_new();
	dt_compiler_set_names(h->cc, unloaded_names, h->libs);
	for (uint32_t i = 0; i < o->list[DT_O_LIBDIR].n; i++) {
		int e = list_dir(h->libs, o->list[DT_O_LIBDIR].v[i], true);

		if (e)
			return dt_session_err(h, e, "failed to open library directory \"%s\": %s",
					      o->list[DT_O_LIBDIR].v[i], strerror(e));
	}
	return 0;
}

/* A program, too, may say that it depends on a library. */
static int load_named(dtrace_hdl_t *h, const char *text, size_t len)
{
	struct lib script = {.name = (char *)"the program"};
	const char *p = memmem(text, len, "depends_on", 10);
	bool met = true;
	uint32_t n;

	if (!p)
		return 0;
	n = dt_scan_depends(text, len, h->libs->arena, &script.depends);
	for (script.ndepends = 1; n > 0; n--, script.depends++) {
		const char *name = script.depends[0];

		if (load_depends(h, &script, &met) < 0)
			return -1;
		if (met)
			continue;
		dt_err(&h->err, EDT_COMPILER, "the program requires library %s, which is not there",
		       name);
		h->err.tag = D_PRAGMA_DEPEND;
		h->err.pos = (dt_pos){.line = 1};
		p = memmem(p, len - (size_t)(p - text), name, strlen(name));
		for (const char *q = text; p && q < p; q++)
			h->err.pos.line += *q == '\n';
		return dt_session_fail(h);
	}
	return 0;
}

int dt_libs_load(dtrace_hdl_t *h, const char *text, size_t len)
{
	dt_map *words;
	int rc = 0;

	if (dt_opt(&h->opts, DT_O_NOLIBS))
		return 0;
	if (!h->libs && list_user(h) < 0) {
		dt_compiler_set_names(h->cc, NULL, NULL);
		dt_libs_free(h->libs);
		h->libs = NULL;
		return -1;
	}
	for (uint32_t i = 0; i < h->libs->libs.n && rc == 0; i++)
		if (h->libs->libs.v[i]->always)
			rc = lib_load(h, h->libs->libs.v[i]);
	if (rc == 0)
		rc = load_named(h, text, len);
	if (rc == 0) {
		words = unknown_words(h, text, len);
		rc = load_for_words(h, words);
		dt_map_free(words);
	}
	for (uint32_t i = 0; i < h->libs->libs.n;
	     i++) /* after a failure: the next try fails alike */
		if (h->libs->libs.v[i]->state == LIB_BUSY)
			h->libs->libs.v[i]->state = LIB_NEW;
	return rc;
}

bool dt_libs_load_type(dtrace_hdl_t *h, const char *type)
{
	uint32_t before = 0, after = 0;
	dt_error err = h->err;
	dt_map *words;
	dt_words w;

	if (!h->libs || dt_opt(&h->opts, DT_O_NOLIBS))
		return false;
	words = dt_map_new();
	for (dt_words_start(&w, type, strlen(type)); dt_words_next(&w);)
		if (w.word) {
			char *name = dt_arena_strndup(h->libs->arena, w.word, w.len);

			if (!is_known(h, name))
				dt_map_set(words, name, h);
		}
	for (uint32_t i = 0; i < h->libs->libs.n; i++)
		before += h->libs->libs.v[i]->state == LIB_LOADED;
	if (load_for_words(h, words) == 0)
		for (uint32_t i = 0; i < h->libs->libs.n; i++)
			after += h->libs->libs.v[i]->state == LIB_LOADED;
	else
		err = h->err; /* what is wrong with the library is what the user must know */
	dt_map_free(words);
	h->err = err;
	return after > before;
}
