/*
 * program: from a string or a file to a program, and programs to and from DOF.
 *
 * A file is read to its end and, with -C, preprocessed; -L libraries are compiled before the first
 * program (libs.c). The compiler does the rest, and asks for the libraries that it needs. Each
 * program sees its own macro arguments.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/cgroup.h"
#include "session/session.h"
#include "dif/dof.h"

#define SCRIPT_MAX (256u << 20)

/* dt_compile() prints the tree into buffers, if requested; pass them on. */
static dt_program *compile_text(dtrace_hdl_t *h, const struct dt_source *src)
{
	uint64_t tree = dt_opt(&h->opts, DT_O_TREE);
	dt_buf parsed = {0}, desugared = {0};
	dt_program *p;

	dt_compiler_set_dump(h->cc, tree & 1 ? &parsed : NULL,
			     h->sugar_out || tree & 4 ? &desugared : NULL);
	p = dt_compile(h->cc, src, &h->err);
	dt_compiler_set_dump(h->cc, NULL, NULL);
	if (parsed.n)
		fwrite(parsed.s, 1, parsed.n, stderr);
	if (desugared.n)
		fwrite(desugared.s, 1, desugared.n, h->sugar_out ? h->sugar_out : stderr);
	dt_buf_free(&parsed);
	dt_buf_free(&desugared);
	if (p) {
		p->options = &h->opts;
		dt_session_debug(h, "compiled %s: %u clause%s", src->name ? src->name : "a string",
				 p->nclauses, p->nclauses == 1 ? "" : "s");
	}
	return p;
}

static void set_macros(dtrace_hdl_t *h, const struct dtrace_compile_opts *o)
{
	h->macros.argc = o ? o->argc : 0;
	h->macros.argv = o ? (char **)o->argv : NULL;
	h->macros.used = dt_xcalloc((size_t)h->macros.argc + 1, sizeof(bool));
}

static void clear_macros(dtrace_hdl_t *h)
{
	free(h->macros.used);
	h->macros.used = NULL;
	h->macros.argv = NULL;
	h->macros.argc = 0;
}

/* Options cgroup and container: which processes the program is about. */
static int choose_cgroup(dtrace_hdl_t *h)
{
	const char *path = h->opts.text[DT_O_CGROUP], *name = h->opts.text[DT_O_CONTAINER];
	struct dt_cgroup g = {0};

	if (path && name)
		return dt_err(&h->err, EDT_BADOPTVAL,
			      "options cgroup and container exclude each other");
	if (path ? dt_cgroup_by_path(path, &g, &h->err) < 0
		 : name && dt_cgroup_by_name(name, &g, &h->err) < 0)
		return -1;
	dt_compiler_set_cgroup(h->cc, g.id, g.level);
	return 0;
}

static dt_program *compile_program(dtrace_hdl_t *h, const struct dt_source *src,
				   const struct dtrace_compile_opts *o)
{
	dt_program *p = NULL;

	if (h->state != DT_SESSION_NEW) {
		dt_session_err(h, EDT_ACTIVE, NULL);
		return NULL;
	}
	memset(&h->err, 0, sizeof(h->err));
	set_macros(h, o);
	if (choose_cgroup(h) == 0 && dt_libs_load_user(h, &h->err) == 0)
		p = compile_text(h, src);
	if (p && dt_machines_program(h, p, src) < 0)
		p = NULL;
	clear_macros(h);
	if (!p)
		dt_session_fail(h);
	return p;
}

dtrace_prog_t *dtrace_compile_string(dtrace_hdl_t *h, const char *text,
				     const struct dtrace_compile_opts *o)
{
	struct dt_source src = {.text = text, .len = strlen(text), .is_cmdline = true};

	if (o)
		src.spec = (int)o->spec; /* the same order */
	return compile_program(h, &src, o);
}

