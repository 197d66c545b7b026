/*
 * openssl: handshakes, and what is read and written, in every process that maps OpenSSL's libssl, now or later.
 *
 * A table of rows, as those of stable.h, but its events are functions of a library: every libssl that processes map, that
 * they map during tracing, or that is installed, has the probes once (pid.h finds the files), for all processes.
 *
 * What a program reads and writes is known when SSL_read(), SSL_write() and their relatives return. A handshake is part
 * of SSL_do_handshake(), which SSL_connect() and SSL_accept() end with, or of the first read or write: it has begun when
 * such a call finds the connection in its first state, and it is done when one finds it in a handshake (SSL_in_init) and
 * leaves it out of one.
 *
 * The members of a connection (SSL) are not public and move between versions. But the library has functions that only
 * return them, SSL_get_rbio() and others, whose code tells where they are (dt_insn_member). From version 3.2 on, the first
 * member tells a connection, 0, from other things; these, QUIC connections, are left out. The other end is that of the
 * socket that is read from, the descriptor in a BIO of the type for sockets, whose members have not moved within a version.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "probe/providers/pid.h"
#include "probe/providers/providers.h"
#include "proc/needed.h"

#define LIBRARY "libssl.so*"
#define CODE	160 /* bytes of a function that returns a member */

/* In texts: {rbio} is where the member is. */
enum member { M_RBIO, M_INIT, M_STATE, M_SERVER, M_VERSION, M_METHOD, M_NUM, M_MAX };
static const struct {
	const char *name, *func; /* that returns it; NULL: of a BIO */
} members[M_MAX] = {
    [M_RBIO] = {"{rbio}", "SSL_get_rbio"},	[M_INIT] = {"{init}", "SSL_in_init"}, [M_STATE] = {"{state}", "SSL_get_state"},
    [M_SERVER] = {"{server}", "SSL_is_server"}, [M_VERSION] = {"{version}", "SSL_version"},
    [M_METHOD] = {"{method}", NULL},		[M_NUM] = {"{num}", NULL},
};

struct library {
	struct pid_object *object; /* NULL: it has only been listed */
	uint64_t dev, inode;
	const char *base;
	int64_t member[M_MAX]; /* -1: not known */
	bool typed;	       /* the first member of a connection is 0 */
};

struct openssl {
	DT_VEC(struct library *) libraries;
	bool searched;
};

/* ---- the table ---- */

#define NARGS  8
#define NSITES 12

struct site {
	const char *func; /* NULL: no more */
	bool on_return;
	const char *when;
	const char *const *arg; /* NARGS of them */
};

struct row {
	const char *name;
	struct site sites[NSITES];
};

/* All probes have the same arguments, so that openssl::: can use them. */
static const struct {
	const char *native, *type;
} arguments[] = {{"struct sock *", "sslinfo_t *"}, {"int", "int"}, {"uintptr_t", "uintptr_t"}, {"uint64_t", "uint64_t"}};

/* D: an int or a pointer in the memory of the process */
#define INT(at)	    "*(userland int *)(" at ")"
#define POINTER(at) "*(userland uint64_t *)(" at ")"

#define BIO(s) POINTER(s " + {rbio}")
/* 0x505: BIO_TYPE_SOCKET */
#define FD(s) "(" INT(POINTER(BIO(s) " + {method}")) " == 0x505 ? " INT(BIO(s) " + {num}") " : -1)"
#define FILE_OF(s) "curthread->files->fdt->fd[" FD(s) "]"
/* 0140000: S_IFSOCK */
#define SOCK(s)                                                                                    \
	"(" FILE_OF(s) "->f_inode->i_mode & 0170000) == 0140000 ? "                                \
	"(uint64_t)((struct socket *)" FILE_OF(s) "->private_data)->sk : 0"

/* A probe keeps its own of these from entry to return: clauses of another one may not be enabled. */
#define KEPT(row, what) "self->dt_openssl_" row "_" what

/* native arguments of all probes: the socket, three that differ, then what lib/openssl.d translates */
#define ARGS(s, a, b, c)                                                                           \
	(const char *const[NARGS])                                                                 \
	{                                                                                          \
		SOCK(s), a, b, c, s, FD(s), INT(s " + {server}"), INT(s " + {version}")            \
	}
