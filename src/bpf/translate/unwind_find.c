/*
 * unwind_find: which file is mapped at an address of the current process, and where its table is.
 *
 * Mappings come from the kernel's own list, a maple tree below mm_struct, read with fault-safe
 * loads. So processes that have just started, forked or opened a library need no action by user
 * space first, and there is no state per process. (The helper bpf_find_vma would do the same, but
 * it takes a lock, and can be used only once per interrupt.) The tree may change while it is read;
 * a walk that gets lost ends, or finds a file that matches no table, and the stack is incomplete.
 *
 * Offsets in the kernel's structures come from its type information. How the tree marks its nodes
 * does not: that has been the same from Linux 6.1, which introduced the tree, to 6.18. On a kernel
 * whose nodes look different there is no walker, and bpf_get_stack() is used.
 */
#include "bpf/translate/unwind.h"

/* ---- layout of the kernel's structures ---- */

/* struct maple_node: its type, encoded in its address, and the offsets of its members */
enum {
	NODE_MASK = 255,
	NODE_TYPE_SHIFT = 3,
	NODE_TYPE_MASK = 15,
	NODE_LEAF = 1,
	NODE_ARANGE = 3,
	NODE_PIVOTS = 8,
	NODE_MAX_PIVOTS = 15,
	RANGE_SLOTS = 128,
	RANGE_END = 248,
	ARANGE_SLOTS = 80,
	ARANGE_END = 240,
	TREE_HEIGHT = 10,
};

