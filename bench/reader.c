/* What it costs that a helper reads files (src/jail): for bench/reader. Prints microseconds, the best of some runs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/cfi.h"
#include "elf/elf.h"
#include "jail/jail.h"

#define RUNS 15

static double us(uint64_t from)
{
	return (double)(dt_now() - from) / 1000;
}

static void echo(struct dt_question *q, dt_buf *out)
{
	dt_buf_add(out, q->data, q->size);
}

/* Headers, symbols, unwind table. */
static void read_all(const char *path, dt_jail *j)
{
	struct dt_elf_place place = {.jail = j};
	dt_error err;
	dt_elf *e = dt_elf_open(path, &place, &err);
	const dt_elfsym *syms;
	dt_unwind u;

	if (!e) {
		fprintf(stderr, "%s: %s\n", path, err.text);
		exit(1);
	}
	dt_elf_functions(e, &syms);
	dt_unwind_read(e, &u);
	dt_unwind_free(&u);
	dt_elf_free(e);
}

static void keep(double *best, double now)
{
	*best = *best == 0 || now < *best ? now : *best;
}

/* As cold as a helper that has just been started. */
static double in_a_new_process(char **files)
{
	double took = 0;
	int ends[2];
	uint64_t t;

	if (pipe(ends) < 0)
		exit(1);
	if (fork() == 0) {
		t = dt_now();
		for (; *files; files++)
			read_all(*files, NULL);
		took = us(t);
		_exit(write(ends[1], &took, sizeof(took)) != sizeof(took));
	}
	if (read(ends[0], &took, sizeof(took)) != sizeof(took))
		exit(1);
	wait(NULL);
	close(ends[0]);
	close(ends[1]);
	return took;
}

int main(int argc, char **argv)
{
	double start = 0, ask = 0, own = 0, theirs = 0;
	struct dt_question q = {.data = "x", .size = 1};
	size_t fill = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;
	char *memory = malloc(fill + 1);
	dt_buf out = {0};
	uint64_t t;

	memset(memory, 1, fill + 1); /* as much as a tracer has */
	for (int i = 0; i < RUNS; i++) {
		dt_jail *j = dt_jail_new(NULL, NULL);

		t = dt_now();
		dt_jail_ask(j, "x", echo, &q, &out, NULL);
		keep(&start, us(t));
		t = dt_now();
		dt_jail_ask(j, "x", echo, &q, &out, NULL);
		keep(&ask, us(t));
		t = dt_now();
		for (int k = 2; k < argc; k++)
			read_all(argv[k], j);
		keep(&theirs, us(t));
		keep(&own, in_a_new_process(argv + 2));
		dt_jail_free(j);
	}
	printf("%.0f %.1f %.0f %.0f\n", start, ask, own, theirs);
	return 0;
}
