/*
 * tables: the unwind tables of files, for the walker of user stacks (unwind.c).
 *
 * Tables are made by this process, from .eh_frame, and written into banks that the kernel's
 * programs read. A table is not read before its object is in dt_objects, so no lock is needed; a
 * table is never changed once it is written.
 *
 * Tables are made on demand. A walk that meets a file without a table leaves a request in dt_wanted
 * and wakes this process (dt_tables_feed); that stack is incomplete, those a few milliseconds later
 * are complete. For the processes of -c and -p the tables are made before tracing begins, for a
 * command also those of the libraries that it is going to load. So the cost depends on what is
 * traced: about 0.1 us and 12 bytes per row of a file, once for all its processes.
 *
 * A file is identified by a key that only programs in the kernel can make: stat() reports other
 * values on some file systems (overlayfs, btrfs). To get the key of an open file, it is mapped and
 * a small program is run on the address.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "bpf/run/kmap.h"
#include "bpf/run/ring.h"
#include "bpf/translate/unwind.h"
#include "proc/control.h"
#include "proc/mappings.h"
#include "proc/needed.h"

struct dt_tables {
	struct bank {
		uint8_t *memory; /* mapped */
		uint32_t used;	 /* bytes */
	} bank[UW_BANKS];
	uint32_t nbanks;
	bool full;    /* dt_objects is */
	int identify; /* the program that makes keys; -1: not loaded */
};

/* ---- maps ---- */

static int make_map(dt_bpf *e, struct dt_kmap m, dt_error *err)
{
	m.doing = "create a map for user stacks in";
	return dt_kmap_make(e, &m, err);
}

static int make_bank(dt_bpf *e, dt_error *err)
{
	struct dt_tables *u = e->tables;
	struct bank *b = &u->bank[u->nbanks];
	int fd = make_map(e,
			  (struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
					   .name = "dt_bank",
					   .key = 4,
					   .value = UW_BANK,
					   .entries = 1,
					   .flags = BPF_F_MMAPABLE},
			  err);
	void *p;

	if (fd < 0)
		return -1;
	p = dt_kmap_memory(fd, UW_BANK, 0, true, err);
	if (!p)
		return -1;
	/* The first one is named in the programs; putting one into the array makes the kernel wait
	 * for a grace period. */
	if (u->nbanks && bpf_map_update_elem(e->maps.uw_banks, &u->nbanks, &fd, 0) < 0) {
		dt_kmap_fill_error(err);
		dt_kmap_unmap(p, UW_BANK);
		return -1;
	}
	b->memory = p;
	b->used = 0;
	u->nbanks++;
	return fd;
}

int dt_tables_create(dt_bpf *e, dt_error *err)
{
	struct dt_tr_maps *m = &e->maps;

	e->tables = dt_xcalloc(1, sizeof(*e->tables));
	e->tables->identify = -1;
	m->uw_first_bank = make_bank(e, err);
	if (m->uw_first_bank < 0)
		return -1;
	m->uw_banks = make_map(e,
			       (struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
						.name = "dt_banks",
						.key = 4,
						.value = 4,
						.entries = UW_BANKS,
						.inner = m->uw_first_bank},
			       err);
	m->uw_objects = make_map(e,
				 (struct dt_kmap){.type = BPF_MAP_TYPE_HASH,
						  .name = "dt_objects",
						  .key = sizeof(struct dt_uw_key),
						  .value = sizeof(struct dt_uw_object),
						  .entries = UW_OBJECTS,
						  .flags = BPF_F_NO_PREALLOC},
				 err);
	m->uw_wanted = make_map(e,
				(struct dt_kmap){.type = BPF_MAP_TYPE_HASH,
						 .name = "dt_wanted",
						 .key = sizeof(struct dt_uw_key),
						 .value = sizeof(struct dt_uw_want),
						 .entries = UW_WANTED},
				err);
	return m->uw_banks < 0 || m->uw_objects < 0 || m->uw_wanted < 0 ? -1 : 0;
}

void dt_tables_free(dt_bpf *e)
{
	for (uint32_t i = 0; e->tables && i < e->tables->nbanks; i++)
		dt_kmap_unmap(e->tables->bank[i].memory, UW_BANK);
	free(e->tables);
	e->tables = NULL;
}

/* ---- writing a table ---- */

#define ROW ((uint32_t)sizeof(dt_unwind_row))

static uint32_t block_of(uint32_t pc)
{
	return pc >> UW_BLOCK_BITS;
}

/* Rows first ... first + n - 1 of a table, valid up to the file offset `end`. */
struct part {
	const dt_unwind_row *rows;
	uint32_t n, end;
};

/* Bytes from `used` on that a part takes: a word for each block and one more, then the rows. */
static uint64_t part_end(const struct part *p, uint32_t used)
{
	uint64_t words = (uint64_t)block_of(p->end - 1) - block_of(p->rows[0].pc) + 2;

	return dt_align_up(used + words * 4, ROW) + (uint64_t)p->n * ROW;
}

