/*
 * unwind: what the walker in the kernel (unwind.c) and the side that feeds it (tables.c) share.
 *
 *	dt_objects	hash: which file is it (struct dt_uw_key) -> where its table is (struct dt_uw_object)
 *	banks		arrays of 2 MB that hold the tables, mapped into this process
 *	dt_wanted	hash: files that a walk has met and that have no table yet -> where they are mapped
 *
 * A table in a bank is rows (dt_unwind_row, src/proc/unwind.h) and before them an index: for every block of 256
 * bytes of the file the number of the row that is in effect at its first byte. So a search begins in the
 * right block, where there are a handful of rows. A table larger than a bank is cut into pieces.
 */
#ifndef DT_BPF_UNWIND_H
#define DT_BPF_UNWIND_H

#include "base/base.h"
#include "proc/unwind.h"

#define UW_BANK	      (2u << 20)
#define UW_BANKS      64u
#define UW_ROWS	      (UW_BANK / (uint32_t)sizeof(dt_unwind_row))
#define UW_WORDS      (UW_BANK / 4)
#define UW_BLOCK_BITS 8
#define UW_OBJECTS    16384u
#define UW_WANTED     256u
#define UW_PIECES     31u /* of one object; a power of two less one */
#define UW_NO_BANK    UINT32_MAX

/* The file as the kernel knows it; only programs make keys. Inode numbers are used again, so size and time of
 * change are part of it. */
struct dt_uw_key {
	uint64_t inode, sb; /* sb: an address, which says no more than: the same file system */
	uint64_t size, mtime; /* nanoseconds */
};
#define UW_VDSO_INODE UINT64_MAX /* the vDSO is no file */

struct dt_uw_object {
	uint32_t end[UW_PIECES + 1]; /* of each piece, an offset in the file; UINT32_MAX behind the last */
	struct dt_uw_piece {
		uint32_t start;
		uint32_t index; /* word of the bank where the index would begin if it began at file offset 0 */
		uint32_t bank;	/* UW_NO_BANK: there is no piece */
		uint32_t pad;
	} piece[UW_PIECES + 1];
};

struct dt_uw_want {
	uint32_t pid, pad;
	uint64_t addr;
};

/* Where things are in the kernel's structures, from its type information. */
struct dt_uw_offsets {
	uint32_t task_mm;
	uint32_t mm_root, mm_vdso;
	uint32_t vma_start, vma_end, vma_pgoff, vma_file;
	uint32_t file_inode;
	uint32_t inode_sb, inode_ino, inode_size, inode_sec, inode_nsec, nsec_size;
	uint32_t task_utask, utask_instances, ri_stack, ri_orig, ri_next;
	bool uretprobes;
};

struct dt_bpf_unwind {
	struct dt_uw_offsets at;
	int fd_objects, fd_wanted, fd_banks, fd_first;
	struct dt_uw_bank {
		uint8_t *memory; /* mapped */
		uint32_t used;	 /* bytes */
	} bank[UW_BANKS];
	uint32_t nbanks;
	uint64_t rows; /* in all tables */
};

#endif
