/*
 * intrude: getting into a process and out of it. All threads are stopped by ptrace while its memory is changed.
 *
 * In: system calls that one of its threads makes for us map the runtime, memory near its code for stubs, and memory that is
 * shared with us; then the code is patched. A thread that stands at an instruction that is replaced continues in the copy.
 *
 * Out: the code is restored first, where it is still as we left it; from then on no thread can come in, and those that are
 * inside run out. Memory is unmapped when none is left: neither at an instruction there, nor with an address of it on the
 * stack (a signal handler above a probe). What is left after a while stays mapped, and is never run again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "arch/trap.h"
#include "elf/elf.h"
#include "process/process.h"

#define PAGE	    4096ull
#define VDSO_MAX    16384
#define REACH	    0x70000000ull /* a jump goes 2 GB; the rest is for distances inside the object */
#define GAP	    0x10000ull	  /* between what is there and what we map */
#define LOW	    0x100000000000ull /* addresses that programs hardly ever use ... */
#define TRIES	    16
#define STACK_MAX   (256u << 10)
#define LEAVE_TURNS 200
#define RSEQ_CPU    4 /* struct rseq: cpu_id */
#define GET_RSEQ    ((enum __ptrace_request)0x420f) /* PTRACE_GET_RSEQ_CONFIGURATION, which not every header has */
struct rseq_place {
	uint64_t pointer;
	uint32_t size, signature, flags, pad;
};

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static uint64_t page_up(uint64_t n)
{
	return dt_align_up(n, PAGE);
}

/* ---- memory and system calls of the process ---- */

static bool write_to(const struct dt_pe_target *t, uint64_t at, const void *p, size_t n)
{
	return pwrite(t->mem, p, n, (off_t)at) == (ssize_t)n;
}

static size_t read_from(const struct dt_pe_target *t, uint64_t at, void *p, size_t n)
{
	ssize_t got = pread(t->mem, p, n, (off_t)at);

	return got > 0 ? (size_t)got : 0;
}

static pid_t caller(const struct dt_pe_target *t)
{
	pid_t any = 0;

	for (uint32_t i = 0; t->hold && i < t->hold->threads.n; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];

		if (x->stopped && !x->signal)
			return x->tid;
		any = x->stopped ? x->tid : any;
	}
	return any;
}

static long call(const struct dt_pe_target *t, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	pid_t tid = caller(t);

	return tid ? dt_trap_call(tid, t->call, number, (uint64_t[6]){a, b, c, d, e, 0}) : -ESRCH;
}

static uint64_t map(const struct dt_pe_target *t, uint64_t at, uint64_t size, int prot)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0);
	long got = call(t, SYS_mmap, at, size, (uint64_t)prot, (uint64_t)flags, (uint64_t)-1);

	return got < 0 && got > -(long)PAGE ? 0 : (uint64_t)got;
}

/* The kernel's own code in every process: where it makes a system call, and reads the clock. It is the same in ours. */
static bool find_vdso(struct dt_pe_target *t, const dt_maps *maps, uint64_t *clock)
{
	const uint8_t *ours = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const dt_mapping *m = NULL;
	const dt_elfsym *s;
	uint8_t *bytes;
	dt_error err;
	dt_elf *elf;
	size_t n, at;

	for (uint32_t i = 0; i < maps->n; i++)
		if (maps->v[i].kind == DT_MAP_VDSO)
			m = &maps->v[i];
	if (!m || !ours)
		return false;
	bytes = dt_xmalloc(VDSO_MAX);
	n = read_from(t, m->start, bytes, m->end - m->start < VDSO_MAX ? m->end - m->start : VDSO_MAX);
	at = dt_trap_find_call(bytes, n);
	t->call = m->start + at;
	elf = dt_elf_open_memory(bytes, n, &err);
	s = elf ? dt_elf_function_named(elf, "__vdso_clock_gettime") : NULL;
	*clock = s ? m->start + s->vaddr : 0;
	dt_elf_free(elf);
	free(bytes);
	return at < n;
}

/* ---- the thread's id ---- */

/* The C library keeps it near the thread pointer: GNU, musl. */
static uint32_t find_tid(const struct dt_pe_target *t)
{
	static const uint32_t places[] = {0x2d0, 0x30};

	for (size_t k = 0; k < DT_NELEM(places); k++) {
		bool all = t->hold->threads.n > 0;

		for (uint32_t i = 0; all && i < t->hold->threads.n; i++) {
			const struct dt_held_thread *x = &t->hold->threads.v[i];
			struct dt_trap_regs regs = {0};
			uint32_t word = 0;

			all = x->stopped && dt_trap_regs(x->tid, &regs) == 0 && regs.thread &&
			      read_from(t, regs.thread + places[k], &word, sizeof(word)) == sizeof(word) && word == (uint32_t)x->tid;
		}
		if (all)
			return places[k];
	}
	return 0;
}

