/*
 * rundof ENGINE CONTROL SCRIPT...: each script is compiled with that form of control, written as DOF,
 * read by another handle, and run there. Ends with the status of exit(). Uses the public API only.
 */
#include <dtrace.h>
#include <stdlib.h>

static dtrace_hdl_t *open_handle(const char *engine, const char *control)
{
	dtrace_hdl_t *h = dtrace_open(NULL);

	dtrace_setopt(h, "engine", engine);
	dtrace_setopt(h, "control", control);
	dtrace_setopt(h, "quiet", NULL);
	return h;
}

static int fail(dtrace_hdl_t *h, const char *path)
{
	printf("%s: %s\n", path, dtrace_errtext(h));
	return 1;
}

static int run(dtrace_hdl_t *h, dtrace_prog_t *p, const char *path)
{
	if (dtrace_enable(h, p, NULL) < 0 || dtrace_go(h) < 0)
		return fail(h, path);
	while (dtrace_work(h, stdout) == DTRACE_WORK_OKAY)
		dtrace_sleep(h);
	dtrace_stop(h);
	dtrace_work(h, stdout);
	dtrace_aggregate_print(h, stdout);
	return dtrace_exit_status(h);
}

static int check(const char *engine, const char *control, const char *path)
{
	dtrace_hdl_t *from = open_handle(engine, control), *to = open_handle(engine, control);
	FILE *f = fopen(path, "r");
	dtrace_prog_t *p = f ? dtrace_compile_file(from, f, NULL) : NULL, *q;
	void *dof = NULL;
	size_t n = 0;
	int rc;

	if (!p || dtrace_dof_create(from, p, &dof, &n) < 0)
		rc = fail(from, path);
	else if (!(q = dtrace_dof_load(to, dof, n)))
		rc = fail(to, path);
	else
		rc = run(to, q, path);
	free(dof);
	dtrace_close(to);
	dtrace_close(from);
	if (f)
		fclose(f);
	return rc;
}

int main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 3; i < argc; i++)
		rc |= check(argv[1], argv[2], argv[i]);
	return rc;
}