/* As many rows as fit in the bank: n is reduced. */
static void cut(struct part *p, uint32_t used)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;
		struct part try = {p->rows, mid, mid == p->n ? p->end : p->rows[mid].pc};

		if (part_end(&try, used) <= UW_BANK)
			lo = mid;
		else
			hi = mid - 1;
	}
	if (lo < p->n)
		p->end = p->rows[lo].pc;
	p->n = lo;
}

static void write_part(struct bank *bank, const struct part *p, struct dt_uw_piece *piece)
{
	uint32_t first = block_of(p->rows[0].pc), last = block_of(p->end - 1), row = 0;
	uint32_t *index = (uint32_t *)(void *)(bank->memory + bank->used);
	uint64_t at = dt_align_up(bank->used + (uint64_t)(last - first + 2) * 4, ROW);

	for (uint32_t b = first; b <= last + 1; b++) {
		while (row + 1 < p->n && (b > last || p->rows[row + 1].pc <= b << UW_BLOCK_BITS))
			row++;
		index[b - first] = (uint32_t)(at / ROW) + row;
	}
	memcpy(bank->memory + at, p->rows, (size_t)p->n * ROW);
	piece->start = p->rows[0].pc;
	piece->index = bank->used / 4 - first; /* modulo 2^32: the first block comes out right */
	bank->used = (uint32_t)dt_align_up(at + (uint64_t)p->n * ROW, 4);
}

#define FEW 64 /* rows: not worth a piece when more are to come */

/* False: no more space; code that is not in a piece will be walked by frame pointers. */
static bool write_table(dt_bpf *e, const dt_unwind *t, struct dt_uw_object *o)
{
	struct dt_tables *u = e->tables;
	uint32_t done = 0, pieces = 0,
		 all = t->n - 1; /* the last row only says where the others end */
	dt_error err;

	while (done < all && pieces < UW_PIECES) {
		struct bank *bank = &u->bank[u->nbanks - 1];
		struct part p = {t->rows + done, all - done, t->rows[all].pc};

		cut(&p, bank->used);
		if (p.n < FEW && done + p.n < all) {
			if (bank->used == 0 || u->nbanks == UW_BANKS || make_bank(e, &err) < 0)
				return false;
			continue;
		}
		o->piece[pieces].bank = u->nbanks - 1;
		o->end[pieces] = p.end;
		write_part(bank, &p, &o->piece[pieces++]);
		done += p.n;
	}
	return done == all;
}

/* From now on the file has this table; without rows: it has none, and is not requested again. */
static void publish(dt_bpf *e, const struct dt_uw_key *key, const dt_unwind *t)
{
	struct dt_uw_object o;

	for (uint32_t i = 0; i <= UW_PIECES; i++) {
		o.end[i] = UINT32_MAX;
		o.piece[i] = (struct dt_uw_piece){.bank = UW_NO_BANK};
	}
	o.piece[0].empty = t->n < 2;
	if (t->n > 1)
		write_table(e, t, &o);
	if (bpf_map_update_elem(e->maps.uw_objects, key, &o, BPF_NOEXIST) < 0 && errno != EEXIST)
		e->tables->full = true;
}

/* ---- files ---- */

/* The descriptor is closed. */
static void publish_file(dt_bpf *e, const struct dt_uw_key *key, int fd)
{
	dt_unwind t = {0};
	dt_error err;
	struct dt_elf_place place = {.jail = dt_procs_jail(e->procs)};
	dt_elf *elf = dt_elf_open_fd(fd, &place, &err);

	if (elf) {
		dt_unwind_read(elf, &t);
		dt_elf_free(elf);
	}
	publish(e, key, &t);
	dt_unwind_free(&t);
}

static void publish_vdso(dt_bpf *e)
{
	static const struct dt_uw_key key = {.inode = UW_VDSO_INODE};
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	dt_maps *maps = image ? dt_maps_read(getpid(), &(dt_error){0}) : NULL;
	const dt_mapping *m = maps ? dt_maps_find(maps, (uint64_t)(uintptr_t)image) : NULL;
	dt_unwind t = {0};
	dt_elf *elf = m ? dt_elf_open_memory(image, m->end - m->start, &(dt_error){0}) : NULL;

	if (elf) {
		dt_unwind_read(elf, &t);
		dt_elf_free(elf);
	}
	publish(e, &key, &t);
	dt_unwind_free(&t);
	if (maps)
		dt_maps_free(maps);
}

/* ---- files that no walk has met yet ---- */