static bool field(const dt_tr *t, const char *type, const char *path, uint32_t *at)
{
	return dt_tr_find_field(t->plan, type, path, at);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

bool dt_uw_known_tree(const dt_tr *t)
{
	uint32_t pivots, slots, more_pivots, more_slots, end;

	return field(t, "maple_range_64", "pivot", &pivots) && pivots == NODE_PIVOTS &&
	       field(t, "maple_range_64", "slot", &slots) && slots == RANGE_SLOTS &&
	       field(t, "maple_arange_64", "pivot", &more_pivots) && more_pivots == NODE_PIVOTS &&
	       field(t, "maple_arange_64", "slot", &more_slots) && more_slots == ARANGE_SLOTS &&
	       field(t, "maple_arange_64", "meta", &end) && end == ARANGE_END;
}

static bool find_offsets(const dt_tr *t, struct dt_uw_offsets *at)
{
	static const struct {
		const char *sec, *nsec;
		uint32_t nsec_size;
	} times[] = {{"i_mtime_sec", "i_mtime_nsec", 4},
		     {"__i_mtime.tv_sec", "__i_mtime.tv_nsec", 8},
		     {"i_mtime.tv_sec", "i_mtime.tv_nsec", 8}};
	size_t i = 0;

	while (i < DT_NELEM(times) && !(field(t, "inode", times[i].sec, &at->inode_sec) &&
					field(t, "inode", times[i].nsec, &at->inode_nsec)))
		i++;
	if (i == DT_NELEM(times))
		return false;
	at->nsec_size = times[i].nsec_size;
	at->uretprobes = field(t, "task_struct", "utask", &at->task_utask) &&
			 field(t, "uprobe_task", "return_instances", &at->utask_instances) &&
			 field(t, "return_instance", "stack", &at->ri_stack) &&
			 field(t, "return_instance", "orig_ret_vaddr", &at->ri_orig) &&
			 field(t, "return_instance", "next", &at->ri_next);
	at->ri_bytes = larger(at->ri_stack, larger(at->ri_orig, at->ri_next)) + 8;
	return dt_uw_known_tree(t) && field(t, "task_struct", "mm", &at->task_mm) &&
	       field(t, "mm_struct", "mm_mt.ma_root", &at->mm_root) &&
	       field(t, "mm_struct", "context.vdso", &at->mm_vdso) &&
	       field(t, "vm_area_struct", "vm_start", &at->vma_start) &&
	       field(t, "vm_area_struct", "vm_end", &at->vma_end) &&
	       field(t, "vm_area_struct", "vm_pgoff", &at->vma_pgoff) &&
	       field(t, "vm_area_struct", "vm_file", &at->vma_file) &&
	       field(t, "file", "f_inode", &at->file_inode) &&
	       field(t, "inode", "i_sb", &at->inode_sb) &&
	       field(t, "inode", "i_ino", &at->inode_ino) &&
	       field(t, "inode", "i_size", &at->inode_size);
}

static uint32_t vma_bytes(const struct dt_uw_offsets *at)
{
	return larger(larger(at->vma_start, at->vma_end), larger(at->vma_pgoff, at->vma_file)) + 8;
}

static uint32_t inode_bytes(const struct dt_uw_offsets *at)
{
	return larger(larger(at->inode_sb, at->inode_ino),
		      larger(at->inode_size, larger(at->inode_sec, at->inode_nsec))) +
	       8;
}

/* Can this program walk user stacks itself? Decided while learning, and then fixed. */
bool dt_uw_can(dt_tr *t)
{
	struct dt_uw_offsets at = {0};

	if (!dt_plan_can(t->plan, BTF) || t->task_arg || t->need->is.no_walker ||
	    dt_opt(t->plan->opts, DT_O_UNWIND) == DT_UNWIND_FP)
		return false;
	if (t->need->is.walker)
		return true;
	if (!t->learn)
		return false;
	if (!find_offsets(t, &at) || vma_bytes(&at) > 256 || inode_bytes(&at) > 256 ||
	    (at.uretprobes && at.ri_bytes > 256)) {
		t->learn->is.no_walker = true;
		return false;
	}
	dt_tr_want_old(t);
	t->learn->is.walker = true;
	t->learn->walk = at;
	return true;
}

/* ---- find(slot): the mapping that U_KEY is in ---- */

/*
 * level(): one step down the tree. Children are separated by pivots; ours is the first whose pivot
 * is not less than the key, or the last one. end = type == ARANGE ? node->meta.end : node->pivot[14]
 *? 15 : node->meta.end for (i = 0; i < end && node->pivot[i] < key; i++) ; node = node->slot[i]
 */
static void level_function(dt_code *c, uint32_t func)
{
	uint32_t bad = dt_code_label(c), range = dt_code_label(c), have_end = dt_code_label(c),
		 found = dt_code_label(c), wide = dt_code_label(c), next = dt_code_label(c),
		 leaf = dt_code_label(c);

	begin_callback(c, func);
	ld(c, 8, R7, R6, U_NODE);
	mov(c, R3, R7);
	alui(c, BPF_AND, R3, ~NODE_MASK);
	read_memory(c, false, U_BUF, 256, bad);
	alui(c, BPF_RSH, R7, NODE_TYPE_SHIFT);
	alui(c, BPF_AND, R7, NODE_TYPE_MASK);
	ld(c, 8, R3, R6, U_KEY);
	jmpi(c, BPF_JNE, R7, NODE_ARANGE, range);
	ld(c, 1, R2, R6, U_BUF + ARANGE_END);
	ja(c, have_end);
	dt_code_place(c, range);
	movi(c, R2, NODE_MAX_PIVOTS);
	ld(c, 8, R1, R6, U_BUF + NODE_PIVOTS + (NODE_MAX_PIVOTS - 1) * 8);
	jmpi(c, BPF_JNE, R1, 0, have_end);
	ld(c, 1, R2, R6, U_BUF + RANGE_END);
	dt_code_place(c, have_end);
	for (int i = 0; i <= NODE_MAX_PIVOTS; i++) {
		movi(c, R1, i);
		jmpi(c, BPF_JLE, R2, i, found);
		if (i == NODE_MAX_PIVOTS)
			break;
		ld(c, 8, R4, R6, U_BUF + NODE_PIVOTS + i * 8);
		jmp(c, BPF_JGE, R4, R3, found);
	}
	ja(c, bad);
	dt_code_place(c, found);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R1, R6);
	jmpi(c, BPF_JEQ, R7, NODE_ARANGE, wide);
	ld(c, 8, R1, R1, U_BUF + RANGE_SLOTS);
	ja(c, next);
	dt_code_place(c, wide);
	ld(c, 8, R1, R1, U_BUF + ARANGE_SLOTS);
	dt_code_place(c, next);
	st(c, 8, R6, U_NODE, R1);
	jmpi(c, BPF_JLE, R7, NODE_LEAF, leaf);
	jmpi(c, BPF_JLE, R1, 4096, bad);
	answer(c, 0);
	dt_code_place(c, leaf);
	sti(c, 4, R6, U_LEAF, 1);
	answer(c, 1);
	dt_code_place(c, bad);
	answer(c, 1);
}

