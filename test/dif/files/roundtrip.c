/*
 * roundtrip: each D script of the command line is compiled, written as DOF, read, written and read
 * once more. The DIF of all three programs must be the same, and so must the DOF of the last two:
 * data that a file cannot hold (the type that print() shows) is lost the first time. Uses the
 * public API only.
 */
#include <dtrace.h>
#include <stdlib.h>
#include <string.h>

/* The listing of a program, without the addresses of DIFOs. */
static char *listing(const dtrace_prog_t *p)
{
	static const char word[] = "DIFO 0x";
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	dtrace_dump(p, f);
	fclose(f);
	for (char *s = text; (s = strstr(s, word));) {
		s += strlen(word);
		while (*s && *s != ' ' && *s != '\n')
			*s++ = '-';
	}
	return text;
}

static dtrace_hdl_t *open_handle(void)
{
	dtrace_hdl_t *h = dtrace_open(NULL);

	dtrace_setopt(h, "zdefs", NULL);
	dtrace_setopt(h, "argref", NULL);
	dtrace_setopt(h, "defaultargs", NULL);
	return h;
}

static int same(const char *what, const char *path, const void *a, size_t na, const void *b,
		size_t nb)
{
	if (na == nb && memcmp(a, b, na) == 0)
		return 1;
	printf("%s: the %s differs after a round trip (%zu and %zu bytes)\n", path, what, na, nb);
	return 0;
}

static dtrace_prog_t *compile(dtrace_hdl_t *h, const char *path)
{
	char *argv[] = {(char *)path};
	struct dtrace_compile_opts o = {.size = sizeof(o), .name = path, .argc = 1, .argv = argv};
	FILE *f = fopen(path, "r");
	dtrace_prog_t *p = f ? dtrace_compile_file(h, f, &o) : NULL;

	if (f)
		fclose(f);
	return p;
}

/* Write p as DOF and read that into another handle; NULL and a message if that fails. */
static dtrace_prog_t *reread(dtrace_hdl_t *h, dtrace_prog_t *p, dtrace_hdl_t *to, const char *path,
			     void **dof, size_t *n)
{
	dtrace_prog_t *q = NULL;

	if (dtrace_dof_create(h, p, dof, n) < 0)
		printf("%s: no DOF: %s\n", path, dtrace_errtext(h));
	else if (!(q = dtrace_dof_load(to, *dof, *n)))
		printf("%s: not read again: %s\n", path, dtrace_errtext(to));
	return q;
}

/* 1: the same, 0: not, -1: does not compile (covered by other tests) */
static int check(const char *path)
{
	dtrace_hdl_t *h[3] = {open_handle(), open_handle(), open_handle()};
	dtrace_prog_t *p[3] = {compile(h[0], path), NULL, NULL};
	void *dof[3] = {NULL, NULL, NULL};
	size_t n[3] = {0, 0, 0};
	int rc = p[0] ? 0 : -1;

	for (int i = 0; i < 2 && p[i]; i++)
		p[i + 1] = reread(h[i], p[i], h[i + 1], path, &dof[i], &n[i]);
	if (p[2] && dtrace_dof_create(h[2], p[2], &dof[2], &n[2]) == 0) {
		char *a = listing(p[0]), *b = listing(p[1]), *c = listing(p[2]);

		rc = same("DIF", path, a, strlen(a), b, strlen(b)) &
		     same("DIF", path, a, strlen(a), c, strlen(c)) &
		     same("DOF", path, dof[1], n[1], dof[2], n[2]);
		free(a);
		free(b);
		free(c);
	}
	for (int i = 0; i < 3; i++) {
		free(dof[i]);
		dtrace_close(h[i]);
	}
	return rc;
}

int main(int argc, char **argv)
{
	int good = 0, bad = 0, skipped = 0;

	for (int i = 1; i < argc; i++) {
		int rc = check(argv[i]);

		good += rc > 0;
		bad += rc == 0;
		skipped += rc < 0;
	}
	printf("%d the same, %d not, %d do not compile\n", good, bad, skipped);
	return bad != 0;
}