#define IS_CONNECTION(s) "({typed} == 0 || " INT(s) " == 0)"

#define ENTRY(f, row)                                                                              \
	{                                                                                          \
		.func = f, .when = IS_CONNECTION("arg0") " && (" KEPT(row, "ssl") " = arg0, " KEPT(row, "buf") " = arg1, " \
		    KEPT(row, "size") " = arg3, " KEPT(row, "time") " = timestamp, 0)"             \
	}
#define DATA(row, bytes)                                                                           \
	ARGS(KEPT(row, "ssl"), bytes, KEPT(row, "buf"), "timestamp - " KEPT(row, "time"))
#define RETURN(f, row)                                                                             \
	{                                                                                          \
		.func = f, .on_return = true, .when = KEPT(row, "ssl") " != 0 && (int)arg1 > 0", .arg = DATA(row, "(int)arg1")         \
	}
/* the size is where the last parameter points to */
#define RETURN_EX(f, row)                                                                          \
	{                                                                                          \
		.func = f, .on_return = true, .when = KEPT(row, "ssl") " != 0 && (int)arg1 > 0", .arg = DATA(row, POINTER(KEPT(row, "size"))) \
	}

#define IN_FIRST_STATE "(" INT("arg0 + {init}") " != 0 && " INT("arg0 + {state}") " == 0)"
#define STARTS(f)                                                                                  \
	{                                                                                          \
		.func = f, .when = IS_CONNECTION("arg0") " && " IN_FIRST_STATE, .arg = ARGS("arg0", NULL, NULL, NULL) \
	}
/* when a handshake began: it can take several calls, of several threads */
#define BEGAN(s) "dt_openssl_began[pid, " s "]"
#define MAY_END(f)                                                                                 \
	{                                                                                          \
		.func = f, .when = IS_CONNECTION("arg0") " && (" IN_FIRST_STATE " ? (" BEGAN("arg0") " = timestamp, 0) : 0, " \
		    KEPT("done", "ssl") " = " INT("arg0 + {init}") " != 0 ? arg0 : 0, 0)"          \
	}
#define ENDS(f)                                                                                    \
	{                                                                                          \
		.func = f, .on_return = true,                                                      \
		    .when = KEPT("done", "ssl") " != 0 && " INT(KEPT("done", "ssl") " + {init}") " == 0 && ("                   \
		    KEPT("done", "ns") " = " BEGAN(KEPT("done", "ssl")) " ? timestamp - " BEGAN(KEPT("done", "ssl")) " : 0, " \
		    BEGAN(KEPT("done", "ssl")) " = 0, 1)",                                         \
		    .arg = ARGS(KEPT("done", "ssl"), NULL, NULL, KEPT("done", "ns"))                      \
	}
static const struct row rows[] = {
    {"handshake-start",
     {STARTS("SSL_do_handshake"), STARTS("SSL_read"), STARTS("SSL_read_ex"), STARTS("SSL_write"), STARTS("SSL_write_ex")}},
    {"handshake-done",
     {MAY_END("SSL_do_handshake"), MAY_END("SSL_read"), MAY_END("SSL_read_ex"), MAY_END("SSL_write"), MAY_END("SSL_write_ex"),
      ENDS("SSL_do_handshake"), ENDS("SSL_read"), ENDS("SSL_read_ex"), ENDS("SSL_write"), ENDS("SSL_write_ex")}},
    {"read", {ENTRY("SSL_read", "read"), ENTRY("SSL_read_ex", "read"), RETURN("SSL_read", "read"), RETURN_EX("SSL_read_ex", "read")}},
    {"write",
     {ENTRY("SSL_write", "write"), ENTRY("SSL_write_ex", "write"), RETURN("SSL_write", "write"), RETURN_EX("SSL_write_ex", "write")}},
};

/* ---- libraries ---- */

static void free_openssl(void *arg)
{
	struct openssl *x = arg;

	for (uint32_t i = 0; x && i < x->libraries.n; i++)
		free(x->libraries.v[i]);
	if (x)
		dt_vec_free(&x->libraries);
	free(x);
}