enum { F_KEY = -40, F_WANT = -56 }; /* on the stack: struct dt_uw_key, struct dt_uw_want */

static void key_part(dt_code *c, size_t member)
{
	st(c, 8, R10, F_KEY + (int)member, R1);
}

/* The key of the file in r3, on the stack. */
static void identify_file(dt_code *c, const struct dt_uw_offsets *at, uint32_t none)
{
	alui(c, BPF_ADD, R3, (int32_t)at->file_inode);
	read_memory(c, false, U_NODE, 8, none);
	ld(c, 8, R3, R6, U_NODE);
	read_memory(c, false, U_BUF, inode_bytes(at), none);
	ld(c, 8, R1, R6, U_BUF + (int)at->inode_ino);
	key_part(c, offsetof(struct dt_uw_key, inode));
	ld(c, 8, R1, R6, U_BUF + (int)at->inode_sb);
	key_part(c, offsetof(struct dt_uw_key, sb));
	ld(c, 8, R1, R6, U_BUF + (int)at->inode_size);
	key_part(c, offsetof(struct dt_uw_key, size));
	ld(c, 8, R1, R6, U_BUF + (int)at->inode_sec);
	alui(c, BPF_MUL, R1, 1000000000);
	ld(c, at->nsec_size, R2, R6, U_BUF + (int)at->inode_nsec);
	alu(c, BPF_ADD, R1, R2);
	key_part(c, offsetof(struct dt_uw_key, mtime));
}

/* Fill the next cache entry with the whole mapping in U_BUF, for now without a table. r8 = its
 * start.
 *	entry = { vm_start, vm_end - vm_start, vm_pgoff * page size - vm_start, -, NO_BANK } */
static void cache_mapping(dt_code *c, const struct dt_uw_offsets *at, uint32_t none)
{
	ld(c, 8, R9, R6, U_KEY);
	ld(c, 8, R8, R6, U_BUF + (int)at->vma_start);
	jmp(c, BPF_JGT, R8, R9, none);
	ld(c, 8, R2, R6, U_BUF + (int)at->vma_end);
	jmp(c, BPF_JGE, R9, R2, none);
	alu(c, BPF_SUB, R2, R8);
	ld(c, 4, R7, R6, U_NEXT);
	mov(c, R1, R7);
	alui(c, BPF_ADD, R1, 1);
	st(c, 4, R6, U_NEXT, R1);
	alui(c, BPF_AND, R7, C_ENTRIES - 1);
	alui(c, BPF_MUL, R7, C_SIZE);
	st(c, 4, R6, U_ENTRY, R7);
	alu(c, BPF_ADD, R7, R6);
	st(c, 8, R7, U_CACHE + C_START, R8);
	st(c, 8, R7, U_CACHE + C_LEN, R2);
	ld(c, 8, R1, R6, U_BUF + (int)at->vma_pgoff);
	alui(c, BPF_LSH, R1, __builtin_ctzll(dt_page_size()));
	alu(c, BPF_SUB, R1, R8);
	st(c, 8, R7, U_CACHE + C_DELTA, R1);
	sti(c, 4, R7, U_CACHE + C_BANK, (int32_t)UW_NO_BANK);
}

/* r7 = the cache entry that is being filled */
static void entry_pointer(dt_code *c)
{
	ld(c, 4, R7, R6, U_ENTRY);
	alui(c, BPF_AND, R7, (C_ENTRIES - 1) * C_SIZE);
	alu(c, BPF_ADD, R7, R6);
}

