/*
 * watch: a program with its own event loop, with a trace as one of its descriptors. It counts the
 * system calls of a command by name, and prints the table when the command has ended.
 *
 *	cc -o watch watch.c -ldtrace
 *	watch command argument...			(as root)
 */
#include <dtrace.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

static const char text[] = "syscall:::entry /pid == $target/ { @calls[probefunc] = count(); }";

static int show(const dtrace_row_t *r, void *arg)
{
	const struct dtrace_valueinfo *key = dtrace_value_info(dtrace_row_key(r, 0));

	(void)arg;
	printf("%-20.*s %" PRId64 "\n", (int)key->size, (const char *)key->data,
	       dtrace_row_info(r)->value);
	return 0;
}

static int on_process(const struct dtrace_process *p, void *arg)
{
	if (p->ended)
		*(int *)arg = p->status;
	return 0;
}

static int run(dtrace_hdl_t *h, char **argv)
{
	int status = -1;
	struct dtrace_consumer c = {.size = sizeof(c), .arg = &status, .process = on_process};
	dtrace_prog_t *p;
	enum dtrace_work_status st;

	if (dtrace_setopt(h, "aggsize", "1m") < 0 || dtrace_proc_create(h, argv) < 0 ||
	    !(p = dtrace_compile_string(h, text, NULL)) || dtrace_enable(h, p, NULL) < 0 ||
	    dtrace_consume(h, &c) < 0 || dtrace_go(h) < 0)
		return -1;
	do {
		struct pollfd fds[] = {{.fd = dtrace_fd(h), .events = POLLIN}}; /* and your own */

		if (poll(fds, 1, -1) < 0)
			return -1;
		st = dtrace_work(h, NULL);
	} while (st == DTRACE_WORK_OKAY);
	if (st == DTRACE_WORK_ERROR || dtrace_stop(h) < 0 || dtrace_work(h, NULL) < 0)
		return -1;
	printf("status %d\n", status);
	return dtrace_aggregate_walk(h, show, NULL);
}

int main(int argc, char **argv)
{
	dtrace_hdl_t *h = argc > 1 ? dtrace_open(NULL) : NULL;
	int rc;

	if (!h) {
		fprintf(stderr, "usage: watch command argument...\n");
		return 2;
	}
	rc = run(h, argv + 1);
	if (rc < 0)
		fprintf(stderr, "watch: %s\n", dtrace_errtext(h));
	dtrace_close(h);
	return rc < 0;
}
