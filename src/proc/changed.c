/*
 * changed: see changed.h. /proc/PID/pagemap tells which pages of a mapping are no longer those of the file. Nearly always there are
 * none; the instructions in the others are compared.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "base/budget.h"
#include "proc/changed.h"
#include "proc/mappings.h"

#define OF_FILE (1ull << 61) /* in a word of pagemap: the page belongs to a file, or is not there ... */
#define IS_THERE (3ull << 62) /* ... if both of these are 0: present, swapped */
#define WORDS 1024

struct changed_page {
	uint64_t offset, address;
};

struct dt_changed {
	long pid;
	int fd; /* of the file */
	uint32_t seen; /* pages that were looked at */
	DT_VEC(struct changed_page) pages; /* by offset; a page may be mapped more than once */
};

static void find_pages(dt_changed *c, int pagemap, const dt_mapping *m)
{
	uint64_t size = dt_page_size(), words[WORDS];

	for (uint64_t at = m->start; at < m->end && c->seen < DT_MAX_CODE_PAGES;) {
		uint64_t want = (m->end - at) / size < WORDS ? (m->end - at) / size : WORDS;
		uint32_t n;
		ssize_t got = pread(pagemap, words, want * sizeof(words[0]), (off_t)(at / size * sizeof(words[0])));

		if (got < (ssize_t)sizeof(words[0]))
			return;
		n = (uint32_t)((size_t)got / sizeof(words[0]));
		c->seen += n;
		for (uint32_t i = 0; i < n; i++, at += size)
			if (words[i] & IS_THERE && !(words[i] & OF_FILE))
				*dt_vec_add(&c->pages, NULL) = (struct changed_page){m->offset + (at - m->start), at};
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct changed_page *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void find_all(dt_changed *c)
{
	dt_error ignored;
	dt_maps *maps = dt_maps_code(c->pid, &ignored);
	struct stat st;
	char path[64];
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%ld/pagemap", c->pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	for (uint32_t i = 0; maps && pagemap >= 0 && fstat(c->fd, &st) == 0 && i < maps->n; i++) {
		const dt_mapping *m = &maps->v[i];

		if (m->kind == DT_MAP_FILE && m->exec && !m->shared && m->inode == st.st_ino)
			find_pages(c, pagemap, m);
	}
	if (pagemap >= 0)
		close(pagemap);
	dt_maps_free(maps);
	if (c->pages.n)
		qsort(c->pages.v, c->pages.n, sizeof(*c->pages.v), by_offset);
}

dt_changed *dt_changed_new(long pid, const char *path)
{
	dt_changed *c = dt_xcalloc(1, sizeof(*c));
	dt_error ignored;

	c->pid = pid;
	c->fd = dt_open_regular(AT_FDCWD, path, 0, UINT64_MAX, &ignored);
	if (c->fd >= 0)
		find_all(c);
	if (c->pages.n)
		return c;
	dt_changed_free(c);
	return NULL;
}

static uint8_t length_of(const uint8_t *code, size_t n)
{
	dt_body b = {0};
	uint8_t length;

	dt_body_decode(&b, &(struct dt_insn_mode){0}, code, n, 0);
	length = b.insns.n ? b.insns.v[0].length : 1;
	dt_body_free(&b);
	return length;
}

static bool differs(const dt_changed *c, uint64_t offset, uint64_t address)
{
	uint8_t was[DT_INSN_MAX], now[DT_INSN_MAX];
	struct iovec local = {now, sizeof(now)}, remote = {(void *)(uintptr_t)address, sizeof(now)};
	ssize_t n = pread(c->fd, was, sizeof(was), (off_t)offset), have = process_vm_readv((pid_t)c->pid, &local, 1, &remote, 1, 0);
	uint8_t length;

	if (n <= 0 || have <= 0)
		return false;
	length = length_of(was, (size_t)n);
	return have >= length && memcmp(was, now, length) != 0 && !dt_arch_host()->code->is_uprobe(was, now, length);
}

/* The instruction, or the part of it that is in the page at this offset */
static bool differs_in(const dt_changed *c, uint64_t offset, uint64_t page)
{
	const struct changed_page key = {.offset = page}, *end = c->pages.v + c->pages.n;
	const struct changed_page *x = bsearch(&key, c->pages.v, c->pages.n, sizeof(key), by_offset);

	for (uint32_t i = 0; x && x > c->pages.v && x[-1].offset == page && i < DT_MAX_CODE_COPIES; i++)
		x--; /* it is any of them */
	for (uint32_t i = 0; x && x < end && x->offset == page && i < DT_MAX_CODE_COPIES; i++, x++)
		if (differs(c, offset, x->address + (offset - page)))
			return true;
	return false;
}

bool dt_changed_has(const dt_changed *c, uint64_t offset)
{
	uint64_t size = dt_page_size(), page = offset / size * size;

	return differs_in(c, offset, page) || (offset + DT_INSN_MAX > page + size && differs_in(c, offset, page + size));
}

void dt_changed_free(dt_changed *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	dt_vec_free(&c->pages);
	free(c);
}