/* The kernel keeps the number of the CPU in memory that the C library gives it for each thread, at the same distance. */
static int32_t find_cpu(const struct dt_pe_target *t)
{
	int64_t at = 0;

	for (uint32_t i = 0; i < t->hold->threads.n; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];
		struct rseq_place c = {0};
		struct dt_trap_regs regs = {0};
		int64_t here;

		if (!x->stopped || dt_trap_regs(x->tid, &regs) < 0 || !regs.thread ||
		    ptrace(GET_RSEQ, x->tid, sizeof(c), &c) < 0 || !c.pointer)
			return 0;
		here = (int64_t)(c.pointer + RSEQ_CPU - regs.thread);
		if (here != (int32_t)here || (at && here != at))
			return 0;
		at = here;
	}
	return (int32_t)at;
}

/* ---- in ---- */

static int refuse(const struct dt_pe_target *t, dt_error *err, const char *why)
{
	return dt_err(err, EDT_NOPROBE, "-x engine=process: pid %ld: %s", t->pid, why);
}

static int check(const struct dt_pe_target *t, dt_error *err)
{
	if (!t->hold || !caller(t))
		return refuse(t, err, "it cannot be stopped by ptrace");
	if (dt_proc_status(t->pid, "Seccomp:") > 0)
		return refuse(t, err, "its system calls are restricted (seccomp), and the runtime needs some");
	if (dt_proc_inner_pid(t->pid) != t->pid)
		return refuse(t, err, "it is in another pid namespace");
	return 0;
}

static int put_runtime(struct dt_pe_target *t, dt_error *err)
{
	t->base_size = DT_PE_ANCHOR_SIZE + page_up(dt_pe_runtime_size) + DT_PE_CODE_MAX;
	t->base = map(t, 0, t->base_size, PROT_READ | PROT_EXEC);
	if (!t->base)
		return refuse(t, err, "it cannot map the runtime");
	if (!write_to(t, t->base + DT_PE_ANCHOR_SIZE, dt_pe_runtime, dt_pe_runtime_size) ||
	    call(t, SYS_mprotect, t->base, DT_PE_ANCHOR_SIZE, PROT_READ | PROT_WRITE, 0, 0) < 0 ||
	    call(t, SYS_madvise, t->base, DT_PE_ANCHOR_SIZE, MADV_WIPEONFORK, 0, 0) < 0)
		return refuse(t, err, "its memory cannot be written");
	return 0;
}

uint64_t dt_pe_target_code_at(const struct dt_pe_target *t)
{
	return t->base + t->base_size - DT_PE_CODE_MAX;
}

bool dt_pe_target_code(const struct dt_pe_target *t, const uint8_t *code, size_t n)
{
	return write_to(t, dt_pe_target_code_at(t), code, n);
}

/* The file is the target's, and open in us by then. It must not shrink under us. */
static int share_file(struct dt_pe_target *t, int remote, uint64_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", t->pid, remote);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool map_both(struct dt_pe_target *t, int fd, int remote, uint64_t size)
{
	struct dt_pe_memory *m = t->shared;
	uint64_t seed = dt_now() * 0x9e3779b97f4a7c15u;

	for (int i = 0; i < TRIES; i++, seed = seed * 0x5851f42d4c957f2du + 1) {
		uint64_t at = LOW + (seed >> 20) % (2 * LOW) / PAGE * PAGE;
		void *ours = mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
				  fd, 0);
		long theirs;

		if (ours == MAP_FAILED)
			continue;
		theirs = dt_trap_call(caller(t), t->call, SYS_mmap,
				      (uint64_t[6]){at, size, PROT_READ | PROT_WRITE,
						    MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, (uint64_t)remote, 0});
		if ((uint64_t)(uintptr_t)ours == at && (uint64_t)theirs == at) {
			m->base = ours;
			m->size = size;
			call(t, SYS_madvise, at, size, MADV_DONTFORK, 0, 0);
			call(t, SYS_madvise, at, size, MADV_DONTDUMP, 0, 0);
			return true;
		}
		munmap(ours, size);
	}
	return false;
}