/* Tell the consumer where a file without a table is mapped. */
static void want_table(dt_tr *t, uint32_t out)
{
	dt_code *c = t->c;

	dt_tr_pid_tgid(t);
	alui(c, BPF_RSH, R0, 32);
	jmpi(c, BPF_JEQ, R0, 0, out); /* outside our pid namespace: the tracer could not find it */
	st(c, 8, R10, F_WANT, R0);
	st(c, 8, R10, F_WANT + (int)offsetof(struct dt_uw_want, addr), R9);
	map(c, R1, t->maps->uw_wanted);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, F_KEY);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, F_WANT);
	movi(c, R4, BPF_NOEXIST);
	helper(c, BPF_FUNC_map_update_elem);
	jmpi(c, BPF_JNE, R0, 0, out);
	dt_tr_wake(t);
	ja(c, out);
}

/*
 * r0 is the object: which of its pieces? The entry becomes the part of the mapping that it is
 * about. pos = number of pieces that end at or before the file offset r1: five steps, no branch
 *	start = max(start, piece.start - delta), end = min(end, piece.end - delta)
 */
static void choose_piece(dt_code *c, uint32_t out)
{
	const int piece = offsetof(struct dt_uw_object, piece);
	uint32_t low = dt_code_label(c), high = dt_code_label(c), gap = dt_code_label(c);

	entry_pointer(c);
	ld(c, 8, R8, R7, U_CACHE + C_DELTA);
	mov(c, R1, R9);
	alu(c, BPF_ADD, R1, R8);
	movi(c, R2, 0);
	for (int step = (UW_PIECES + 1) / 2; step; step /= 2) {
		mov(c, R3, R2);
		alui(c, BPF_LSH, R3, 2);
		alu(c, BPF_ADD, R3, R0);
		ld(c, 4, R3, R3, (step - 1) * 4);
		alu(c, BPF_SUB, R3, R1);
		alui(c, BPF_SUB, R3, 1);
		alui(c, BPF_RSH, R3, 63);
		alui(c, BPF_MUL, R3, step);
		alu(c, BPF_ADD, R2, R3);
	}
	mov(c, R3, R2);
	alui(c, BPF_LSH, R3, 2);
	alu(c, BPF_ADD, R3, R0);
	ld(c, 4, R4, R3, 0); /* end */
	alui(c, BPF_LSH, R2, 4);
	alu(c, BPF_ADD, R2, R0);
	ld(c, 4, R5, R2, piece + (int)offsetof(struct dt_uw_piece, empty));
	jmpi(c, BPF_JNE, R5, 0, out);
	ld(c, 4, R3, R2, piece + (int)offsetof(struct dt_uw_piece, start));
	jmp(c, BPF_JLT, R1, R3, gap);
	ld(c, 4, R5, R2, piece + (int)offsetof(struct dt_uw_piece, bank));
	jmpi(c, BPF_JGE, R5, UW_BANKS, gap);
	ld(c, 4, R2, R2, piece + (int)offsetof(struct dt_uw_piece, index));
	st(c, 4, R7, U_CACHE + C_INDEX, R2);
	st(c, 4, R7, U_CACHE + C_BANK, R5);
	ld(c, 8, R2, R7, U_CACHE + C_START);
	ld(c, 8, R5, R7, U_CACHE + C_LEN);
	alu(c, BPF_ADD, R5, R2);
	alu(c, BPF_SUB, R3, R8);
	alu(c, BPF_SUB, R4, R8);
	jmp(c, BPF_JGE, R2, R3, low);
	mov(c, R2, R3);
	dt_code_place(c, low);
	jmp(c, BPF_JLE, R5, R4, high);
	mov(c, R5, R4);
	dt_code_place(c, high);
	st(c, 8, R7, U_CACHE + C_START, R2);
	alu(c, BPF_SUB, R5, R2);
	st(c, 8, R7, U_CACHE + C_LEN, R5);
	ja(c, out);
	dt_code_place(
	    c, gap); /* there is no table for this address, but for others of the mapping */
	st(c, 8, R7, U_CACHE + C_START, R9);
	sti(c, 8, R7, U_CACHE + C_LEN, 1);
	ja(c, out);
}

