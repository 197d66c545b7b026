/*
 * objects: files with code that the target has mapped. Private to the module: objects.c, places.c.
 */
#ifndef DT_PROCESS_OBJECTS_H
#define DT_PROCESS_OBJECTS_H

#include "arch/insn.h"
#include "elf/elf.h"
#include "process/process.h"

#define DT_PE_FUNCTION_MAX (1u << 20) /* bytes */

struct dt_pe_range {
	uint64_t start, size;
	uint64_t own; /* bytes that have unwind information */
};

struct dt_pe_file {
	char *path;
	dt_elf *elf;
	uint64_t inode;
	DT_VEC(struct dt_pe_range) code; /* what has unwind information, by address; also what comes after it */
	dt_jump_targets targets; /* of all its jumps, and the starts of functions; sorted */
	uint64_t sequences, sequences_end; /* descriptions of restartable sequences (rseq), by vaddr */
	bool swept, go;
};

struct dt_pe_files {
	long pid;
	dt_jail *jail;
	const dt_maps *maps;
	DT_VEC(struct dt_pe_file *) v;
	const char *last_path; /* that was asked for, and its file */
	struct dt_pe_file *last;
	dt_body body; /* of the function at hand */
	uint8_t *code;
	struct dt_pe_piece *piece; /* that was read last */
};

struct dt_pe_file *dt_pe_file(struct dt_pe_files *fs, const char *path, dt_error *err); /* NULL with *err */
void dt_pe_sweep(struct dt_pe_files *fs, struct dt_pe_file *f); /* find all jumps, if that has not been done */
/* Code that has unwind information, up to the next that has: C libraries end it before some system calls. */
bool dt_pe_code_of(const struct dt_pe_file *f, uint32_t i, struct dt_pe_range *to);
/* Does one of them lead to a byte between these two, or does a function begin there? */
bool dt_pe_is_target(const struct dt_pe_file *f, uint64_t after, uint64_t before);
bool dt_pe_is_code_of(const dt_mapping *m, const struct dt_pe_file *f);
/* The next mapping of code that has this offset of the file; *it begins at 0. NULL: there is none. */
const dt_mapping *dt_pe_mapping(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t offset, uint32_t *it);
/* Where a word of data is, of the object that this code belongs to; 0: nowhere. */
uint64_t dt_pe_data_address(const struct dt_pe_files *fs, const struct dt_pe_file *f, const dt_mapping *code, uint64_t offset);
bool dt_pe_find_function(const struct dt_pe_file *f, uint64_t vaddr, uint64_t *start, uint64_t *size);
/* Decode it into fs->body and fs->code, with a few bytes after it, and compare it with what is at the address. NULL, or why not. */
const char *dt_pe_read_function(struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t start, uint64_t size, uint64_t address);

#endif