static int put_shared(struct dt_pe_target *t, uint64_t size, dt_error *err)
{
	static const char name[] = "dtrace";
	long remote;
	int fd;
	bool ok;

	if (!write_to(t, t->base, name, sizeof(name)))
		return refuse(t, err, "its memory cannot be written");
	remote = call(t, SYS_memfd_create, t->base, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0);
	if (remote < 0)
		return refuse(t, err, "it cannot create shared memory");
	fd = share_file(t, (int)remote, size);
	ok = fd >= 0 && map_both(t, fd, (int)remote, size);
	call(t, SYS_close, (uint64_t)remote, 0, 0, 0, 0);
	if (fd >= 0)
		close(fd);
	return ok ? 0 : refuse(t, err, "it cannot map memory to share");
}

int dt_pe_target_enter(struct dt_pe_target *t, const dt_maps *maps, uint64_t size, dt_error *err)
{
	struct dt_pe_anchor a = {.pid = (int32_t)t->pid};
	char path[64];

	if (check(t, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%ld/mem", t->pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem < 0)
		return refuse(t, err, strerror(errno));
	if (!find_vdso(t, maps, &a.clock))
		return refuse(t, err, "it has no code of the kernel (vdso)");
	if (put_runtime(t, err) < 0 || put_shared(t, page_up(size), err) < 0)
		return -1;
	a.tid_at = find_tid(t);
	a.cpu_at = find_cpu(t);
	a.shared = (struct dt_pe_shared *)(void *)t->shared->base;
	return write_to(t, t->base, &a, sizeof(a)) ? 0 : refuse(t, err, "its memory cannot be written");
}

/* ---- stubs ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Free memory as near as possible; not where the heap grows. */
static uint64_t find_gap(const dt_maps *maps, uint64_t near, uint64_t size)
{
	uint64_t best = 0;

	for (uint32_t i = 0; i <= maps->n; i++) {
		uint64_t low = i ? maps->v[i - 1].end : 0x10000, high = i < maps->n ? maps->v[i].start : low + (1ull << 40), at;

		if (high >> 47 || low >> 47 || high < low || high - low < size + 2 * GAP)
			continue;
		at = low > near ? low + GAP : high - GAP - size;
		if (low > near && i && maps->v[i - 1].kind == DT_MAP_HEAP)
			continue;
		if (distance(at, near) < REACH && (!best || distance(at, near) < distance(best, near)))
			best = at;
	}
	return best;
}

#define AREA (64 * PAGE) /* stubs of 1300 probes */

/* Room for one stub near an address; 0: none. The first word of an area is the address of the runtime. */
static uint64_t stub_room(struct dt_pe_target *t, const dt_maps *maps, uint64_t near, uint64_t *entry)
{
	struct dt_pe_area *a;
	uint64_t runtime = t->base + DT_PE_ANCHOR_SIZE, at;

	for (uint32_t i = t->areas.n; i-- > 0;) {
		a = &t->areas.v[i];
		if (distance(a->start, near) >= REACH || a->size - a->used < DT_STUB_MAX)
			continue;
		*entry = a->start;
		a->used += DT_STUB_MAX;
		return a->start + a->used - DT_STUB_MAX;
	}
	at = find_gap(maps, near, AREA * (t->areas.n + 1)); /* behind those that are not in the maps yet */
	at = at ? map(t, at + (at > near ? AREA * t->areas.n : 0), AREA, PROT_READ | PROT_EXEC) : 0;
	if (!at)
		return 0;
	*dt_vec_add(&t->areas, NULL) = (struct dt_pe_area){at, AREA, 64};
	if (!write_to(t, at, &runtime, sizeof(runtime)))
		return 0;
	return stub_room(t, maps, near, entry);
}

static int put_stub(struct dt_pe_target *t, const dt_maps *maps, dt_patch *p, const char *make(dt_patch *), dt_error *err)
{
	const char *why;

	p->stub = stub_room(t, maps, p->at, &p->entry);
	why = p->stub ? make(p) : "no memory near it";
	if (!why && !write_to(t, p->stub, p->code, p->code_size))
		why = "its memory cannot be written";
	return why ? refuse(t, err, why) : 0;
}

int dt_pe_target_stubs(struct dt_pe_target *t, const dt_maps *maps, dt_error *err)
{
	for (uint32_t i = 0; i < t->places->n; i++)
		if (put_stub(t, maps, &t->places->v[i]->patch, dt_patch_make, err) < 0)
			return -1;
	return 0;
}

int dt_pe_target_sample(struct dt_pe_target *t, const dt_maps *maps, uint64_t site, uint64_t *stub, dt_error *err)
{
	dt_patch p = {.at = t->base, .site = site};
	int rc = put_stub(t, maps, &p, dt_patch_sample, err);

	*stub = p.stub;
	return rc;
}

/* ---- threads ---- */

/* The patch that an address is in, or of whose stub; they are few, or the process is small. */
static const dt_patch *patch_around(const struct dt_pe_target *t, uint64_t pc, bool stub)
{
	for (uint32_t i = 0; i < t->places->n; i++) {
		const dt_patch *p = &t->places->v[i]->patch;

		if (stub ? pc - p->stub < p->code_size : pc - p->at < p->size)
			return p;
	}
	return NULL;
}

/* A thread at a copy of an instruction goes to the instruction, or the other way round. */
static void move_threads(const struct dt_pe_target *t, bool out)
{
	for (uint32_t i = 0; i < t->hold->threads.n; i++) {
		struct dt_trap_regs regs;
		const dt_patch *p;

		if (!t->hold->threads.v[i].stopped || dt_trap_regs(t->hold->threads.v[i].tid, &regs) < 0)
			continue;
		p = patch_around(t, regs.pc, out);
		for (uint32_t k = 0; p && k < p->nmoved; k++) {
			uint64_t from = p->at + p->moved[k].from, to = p->stub + p->moved[k].to;

			if (out && regs.pc == to)
				dt_trap_set_pc(t->hold->threads.v[i].tid, from);
			else if (!out && regs.pc == from && k > 0)
				dt_trap_set_pc(t->hold->threads.v[i].tid, to);
		}
	}
}

/* Is a word on the stack of a thread an address inside a range that is replaced, or inside what we have mapped? Then a
 * signal handler will return there. */
bool dt_pe_target_is_inside(const struct dt_pe_target *t, uint64_t word)
{
	if (word - t->base < t->base_size)
		return true;
	for (uint32_t i = 0; i < t->areas.n; i++)
		if (word - t->areas.v[i].start < t->areas.v[i].size)
			return true;
	return false;
}

static bool anyone_inside(const struct dt_pe_target *t)
{
	uint64_t *stack = dt_xmalloc(STACK_MAX);
	bool inside = false;

	for (uint32_t i = 0; i < t->hold->threads.n && !inside; i++) {
		const struct dt_held_thread *x = &t->hold->threads.v[i];
		struct dt_trap_regs regs;
		size_t n;

		if (!x->stopped || dt_trap_regs(x->tid, &regs) < 0) {
			inside = !x->stopped; /* it sleeps in the kernel: who called is not known */
			continue;
		}
		inside = dt_pe_target_is_inside(t, regs.pc);
		n = read_from(t, regs.sp & ~7ull, stack, STACK_MAX);
		for (size_t k = 0; k < n / 8 && !inside; k++)
			inside = dt_pe_target_is_inside(t, stack[k]);
	}
	free(stack);
	return inside;
}

/* ---- patching ---- */

static int by_address(const void *a, const void *b)
{
	const dt_patch *x = &(*(struct dt_pe_place *const *)a)->patch, *y = &(*(struct dt_pe_place *const *)b)->patch;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* One patch. A breakpoint that somebody has put there since then (a uprobe) stays as it is. */
static bool exchange_one(uint8_t *page, const dt_patch *p, bool in)
{
	const uint8_t *from = in ? p->was : p->is, *to = in ? p->is : p->was;

	for (uint32_t i = 0; i < p->size; i++)
		if (page[i] != from[i] && (in || page[i] != DT_TRAP_BYTE))
			return false;
	for (uint32_t i = 0; i < p->size; i++)
		if (page[i] == from[i])
			page[i] = to[i];
	return true;
}

/* Replace bytes that are as expected, page by page: one write for all patches of a page. Those that are not stay. */
static uint32_t exchange(const struct dt_pe_target *t, bool in)
{
	uint8_t page[2 * PAGE], was[2 * PAGE];
	uint32_t failed = 0, i = 0;

	while (i < t->places->n) {
		uint64_t start = t->places->v[i]->patch.at / PAGE * PAGE;
		size_t n = read_from(t, start, page, sizeof(page));

		memcpy(was, page, n);
		for (; i < t->places->n && t->places->v[i]->patch.at - start < PAGE; i++) {
			const dt_patch *p = &t->places->v[i]->patch;
			uint64_t at = p->at - start;

			failed += at + p->size > n || !exchange_one(page + at, p, in);
		}
		n = n > PAGE && memcmp(page + PAGE, was + PAGE, n - PAGE) == 0 ? PAGE : n;
		if (memcmp(page, was, n) != 0 && !write_to(t, start, page, n))
			failed++;
	}
	return failed;
}

/* Static probes with a semaphore: the program looks there whether somebody traces them. All threads are stopped. If dtrace is
 * killed between the two steps, a probe stays enabled for nothing. */
static void count_semaphores(const struct dt_pe_target *t, bool in)
{
	struct dt_pe_shared *sh = (struct dt_pe_shared *)(void *)t->shared->base;

	if (!in && !sh->counted)
		return;
	for (uint32_t i = 0; i < t->places->n; i++) {
		uint64_t at = t->places->v[i]->semaphore;
		uint16_t n = 0;

		if (!at || read_from(t, at, &n, sizeof(n)) != sizeof(n) || (!in && !n))
			continue;
		n = (uint16_t)(in ? n + 1 : n - 1);
		write_to(t, at, &n, sizeof(n));
	}
	sh->counted = in;
}

int dt_pe_target_patch(struct dt_pe_target *t, dt_error *err)
{
	uint32_t active = 1;

	if (t->places->n)
		qsort(t->places->v, t->places->n, sizeof(*t->places->v), by_address);
	t->patched = true;
	if (exchange(t, true)) {
		exchange(t, false);
		return refuse(t, err, "its code cannot be changed");
	}
	move_threads(t, false);
	count_semaphores(t, true);
	return write_to(t, t->base, &active, sizeof(active)) ? 0 : refuse(t, err, "its memory cannot be written");
}

/* ---- out ---- */

/* Is it still the program that we came into? After an exec nothing of us is there. */
static bool is_same_program(const struct dt_pe_target *t)
{
	uint8_t first[16];

	return t->base && read_from(t, t->base + DT_PE_ANCHOR_SIZE, first, sizeof(first)) == sizeof(first) &&
	       memcmp(first, dt_pe_runtime, sizeof(first)) == 0;
}

static void unmap(const struct dt_pe_target *t)
{
	for (uint32_t i = 0; i < t->areas.n; i++)
		call(t, SYS_munmap, t->areas.v[i].start, t->areas.v[i].size, 0, 0, 0);
	if (t->shared->base)
		call(t, SYS_munmap, (uint64_t)(uintptr_t)t->shared->base, t->shared->size, 0, 0, 0);
	if (t->base)
		call(t, SYS_munmap, t->base, t->base_size, 0, 0, 0);
}

static void let_go(struct dt_pe_target *t)
{
	for (int i = 0; i < LEAVE_TURNS && !dt_hold_release(t->hold); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	dt_hold_free(t->hold);
	t->hold = NULL;
}

/* One try. 0: out; 1: somebody is inside; -1: it is gone. */
static int try_to_leave(struct dt_pe_target *t, uint32_t *failed)
{
	uint32_t inactive = 0;
	int error, rc = 1;

	t->hold = dt_hold_new(t->pid, &error);
	if (!t->hold)
		return -1;
	if (!caller(t) || !is_same_program(t)) {
		rc = -1;
	} else {
		if (t->patched) {
			write_to(t, t->base, &inactive, sizeof(inactive));
			*failed = exchange(t, false);
			count_semaphores(t, false);
			move_threads(t, true);
			t->patched = false;
		}
		if (!anyone_inside(t)) {
			unmap(t);
			rc = 0;
		}
	}
	let_go(t);
	return rc;
}

int dt_pe_target_leave(struct dt_pe_target *t, dt_error *err)
{
	uint32_t failed = 0;
	int rc = 1;

	if (t->hold) { /* it was never released: the session does that */
		if (t->patched) {
			exchange(t, false);
			count_semaphores(t, false);
		}
		if (t->base && caller(t))
			unmap(t);
		t->hold = NULL;
		rc = 0;
	}
	for (int i = 0; rc > 0 && i < LEAVE_TURNS; i++) {
		rc = try_to_leave(t, &failed);
		if (rc > 0)
			nanosleep(&(struct timespec){.tv_nsec = i < 20 ? 500000 : 5000000}, NULL);
	}
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	if (failed)
		return dt_err(err, EDT_NOPROBE, "pid %ld has changed its code: %u probes were not taken out", t->pid, failed);
	return 0;
}
