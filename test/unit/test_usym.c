/*
 * Names of addresses in processes: living ones from /proc, those that have ended from the
 * side-band, forked ones, those that have since run another program; perf maps; images without a
 * process.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "unit.h"
#include "proc/files.h"
#include "proc/images.h"
#include "proc/perfmap.h"
#include "proc/usym.h"

static char dir[] = "/tmp/test_usym.XXXXXX";

/* ---- images ---- */

static void test_images(void)
{
	static const dt_file a = {.id = 1, .path = "/a", .base = "a"},
			     b = {.id = 2, .path = "/b", .base = "b"}, anon = {.id = 3, .path = "", .base = "", .anon = true};
	dt_images *im = dt_images_new();
	dt_process *p = dt_images_make(im, 10, 0), *q;
	dt_umap m = {.start = 0x1000, .end = 0x2000, .since = 5, .file = &a}, got;
	uint32_t it = 0;

	dt_images_map(p, &m);
	CHECK(dt_images_find(p, 0, 0x1800, &got) && got.file == &a);
	CHECK(!dt_images_find(p, 0, 0x2000, &got));
	/* a fork has its parent's mappings; then they differ */
	dt_images_fork(im, p, 11, 10);
	q = dt_images_get(im, 11);
	CHECK(q && dt_images_find(q, 0, 0x1000, &got) && got.file == &a);
	m = (dt_umap){.start = 0x5000, .end = 0x6000, .since = 12, .file = &b};
	dt_images_map(q, &m);
	CHECK(dt_images_find(q, 0, 0x5000, &got) && !dt_images_find(p, 0, 0x5000, &got));
	/* another file at the same address; the older one is still valid for earlier times */
	m = (dt_umap){.start = 0x1000, .end = 0x2000, .since = 20, .file = &b};
	dt_images_map(q, &m);
	CHECK(dt_images_find(q, 0, 0x1000, &got) && got.file == &b);
	CHECK(dt_images_find(q, 19, 0x1000, &got) && got.file == &a);
	CHECK(dt_images_find(p, 0, 0x1000, &got) && got.file == &a);
	/* exec: nothing is left, except for older times */
	dt_images_exec(im, q, 30);
	it = 0;
	CHECK(!dt_images_next(q, 0, &it, &got));
	CHECK(dt_images_find(q, 25, 0x5000, &got) && got.file == &b);
	m = (dt_umap){.start = 0x5000, .end = 0x6000, .since = 31, .file = &a};
	dt_images_map(q, &m);
	CHECK(dt_images_find(q, 40, 0x5000, &got) && got.file == &a);
	CHECK(dt_images_find(q, 0, 0x5000, &got) && got.file == &a);
	CHECK(dt_images_find(q, 25, 0x5000, &got) && got.file == &b);
	/* the same library at the same place, a million times: no more memory than once or twice */
	for (int i = 0; i < 100000; i++) {
		m = (dt_umap){.start = 0x9000, .end = 0xa000, .since = 50, .file = i % 2 ? &a : &b};
		dt_images_map(q, &m);
	}
	for (it = 0; dt_images_next(q, 0, &it, &got);)
		;
	CHECK(it <= 4);
	for (uint64_t i = 0; i < 10000; i++) { /* and everywhere: bounded */
		m = (dt_umap){
		    .start = 0x100000 + i * 0x1000, .end = 0x101000 + i * 0x1000, .file = &a};
		dt_images_map(q, &m);
	}
	for (it = 0; dt_images_next(q, 0, &it, &got);)
		;
	CHECK(it <= 4096);
	CHECK(dt_images_find(q, 0, 0x100000 + 9999 * 0x1000, &got));
	CHECK(!dt_images_find(q, 40, 0x100000, &got));
	/* anonymous memory goes first */
	p = dt_images_make(im, 12, 0);
	m = (dt_umap){.start = 0x1000, .end = 0x2000, .file = &a};
	dt_images_map(p, &m);
	for (uint64_t i = 0; i < 10000; i++) {
		m = (dt_umap){.start = 0x3000 + i * 0x2000, .end = 0x4000 + i * 0x2000, .file = &anon};
		dt_images_map(p, &m);
	}
	CHECK(dt_images_find(p, 0, 0x1000, &got) && got.file == &a);
	CHECK(dt_images_find(p, 0, 0x3000 + 9999 * 0x2000, &got) && !dt_images_find(p, 0, 0x3000, &got));
	/* below others, where it hides one */
	m = (dt_umap){.start = 0x1000, .end = 0x3000, .file = &b};
	dt_images_map(p, &m);
	CHECK(dt_images_find(p, 0, 0x1000, &got) && got.file == &b);
	dt_images_free(im);
}