static struct openssl *state(dt_probes *ps)
{
	void **kept = dt_probes_keep(ps, &dt_provider_openssl, free_openssl);

	if (!*kept)
		*kept = dt_xcalloc(1, sizeof(struct openssl));
	return *kept;
}

static bool find_function(struct pid_object *o, const char *name, struct pid_function *f)
{
	for (uint32_t i = 0; i < o->nfuncs; i++)
		if (!o->funcs[i].plt && strcmp(o->funcs[i].name, name) == 0) {
			while (i > 0 && o->funcs[i].alias)
				i--;
			return dt_pid_function(o, i, f);
		}
	return false;
}

static void find_members(struct library *l)
{
	struct pid_object *o = l->object;
	bool old = strcmp(l->base, "libssl.so.1.1") == 0;
	uint8_t code[CODE];
	struct pid_function f;
	uint32_t offset = 0;

	for (uint32_t i = 0; i < M_MAX; i++) {
		l->member[i] = -1;
		if (members[i].func && find_function(o, members[i].func, &f) &&
		    dt_insn_member(code, dt_elf_read(o->elf, f.vaddr, code, f.size < CODE ? f.size : CODE), &offset))
			l->member[i] = offset;
	}
	l->typed = find_function(o, "SSL_get0_peer_rpk", &f); /* since 3.2 */
	if (old || strcmp(l->base, "libssl.so.3") == 0) {
		l->member[M_METHOD] = old ? 0 : 8;
		l->member[M_NUM] = old ? 48 : 56;
	}
}

static struct library *library(struct openssl *x, uint64_t dev, uint64_t inode, const char *base)
{
	struct library *l;

	for (uint32_t i = 0; i < x->libraries.n; i++)
		if (x->libraries.v[i]->dev == dev && x->libraries.v[i]->inode == inode)
			return x->libraries.v[i];
	*dt_vec_add(&x->libraries, NULL) = l = dt_xcalloc(1, sizeof(*l));
	l->dev = dev;
	l->inode = inode;
	l->base = base; /* from the arena */
	return l;
}

static void found(void *arg, struct pid_object *o, const char *base)
{
	struct library *l = dt_elf_is_64(o->elf) ? library(arg, o->dev, o->inode, base) : NULL; /* 32-bit: other members */

	if (!l || l->object)
		return;
	l->object = o;
	find_members(l);
}

/* For a list of everything: reading the symbols of a library would take longer than all the rest. */
static void listed(void *arg, const char *path)
{
	dt_probes *ps = arg;
	struct stat st;

	if (stat(path, &st) == 0)
		library(state(ps), st.st_dev, st.st_ino, dt_arena_strdup(dt_probes_arena(ps), strrchr(path, '/') + 1));
}

/* ---- discovery ---- */

static bool has_members(const struct library *l, const char *text)
{
	for (uint32_t i = 0; text && i < M_MAX; i++)
		if (l->member[i] < 0 && strstr(text, members[i].name))
			return false;
	return true;
}

static bool has_row(const struct library *l, const struct row *r)
{
	struct pid_function f;
	bool any = false;

	if (!l->object)
		return true;
	for (const struct site *s = r->sites; s < r->sites + NSITES && s->func; s++) {
		if (!has_members(l, s->when))
			return false;
		any = any || find_function(l->object, s->func, &f);
	}
	return any;
}

static bool is_any(const char *prov)
{
	return !*prov || strcmp(prov, "*") == 0;
}

static int discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why, size_t whylen)
{
	struct openssl *x = state(ps);
	bool any = !d->id && is_any(d->prov);

	if ((d->id && d->id - p->id_base >= p->id_count) || (any && !listing)) /* :::read is not meant to search all processes */
		return 0;
	if (any && !x->searched) {
		dt_installed_libraries(LIBRARY, listed, ps);
	} else {
		/* the installed ones first, as they are listed: their ids stay the same */
		dt_pid_files(ps, LIBRARY, x->searched ? PID_BROUGHT : PID_INSTALLED, found, x);
		dt_pid_files(ps, LIBRARY, x->searched ? 0 : PID_RUNNING, found, x);
		x->searched = true;
	}
	for (uint32_t i = 0; i < x->libraries.n; i++)
		for (uint32_t r = 0; r < DT_NELEM(rows); r++) {
			uint32_t n = i * (uint32_t)DT_NELEM(rows) + r;

			if (n < p->id_count && has_row(x->libraries.v[i], &rows[r]))
				dt_probes_add(ps, p, p->id_base + n, p->name, x->libraries.v[i]->base, "", rows[r].name, n);
		}
	if (!x->libraries.n && !any)
		snprintf(why, whylen, "no libssl of OpenSSL is installed or mapped by a process%s", listing ? "" : "; -Z waits for it");
	return 0;
}

