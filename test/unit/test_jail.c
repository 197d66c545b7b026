/*
 * The jail: a helper answers questions, is confined, dies of many things without harm to the asker, and is replaced;
 * what it answers about ELF files is what we would have read ourselves; and an answer that lies is not believed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget.h"
#include "elf/elf_remote.h"
#include "jail/jail.h"
#include "jail/message.h"
#include "unit.h"

/* ---- what a helper is asked to do ---- */

static void echo(struct dt_question *q, dt_buf *out)
{
	dt_buf_add(out, q->data, q->size);
}

static void first_bytes(struct dt_question *q, dt_buf *out)
{
	char buf[4] = "";

	for (uint32_t i = 0; i < q->nfds; i++)
		dt_buf_add(out, buf, pread(q->fd[i], buf, sizeof(buf), 0) == sizeof(buf) ? sizeof(buf) : 0);
}

static void crash(struct dt_question *q, dt_buf *out)
{
	(void)out;
	if (q->size)
		__builtin_trap();
	*(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

static void end(struct dt_question *q, dt_buf *out)
{
	(void)q;
	(void)out;
	_exit(0);
}

#if !defined(__SANITIZE_ADDRESS__)
static void eat_memory(struct dt_question *q, dt_buf *out)
{
	(void)q;
	for (uint64_t n = 0; n < 2 * DT_MAX_READER_MEMORY; n += DT_MB(256))
		mmap(NULL, DT_MB(256), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
		    ? dt_buf_putc(out, 'x')
		    : (void)0;
}
#endif

static void flood(struct dt_question *q, dt_buf *out)
{
	(void)q;
	dt_buf_add(out, "x", 1);
	out->n = DT_MAX_READER_ANSWER + 1; /* a promise is enough */
}

static void hang(struct dt_question *q, dt_buf *out)
{
	(void)q;
	(void)out;
	for (volatile int i = 0;; i++)
		;
}

/* One system call, by number; the answer is how it failed. */
static void call(struct dt_question *q, dt_buf *out)
{
	long nr;

	memcpy(&nr, q->data, sizeof(nr));
	if (nr == SYS_openat)
		nr = syscall(nr, AT_FDCWD, "/etc/passwd", O_RDONLY);
	else if (nr == SYS_mmap)
		nr = syscall(nr, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		nr = syscall(nr, 0, 0, 0, 0, 0, 0);
	dt_put_u32(out, nr < 0 ? (uint32_t)errno : 0);
}

/* ---- the jail itself ---- */

static int ask(dt_jail *j, dt_jail_work *work, const void *data, size_t n, dt_buf *out, dt_error *err)
{
	struct dt_question q = {.data = data, .size = n};

	return dt_jail_ask(j, "symbols of X", work, &q, out, err);
}

static void test_questions(void)
{
	dt_stop stop = 0;
	dt_jail *j = dt_jail_new(&stop, NULL);
	size_t n = 3 << 20; /* more than a socket holds, both ways */
	char *big = dt_xcalloc(n, 1);
	dt_buf out = {0};
	int pid, fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct dt_question q = {.fd = {fd, fd}, .nfds = 2};
	dt_error err;

	CHECK(dt_jail_pid(j) == 0); /* nothing is started before it is needed */
	CHECK(ask(j, echo, "hello", 5, &out, &err) == 0 && out.n == 5 && memcmp(out.s, "hello", 5) == 0);
	pid = dt_jail_pid(j);
	CHECK(pid > 0);
	CHECK(ask(j, echo, NULL, 0, &out, &err) == 0 && out.n == 0);
	memset(big, 'b', n);
	CHECK(ask(j, echo, big, n, &out, &err) == 0 && out.n == n && memcmp(out.s, big, n) == 0);
	for (int i = 0; i < 20; i++) /* descriptors do not add up */
		CHECK(dt_jail_ask(j, "x", first_bytes, &q, &out, &err) == 0 && out.n == 8 &&
		      memcmp(out.s, "\177ELF\177ELF", 8) == 0);
	CHECK(dt_jail_pid(j) == pid && dt_jail_deaths(j) == 0 && !dt_jail_problem(j));
	/* someone ends it while it has nothing to do: nothing is lost */
	kill(pid, SIGKILL);
	CHECK(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT) == 0);
	CHECK(ask(j, echo, "again", 5, &out, &err) == 0 && out.n == 5);
	CHECK(dt_jail_pid(j) != pid && !dt_jail_problem(j));
	dt_jail_free(j);
	close(fd);
	free(big);
	dt_buf_free(&out);
}

static void expect_death(dt_jail *j, dt_jail_work *work, const void *data, size_t n)
{
	uint32_t deaths = dt_jail_deaths(j);
	dt_error err = {0};
	dt_buf out = {0};
	char *text;

	CHECK(ask(j, work, data, n, &out, &err) < 0 && out.n == 0);
	CHECK_STR(err.text, "symbols of X are not available: its reader died");
	CHECK(dt_jail_deaths(j) == deaths + 1);
	text = dt_jail_problem(j);
	CHECK_STR(text, "symbols of X are not available: its reader died");
	free(text);
	CHECK(!dt_jail_problem(j));
	CHECK(ask(j, echo, "fine", 4, &out, &err) == 0 && out.n == 4); /* the next one is there */
	dt_buf_free(&out);
}

static void test_deaths(void)
{
	static const long forbidden[] = {SYS_socket, SYS_execve, SYS_clone, SYS_ptrace, SYS_bpf, SYS_kill, SYS_memfd_create};
	dt_jail *j = dt_jail_new(NULL, NULL);
	long refused[] = {SYS_openat, SYS_mmap, SYS_ioctl};
	dt_buf out = {0};
	dt_error err;

	expect_death(j, crash, NULL, 0);
	expect_death(j, crash, "x", 1);
	expect_death(j, end, NULL, 0);
	expect_death(j, flood, NULL, 0);
	dt_jail_free(j);
	j = dt_jail_new(NULL, NULL);
	for (size_t i = 0; i < DT_NELEM(forbidden); i++)
		expect_death(j, call, &forbidden[i], sizeof(forbidden[i]));
	for (size_t i = 0; i < DT_NELEM(refused); i++) {
		CHECK(ask(j, call, &refused[i], sizeof(refused[i]), &out, &err) == (refused[i] == SYS_mmap ? -1 : 0));
		CHECK(refused[i] == SYS_mmap || (out.n == 4 && memcmp(out.s, &(uint32_t){EACCES}, 4) == 0));
	}
#if !defined(__SANITIZE_ADDRESS__)
	CHECK(ask(j, eat_memory, NULL, 0, &out, &err) == 0 && out.n > 0 && out.n < 32);
#endif
	dt_buf_free(&out);
	dt_jail_free(j);
}

/* A file that its reader died of is not given to another; other files are. */
static void test_bad_file(void)
{
	char path[] = "/tmp/test_jail.XXXXXX";
	int fd = mkstemp(path), other = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct dt_question q = {.fd = {fd}, .nfds = 1}, fine = {.fd = {other}, .nfds = 1};
	dt_jail *j = dt_jail_new(NULL, NULL);
	dt_buf out = {0};
	dt_error err;

	CHECK(fd >= 0 && other >= 0);
	CHECK(dt_jail_ask(j, "symbols of F", crash, &q, &out, &err) < 0);
	CHECK(dt_jail_ask(j, "symbols of F", echo, &q, &out, &err) < 0);
	CHECK_STR(err.text, "symbols of F are not available: its reader died");
	CHECK(dt_jail_deaths(j) == 1 && dt_jail_pid(j) == 0);
	CHECK(dt_jail_ask(j, "symbols of G", first_bytes, &fine, &out, &err) == 0 && out.n == 4);
	CHECK(dt_jail_reject(j, "symbols of G", &fine, &err) < 0);
	CHECK_STR(err.text, "symbols of G are not available: its reader gave an invalid answer");
	CHECK(dt_jail_ask(j, "symbols of G", first_bytes, &fine, &out, &err) < 0);
	dt_jail_free(j);
	dt_buf_free(&out);
	close(fd);
	close(other);
	unlink(path);
}

/* ---- confinement ---- */

static char *slurp(int pid, const char *name)
{
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return dt_slurp(AT_FDCWD, path, &n);
}

static void expect_line(const char *status, const char *line)
{
	CHECK(strstr(status, line) != NULL);
	if (!strstr(status, line))
		printf("no \"%s\"\n", line);
}

static void test_confinement(void)
{
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	dt_jail *j = dt_jail_new(NULL, NULL);
	dt_buf out = {0};
	dt_error err;
	char *s;

	CHECK(shared != MAP_FAILED && ask(j, echo, "x", 1, &out, &err) == 0);
	s = slurp(dt_jail_pid(j), "status");
	CHECK(s != NULL);
	expect_line(s, "Name:\tdtrace-read\n");
	expect_line(s, "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
	expect_line(s, "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
	if (geteuid() == 0) { /* a user that no other process is */
		uint32_t u = 0x80000000u + (uint32_t)dt_jail_pid(j);
		char line[100];

		snprintf(line, sizeof(line), "Uid:\t%u\t%u\t%u\t%u\nGid:\t65534\t65534\t65534\t65534\n", u, u, u, u);
		expect_line(s, line);
	}
	free(s);
	if (geteuid() == 0) {
		s = slurp(dt_jail_pid(j), "maps");
		CHECK(s && !strstr(s, "w-s ") && !strstr(s, "-ws ") && !strstr(s, "r--s") && !strstr(s, "rw-s"));
		free(s);
	}
	munmap(shared, 4096);
	dt_buf_free(&out);
	dt_jail_free(j);
}

/* ---- ends ---- */

static void on_alarm(int sig)
{
	(void)sig;
}

static volatile dt_stop interrupted;
static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static bool has_ended(int pidfd)
{
	return poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 20000) == 1;
}

/* An interrupt ends the wait for a helper that hangs; what is left of it ends as well. Nobody waits for that longer than a
 * moment: on a busy machine it may take more, and then no zombie may stay. */
static void test_interrupt(void)
{
	dt_jail *j = dt_jail_new(&interrupted, NULL);
	dt_buf out = {0};
	dt_error err;
	int pid, pidfd;

	signal(SIGALRM, on_interrupt);
	CHECK(ask(j, echo, "x", 1, &out, &err) == 0);
	pid = dt_jail_pid(j);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	do { /* on a busy machine the interrupt may come before the helper is asked; then it has no reason to end */
		interrupted = 0;
		ualarm(200000, 100); /* the later ones also end the wait for its end */
		CHECK(ask(j, hang, NULL, 0, &out, &err) < 0 && err.code == EINTR && !dt_jail_problem(j));
		ualarm(0, 0);
	} while (dt_jail_pid(j) == pid);
	CHECK(pidfd >= 0 && has_ended(pidfd) && dt_jail_pid(j) == 0);
	CHECK(ask(j, echo, "x", 1, &out, &err) < 0 && dt_jail_pid(j) == 0); /* and none is started for nothing */
	signal(SIGALRM, on_alarm);
	dt_jail_free(j);
	CHECK(kill(pid, 0) < 0 && errno == ESRCH);
	close(pidfd);
	dt_buf_free(&out);
}

/* The helper of a process that is killed does not stay, whether it has something to do or not. */
static void test_orphan(bool busy)
{
	int ends[2], helper = 0;
	dt_buf out = {0};
	dt_error err;
	pid_t child;
	dt_jail *j;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		j = dt_jail_new(NULL, NULL);
		ask(j, echo, "x", 1, &out, &err);
		helper = dt_jail_pid(j);
		if (write(ends[1], &helper, sizeof(helper)) < 0)
			_exit(1);
		if (busy)
			ask(j, hang, NULL, 0, &out, &err);
		for (;;)
			pause();
	}
	CHECK(read(ends[0], &helper, sizeof(helper)) == sizeof(helper) && helper > 0);
	int fd = (int)syscall(SYS_pidfd_open, helper, 0);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CHECK(fd >= 0 && has_ended(fd));
	close(fd);
	close(ends[0]);
	close(ends[1]);
	dt_buf_free(&out);
}

/* ---- ELF ---- */

static void same_symbols(const dt_elfsym *a, uint32_t na, const dt_elfsym *b, uint32_t nb)
{
	uint32_t wrong = na != nb;

	for (uint32_t i = 0; !wrong && i < na; i++)
		wrong += a[i].vaddr != b[i].vaddr || a[i].size != b[i].size || strcmp(a[i].name, b[i].name) != 0 ||
			 a[i].bind != b[i].bind || a[i].type != b[i].type || a[i].alias != b[i].alias ||
			 a[i].plt != b[i].plt || a[i].unsized != b[i].unsized || a[i].name_len != b[i].name_len;
	CHECK(!wrong);
}

static void same_tables(dt_elf *a, dt_elf *b)
{
	struct dt_cfi_walk wa, wb;
	uint64_t as, ae, bs, be;
	bool more, same = true;
	dt_unwind ua, ub;

	dt_unwind_read(a, &ua);
	dt_unwind_read(b, &ub);
	CHECK(ua.n == ub.n && ua.n > 0 && memcmp(ua.rows, ub.rows, ua.n * sizeof(*ua.rows)) == 0);
	dt_unwind_free(&ua);
	dt_unwind_free(&ub);
	dt_cfi_walk(a, &wa);
	dt_cfi_walk(b, &wb);
	do {
		more = dt_cfi_next(&wa, &as, &ae);
		same = same && more == dt_cfi_next(&wb, &bs, &be) && (!more || (as == bs && ae == be));
	} while (more && same);
	CHECK(same);
}

static void same_headers(dt_elf *a, dt_elf *b)
{
	const struct dt_elf_segment *sa, *sb;
	struct dt_elf_section da, db;
	uint32_t na = dt_elf_segments(a, &sa), nb = dt_elf_segments(b, &sb), ia, ib;
	const uint8_t *ida = dt_elf_build_id(a, &ia), *idb = dt_elf_build_id(b, &ib);

	CHECK(na == nb && ia == ib && memcmp(ida, idb, ia) == 0);
	for (uint32_t i = 0; i < na && i < nb; i++)
		CHECK(sa[i].vaddr == sb[i].vaddr && sa[i].offset == sb[i].offset && sa[i].exec == sb[i].exec &&
		      sa[i].file_size == sb[i].file_size && sa[i].mem_size == sb[i].mem_size);
	CHECK(dt_elf_kind(a) == dt_elf_kind(b) && dt_elf_is_64(a) == dt_elf_is_64(b) &&
	      dt_elf_is_static(a) == dt_elf_is_static(b) && dt_elf_machine(a) == dt_elf_machine(b) &&
	      dt_elf_entry(a) == dt_elf_entry(b));
	CHECK(dt_elf_section(a, ".dynamic", &da) && dt_elf_section(b, ".dynamic", &db));
	CHECK(da.vaddr == db.vaddr && da.data_size == db.data_size && da.data_size &&
	      memcmp(da.data, db.data, da.data_size) == 0);
	CHECK(dt_elf_in_section(b, ".text", dt_elf_entry(b)) && !dt_elf_section(b, ".no_such", &db));
}

/* Names for a few addresses are those that all symbols give, also between functions and before the first. */
static void test_names(dt_jail *j, const char *path)
{
	struct dt_elf_place place = {.jail = j};
	dt_error err = {0};
	dt_elf *a = dt_elf_open(path, NULL, &err);
	uint32_t n = 0, groups[] = {1, 7, 300};
	const dt_elfsym *syms;

	n = a ? dt_elf_functions(a, &syms) : 0;
	CHECK(n > 10);
	for (size_t g = 0; g < DT_NELEM(groups) && n; g++) {
		dt_elf *b = dt_elf_open(path, &place, &err);
		uint64_t at[300];
		const char *names[300];

		for (uint32_t i = 0; i < groups[g]; i++) { /* in no order, some twice */
			const dt_elfsym *s = &syms[(i * 7919 + g * 31) % n];

			at[i] = s->vaddr + (i % 4 == 0 ? 0 : i % 4 == 1 ? s->size - 1 : i % 4 == 2 ? s->size : (uint64_t)-1);
		}
		dt_elf_function_names(b, at, groups[g], names);
		CHECK(!b->symbols_read);
		for (uint32_t i = 0; i < groups[g]; i++) {
			const dt_elfsym *s = dt_elf_function_at(a, at[i]);

			CHECK_STR(names[i] ? names[i] : "", s ? s->name : "");
		}
		dt_elf_free(b);
	}
	dt_elf_free(a);
}

static void test_object(const char *path)
{
	dt_jail *j = dt_jail_new(NULL, NULL);
	struct dt_elf_place place = {.jail = j};
	dt_error err = {0};
	dt_elf *a = dt_elf_open(path, NULL, &err), *b = dt_elf_open(path, &place, &err);
	const dt_elfsym *sa, *sb;
	uint32_t na, nb;

	CHECK(a && b && b->remote && !b->elf);
	if (a && b) {
		same_headers(a, b);
		same_tables(a, b);
		na = dt_elf_functions(a, &sa);
		nb = dt_elf_functions(b, &sb);
		same_symbols(sa, na, sb, nb);
		CHECK(nb > 10 && dt_elf_function_at(b, sb[nb / 2].vaddr)->vaddr == sb[nb / 2].vaddr);
		CHECK(strcmp(dt_elf_function_named(b, sb[nb / 2].name)->name, sb[nb / 2].name) == 0);
		na = dt_elf_data(a, &sa);
		nb = dt_elf_data(b, &sb);
		same_symbols(sa, na, sb, nb);
		dt_elf_shrink(b);
		CHECK(dt_elf_data(b, &sb) == nb && !dt_elf_section(b, ".dynamic", &(struct dt_elf_section){0}));
	}
	test_names(j, path);
	CHECK(dt_jail_deaths(j) == 0);
	dt_elf_free(a);
	dt_elf_free(b);
	dt_jail_free(j);
}

static void test_refusals(void)
{
	dt_jail *j = dt_jail_new(NULL, NULL);
	struct dt_elf_place place = {.jail = j};
	dt_error err = {0}, ours = {0};

	CHECK(!dt_elf_open("/etc/passwd", &place, &err) && !dt_elf_open("/etc/passwd", NULL, &ours));
	CHECK_STR(err.text, ours.text);
	CHECK(err.code == ours.code && dt_jail_deaths(j) == 0);
	dt_jail_free(j);
}

static void test_demangle(void)
{
	static const char *const names[] = {"_ZN4shop4till3payEiPKc", "main", "_Zwrong", "_ZN1a1bEv"};
	dt_jail *j = dt_jail_new(NULL, NULL);
	char *out[4], *one;

	dt_demangle_all(j, &names[1], 1, true, out);
	CHECK(!out[0] && dt_jail_pid(j) == 0); /* not worth a question */
	dt_demangle_all(j, names, 4, true, out);
	CHECK_STR(out[0], "shop::till::pay(int, char const*)");
	CHECK(!out[1] && !out[2] && dt_jail_pid(j) > 0);
	CHECK_STR(out[3], "a::b()");
	for (int i = 0; i < 4; i++)
		free(out[i]);
	dt_demangle_all(NULL, names, 1, false, &one);
	CHECK_STR(one, "shop::till::pay");
	free(one);
	dt_jail_free(j);
}

/* ---- answers that lie ---- */

static void put_symbol(dt_buf *b, uint64_t vaddr, uint32_t name, uint16_t length, uint8_t flags)
{
	struct dt_elf_wire_symbol w = {.vaddr = vaddr, .size = 1, .name = name, .length = length, .flags = flags};

	dt_buf_add(b, &w, sizeof(w));
}

static bool takes(const dt_buf *symbols, uint32_t n, const char *names, size_t size)
{
	dt_elf e = {.fd = -1, .remote = dt_xcalloc(1, sizeof(*e.remote))};
	dt_buf answer = {0};
	bool ok;

	dt_put_string(&answer, NULL);
	dt_put_u32(&answer, n);
	dt_buf_add(&answer, symbols->s, symbols->n);
	dt_put_u32(&answer, 0);
	dt_put_bytes(&answer, names, size);
	ok = dt_elf_take_symbols(&e, &answer);
	CHECK(ok == (e.functions.syms.n != 0));
	dt_vec_free(&e.functions.syms);
	dt_vec_free(&e.data.syms);
	free(e.functions.reach);
	dt_elf_remote_free(&e);
	dt_buf_free(&answer);
	return ok;
}

static void test_symbol_lies(void)
{
	static const struct {
		struct {
			uint64_t vaddr;
			uint32_t name;
			uint16_t length;
			uint8_t flags;
		} s[2];
		bool good;
	} cases[] = {
	    {{{1, 0, 3, 0}, {2, 4, 3, 0}}, true},
	    {{{1, 0, 3, 0}, {1, 4, 3, DT_WIRE_ALIAS}}, true},
	    {{{2, 0, 3, 0}, {1, 4, 3, 0}}, false},	      /* not in order */
	    {{{1, 0, 3, 0}, {1, 4, 3, 0}}, false},	      /* an alias that is not called so */
	    {{{1, 0, 3, 0}, {2, 4, 3, DT_WIRE_ALIAS}}, false}, /* the other way round */
	    {{{1, 0, 3, DT_WIRE_ALIAS}, {2, 4, 3, 0}}, false},
	    {{{1, 0, 3, 0}, {2, 5, 3, 0}}, false}, /* past the end */
	    {{{1, 0, 3, 0}, {2, 4, 4, 0}}, false},
	    {{{1, 0, 3, 0}, {2, UINT32_MAX, 3, 0}}, false},
	    {{{1, 0, 3, 0}, {2, UINT32_MAX, 0, 0}}, false},
	    {{{1, 0, 2, 0}, {2, 4, 3, 0}}, false}, /* without its end */
	    {{{1, 0, 7, 0}, {2, 4, 3, 0}}, false}, /* with an end inside */
	};

	for (size_t i = 0; i < DT_NELEM(cases); i++) {
		dt_buf b = {0};

		for (int k = 0; k < 2; k++)
			put_symbol(&b, cases[i].s[k].vaddr, cases[i].s[k].name, cases[i].s[k].length, cases[i].s[k].flags);
		CHECK(takes(&b, 2, "abc\0def", 8) == cases[i].good);
		CHECK(!takes(&b, 3, "abc\0def", 8) && !takes(&b, UINT32_MAX, "abc\0def", 8));
		dt_buf_free(&b);
	}
}

static void test_unwind_lies(void)
{
	const dt_unwind_row good[] = {{.pc = 1, .cfa = DT_UW_SP}, {.pc = 2, .cfa = DT_UW_NONE}};
	dt_unwind_row bad[2];
	dt_buf b = {0};
	dt_unwind u;

	dt_buf_add(&b, good, sizeof(good));
	CHECK(dt_elf_take_unwind(&b, &u) && u.n == 2 && !b.s);
	dt_unwind_free(&u);
	b = (dt_buf){.s = (char *)bad, .n = sizeof(bad)};
	memcpy(bad, good, sizeof(bad));
	bad[1].pc = 1;
	CHECK(!dt_elf_take_unwind(&b, &u));
	memcpy(bad, good, sizeof(bad));
	bad[0].cfa = 15;
	CHECK(!dt_elf_take_unwind(&b, &u));
	memcpy(bad, good, sizeof(bad));
	bad[1].cfa = DT_UW_SP;
	CHECK(!dt_elf_take_unwind(&b, &u));
	b.n--;
	CHECK(!dt_elf_take_unwind(&b, &u) && !u.rows);
}

static void test_messages(void)
{
	dt_buf b = {0};
	dt_message m;
	size_t n;

	dt_put_u32(&b, 7);
	dt_put_string(&b, "text");
	dt_put_string(&b, NULL);
	dt_put_string(&b, "");
	dt_put_bytes(&b, "\0\1", 2);
	dt_put_u64(&b, 1ull << 40);
	m = dt_message_of(b.s, b.n);
	CHECK(dt_get_u32(&m) == 7);
	CHECK_STR(dt_get_string(&m), "text");
	CHECK(dt_get_string(&m) == NULL && !m.bad);
	CHECK_STR(dt_get_string(&m), "");
	CHECK(memcmp(dt_get_bytes(&m, &n), "\0\1", 2) == 0 && n == 2);
	CHECK(dt_get_u64(&m) == 1ull << 40 && dt_message_is_done(&m));
	CHECK(dt_get_u32(&m) == 0 && m.bad && !dt_message_is_done(&m));
	for (size_t cut = 0; cut < b.n; cut++) { /* wherever it ends, nothing past that is read */
		char *copy = dt_xmalloc(cut + 1);

		memcpy(copy, b.s, cut);
		m = dt_message_of(copy, cut);
		dt_get_u32(&m);
		dt_get_string(&m);
		dt_get_string(&m);
		dt_get_string(&m);
		dt_get_bytes(&m, &n);
		dt_get_u64(&m);
		CHECK(m.bad);
		free(copy);
	}
	dt_buf_reset(&b);
	dt_put_u32(&b, 4); /* a string with a NUL inside */
	dt_buf_add(&b, "a\0cd", 5);
	m = dt_message_of(b.s, b.n);
	CHECK(!dt_get_string(&m) && m.bad);
	dt_buf_free(&b);
}

int main(void)
{
	test_messages();
	test_questions();
	test_deaths();
	test_bad_file();
	test_confinement();
	test_interrupt();
	test_orphan(false);
	test_orphan(true);
	test_object("/proc/self/exe");
	test_object("/bin/sh");
	test_refusals();
	test_demangle();
	test_symbol_lies();
	test_unwind_lies();
	return unit_done();
}
