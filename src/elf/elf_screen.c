/*
 * elf_screen: which of many files can have static probes.
 *
 * A listing looks into every file that some process has mapped, and hardly any has a probe. Opening one as an object
 * (elf.h) reads its headers, names and libraries; this reads the names of its sections only, of many files with one
 * request. What is unusual counts as "may have": such a file is then opened.
 */
#include <stdlib.h>
#include <unistd.h>

#include "elf/elf_remote.h"

#define TABLE_MAX (1u << 20) /* bytes; larger ones are for the usual way */

/* Where the fields of the two classes are. */
static const struct layout {
	uint8_t header, shoff, shentsize, shnum, shstrndx; /* in the header */
	uint8_t section, offset, size;			   /* of a section header, and in it */
	bool is_64;
} layouts[] = {
    [ELFCLASS32] = {52, 32, 46, 48, 50, 40, 16, 20, false},
    [ELFCLASS64] = {64, 40, 58, 60, 62, 64, 24, 32, true},
};

static uint16_t half(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* As wide as an address. */
static uint64_t wide(const struct layout *l, const uint8_t *p)
{
	uint64_t v;

	if (!l->is_64)
		return word(p);
	memcpy(&v, p, sizeof(v));
	return v;
}

/* To be freed; NULL: not there, or too large. */
static uint8_t *read_table(int fd, uint64_t at, uint64_t size)
{
	uint8_t *p = size && size <= TABLE_MAX ? malloc(size) : NULL;

	if (p && (at > INT64_MAX || pread(fd, p, size, (off_t)at) != (ssize_t)size)) {
		free(p);
		return NULL;
	}
	return p;
}

static bool has_section(const struct layout *l, const uint8_t *sections, uint32_t n, const char *names, uint64_t size,
			const char *name)
{
	size_t length = strlen(name) + 1;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *s = sections + (size_t)i * l->section;

		if (size >= length && word(s) <= size - length && memcmp(names + word(s), name, length) == 0)
			return true;
	}
	return false;
}

static bool may_have_probes(int fd)
{
	uint8_t h[64] = {0}, *sections = NULL, *names = NULL;
	ssize_t n = pread(fd, h, sizeof(h), 0);
	const struct layout *l = &layouts[h[EI_CLASS] == ELFCLASS64 ? ELFCLASS64 : ELFCLASS32];
	uint32_t count = half(h + l->shnum), strings = half(h + l->shstrndx);
	const uint8_t *of_names;
	uint64_t size;
	bool may = true;

	if (n < l->header || memcmp(h, ELFMAG, SELFMAG) != 0)
		return false;
	if (h[EI_DATA] != ELFDATA2LSB || half(h + l->shentsize) != l->section)
		return wide(l, h + l->shoff) != 0;
	if (strings < count)
		sections = read_table(fd, wide(l, h + l->shoff), (uint64_t)count * l->section);
	if (sections) {
		of_names = sections + (size_t)strings * l->section;
		size = wide(l, of_names + l->size);
		names = read_table(fd, wide(l, of_names + l->offset), size);
	}
	if (names)
		may = has_section(l, sections, count, (char *)names, size, ".note.stapsdt");
	free(names);
	free(sections);
	return may;
}

static void serve(struct dt_question *q, dt_buf *out)
{
	for (uint32_t i = 0; i < q->nfds; i++)
		dt_buf_putc(out, may_have_probes(q->fd[i]));
}

void dt_elf_screen(dt_jail *jail, const int *fds, uint32_t n, bool *may)
{
	struct dt_question q = {.nfds = n, .unblamed = true};
	dt_buf answer = {0};
	bool known;

	memcpy(q.fd, fds, n * sizeof(*fds));
	if (!jail) /* as dt_elf_open(): read here */
		serve(&q, &answer);
	known = (!jail || dt_jail_ask(jail, "names of sections", serve, &q, &answer, NULL) == 0) && answer.n == n;
	for (uint32_t i = 0; i < n; i++)
		may[i] = !known || answer.s[i];
	dt_buf_free(&answer);
}