/* Ended processes are forgotten, the oldest first, except those that are kept or whose pid is in
 * use again. */
static void test_dead(void)
{
	dt_images *im = dt_images_new();
	dt_process *parent = dt_images_make(im, 1, 0);

	for (long pid = 2; pid < DT_MAX_EXITED + 100; pid++) {
		dt_images_fork(im, parent, pid, (uint64_t)pid);
		if (pid == 5)
			dt_images_get(im, pid)->kept = true;
		dt_images_exit(im, dt_images_get(im, pid));
		if (pid == 1000)
			dt_images_fork(im, parent, 7, 1000); /* the pid of an ended one */
	}
	CHECK(!dt_images_get(im, 2) && !dt_images_get(im, 50));
	CHECK(dt_images_get(im, 5) && dt_images_get(im, 7) && !dt_images_get(im, 7)->exited);
	CHECK(dt_images_get(im, DT_MAX_EXITED + 99) && dt_images_get(im, 200));
	for (int i = 0; i < 100; i++) { /* ends and is reused repeatedly */
		dt_images_exit(im, dt_images_get(im, 7));
		dt_images_fork(im, parent, 7, 5000 + (uint64_t)i);
	}
	CHECK(dt_images_get(im, 7)->nimages < 10);
	dt_images_free(im);
}

/* ---- perf maps ---- */

static void check_jit(dt_perfmap *pm, uint64_t addr, const char *want)
{
	uint64_t start;
	const char *name = dt_perfmap_find(pm, addr, &start);

	if (want)
		CHECK_STR(name, want);
	else
		CHECK(name == NULL);
}

