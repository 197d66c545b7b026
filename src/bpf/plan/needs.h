/*
 * needs: what the code of a plan needs besides instructions: areas of the slot, maps, tables.
 *
 * Sizes and offsets are not known before code is generated, so it is generated twice: the first
 * round (dt_learn) fills this, and its code is discarded; then the layout is fixed, the maps are
 * created, and the same functions generate the code that is loaded.
 */
#ifndef DT_BPF_PLAN_NEEDS_H
#define DT_BPF_PLAN_NEEDS_H

#include "bpf/plan/plan.h"

/* Offsets in the kernel's structures, for the walker of user stacks (unwind_find.c). */
struct dt_uw_offsets {
	uint32_t task_mm;
	uint32_t mm_root, mm_vdso;
	uint32_t vma_start, vma_end, vma_pgoff, vma_file;
	uint32_t file_inode;
	uint32_t inode_sb, inode_ino, inode_size, inode_sec, inode_nsec, nsec_size;
	uint32_t task_utask, utask_instances, ri_stack, ri_orig, ri_next, ri_bytes;
	bool uretprobes;
};

/* The parts of an array's key, each as large as its largest use. */
struct dt_var_keys {
	bool array; /* it is used as one */
	uint32_t n;
	struct dt_var_key {
		uint32_t size;
		bool is_string;
	} key[DT_DIF_NTREGS];
};

/* What can be compared; see dt_needs_grew(). */
struct dt_need {
	bool task_storage, scratch, memory, strings, epid, names, spec, stack, vtime, element, late,
	    returns;
	bool walker;	/* programs walk user stacks themselves ... */
	bool no_walker; /* ... or cannot: this kernel's structures are not as expected */
	bool absent;	/* programs that must not sleep read user memory: absent.c ... */
	bool no_absent; /* ... but cannot, as above */
	bool groups;	/* names of control groups are kept: lib_cgroup.c */
	bool direct;	/* programs look at memory in the direct map: direct_map.c */
	uint32_t packet; /* bytes that pcap() records at most */
	uint32_t zeros; /* to copy from */
	uint32_t left;	/* bytes of frames to keep of a thread that leaves: left.c */
	uint32_t vtime_start; /* offset of task_struct.se.exec_start */
};

typedef struct dt_plan_needs {
	struct dt_need is;
	/* Words of the slot that some code reads: the others are not set at the beginning of a firing. */
	struct dt_need_words {
		bool faults; /* S_FAULT, S_CLAUSE, S_FACTION */
		bool time, flags, used, ids, task;
	} reads;
	uint32_t sub_locals; /* variables of the subroutines of the program that has most */
	bool waiting; /* some program waits for user memory */
	struct dt_uw_offsets walk;
	uint32_t page_struct, uptodate; /* absent.c: bytes of struct page; the bit of folios that are valid */
	uint32_t *used; /* by dt_plan_prog.whole: bit n: some clause uses argument n */
	uint32_t nused;
	struct dt_var_keys *keys[DT_PLAN_SCOPES]; /* as in the plan's vars */
} dt_plan_needs;

void dt_needs_init(dt_plan_needs *n, const dt_plan *p);
/* There is room in `used` for all programs of the plan. */
void dt_needs_make_room(dt_plan_needs *n, const dt_plan *p);
bool dt_needs_grew(const dt_plan_needs *before, const dt_plan_needs *now);

#endif