/* r0 = offset of the cache entry that is now about U_KEY; -1: nothing is mapped there */
void dt_uw_find_function(dt_tr *t, uint32_t func)
{
	const struct dt_uw_offsets *at = &t->need->walk;
	dt_code *c = t->c;
	uint32_t level = dt_code_func_new(c, "level"), none = dt_code_label(c),
		 out = dt_code_label(c), file = dt_code_label(c), look = dt_code_label(c),
		 have = dt_code_label(c);

	dt_code_func_begin_global(c, func, 1);
	mov(c, R6, R1);
	copy_word(c, U_NODE, U_ROOT);
	sti(c, 4, R6, U_LEAF, 0);
	mov(c, R2, R1);
	alui(c, BPF_AND, R2, 3);
	jmpi(c, BPF_JNE, R2, 2, none); /* no tree: one mapping, or none */
	movi(c, R1, TREE_HEIGHT);
	loop(c, level);
	ld(c, 4, R1, R6, U_LEAF);
	jmpi(c, BPF_JEQ, R1, 0, none);
	ld(c, 8, R3, R6, U_NODE);
	jmpi(c, BPF_JEQ, R3, 0, none);
	read_memory(c, false, U_BUF, vma_bytes(at), none);
	cache_mapping(c, at, none);
	ld(c, 8, R3, R6, U_BUF + (int)at->vma_file);
	jmpi(c, BPF_JNE, R3, 0, file);
	ld(c, 8, R1, R6, U_VDSO);
	jmp(c, BPF_JNE, R1, R8, out);
	for (int i = 0; i < (int)sizeof(struct dt_uw_key); i += 8)
		sti(c, 8, R10, F_KEY + i,
		    i == offsetof(struct dt_uw_key, inode) ? (int32_t)UW_VDSO_INODE : 0);
	ja(c, look);
	dt_code_place(c, file);
	identify_file(c, at, out);
	dt_code_place(c, look);
	map(c, R1, t->maps->uw_objects);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, F_KEY);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, have);
	want_table(t, out);
	dt_code_place(c, have);
	choose_piece(c, out);
	dt_code_place(c, out);
	ld(c, 4, R0, R6, U_ENTRY);
	leave(c);
	dt_code_place(c, none);
	answer(c, -1);
	level_function(c, level);
}

/* ---- the task ---- */

/* The thread's mappings and pending return probes. r8 is the task; r1-r5 and r7 are used. */
void dt_uw_note_task(dt_tr *t, uint32_t none)
{
	const struct dt_uw_offsets *at = &t->need->walk;
	dt_code *c = t->c;
	uint32_t no = dt_code_label(c);

	ld(c, 8, R7, R8, (int)at->task_mm);
	jmpi(c, BPF_JEQ, R7, 0, none); /* a kernel thread */
	ld(c, 8, R1, R7, (int)at->mm_root);
	st(c, 8, R6, U_ROOT, R1);
	ld(c, 8, R1, R7, (int)at->mm_vdso);
	st(c, 8, R6, U_VDSO, R1);
	if (!at->uretprobes)
		return;
	sti(c, 8, R6, U_RISTACK, 0);
	ld(c, 8, R1, R8, (int)at->task_utask);
	jmpi(c, BPF_JEQ, R1, 0, no);
	ld(c, 8, R1, R1, (int)at->utask_instances);
	st(c, 8, R6, U_RI, R1); /* an address becomes a number */
	ld(c, 8, R1, R6, U_RI);
	jmpi(c, BPF_JEQ, R1, 0, no);
	sti(c, 8, R6, U_RISTACK, 1); /* below everything: the first lookup fetches it */
	dt_code_place(c, no);
}

/* ---- a separate program ---- */

/*
 * A program that this process runs (BPF_PROG_RUN) on one of its own addresses: it looks for the
 * table of the file that is mapped there, as a walk would, and leaves the file's key in dt_wanted
 * if there is none.
 */
int dt_tr_identify(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t find, out = dt_code_label(c);

	dt_code_func_begin(c, dt_code_func_new(c, "identify"));
	find = dt_code_func_new(c, "find");
	map_value(c, R6, t->maps->identify, 0);
	ld(c, 8, R1, R1, 0);
	st(c, 8, R6, U_KEY, R1);
	sti(c, 4, R6, U_NEXT, 0);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R8, R0);
	dt_uw_note_task(t, out);
	mov(c, R1, R6);
	dt_code_call(c, find);
	dt_code_place(c, out);
	answer(c, 0);
	dt_uw_find_function(t, find);
	return t->failed ? -1 : 0;
}