/* The program that makes keys, loaded when it is first needed. */
static int identify_prog(dt_bpf *e)
{
	static const struct dt_small_program small = {.name = "dtrace_identify",
						      .type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	dt_error ignored;
	int slot;

	if (e->tables->identify >= 0)
		return e->tables->identify;
	slot = make_map(e,
			(struct dt_kmap){.type = BPF_MAP_TYPE_ARRAY,
					 .name = "dt_identify",
					 .key = 4,
					 .value = e->at.slot_size,
					 .entries = 1},
			&ignored);
	if (slot >= 0) {
		e->maps.identify = slot;
		e->tables->identify = dt_small_load(e, &small, dt_tr_identify, &ignored);
	}
	return e->tables->identify;
}

/* The request that a run of the program has left. Others are kept. */
static bool take_own(dt_bpf *e, uint64_t addr, struct dt_uw_key *key)
{
	int fd = e->maps.uw_wanted;
	struct dt_uw_want want;

	for (int rc = bpf_map_get_next_key(fd, NULL, key); rc == 0;
	     rc = bpf_map_get_next_key(fd, key, key))
		if (bpf_map_lookup_elem(fd, key, &want) == 0 && want.pid == (uint32_t)getpid() &&
		    want.addr == addr) {
			bpf_map_delete_elem(fd, key);
			return true;
		}
	return false;
}

/* The key of a file, as if a walk had met it. False: it has a table, or the key is not available. */
static bool identify(dt_bpf *e, int fd, struct dt_uw_key *key)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	uint64_t args[1] = {(uint64_t)(uintptr_t)p};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));
	bool found;

	if (p == MAP_FAILED)
		return false;
	found = identify_prog(e) >= 0 && bpf_prog_test_run_opts(identify_prog(e), &o) == 0 &&
		take_own(e, args[0], key);
	munmap(p, 4096);
	return found;
}

/* The descriptor is closed. */
static void read_ahead_fd(dt_bpf *e, int fd)
{
	struct dt_uw_key key;

	if (fd < 0)
		return;
	if (identify(e, fd, &key))
		publish_file(e, &key, fd);
	else
		close(fd);
}

static void read_ahead_path(void *e, const char *path)
{
	read_ahead_fd(e, dt_open_regular(AT_FDCWD, path, 0, DT_MAX_ELF_FILE, NULL));
}

static void read_ahead_process(dt_bpf *e, long pid)
{
	dt_maps *maps = dt_maps_read(pid, &(dt_error){0});

	for (uint32_t i = 0; maps && i < maps->n && !dt_jail_stopped(dt_procs_jail(e->procs)); i++)
		if (maps->v[i].exec && maps->v[i].kind == DT_MAP_FILE)
			read_ahead_fd(e, dt_mapping_open(pid, &maps->v[i]));
	if (maps)
		dt_maps_free(maps);
}

/* Before anything fires. A failure here only makes the first stacks incomplete. */
void dt_tables_preload(dt_bpf *e)
{
	const dt_proc *p;

	if (!e->tables)
		return;
	publish_vdso(e);
	for (uint32_t i = 0; e->procs && (p = dt_procs_nth(e->procs, i)); i++) {
		if (p->state == DT_PROC_GONE)
			continue;
		read_ahead_process(e, p->pid);
		if (p->origin == DT_PROC_CREATED)
			dt_needed(p->pid, dt_procs_jail(e->procs), read_ahead_path, e);
	}
}

/* ---- files that walks have met ---- */

/* Is this still the file that the walk met, and not one that replaced it in the process?
 */
static bool is_that_file(int fd, const struct dt_uw_key *key)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (uint64_t)st.st_size == key->size &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec ==
		   key->mtime;
}

static void serve_file(dt_bpf *e, const struct dt_uw_key *key, const struct dt_uw_want *want,
		       const dt_mapping *m)
{
	int fd = m->kind == DT_MAP_FILE ? dt_mapping_open(want->pid, m) : -1;

	if (fd >= 0 && is_that_file(fd, key))
		publish_file(e, key, fd);
	else if (fd >= 0)
		close(fd);
	else if (m->kind != DT_MAP_FILE || (errno != ENOENT && errno != ESRCH))
		publish(e, key, &(dt_unwind){0}); /* it cannot be opened: not requested again */
}

static bool is_known(dt_bpf *e, const struct dt_uw_key *key)
{
	struct dt_uw_object o;

	return bpf_map_lookup_elem(e->maps.uw_objects, key, &o) == 0;
}

static void serve(dt_bpf *e, const struct dt_uw_key *key, const struct dt_uw_want *want)
{
	dt_maps *maps = dt_maps_read(want->pid, &(dt_error){0});
	const dt_mapping *m = maps ? dt_maps_find(maps, want->addr) : NULL;
	char exe[32];

	if (m && !is_known(e, key))
		serve_file(e, key, want, m);
	if (maps)
		dt_maps_free(maps);
	/* most likely the caller is there */
	snprintf(exe, sizeof(exe), "/proc/%u/exe", want->pid);
	read_ahead_path(e, exe);
}

/* Remove a request once its table is in place, so that it does not wake this process again. When
 * there is no space for more files the list is not changed: once it is full as well, there are no
 * more wake-ups. */
void dt_tables_feed(dt_bpf *e)
{
	int fd = e->tables ? e->maps.uw_wanted : -1;
	struct dt_uw_want want;
	struct dt_uw_key key;

	for (uint32_t i = 0; fd >= 0 && i < UW_WANTED && !e->tables->full &&
			     !dt_jail_stopped(dt_procs_jail(e->procs));
	     i++) {
		if (bpf_map_get_next_key(fd, NULL, &key) < 0)
			break;
		if (bpf_map_lookup_elem(fd, &key, &want) == 0)
			serve(e, &key, &want);
		bpf_map_delete_elem(fd, &key);
	}
}
