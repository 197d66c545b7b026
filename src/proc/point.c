/*
 * point: finds the evaltime points in a program that exec has just set up.
 *
 * The auxiliary vector (/proc/PID/auxv) says where the program begins and where its dynamic linker
 * is. The dynamic linker has a function for debuggers, _dl_debug_state, which it calls when objects
 * are about to be loaded and when all are loaded (its state is in _r_debug; musl calls it once,
 * when all are loaded). main is looked up in the symbols of the executable, also those of a
 * separate debug file. All of this may be missing; then the address is 0 and create.c uses other
 * means.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "elf/elf.h"
#include "proc/hold.h"

/* Entries of the auxiliary vector are pairs of words of the program's own size. */
static uint64_t auxv_entry(const uint8_t *vec, size_t n, bool is64, uint64_t type)
{
	for (size_t at = 0, step = is64 ? 16 : 8; at + step <= n; at += step) {
		uint64_t pair[2];
		uint32_t small[2];

		memcpy(pair, vec + at, is64 ? sizeof(pair) : 0);
		memcpy(small, vec + at, sizeof(small));
		if ((is64 ? pair[0] : small[0]) == type)
			return is64 ? pair[1] : small[1];
	}
	return 0;
}

static size_t read_auxv(long pid, uint8_t *to, size_t n)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, to, n);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

static void find_in_program(dt_elf *e, struct dt_points *pt)
{
	const struct dt_elf_segment *segs;
	uint32_t n = dt_elf_segments(e, &segs);
	uint64_t bias = pt->entry - dt_elf_entry(e);
	const dt_elfsym *sym = dt_elf_function_named(e, "main");

	for (uint32_t i = 0; i < n; i++) {
		uint64_t start = segs[i].vaddr + bias, end = start + segs[i].mem_size;

		if (!segs[i].exec)
			continue;
		pt->text = pt->text && pt->text < start ? pt->text : start;
		pt->text_end = pt->text_end > end ? pt->text_end : end;
	}
	if (sym && sym->vaddr + bias >= pt->text && sym->vaddr + bias < pt->text_end)
		pt->main = sym->vaddr + bias;
}

static void find_in_linker(long pid, dt_jail *jail, uint64_t base, struct dt_points *pt)
{
	dt_error err = {0};
	dt_maps *maps = dt_maps_read(pid, &err);
	const dt_mapping *m = maps ? dt_maps_find(maps, base) : NULL;
	int fd = m ? dt_mapping_open(pid, m) : -1;
	struct dt_elf_place place = {.path = m ? m->path : NULL, .jail = jail};
	dt_elf *e = fd >= 0 ? dt_elf_open_fd(fd, &place, &err) : NULL;
	const dt_elfsym *sym;

	if (e && (sym = dt_elf_function_named(e, "_dl_debug_state")))
		pt->loaded = base + sym->vaddr;
	if (e && (sym = dt_elf_data_named(e, "_r_debug")))
		pt->r_debug = base + sym->vaddr;
	dt_elf_free(e);
	dt_maps_free(maps);
}

void dt_points_find(long pid, dt_jail *jail, struct dt_points *pt)
{
	char exe[64], root[64], own[4096];
	struct dt_elf_place place = {.root = root, .path = own, .jail = jail};
	uint8_t auxv[4096];
	size_t n = read_auxv(pid, auxv, sizeof(auxv));
	dt_error err = {0};
	uint64_t base;
	ssize_t len;
	dt_elf *e;

	*pt = (struct dt_points){0};
	if (dt_proc_problem())
		return; /* it would describe another process */
	snprintf(exe, sizeof(exe), "/proc/%ld/exe", pid);
	len = readlink(exe, own, sizeof(own) - 1);
	own[len > 0 ? len : 0] = 0;
	dt_proc_root(pid, root, sizeof(root));
	e = dt_elf_open(exe, &place, &err);
	if (!e)
		return;
	pt->is64 = dt_elf_is_64(e);
	pt->entry = auxv_entry(auxv, n, pt->is64, AT_ENTRY);
	base = auxv_entry(auxv, n, pt->is64, AT_BASE);
	if (pt->entry)
		find_in_program(e, pt);
	if (pt->entry && base)
		find_in_linker(pid, jail, base, pt);
	dt_elf_free(e);
}

int dt_proc_load_point(long pid, dt_jail *jail, uint64_t *offset)
{
	struct dt_points points;
	dt_error err = {0};
	const dt_mapping *m;
	dt_maps *maps;
	int fd;

	dt_points_find(pid, jail, &points);
	maps = points.loaded ? dt_maps_read(pid, &err) : NULL;
	m = maps ? dt_maps_find(maps, points.loaded) : NULL;
	fd = m ? dt_mapping_open(pid, m) : -1;
	if (fd >= 0)
		*offset = points.loaded - m->start + m->offset;
	dt_maps_free(maps);
	return fd;
}
