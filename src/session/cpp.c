/*
 * cpp: the C preprocessor, run over script files with -C (option cpp).
 *
 * Input and output are memory files, so neither side can block the other. A marker line at the
 * start names the script, so that the preprocessor's messages and markers refer to the script and
 * not to <stdin>. The macros that identify D are defined on the command line; __STDC__ cannot be
 * (the preprocessor would warn about its own macro), so it is set in a region marked as a system
 * header.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "session/session.h"

typedef DT_VEC(char *) strings;

static void add(strings *v, char *s)
{
	*dt_vec_add(v, NULL) = s;
}

static void free_strings(strings *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		free(v->v[i]);
	dt_vec_free(v);
}

/* __Linux_6_1_0: system and release as one macro, as DTrace has __SunOS_5_11. */
static char *release_macro(void)
{
	struct utsname u;
	char *s;

	if (uname(&u) < 0)
		return dt_xstrdup("-D__Linux");
	s = dt_xasprintf("-D__%s_%s", u.sysname, u.release);
	for (char *p = s + 2; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", *p))
			*p = '_';
	return s;
}

static void identity_macros(strings *argv, const dt_options *o)
{
	uint64_t version = dt_opt(o, DT_O_VERSION);

	add(argv, dt_xstrdup("-D__linux"));
	add(argv, dt_xstrdup("-D__unix"));
	add(argv, dt_xstrdup("-D__SUNW_D=1"));
	add(argv, dt_xstrdup("-D__SUNW_D_64"));
	add(argv, dt_xasprintf("-D__SUNW_D_VERSION=0x%08llx",
			       (unsigned long long)(version ? version : DT_VERSION_CURRENT)));
	add(argv, dt_xasprintf("-D%s", dt_arch_host()->macro));
	add(argv, release_macro());
}

static void list_flags(strings *argv, const dt_options *o, enum dt_opt_id id, const char *flag)
{
	for (uint32_t i = 0; i < o->list[id].n; i++)
		add(argv, dt_xasprintf("%s%s", flag, o->list[id].v[i]));
}

static void command_line(strings *argv, const dt_options *o, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	add(argv, dt_xstrdup(o->text[DT_O_CPPPATH] ? o->text[DT_O_CPPPATH] : "cpp"));
	identity_macros(argv, o);
	if (slash) { /* #include "x.h" beside the script */
		add(argv, dt_xstrdup("-iquote"));
		add(argv, dt_xasprintf("%.*s", slash == path ? 1 : (int)(slash - path), path));
	}
	if (dt_opt(o, DT_O_CPPHDRS))
		add(argv, dt_xstrdup("-H"));
	list_flags(argv, o, DT_O_DEFINE, "-D");
	list_flags(argv, o, DT_O_UNDEF, "-U");
	list_flags(argv, o, DT_O_INCDIR, "-I");
	add(argv, dt_xstrdup("-"));
	add(argv, NULL);
}

/* The text before the script. stdc: option stdc, as the letters of cc -X. */
static void prologue(dt_buf *b, uint64_t stdc, const char *path)
{
	if (stdc != DT_STDC_C)
		dt_buf_puts(b, "# 1 \"<dtrace>\" 3\n#undef __STDC__\n");
	if (stdc == DT_STDC_A || stdc == DT_STDC_T)
		dt_buf_puts(b, "#define __STDC__ 0\n");
	dt_buf_puts(b, "# 1 \"");
	for (const char *p = path ? path : "<script>"; *p; p++) {
		if (*p == '"' || *p == '\\')
			dt_buf_putc(b, '\\');
		dt_buf_putc(b, *p == '\n' ? ' ' : *p);
	}
	dt_buf_puts(b, "\"\n");
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno != EINTR)
			return -1;
		if (w > 0)
			p += w, n -= (size_t)w;
	}
	return 0;
}

static int read_all(int fd, dt_buf *out)
{
	char chunk[65536];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n > 0)
			dt_buf_add(out, chunk, (size_t)n);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

/* Run argv with in and out as its standard files. 0; -1 and h->err. */
static int run(dtrace_hdl_t *h, char **argv, int in, int out)
{
	int report[2], status = 0, failure = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return dt_session_err(h, EDT_CPPFORK, "failed to run the C preprocessor: %s",
				      strerror(errno));
	pid = fork();
	if (pid == 0) {
		if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0)
			execvp(argv[0], argv);
		failure = errno;
		if (write(report[1], &failure, sizeof(failure)) < 0)
			_exit(126);
		_exit(127);
	}
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return dt_session_err(h, EDT_CPPFORK, "failed to run the C preprocessor: %s",
				      strerror(errno));
	}
	while (read(report[0], &failure, sizeof(failure)) < 0 && errno == EINTR)
		;
	close(report[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		; /* with SIGCHLD ignored this fails although the child has ended: then the output tells */
	if (failure == ENOENT)
		return dt_session_err(
		    h, EDT_CPPENT,
		    "C preprocessor \"%s\" not found (install package cpp, or set "
		    "-x cpppath)",
		    argv[0]);
	if (failure)
		return dt_session_err(h, EDT_CPPEXEC, "failed to execute C preprocessor \"%s\": %s",
				      argv[0], strerror(failure));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return dt_session_err(h, EDT_CPPERR, "C preprocessor \"%s\" returned errors",
				      argv[0]);
	return 0;
}

int dt_cpp_run(dtrace_hdl_t *h, const char *text, size_t len, const char *path, dt_buf *out)
{
	int in = memfd_create("dtrace-cpp-in", MFD_CLOEXEC);
	int res = memfd_create("dtrace-cpp-out", MFD_CLOEXEC);
	strings argv = {0};
	dt_buf head = {0};
	int rc = -1;

	command_line(&argv, &h->opts, path);
	prologue(&head, dt_opt(&h->opts, DT_O_STDC), path);
	if (in < 0 || res < 0 || write_all(in, head.s, head.n) < 0 ||
	    write_all(in, text, len) < 0 || lseek(in, 0, SEEK_SET) < 0)
		dt_session_err(h, EDT_CPPFORK, "failed to run the C preprocessor: %s",
			       strerror(errno));
	else if (run(h, argv.v, in, res) == 0)
		rc = read_all(res, out) == 0 ? 0
					     : dt_session_err(h, EDT_CPPERR,
							      "failed to read the C preprocessor's "
							      "output: %s",
							      strerror(errno));
	free_strings(&argv);
	dt_buf_free(&head);
	if (in >= 0)
		close(in);
	if (res >= 0)
		close(res);
	return rc;
}
