/*
 * direct_map: finds the start of the kernel's direct map and of its array of struct page.
 *
 * absent.c and packet.c need both. They are kernel variables that not every kernel exposes, and whose values
 * differ from boot to boot. So they are found by search: a page of this process holds a unique
 * number. Our page tables, which the kernel refers to by their address in the direct map, lead to
 * the physical address of that page if the start of the direct map is known. It is a multiple of a
 * large number, below the page tables, so there are few candidates, and only with the right one
 * does the walk end at the number. The page belongs to a file, whose page cache has the address of
 * its struct page; that of page 0 is the page's number of structures before it.
 *
 * Kernel memory is read by a small program that runs once for each word. If anything is not as
 * expected, both stay unknown, and reading user memory that is not mapped in is a fault.
 */
#include <bpf/bpf.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "arch/arch.h"
#include "bpf/run/direct_map.h"
#include "bpf/run/kmap.h"

struct look {
	dt_bpf *e;
	int prog;
	const struct dt_arch_paging *paging;
	uint64_t limit; /* bits of an entry that are an address */
};

/* The word at a kernel address; 0 when it cannot be read. With address 0: that of this thread. */
static uint64_t peek(const struct look *l, uint64_t addr)
{
	uint64_t args[1] = {addr};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(l->prog, &o) != 0)
		return 0;
	return *dt_control(l->e, CTL_PEEKED);
}

/* The word at address + "type.path". */
static uint64_t member(const struct look *l, uint64_t addr, const char *type, const char *path)
{
	uint32_t at;

	if (!addr || !dt_tr_find_field(&l->e->plan, type, path, &at))
		return 0;
	return peek(l, addr + at);
}

/* The physical address of the page at `addr`, if the direct map begins at `base`; 0: not there. */
static uint64_t walk(const struct look *l, uint64_t first, uint64_t base, uint8_t top, uint64_t addr)
{
	const struct dt_arch_paging *p = l->paging;
	uint64_t entry = first, table = 0, index_mask = (1ull << p->level_bits) - 1;

	for (int shift = top; shift > p->page_bits; shift -= p->level_bits) {
		if (shift != top)
			entry = peek(l, table + (addr >> shift & index_mask) * 8);
		if ((entry & p->mask) != p->table)
			return 0;
		table = base + (entry & l->limit);
	}
	return peek(l, table + (addr >> p->page_bits & index_mask) * 8) & l->limit;
}

/* The struct page of page 0, from that of the only page of a file. */
static uint64_t first_page(const struct look *l, uint64_t task, int fd, uint64_t physical)
{
	uint64_t fdt = member(l, member(l, task, "task_struct", "files"), "files_struct", "fdt");
	uint64_t fds = member(l, fdt, "fdtable", "fd");
	uint64_t file = fds ? peek(l, fds + (uint64_t)fd * 8) : 0;
	uint64_t mapping = member(l, file, "file", "f_mapping");
	uint64_t folio = member(l, mapping, "address_space", "i_pages.xa_head");

	if (!folio || folio & 3)
		return 0;
	return folio - (physical >> l->paging->page_bits) * l->e->needs.page_struct;
}

/* Try the possible starts of the direct map. */
static void search(const struct look *l, int fd, const uint64_t *page)
{
	const struct dt_arch_paging *p = l->paging;
	uint64_t task = peek(l, 0), addr = (uint64_t)(uintptr_t)page;
	uint64_t pgd = member(l, member(l, task, "task_struct", "mm"), "mm_struct", "pgd");
	uint64_t highest = pgd & ~(p->direct_align - 1), top_entry[DT_NELEM(p->top)];

	for (int i = 0; pgd && p->top[i]; i++) /* the same wherever the direct map begins */
		top_entry[i] = peek(
		    l, pgd + (addr >> p->top[i] & ((1ull << p->level_bits) - 1)) * sizeof(uint64_t));

	for (uint64_t below = 0; pgd && below <= l->limit; below += p->direct_align)
		for (int i = 0; p->top[i]; i++) {
			uint64_t base = highest - below;
			uint64_t physical = walk(l, top_entry[i], base, p->top[i], addr), first;

			if (!physical || peek(l, base + physical) != *page)
				continue;
			first = first_page(l, task, fd, physical);
			if (!first)
				return;
			*dt_control(l->e, CTL_PAGES) = first;
			*dt_control(l->e, CTL_TOP) = p->top[i];
			*dt_control(l->e, CTL_LIMIT) = l->limit;
			*dt_control(l->e, CTL_DIRECT) = base;
			return;
		}
}

/* Physical addresses: at most four times the size of memory, plus the holes of a small machine.
 * Higher bits have another meaning (memory encryption). */
static uint64_t address_bits(const struct dt_arch_paging *p)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) << p->page_bits, most = 1ull << 36;

	while (most < bytes * 4 && most < 1ull << 52)
		most <<= 1;
	return p->address & (most - 1);
}

void dt_direct_map_find(dt_bpf *e)
{
	static const struct dt_small_program small = {.name = "dtrace_peek",
						      .type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	const struct dt_arch_paging *p = &dt_arch_host()->paging;
	struct look l = {.e = e, .paging = p, .limit = address_bits(p)};
	size_t size = 1ul << p->page_bits;
	uint64_t *page = MAP_FAILED;
	dt_error ignored;
	int fd = -1;

	if (!(e->needs.is.absent || e->needs.is.direct) ||
	    (l.prog = dt_small_load(e, &small, dt_tr_peek_code, &ignored)) < 0)
		return;
	fd = memfd_create("dtrace", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		if (getrandom(page, sizeof(*page), 0) == sizeof(*page))
			search(&l, fd, page);
		munmap(page, size);
	}
	if (fd >= 0)
		close(fd);
}