static void append(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_APPEND | O_WRONLY, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void test_perfmap(void)
{
	char path[256];
	dt_perfmap *pm;

	snprintf(path, sizeof(path), "%s/perf-1.map", dir);
	pm = dt_perfmap_new(path, NULL, NULL, NULL);
	check_jit(pm, 0x1000, NULL); /* no file yet */
	append(path, "1000 100 first f.js:1\n2000 10 second\nnonsense\n\n3000 zz "
		     "x\nffffffffffffffff ff wraps\n3000 20 thi");
	check_jit(pm, 0x10ff, "first f.js:1");
	check_jit(pm, 0x1100, NULL);
	check_jit(pm, 0x2008, "second");
	check_jit(pm, 0x3000, NULL); /* the line is not complete */
	append(path, "rd\n1000 100 first again\n2004 4 inner\n");
	check_jit(pm, 0x3000, "third");
	check_jit(pm, 0x1000, "first again");
	check_jit(pm, 0x2005, "inner");
	check_jit(pm, 0x2008, "second");
	CHECK(unlink(path) == 0);
	append(path, "9000 10 other\n"); /* another process of this number */
	check_jit(pm, 0x9000, "other");
	check_jit(pm, 0x3000, NULL);
	CHECK(truncate(path, 0) == 0); /* rewritten, in the same file */
	append(path, "5000 10 a name that is longer than what was there\n6000 10 behind\n");
	check_jit(pm, 0x5000, "a name that is longer than what was there");
	check_jit(pm, 0x6000, "behind");
	check_jit(pm, 0x9000, NULL);
	for (int i = 0; i < 1000; i++) { /* what is gone takes no memory */
		char line[64];

		snprintf(line, sizeof(line), "%x 10 function number %d\n", 0x10000 + i * 16, i);
		CHECK(truncate(path, 0) == 0);
		append(path, line);
		line[strlen(line) - 1] = 0;
		check_jit(pm, 0x10000 + (uint64_t)i * 16, strstr(line, "function"));
	}
	CHECK(dt_perfmap_memory(pm) < 10000);
	unlink(path);
	dt_perfmap_free(pm);
}

static bool only_7(void *arg, uid_t uid)
{
	(void)arg;
	return uid == 7;
}

/* One that grows line by line, in an order that sorts badly, with a look-up of an unknown address
 * after each. */
static void test_perfmap_grows(void)
{
	dt_perfmap *pm = dt_perfmap_new("/nonexistent", NULL, NULL, NULL), *theirs;
	char line[64], path[256];
	clock_t began = clock();
	uint64_t start;

	for (uint32_t i = 0; i < 50000; i++) {
		int n = snprintf(line, sizeof(line), "%x 10 f%u\n", 0x100000 + (i * 7919u % 50000u) * 16, i);

		dt_perfmap_add(pm, line, (size_t)n);
		CHECK(dt_perfmap_find(pm, 0x10, &start) == NULL);
	}
	check_jit(pm, 0x100000, "f0");
	check_jit(pm, 0x100000 + 7919 * 16 + 15, "f1");
	check_jit(pm, 0x100000 + 49999u * 7919u % 50000u * 16, "f49999");
	dt_perfmap_add(pm, "100000 10 again\n", 16);
	check_jit(pm, 0x100008, "again");
	CHECK(clock() - began < 20 * CLOCKS_PER_SEC); /* sorted anew each time: minutes */
	CHECK(dt_perfmap_memory(pm) < 8 << 20);
	dt_perfmap_free(pm);

	snprintf(path, sizeof(path), "%s/perf-2.map", dir);
	append(path, "1000 100 forged\n");
	theirs = dt_perfmap_new(path, NULL, only_7, NULL);
	check_jit(theirs, 0x1000, NULL);
	if (geteuid() == 0) {
		CHECK(chown(path, 7, 7) == 0);
		check_jit(theirs, 0x1000, "forged");
	}
	dt_perfmap_free(theirs);
	unlink(path);
}

/* ---- processes ---- */

/* A child that waits for a byte, then ends; or runs argv. */
struct child {
	pid_t pid;
	int fd;
};

static struct child start(char *const argv[])
{
	struct child c;
	int fds[2];
	char byte;

	CHECK(pipe(fds) == 0);
	c.pid = fork();
	if (c.pid == 0) {
		close(fds[1]);
		if (argv)
			execv(argv[0], argv);
		_exit(read(fds[0], &byte, 1) < 0);
	}
	close(fds[0]);
	c.fd = fds[1];
	return c;
}

static void end(struct child *c)
{
	close(c->fd);
	waitpid(c->pid, NULL, 0);
}

static void check_name(dt_usyms *us, long pid, uint64_t time, uint64_t addr, const char *object,
		       const char *name)
{
	dt_usym s;

	CHECK(dt_usym_by_addr(us, pid, time, addr, &s));
	CHECK_STR(s.object, object);
	CHECK_STR(s.name, name);
}

int exported_function(int n); /* not optimised away */
__attribute__((noinline, used)) int exported_function(int n)
{
	return n + 1;
}
int exported_data[4] = {1, 2, 3, 4};

static void test_living(dt_sideband *sb)
{
	uint64_t f = (uint64_t)(uintptr_t)&exported_function;
	struct dt_usyms_opts opts = {0};
	dt_usyms *us = dt_usyms_new(sb, &opts);
	struct child c = start(NULL);
	uint64_t bias;
	dt_usym s;
	dt_elf *e;

	check_name(us, getpid(), 0, f + 2, "test_usym", "exported_function");
	check_name(us, getpid(), 0, (uint64_t)(uintptr_t)&exported_data[2], "test_usym",
		   "exported_data");
	CHECK(dt_usym_by_addr(us, getpid(), 0, f + 2, &s) && s.offset == 2 && s.start == f);
	CHECK(
	    dt_usym_by_addr(us, getpid(), 0, (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "l64a"), &s));
	CHECK_STR(s.object, "libc.so.6");
	CHECK_STR(s.name, "l64a");
	check_name(us, c.pid, 0, f, "test_usym", "exported_function");
	e = dt_usym_object(us, c.pid, 0, f, &bias);
	CHECK(e && dt_elf_function_at(e, f - bias) && dt_elf_fd(e) >= 0);
	CHECK(!dt_usym_by_addr(us, getpid(), 0, 0x10, &s));
	CHECK(!dt_usym_by_addr(us, getpid(), 0, (uint64_t)(uintptr_t)&s, &s)); /* the stack */
	CHECK(!dt_usym_by_addr(us, 0x7ffffff0, 0, f, &s) && !dt_usym_by_addr(us, 0, 0, f, &s));
	CHECK(!dt_usym_by_addr(us, -3, 0, f, &s));
	end(&c);
	dt_usyms_free(us);
}

/* With a limit of 0 everything is released between look-ups, and found again. */
static void test_trim(dt_sideband *sb)
{
	uint64_t f = (uint64_t)(uintptr_t)&exported_function;
	struct dt_usyms_opts opts = {.max_memory = 1};
	dt_usyms *us = dt_usyms_new(sb, &opts);

	for (int i = 0; i < 3; i++) {
		check_name(us, getpid(), 0, f, "test_usym", "exported_function");
		dt_usyms_trim(us);
		dt_usyms_trim(us);
	}
	dt_usyms_free(us);
}

struct seen {
	long pid;
	uint32_t forks, execs, exits, maps;
};

static void count_event(void *arg, enum dt_sideband_event what, long pid, long parent,
			const dt_umap *map)
{
	struct seen *s = arg;

	(void)parent;
	if (pid != s->pid)
		return;
	s->forks += what == DT_SB_FORK;
	s->execs += what == DT_SB_EXEC;
	s->exits += what == DT_SB_EXIT;
	s->maps += what == DT_SB_MAP && map && strcmp(map->file->base, "cat") == 0;
}

/* Ended before it was looked up. */
static void test_gone(dt_sideband *sb)
{
	uint64_t f = (uint64_t)(uintptr_t)&exported_function, in_cat = 0, bias;
	struct dt_usyms_opts opts = {0};
	dt_usyms *us = dt_usyms_new(sb, &opts);
	char *cat[] = {"/bin/cat", NULL};
	struct child c = start(NULL);
	struct seen seen = {0};
	struct dt_sideband_listener l = {.arg = &seen, .event = count_event};
	dt_umap m;
	uint32_t it = 0;
	dt_usym s;
	dt_elf *e;

	end(&c);
	dt_sideband_drain(sb);
	CHECK(dt_sideband_exited(sb, c.pid));
	check_name(us, c.pid, 0, f, "test_usym", "exported_function");

	/* A program that runs another one: before and after. */
	dt_sideband_listen(sb, &l);
	c = start(cat);
	seen.pid = c.pid;
	end(&c);
	dt_sideband_drain(sb);
	CHECK(seen.forks == 1 && seen.execs == 1 && seen.exits == 1 && seen.maps >= 1);
	dt_sideband_unlisten(sb, &l);
	while (!in_cat && dt_sideband_next(sb, c.pid, 0, &it, &m))
		if (strcmp(m.file->base, "cat") == 0)
			in_cat = m.start;
	CHECK(in_cat != 0);
	CHECK(dt_usym_by_addr(us, c.pid, 0, in_cat, &s));
	CHECK_STR(s.object, "cat");
	check_name(us, c.pid, 0, f, "test_usym", "exported_function"); /* of the older image */
	e = dt_usym_object(us, c.pid, 0, in_cat, &bias);
	CHECK(e && dt_elf_kind(e) != DT_ELF_OTHER);
	dt_usyms_free(us);
}

/* Many, faster than they are read. */
static void test_storm(dt_sideband *sb)
{
	uint64_t f = (uint64_t)(uintptr_t)&exported_function;
	struct dt_usyms_opts opts = {0};
	dt_usyms *us = dt_usyms_new(sb, &opts);
	pid_t pids[300];
	int named = 0;
	dt_usym s;

	for (size_t i = 0; i < DT_NELEM(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(0);
		waitpid(pids[i], NULL, 0);
	}
	dt_sideband_drain(sb);
	for (size_t i = 0; i < DT_NELEM(pids); i++)
		named += dt_usym_by_addr(us, pids[i], 0, f, &s) && s.name &&
			 strcmp(s.name, "exported_function") == 0;
	CHECK(dt_sideband_lost(sb) > 0 || named == (int)DT_NELEM(pids));
	dt_usyms_free(us);
}

int main(void)
{
	dt_sideband *sb;

	if (!mkdtemp(dir))
		return 1;
	test_images();
	test_dead();
	test_perfmap();
	test_perfmap_grows();
	sb = dt_sideband_open(NULL);
	test_living(sb);
	test_trim(sb);
	if (dt_sideband_live(sb)) {
		test_gone(sb);
		test_storm(sb);
	} else {
		CHECK(dt_sideband_refused(sb)[0]);
	}
	dt_sideband_free(sb);
	rmdir(dir);
	return unit_done();
}
