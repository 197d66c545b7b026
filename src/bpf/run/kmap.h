/*
 * kmap: maps, their memory, and small programs; one helper for each.
 */
#ifndef DT_BPF_RUN_KMAP_H
#define DT_BPF_RUN_KMAP_H

#include "bpf/code/prog_btf.h"
#include "bpf/run/bpf_engine.h"

struct dt_kmap {
	enum bpf_map_type type;
	const char *name;
	uint32_t key;
	uint64_t value, entries;
	uint32_t flags;
	int inner;				   /* arrays of maps: a map like those in it */
	const struct dt_storage_btf *btf; /* task storage */
	const char *doing;			   /* for the message: "cannot ... the kernel"; NULL: create a map in */
};

/* A map, which is closed with the engine; -1 with errno. */
int dt_kmap_try(dt_bpf *e, const struct dt_kmap *m);
/* The same; -1 with *err. */
int dt_kmap_make(dt_bpf *e, const struct dt_kmap *m, dt_error *err);
/* Bytes of a map that is BPF_F_MMAPABLE, or of a ring buffer, from page `page` on; NULL with *err. */
void *dt_kmap_memory(int fd, uint64_t size, uint32_t page, bool writable, dt_error *err);
void dt_kmap_unmap(void *p, uint64_t size);
int dt_kmap_fill_error(dt_error *err); /* errno: an element could not be written */

/* A small program, not one of the plan. */
struct dt_small_program {
	const char *doing; /* as above; NULL: load a program into */
	const char *name;
	enum bpf_prog_type type;
	uint32_t attach_type;
	bool sleeps;
};
/* The program made by `code`, which is closed with the engine; -1 with *err. */
int dt_small_load(dt_bpf *e, const struct dt_small_program *p, int (*code)(dt_tr *t),
		  dt_error *err);

#endif