/* NUL bytes cannot hide the rest: the length is passed with the text. */
static int read_file(dtrace_hdl_t *h, FILE *f, dt_buf *b)
{
	char chunk[65536];
	size_t n;

	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
		dt_buf_add(b, chunk, n);
		if (b->n > SCRIPT_MAX)
			return dt_session_err(h, EFBIG, "the script is larger than %u MB",
					      SCRIPT_MAX >> 20);
	}
	if (ferror(f))
		return dt_session_err(h, EDT_FIO, "failed to read the script: %s", strerror(errno));
	return 0;
}

/* The #! line is for the kernel; the preprocessor would reject it. Its newline is kept. */
static void blank_interpreter_line(dt_buf *b)
{
	if (b->n < 2 || b->s[0] != '#' || b->s[1] != '!')
		return;
	for (size_t i = 0; i < b->n && b->s[i] != '\n'; i++)
		b->s[i] = ' ';
}

dtrace_prog_t *dtrace_compile_file(dtrace_hdl_t *h, FILE *f, const struct dtrace_compile_opts *o)
{
	struct dt_source src = {.name = o && o->name ? o->name : "<file>"};
	dt_buf b = {0}, pp = {0};
	dt_program *p = NULL;
	bool cpp = dt_opt(&h->opts, DT_O_CPP);

	if (read_file(h, f, &b) < 0)
		goto out;
	blank_interpreter_line(&b);
	if (cpp && dt_cpp_run(h, b.n ? b.s : "", b.n, o ? o->name : NULL, &pp) < 0)
		goto out;
	src.text = cpp ? pp.s : b.s;
	src.len = cpp ? pp.n : b.n;
	if (!src.text)
		src.text = "";
	p = compile_program(h, &src, o);
out:
	dt_buf_free(&b);
	dt_buf_free(&pp);
	return p;
}

void dtrace_dump_sugar(dtrace_hdl_t *h, FILE *out)
{
	h->sugar_out = out;
}

void dtrace_dump(const dtrace_prog_t *p, FILE *out)
{
	dt_buf b = {0};

	dt_program_print(p, &b);
	if (b.n)
		fwrite(b.s, 1, b.n, out);
	dt_buf_free(&b);
}

/* ---- DOF ---- */

int dtrace_dof_create(dtrace_hdl_t *h, const dtrace_prog_t *p, void **data, size_t *n)
{
	dt_buf b = {0};

	dt_dof_write(p, &b);
	if (b.n > DT_DOF_MAXSIZE) {
		dt_buf_free(&b);
		return dt_session_err(h, EFBIG, "the program is larger than %u MB as DOF",
				      DT_DOF_MAXSIZE >> 20);
	}
	*data = dt_xmalloc(b.n ? b.n : 1);
	memcpy(*data, b.s, b.n);
	*n = b.n;
	dt_buf_free(&b);
	return 0;
}

/* Run-time options are part of a program; options set by this session take precedence. */
static void take_options(dt_options *to, const dt_options *from)
{
	for (int i = 0; i < DT_O_MAX; i++)
		if (from->is_set[i] && !to->is_set[i] && dt_opt_table[i].number >= 0 &&
		    dt_opt_table[i].kind != DT_OPT_STRING && dt_opt_table[i].kind != DT_OPT_LIST) {
			to->value[i] = from->value[i];
			to->is_set[i] = true;
		}
}

dtrace_prog_t *dtrace_dof_load(dtrace_hdl_t *h, const void *data, size_t n)
{
	dt_program *p;

	memset(&h->err, 0, sizeof(h->err));
	p = dt_dof_read(data, n, dt_compiler_arena(h->cc), &h->err);
	if (!p)
		dt_session_fail(h);
	else if (p->options)
		take_options(&h->opts, p->options);
	return p;
}

int dtrace_dof_dump(dtrace_hdl_t *h, const void *data, size_t n, FILE *out)
{
	dt_buf b = {0};
	int rc;

	memset(&h->err, 0, sizeof(h->err));
	rc = dt_dof_print(data, n, &b, &h->err);
	if (b.n)
		fwrite(b.s, 1, b.n, out);
	dt_buf_free(&b);
	return rc < 0 ? dt_session_fail(h) : 0;
}