static uint32_t grows(const dt_provider *p, const dt_probedesc *d)
{
	return dt_glob_match(d->prov, p->name) ? 1u << DT_AT_UPROBE | 1u << DT_AT_URETPROBE : 0;
}

static bool news(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid, const struct dt_file *file)
{
	dt_probedesc in = {.prov = DT_PID_ALL, .mod = LIBRARY, .func = d->prov, .name = d->name};

	(void)p;
	return dt_provider_pid.news(&dt_provider_pid, ps, &in, pid, file);
}

/* ---- one probe ---- */

static const struct row *row_of(const dt_probe *pr)
{
	return &rows[pr->data % DT_NELEM(rows)];
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native, const char **xlated, int *mapping, int max)
{
	int n = 0;

	(void)p, (void)ps, (void)pr;
	for (; n < max && n < (int)DT_NELEM(arguments); n++) {
		native[n] = arguments[n].native;
		xlated[n] = arguments[n].type;
		mapping[n] = n;
	}
	return n;
}

/* Put numbers for the names of members; NULL: one is not known. */
static const char *expand(dt_probes *ps, const struct library *l, const char *text)
{
	dt_buf out = {0};
	const char *done;

	if (!text || !has_members(l, text))
		return NULL;
	for (const char *p = text; *p;) {
		uint32_t i = 0;

		while (i < M_MAX && strncmp(p, members[i].name, strlen(members[i].name)) != 0)
			i++;
		if (i < M_MAX) {
			dt_buf_printf(&out, "%lld", (long long)l->member[i]);
			p += strlen(members[i].name);
		} else if (strncmp(p, "{typed}", 7) == 0) {
			dt_buf_printf(&out, "%d", l->typed);
			p += 7;
		} else {
			dt_buf_printf(&out, "%c", *p++);
		}
	}
	done = dt_arena_strdup(dt_probes_arena(ps), out.s);
	dt_buf_free(&out);
	return done;
}

static int attach_site(dt_probes *ps, const struct library *l, const struct site *s, const struct pid_function *f, dt_attach *at,
		       char *why, size_t whylen)
{
	dt_attach_text *text;

	if (dt_pid_attach_function(ps, f, s->on_return, at, why, whylen) < 0)
		return -1;
	text = dt_probes_text(ps, at);
	text->when = expand(ps, l, s->when);
	text->narg = NARGS;
	for (uint32_t i = 0; i < NARGS && s->arg; i++)
		text->arg[i] = expand(ps, l, s->arg[i]);
	return 0;
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why, size_t whylen)
{
	const struct library *l = state(ps)->libraries.v[pr->data / DT_NELEM(rows)];
	const struct row *r = row_of(pr);
	struct pid_function f;
	dt_attach *last = NULL;

	(void)p;
	for (const struct site *s = r->sites; s < r->sites + NSITES && s->func; s++) {
		if (!find_function(l->object, s->func, &f))
			continue;
		if (last)
			last->also = dt_arena_alloc(dt_probes_arena(ps), sizeof(*at));
		last = last ? (dt_attach *)last->also : at;
		if (attach_site(ps, l, s, &f, last, why, whylen) < 0)
			return -1;
	}
	return last ? 0 : -1;
}

const dt_provider dt_provider_openssl = {
    .name = "openssl",
    DT_PROVIDER_IDS(openssl),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(EVOLVING, EVOLVING, COMMON)},
    .variants = true,
    .grows = grows,
    .news = news,
    .discover = discover,
    .args = args,
    .attach = attach,
};
