/*
 * unwind: user stacks, walked in the kernel while a probe fires, also of code without frame pointers.
 *
 * A stack is wanted at the firing, not later: it can be a key of an aggregation. The kernel's own helper
 * (bpf_get_stack) follows frame pointers, which distributions do not compile in. So there is a walker of
 * our own in every program that asks for a user stack. It uses tables made from .eh_frame (src/proc/unwind.h),
 * which tables.c puts into maps, one per file and not per process.
 *
 *	unwind(slot, where, most):	the current thread's user registers; then for each frame
 *	  frame():	store pc; stop if enough
 *			which mapping is pc in?  the four last used ones are remembered; else find()
 *			which row?		 index of its block, then a search among a few rows
 *			CFA by the row; return address, where rbp and rbx are; next frame
 *	  word():	a word of the user's stack
 *	find():		the mapping in the kernel's tree, its file, the file's table
 *	  level():	one node of that tree
 *
 * Mappings come from the kernel's own list, a maple tree below mm_struct, read with fault-safe loads. So
 * processes that have just started, forked or opened a library need no word from user space first, and
 * there is nothing to keep per process. (The helper bpf_find_vma would do the same, but it takes a lock and can
 * be used once per interrupt only.) The tree may change while it is read; a walk that goes astray ends or finds a file
 * that fits no table, and the stack is short.
 *
 * Where a frame has no table (JIT code, a file seen for the first time) the walker takes one step by the frame pointer and
 * goes on. On kernels without type information, and for 32-bit programs, -1 is returned and bpf_get_stack() is used.
 *
 * rbp and rbx are not read when they are found but when they are needed: U_BPAT says where the value is.
 */
#include <stddef.h>
#include <stdio.h>

#include "bpf/image.h"
#include "bpf/unwind.h"

/* The walker's words in the slot. */
enum {
	U_OUT = S_UNWIND,   /* u32: where frames go: offset in the slot */
	U_MAX = U_OUT + 4,  /* u32: how many at most */
	U_N = U_OUT + 8,    /* u32: so far */
	U_NEXT = U_OUT + 12, /* u32: which cache entry is replaced next */
	U_PC = U_OUT + 16,
	U_SP = U_OUT + 24,
	U_BP = U_OUT + 32,
	U_BX = U_OUT + 40,
	U_BPAT = U_OUT + 48, /* 0: U_BP is right; LOST; else the address where it is */
	U_BXAT = U_OUT + 56,
	U_SOURCE = U_OUT + 64, /* u32: where the other registers are */
	U_BACK = U_OUT + 68,   /* u32: 1 when pc is a return address: it belongs to the call before it */
	U_ROOT = U_OUT + 72,   /* of the tree of mappings */
	U_VDSO = U_OUT + 80,
	U_KEY = U_OUT + 88,  /* pc - back */
	U_NODE = U_OUT + 96, /* node of the tree; in the end the mapping */
	U_LEAF = U_OUT + 104, /* u32 */
	U_ENTRY = U_OUT + 108, /* u32: offset of the cache entry that find() has filled */
	U_SIGNAL = U_OUT + 112, /* address of the saved registers of the last signal frame */
	U_RI = U_OUT + 120,	/* the next return probe that is pending in this thread */
	U_RISTACK = U_OUT + 128, /* where it has put its own return address; 0: no more */
	U_RIORIG = U_OUT + 136,	 /* what was there */
	U_RISEEK = U_OUT + 144,
	U_CACHE = U_OUT + 152, /* 4 mappings */
	U_BUF = U_CACHE + 4 * 32,
	U_WORD = U_BUF + 256,	  /* what word() has read */
	U_WINDOW_AT = U_WORD + 8, /* a piece of the user stack: its address */
	U_WINDOW_MAX = U_WORD + 16, /* the largest offset at which 8 bytes of it can be read */
	U_WINDOW = U_WORD + 24,
	U_END = U_WINDOW + 1024,
};
_Static_assert(U_END - S_UNWIND == DT_BPF_UNWIND_SIZE, "the slot's unwind area");

enum { C_START = 0, C_LEN = 8, C_DELTA = 16, C_INDEX = 24, C_BANK = 28, C_SIZE = 32, C_ENTRIES = 4 };
enum { SOURCE_NONE, SOURCE_REGS, SOURCE_SIGNAL };
#define LOST 1

/* Reading user memory costs 70 ns, however little is read; so a kilobyte of the stack is read at a time. It begins
 * a little below the word that is asked for, where its frame has saved registers, and stays within one page, so that
 * it can be read if the word can. */
enum { WINDOW_SIZE = U_END - U_WINDOW, WINDOW_BELOW = 64, PAGE_SIZE = 4096 };

/* struct pt_regs */
enum { PT_BP = 32, PT_BX = 40, PT_IP = 128, PT_CS = 136, PT_SP = 152 };
#define USER_CS 0x33 /* of 64-bit programs */

/* The registers in a sigcontext: r8 ... r15 di si bp bx dx ax cx sp ip; by index in pt_regs, four bits each */
enum { SIG_BP = 10, SIG_BX, SIG_SP = 15, SIG_IP, SIG_N };
#define SIG_INDEX 0x89ced0123ba4567ull

/* ---- what the kernel's structures look like ---- */

static bool field(const dt_bpf_tr *t, const char *type, const char *path, uint32_t *at)
{
	return dt_bpf_find_field(t->e, type, path, at);
}

static bool find_offsets(const dt_bpf_tr *t, struct dt_uw_offsets *at)
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
	return field(t, "task_struct", "mm", &at->task_mm) && field(t, "mm_struct", "mm_mt.ma_root", &at->mm_root) &&
	       field(t, "mm_struct", "context.vdso", &at->mm_vdso) &&
	       field(t, "vm_area_struct", "vm_start", &at->vma_start) &&
	       field(t, "vm_area_struct", "vm_end", &at->vma_end) &&
	       field(t, "vm_area_struct", "vm_pgoff", &at->vma_pgoff) &&
	       field(t, "vm_area_struct", "vm_file", &at->vma_file) && field(t, "file", "f_inode", &at->file_inode) &&
	       field(t, "inode", "i_sb", &at->inode_sb) && field(t, "inode", "i_ino", &at->inode_ino) &&
	       field(t, "inode", "i_size", &at->inode_size);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
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

static uint32_t ri_bytes(const struct dt_uw_offsets *at)
{
	return larger(at->ri_stack, larger(at->ri_orig, at->ri_next)) + 8;
}

enum { UNWIND_TABLES, UNWIND_FP }; /* in the order of options.def */

/* Can this program walk user stacks itself? Asked first while learning; then it stays so. */
static bool can_unwind(dt_bpf_tr *t)
{
	dt_engine *e = t->e;
	struct dt_uw_offsets at = {0};

	if (!e->has_btf || t->task_arg || e->no_unwind || dt_opt(e->opts, DT_O_UNWIND) == UNWIND_FP)
		return false;
	if (e->unwind)
		return true;
	if (!find_offsets(t, &at) || vma_bytes(&at) > 256 || inode_bytes(&at) > 256 ||
	    (at.uretprobes && ri_bytes(&at) > 256)) {
		e->no_unwind = true;
		return false;
	}
	e->unwind = dt_arena_alloc(e->arena, sizeof(*e->unwind));
	e->unwind->at = at;
	e->unwind->fd_objects = e->unwind->fd_wanted = e->unwind->fd_banks = e->unwind->fd_first = -1;
	return true;
}

/* ---- small pieces ---- */

static void copy_word(dt_bpf_code *c, int to, int from)
{
	ld(c, 8, R1, R6, from);
	st(c, 8, R6, to, R1);
}

/* probe_read(slot + to, n, r3); `fail` when it cannot be read */
static void read_memory(dt_bpf_code *c, bool user, int to, uint32_t n, uint32_t fail)
{
	dt_bpf_lea(c, R1, (uint32_t)to);
	movi(c, R2, (int32_t)n);
	helper(c, user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, fail);
}

static void answer(dt_bpf_code *c, int32_t n)
{
	movi(c, R0, n);
	leave(c);
}

/* word(slot, addr): U_WORD = the user's word there; r0 = 0, or not if it cannot be read */
static void word_function(dt_bpf_code *c, uint32_t func)
{
	uint32_t miss = dt_bpf_label(c), low = dt_bpf_label(c), high = dt_bpf_label(c), bad = dt_bpf_label(c);

	dt_bpf_func_begin_global(c, func, 2);
	mov(c, R6, R1);
	mov(c, R7, R2);
	ld(c, 8, R1, R6, U_WINDOW_AT);
	alu(c, BPF_SUB, R2, R1);
	ld(c, 8, R1, R6, U_WINDOW_MAX);
	jmp(c, BPF_JGT, R2, R1, miss);
	jmpi(c, BPF_JGT, R2, WINDOW_SIZE - 8, miss); /* never */
	alu(c, BPF_ADD, R2, R6);
	ld(c, 8, R1, R2, U_WINDOW);
	st(c, 8, R6, U_WORD, R1);
	answer(c, 0);
	dt_bpf_place(c, miss);
	/* r8 = start of the window, r9 = its size: from the word, less what lies below it in the page */
	mov(c, R8, R7);
	alui(c, BPF_AND, R8, PAGE_SIZE - 1);
	movi(c, R9, PAGE_SIZE);
	alu(c, BPF_SUB, R9, R8);
	jmpi(c, BPF_JLT, R9, 8, bad); /* a word across two pages is no word of a stack */
	jmpi(c, BPF_JLE, R8, WINDOW_BELOW, low);
	movi(c, R8, WINDOW_BELOW);
	dt_bpf_place(c, low);
	alu(c, BPF_ADD, R9, R8);
	jmpi(c, BPF_JLE, R9, WINDOW_SIZE, high);
	movi(c, R9, WINDOW_SIZE);
	dt_bpf_place(c, high);
	mov(c, R3, R7);
	alu(c, BPF_SUB, R3, R8);
	st(c, 8, R6, U_WINDOW_AT, R3);
	sti(c, 8, R6, U_WINDOW_MAX, 0);
	dt_bpf_lea(c, R1, U_WINDOW);
	mov(c, R2, R9);
	helper(c, BPF_FUNC_probe_read_user);
	jmpi(c, BPF_JNE, R0, 0, bad);
	alui(c, BPF_SUB, R9, 8);
	st(c, 8, R6, U_WINDOW_MAX, R9);
	alu(c, BPF_ADD, R8, R6);
	ld(c, 8, R1, R8, U_WINDOW);
	st(c, 8, R6, U_WORD, R1);
	answer(c, 0);
	dt_bpf_place(c, bad);
	sti(c, 8, R6, U_WINDOW_AT, 1);
	answer(c, 1);
}

/* dst = a bit field of the unsigned 32-bit number in src, as a signed number */
static void signed_field(dt_bpf_code *c, int dst, int src, int low, int high)
{
	mov(c, dst, src);
	alui(c, BPF_LSH, dst, 63 - high);
	alui(c, BPF_ARSH, dst, 63 - high + low);
}

/* bpf_loop(n, func, &slot, 0) */
static void loop(dt_bpf_code *c, uint32_t func)
{
	st(c, 8, R10, -8, R6);
	dt_bpf_func_addr(c, R2, func);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, -8);
	movi(c, R4, 0);
	helper(c, BPF_FUNC_loop);
}

/* A callback of bpf_loop: r6 = the slot */
static void begin_callback(dt_bpf_code *c, uint32_t func)
{
	dt_bpf_func_begin(c, func); /* the kernel wants callbacks to be static */
	ld(c, 8, R6, R2, 0);
}

/* ---- find(slot): the mapping that U_KEY is in ---- */

/* struct maple_node (Linux 6.1 to 6.18): what its address says about its type, and where things are in it */
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
	ARANGE_MAX = 9,
	TREE_HEIGHT = 10,
};

/*
 * level(): one step down the tree. Children are separated by pivots; ours is the first whose pivot is not less
 * than the key, or the last one.
 *	end = type == ARANGE ? node->meta.end : node->pivot[14] ? 15 : node->meta.end
 *	for (i = 0; i < end && node->pivot[i] < key; i++) ;
 *	node = node->slot[i]
 */
static void level_function(dt_bpf_code *c, uint32_t func)
{
	uint32_t bad = dt_bpf_label(c), range = dt_bpf_label(c), have_end = dt_bpf_label(c), found = dt_bpf_label(c),
		 wide = dt_bpf_label(c), next = dt_bpf_label(c), leaf = dt_bpf_label(c);

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
	dt_bpf_place(c, range);
	movi(c, R2, NODE_MAX_PIVOTS);
	ld(c, 8, R1, R6, U_BUF + NODE_PIVOTS + (NODE_MAX_PIVOTS - 1) * 8);
	jmpi(c, BPF_JNE, R1, 0, have_end);
	ld(c, 1, R2, R6, U_BUF + RANGE_END);
	dt_bpf_place(c, have_end);
	for (int i = 0; i <= NODE_MAX_PIVOTS; i++) {
		movi(c, R1, i);
		jmpi(c, BPF_JLE, R2, i, found);
		if (i == NODE_MAX_PIVOTS)
			break;
		ld(c, 8, R4, R6, U_BUF + NODE_PIVOTS + i * 8);
		jmp(c, BPF_JGE, R4, R3, found);
	}
	ja(c, bad);
	dt_bpf_place(c, found);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R1, R6);
	jmpi(c, BPF_JEQ, R7, NODE_ARANGE, wide);
	ld(c, 8, R1, R1, U_BUF + RANGE_SLOTS);
	ja(c, next);
	dt_bpf_place(c, wide);
	ld(c, 8, R1, R1, U_BUF + ARANGE_SLOTS);
	dt_bpf_place(c, next);
	st(c, 8, R6, U_NODE, R1);
	jmpi(c, BPF_JLE, R7, NODE_LEAF, leaf);
	jmpi(c, BPF_JLE, R1, 4096, bad);
	answer(c, 0);
	dt_bpf_place(c, leaf);
	sti(c, 4, R6, U_LEAF, 1);
	answer(c, 1);
	dt_bpf_place(c, bad);
	answer(c, 1);
}

enum { F_KEY = -40, F_WANT = -56 }; /* on the stack: struct dt_uw_key, struct dt_uw_want */

static void key_part(dt_bpf_code *c, size_t member)
{
	st(c, 8, R10, F_KEY + (int)member, R1);
}

/* The key of the file in r3, on the stack. */
static void identify_file(dt_bpf_code *c, const struct dt_uw_offsets *at, uint32_t none)
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

/* Into the next cache entry, for now without a table: all of the mapping in U_BUF. r8 = its start, r7 = the entry.
 *	entry = { vm_start, vm_end - vm_start, vm_pgoff * 4096 - vm_start, -, NO_BANK } */
static void cache_mapping(dt_bpf_code *c, const struct dt_uw_offsets *at, uint32_t none)
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
	alui(c, BPF_LSH, R1, 12);
	alu(c, BPF_SUB, R1, R8);
	st(c, 8, R7, U_CACHE + C_DELTA, R1);
	sti(c, 4, R7, U_CACHE + C_BANK, (int32_t)UW_NO_BANK);
}

/* r7 = the cache entry that is being filled */
static void entry_pointer(dt_bpf_code *c)
{
	ld(c, 4, R7, R6, U_ENTRY);
	alui(c, BPF_AND, R7, (C_ENTRIES - 1) * C_SIZE);
	alu(c, BPF_ADD, R7, R6);
}

/* Tell the consumer where a file without a table is mapped. */
static void want_table(dt_bpf_tr *t, uint32_t out)
{
	dt_bpf_code *c = t->c;

	dt_bpf_pid_tgid(t);
	alui(c, BPF_RSH, R0, 32);
	jmpi(c, BPF_JEQ, R0, 0, out); /* outside our pid namespace: we could not find it */
	st(c, 8, R10, F_WANT, R0);
	st(c, 8, R10, F_WANT + (int)offsetof(struct dt_uw_want, addr), R9);
	map(c, R1, t->e->unwind->fd_wanted);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, F_KEY);
	mov(c, R3, R10);
	alui(c, BPF_ADD, R3, F_WANT);
	movi(c, R4, BPF_NOEXIST);
	helper(c, BPF_FUNC_map_update_elem);
	jmpi(c, BPF_JNE, R0, 0, out);
	dt_bpf_wake(t);
	ja(c, out);
}

/*
 * r0 is the object: which of its pieces? The entry becomes the part of the mapping that the piece is about.
 *	pos = number of pieces that end at or before the file offset r1, in five steps without a branch
 *	start = max(start, piece.start - delta), end = min(end, piece.end - delta)
 */
static void choose_piece(dt_bpf_code *c, uint32_t out)
{
	uint32_t low = dt_bpf_label(c), high = dt_bpf_label(c);

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
	ld(c, 4, R3, R2, (int)offsetof(struct dt_uw_object, piece));
	ld(c, 4, R5, R2, (int)offsetof(struct dt_uw_object, piece) + (int)offsetof(struct dt_uw_piece, bank));
	ld(c, 4, R2, R2, (int)offsetof(struct dt_uw_object, piece) + (int)offsetof(struct dt_uw_piece, index));
	/* outside of what the table is about: nothing is known about this address, but about others of the mapping */
	st(c, 8, R7, U_CACHE + C_INDEX, R2);
	st(c, 4, R7, U_CACHE + C_BANK, R5);
	ld(c, 8, R2, R7, U_CACHE + C_START);
	ld(c, 8, R5, R7, U_CACHE + C_LEN);
	alu(c, BPF_ADD, R5, R2);
	alu(c, BPF_SUB, R3, R8);
	alu(c, BPF_SUB, R4, R8);
	jmp(c, BPF_JGE, R2, R3, low);
	mov(c, R2, R3);
	dt_bpf_place(c, low);
	jmp(c, BPF_JLE, R5, R4, high);
	mov(c, R5, R4);
	dt_bpf_place(c, high);
	st(c, 8, R7, U_CACHE + C_START, R2);
	alu(c, BPF_SUB, R5, R2);
	st(c, 8, R7, U_CACHE + C_LEN, R5);
	ja(c, out);
}

/* r0 = offset of the cache entry that is now about U_KEY; -1: nothing is mapped there */
static void find_function(dt_bpf_tr *t, uint32_t func, uint32_t level)
{
	const struct dt_uw_offsets *at = &t->e->unwind->at;
	dt_bpf_code *c = t->c;
	uint32_t none = dt_bpf_label(c), out = dt_bpf_label(c), file = dt_bpf_label(c), look = dt_bpf_label(c),
		 have = dt_bpf_label(c);

	dt_bpf_func_begin_global(c, func, 1);
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
		sti(c, 8, R10, F_KEY + i, i == offsetof(struct dt_uw_key, inode) ? (int32_t)UW_VDSO_INODE : 0);
	ja(c, look);
	dt_bpf_place(c, file);
	identify_file(c, at, out);
	dt_bpf_place(c, look);
	map(c, R1, t->e->unwind->fd_objects);
	mov(c, R2, R10);
	alui(c, BPF_ADD, R2, F_KEY);
	helper(c, BPF_FUNC_map_lookup_elem);
	jmpi(c, BPF_JNE, R0, 0, have);
	want_table(t, out);
	dt_bpf_place(c, have);
	choose_piece(c, out);
	dt_bpf_place(c, out);
	ld(c, 4, R0, R6, U_ENTRY);
	leave(c);
	dt_bpf_place(c, none);
	answer(c, -1);
}

/* ---- frame(): one step of the walk ---- */

struct frame {
	dt_bpf_tr *t;
	uint32_t stop;	   /* the stack ends here */
	uint32_t by_bp;	   /* no row: the frame pointer */
	uint32_t have_cfa; /* r9 = CFA, r8 = places of rbp and rbx */
	uint32_t word;	   /* the function */
};

/* value = the user's word at r2 */
static void read_word(struct frame *f, int value)
{
	dt_bpf_code *c = f->t->c;

	mov(c, R1, R6);
	dt_bpf_call(c, f->word);
	jmpi(c, BPF_JNE, R0, 0, f->stop);
	copy_word(c, value, U_WORD);
}

/*	if (*at) { if (*at == LOST) stop; value = *(user u64 *)*at; *at = 0 }	*/
static void resolve(struct frame *f, int value, int at)
{
	dt_bpf_code *c = f->t->c;
	uint32_t have = dt_bpf_label(c);

	ld(c, 8, R2, R6, at);
	jmpi(c, BPF_JEQ, R2, 0, have);
	jmpi(c, BPF_JEQ, R2, LOST, f->stop);
	read_word(f, value);
	sti(c, 8, R6, at, 0);
	dt_bpf_place(c, have);
}

static void store_frame(struct frame *f)
{
	dt_bpf_code *c = f->t->c;

	ld(c, 4, R1, R6, U_OUT);
	ld(c, 4, R2, R6, U_N);
	mov(c, R3, R2);
	alui(c, BPF_LSH, R3, 3);
	alu(c, BPF_ADD, R1, R3);
	jmpi(c, BPF_JGT, R1, (int32_t)f->t->e->at.slot_size - 8, f->stop); /* never */
	alu(c, BPF_ADD, R1, R6);
	ld(c, 8, R9, R6, U_PC);
	st(c, 8, R1, 0, R9);
	alui(c, BPF_ADD, R2, 1);
	st(c, 4, R6, U_N, R2);
	ld(c, 4, R3, R6, U_MAX);
	jmp(c, BPF_JGE, R2, R3, f->stop);
	ld(c, 4, R1, R6, U_BACK);
	alu(c, BPF_SUB, R9, R1);
	st(c, 8, R6, U_KEY, R9);
}

/* r9 = the pc to look for; r7, r8, r0 = delta, index and bank of its mapping */
static void find_mapping(struct frame *f, uint32_t find)
{
	dt_bpf_code *c = f->t->c;
	uint32_t have = dt_bpf_label(c);

	for (int i = 0; i <= C_ENTRIES; i++) {
		uint32_t next = dt_bpf_label(c);

		if (i < C_ENTRIES) {
			mov(c, R1, R6);
			alui(c, BPF_ADD, R1, i * C_SIZE);
			mov(c, R2, R9);
			ld(c, 8, R3, R1, U_CACHE + C_START);
			alu(c, BPF_SUB, R2, R3);
			ld(c, 8, R3, R1, U_CACHE + C_LEN);
			jmp(c, BPF_JGE, R2, R3, next);
			ja(c, have);
		} else {
			mov(c, R1, R6);
			dt_bpf_call(c, find);
			jmpi(c, BPF_JSLT, R0, 0, f->stop);
			mov(c, R1, R0);
			alui(c, BPF_AND, R1, (C_ENTRIES - 1) * C_SIZE);
			alu(c, BPF_ADD, R1, R6);
		}
		dt_bpf_place(c, i < C_ENTRIES ? next : have);
	}
	ld(c, 8, R7, R1, U_CACHE + C_DELTA);
	ld(c, 4, R8, R1, U_CACHE + C_INDEX);
	ld(c, 4, R0, R1, U_CACHE + C_BANK);
}

/* r8 = the bank whose number is in r0 */
static void find_bank(struct frame *f)
{
	dt_bpf_code *c = f->t->c;
	uint32_t other = dt_bpf_label(c), have = dt_bpf_label(c);

	jmpi(c, BPF_JNE, R0, 0, other);
	map_value(c, R8, f->t->e->unwind->fd_first, 0);
	ja(c, have);
	dt_bpf_place(c, other);
	for (int i = 0; i < 2; i++) { /* the array of banks, then the one value of the bank */
		if (i) {
			mov(c, R1, R0);
			sti(c, 4, R10, -4, 0);
		} else {
			st(c, 4, R10, -4, R0);
			map(c, R1, f->t->e->unwind->fd_banks);
		}
		mov(c, R2, R10);
		alui(c, BPF_ADD, R2, -4);
		helper(c, BPF_FUNC_map_lookup_elem);
		jmpi(c, BPF_JEQ, R0, 0, f->by_bp);
	}
	mov(c, R8, R0);
	dt_bpf_place(c, have);
}

/*
 * r7 = the row's cfa, r8 = its places
 *	at = r9 + delta;  lo = bank.word[index + at / 256], hi = the next word
 *	the last row of lo ... hi whose pc is not above at; at most 257 rows, so 9 halvings
 */
static void find_row(struct frame *f)
{
	dt_bpf_code *c = f->t->c;
	uint32_t found = dt_bpf_label(c);

	jmpi(c, BPF_JGE, R0, UW_BANKS, f->by_bp);
	alu(c, BPF_ADD, R9, R7);
	mov(c, R7, R9);
	alui(c, BPF_RSH, R7, UW_BLOCK_BITS);
	alu(c, BPF_ADD, R7, R8);
	mov32(c, R7, R7);
	jmpi(c, BPF_JGE, R7, UW_WORDS - 1, f->by_bp);
	find_bank(f);
	alui(c, BPF_LSH, R7, 2);
	alu(c, BPF_ADD, R7, R8);
	ld(c, 4, R2, R7, 0);
	ld(c, 4, R3, R7, 4);
	jmp(c, BPF_JGT, R2, R3, f->by_bp);
	alu(c, BPF_SUB, R3, R2);
	alui(c, BPF_ADD, R3, 1);
	for (int i = 0; i <= UW_BLOCK_BITS; i++) {
		jmpi(c, BPF_JLE, R3, 1, found);
		mov(c, R4, R3);
		alui(c, BPF_RSH, R4, 1);
		alu(c, BPF_SUB, R3, R4);
		mov(c, R0, R2);
		alu(c, BPF_ADD, R0, R4);
		jmpi(c, BPF_JGE, R0, UW_ROWS, f->by_bp);
		alui(c, BPF_MUL, R0, sizeof(dt_unwind_row));
		alu(c, BPF_ADD, R0, R8);
		ld(c, 4, R0, R0, offsetof(dt_unwind_row, pc));
		alu(c, BPF_SUB, R0, R9);
		alui(c, BPF_SUB, R0, 1);
		alui(c, BPF_ARSH, R0, 63); /* all ones if the row is not above */
		alu(c, BPF_AND, R0, R4);
		alu(c, BPF_ADD, R2, R0);
	}
	dt_bpf_place(c, found);
	jmpi(c, BPF_JGE, R2, UW_ROWS, f->by_bp);
	alui(c, BPF_MUL, R2, sizeof(dt_unwind_row));
	alu(c, BPF_ADD, R2, R8);
	ld(c, 4, R7, R2, offsetof(dt_unwind_row, cfa));
	ld(c, 4, R8, R2, offsetof(dt_unwind_row, bp)); /* and bx above it */
}

/* CFA = register + n */
static void cfa_register(struct frame *f, int value, int at)
{
	dt_bpf_code *c = f->t->c;

	if (at)
		resolve(f, value, at);
	signed_field(c, R9, R7, 4, 31);
	ld(c, 8, R1, R6, value);
	alu(c, BPF_ADD, R9, R1);
	ja(c, f->have_cfa);
}

/* CFA = *(register + n) + m */
static void cfa_deref(struct frame *f, int value, int at)
{
	dt_bpf_code *c = f->t->c;

	if (at)
		resolve(f, value, at);
	signed_field(c, R2, R7, 16, 31);
	ld(c, 8, R1, R6, value);
	alu(c, BPF_ADD, R2, R1);
	read_word(f, S_TMP);
	alui(c, BPF_RSH, R7, 4);
	alui(c, BPF_AND, R7, 0xfff);
	ld(c, 8, R9, R6, S_TMP);
	alu(c, BPF_ADD, R9, R7);
	ja(c, f->have_cfa);
}

/* CFA = rsp + 8, and 8 more behind the push */
static void cfa_plt(struct frame *f)
{
	dt_bpf_code *c = f->t->c;
	uint32_t before = dt_bpf_label(c);

	ld(c, 8, R9, R6, U_SP);
	alui(c, BPF_ADD, R9, 8);
	ld(c, 8, R1, R6, U_PC);
	alui(c, BPF_AND, R1, 15);
	signed_field(c, R2, R7, 4, 31);
	jmp(c, BPF_JSLT, R1, R2, before);
	alui(c, BPF_ADD, R9, 8);
	dt_bpf_place(c, before);
	ja(c, f->have_cfa);
}

/* CFA = any register + n: known in the innermost frame, and in the one that a signal interrupted */
static void cfa_any(struct frame *f)
{
	dt_bpf_code *c = f->t->c;
	uint32_t from_signal = dt_bpf_label(c), have = dt_bpf_label(c);

	mov(c, R9, R7);
	alui(c, BPF_RSH, R9, 4);
	alui(c, BPF_AND, R9, 31);
	ld(c, 4, R1, R6, U_SOURCE);
	jmpi(c, BPF_JEQ, R1, SOURCE_SIGNAL, from_signal);
	jmpi(c, BPF_JNE, R1, SOURCE_REGS, f->stop);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R1, R0);
	helper(c, BPF_FUNC_task_pt_regs);
	st(c, 8, R6, S_SELF, R0); /* through memory: an address becomes a number */
	ld(c, 8, R3, R6, S_SELF);
	alui(c, BPF_LSH, R9, 3);
	alu(c, BPF_ADD, R3, R9);
	read_memory(c, false, S_TMP, 8, f->stop);
	ja(c, have);
	dt_bpf_place(c, from_signal);
	movq(c, R3, SIG_INDEX);
	alui(c, BPF_LSH, R9, 2);
	jmpi(c, BPF_JGT, R9, 14 * 4, f->stop);
	alu(c, BPF_RSH, R3, R9);
	alui(c, BPF_AND, R3, 15);
	alui(c, BPF_LSH, R3, 3);
	ld(c, 8, R1, R6, U_SIGNAL);
	alu(c, BPF_ADD, R3, R1);
	read_memory(c, true, S_TMP, 8, f->stop);
	dt_bpf_place(c, have);
	signed_field(c, R9, R7, 9, 31);
	ld(c, 8, R1, R6, S_TMP);
	alu(c, BPF_ADD, R9, R1);
	ja(c, f->have_cfa);
}

/* The frame above was interrupted: all its registers are saved, and its pc is exact. */
static void signal_frame(struct frame *f)
{
	static const int to[][2] = {{U_BP, SIG_BP}, {U_BX, SIG_BX}, {U_SP, SIG_SP}, {U_PC, SIG_IP}};
	dt_bpf_code *c = f->t->c;

	signed_field(c, R3, R7, 4, 31);
	ld(c, 8, R1, R6, U_SP);
	alu(c, BPF_ADD, R3, R1);
	st(c, 8, R6, U_SIGNAL, R3);
	read_memory(c, true, U_BUF, SIG_N * 8, f->stop);
	for (size_t i = 0; i < DT_NELEM(to); i++)
		copy_word(c, to[i][0], U_BUF + to[i][1] * 8);
	jmpi(c, BPF_JEQ, R1, 0, f->stop);
	sti(c, 8, R6, U_BPAT, 0);
	sti(c, 8, R6, U_BXAT, 0);
	sti(c, 4, R6, U_SOURCE, SOURCE_SIGNAL);
	sti(c, 4, R6, U_BACK, 0);
	answer(c, 0);
}

/* By the row in r7: to have_cfa, to by_bp, or out */
static void apply_row(struct frame *f)
{
	static const enum dt_unwind_kind kinds[] = {DT_UW_SP,	    DT_UW_BP,	 DT_UW_NONE,   DT_UW_BX, DT_UW_PLT,
						    DT_UW_SP_DEREF, DT_UW_BP_DEREF, DT_UW_REG, DT_UW_SIGNAL};
	dt_bpf_code *c = f->t->c;

	for (size_t i = 0; i < DT_NELEM(kinds); i++) {
		uint32_t next = dt_bpf_label(c);

		mov(c, R1, R7);
		alui(c, BPF_AND, R1, 15);
		jmpi(c, BPF_JNE, R1, kinds[i], next);
		switch (kinds[i]) {
		case DT_UW_SP: cfa_register(f, U_SP, 0); break;
		case DT_UW_BP: cfa_register(f, U_BP, U_BPAT); break;
		case DT_UW_BX: cfa_register(f, U_BX, U_BXAT); break;
		case DT_UW_SP_DEREF: cfa_deref(f, U_SP, 0); break;
		case DT_UW_BP_DEREF: cfa_deref(f, U_BP, U_BPAT); break;
		case DT_UW_PLT: cfa_plt(f); break;
		case DT_UW_REG: cfa_any(f); break;
		case DT_UW_SIGNAL: signal_frame(f); break;
		default: ja(c, f->by_bp);
		}
		dt_bpf_place(c, next);
	}
	ja(c, f->stop); /* END, STOP */
}

/* The first instruction of a function that keeps a frame pointer: push %rbp, perhaps behind endbr64. It has not been
 * run yet, so rbp is still the caller's: CFA is rsp + 8. */
static void at_entry(struct frame *f)
{
	dt_bpf_code *c = f->t->c;
	uint32_t no = dt_bpf_label(c), yes = dt_bpf_label(c);

	ld(c, 4, R1, R6, U_BACK);
	jmpi(c, BPF_JNE, R1, 0, no);
	ld(c, 8, R3, R6, U_PC);
	read_memory(c, true, S_TMP, 5, no);
	ld(c, 1, R1, R6, S_TMP);
	jmpi(c, BPF_JEQ, R1, 0x55, yes);
	ld(c, 4, R1, R6, S_TMP);
	movq(c, R2, 0xfa1e0ff3);
	jmp(c, BPF_JNE, R1, R2, no);
	ld(c, 1, R1, R6, S_TMP + 4);
	jmpi(c, BPF_JNE, R1, 0x55, no);
	dt_bpf_place(c, yes);
	ld(c, 8, R9, R6, U_SP);
	alui(c, BPF_ADD, R9, 8);
	movi(c, R8, 0);
	ja(c, f->have_cfa);
	dt_bpf_place(c, no);
}

/* Without a row: *rbp is the caller's rbp, the return address lies above it. */
static void step_by_bp(struct frame *f)
{
	dt_bpf_code *c = f->t->c;

	at_entry(f);
	resolve(f, U_BP, U_BPAT);
	ld(c, 8, R9, R6, U_BP);
	ld(c, 8, R1, R6, U_SP);
	jmp(c, BPF_JLT, R9, R1, f->stop);
	alui(c, BPF_ADD, R9, 16);
	/* as a row: rbp at CFA-16, rbx lost */
	movq(c, R8, (uint32_t)(uint16_t)DT_UW_LOST << 16 | (uint16_t)-2);
}

/* Where the caller's register is. The rule is bits low ... low + 15 of r8, r9 is the CFA. */
static void set_place(dt_bpf_code *c, int value, int at, int low)
{
	uint32_t same = dt_bpf_label(c), lost = dt_bpf_label(c), set = dt_bpf_label(c), cfa = dt_bpf_label(c);

	signed_field(c, R1, R8, low, low + 15);
	jmpi(c, BPF_JEQ, R1, DT_UW_SAME, same);
	jmpi(c, BPF_JEQ, R1, DT_UW_LOST, lost);
	jmpi(c, BPF_JNE, R1, DT_UW_AT_BP, cfa);
	ld(c, 8, R1, R6, value); /* the CFA was made of it, so it is there */
	ja(c, set);
	dt_bpf_place(c, lost);
	movi(c, R1, LOST);
	ja(c, set);
	dt_bpf_place(c, cfa);
	alui(c, BPF_LSH, R1, 3);
	alu(c, BPF_ADD, R1, R9);
	dt_bpf_place(c, set);
	st(c, 8, R6, at, R1);
	dt_bpf_place(c, same);
}

/* The address that a return probe has put in place of the return address is not the caller's; the kernel knows
 * where it did that (r9 - 8?) and what was there. */
static void original_return(struct frame *f, uint32_t next_instance)
{
	dt_bpf_code *c = f->t->c;
	uint32_t no = dt_bpf_label(c), there = dt_bpf_label(c);

	if (!f->t->e->unwind->at.uretprobes)
		return;
	ld(c, 8, R1, R6, U_RISTACK);
	jmpi(c, BPF_JEQ, R1, 0, no);
	mov(c, R2, R9);
	alui(c, BPF_SUB, R2, 8);
	jmp(c, BPF_JGE, R1, R2, there);
	st(c, 8, R6, U_RISEEK, R2);
	movi(c, R1, 64);
	loop(c, next_instance);
	dt_bpf_place(c, there);
	ld(c, 8, R1, R6, U_RISTACK);
	mov(c, R2, R9);
	alui(c, BPF_SUB, R2, 8);
	jmp(c, BPF_JNE, R1, R2, no);
	copy_word(c, U_PC, U_RIORIG);
	dt_bpf_place(c, no);
}

/* next_instance(): on to the first pending return probe at or above U_RISEEK */
static void instance_function(dt_bpf_tr *t, uint32_t func)
{
	const struct dt_uw_offsets *at = &t->e->unwind->at;
	dt_bpf_code *c = t->c;
	uint32_t no_more = dt_bpf_label(c), done = dt_bpf_label(c);

	begin_callback(c, func);
	ld(c, 8, R3, R6, U_RI);
	jmpi(c, BPF_JEQ, R3, 0, no_more);
	read_memory(c, false, U_BUF, ri_bytes(at), no_more);
	copy_word(c, U_RI, U_BUF + (int)at->ri_next);
	copy_word(c, U_RIORIG, U_BUF + (int)at->ri_orig);
	copy_word(c, U_RISTACK, U_BUF + (int)at->ri_stack);
	ld(c, 8, R2, R6, U_RISEEK);
	jmp(c, BPF_JGE, R1, R2, done);
	answer(c, 0);
	dt_bpf_place(c, no_more);
	sti(c, 8, R6, U_RISTACK, 0);
	dt_bpf_place(c, done);
	answer(c, 1);
}

static void frame_function(dt_bpf_tr *t, uint32_t func, uint32_t find, uint32_t word, uint32_t next_instance)
{
	dt_bpf_code *c = t->c;
	struct frame f = {.t = t,
			  .stop = dt_bpf_label(c),
			  .by_bp = dt_bpf_label(c),
			  .have_cfa = dt_bpf_label(c),
			  .word = word};

	begin_callback(c, func);
	store_frame(&f);
	find_mapping(&f, find);
	find_row(&f);
	apply_row(&f);
	dt_bpf_place(c, f.by_bp);
	step_by_bp(&f);
	dt_bpf_place(c, f.have_cfa);
	ld(c, 8, R1, R6, U_SP);
	jmp(c, BPF_JLE, R9, R1, f.stop); /* callers are above */
	mov(c, R2, R9);
	alui(c, BPF_SUB, R2, 8);
	read_word(&f, U_PC);
	original_return(&f, next_instance);
	set_place(c, U_BP, U_BPAT, 0);
	set_place(c, U_BX, U_BXAT, 16);
	st(c, 8, R6, U_SP, R9);
	sti(c, 4, R6, U_SOURCE, SOURCE_NONE);
	sti(c, 4, R6, U_BACK, 1);
	ld(c, 8, R1, R6, U_PC);
	jmpi(c, BPF_JEQ, R1, 0, f.stop);
	answer(c, 0);
	dt_bpf_place(c, f.stop);
	answer(c, 1);
}

/* ---- unwind() ---- */

/* The thread's mappings and pending return probes. r8 is the task; r1-r5 and r7 are used. */
static void note_task(dt_bpf_tr *t, uint32_t none)
{
	const struct dt_uw_offsets *at = &t->e->unwind->at;
	dt_bpf_code *c = t->c;
	uint32_t no = dt_bpf_label(c);

	ld(c, 8, R7, R8, (int)at->task_mm);
	jmpi(c, BPF_JEQ, R7, 0, none); /* a thread of the kernel */
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
	sti(c, 8, R6, U_RISTACK, 1); /* below everything: the first look fetches it */
	dt_bpf_place(c, no);
}

static void note_registers(dt_bpf_code *c, uint32_t compat)
{
	static const int regs[][2] = {{U_PC, PT_IP}, {U_SP, PT_SP}, {U_BP, PT_BP}, {U_BX, PT_BX}};

	mov(c, R1, R8);
	helper(c, BPF_FUNC_task_pt_regs);
	ld(c, 8, R1, R0, PT_CS);
	alui(c, BPF_AND, R1, 0xffff);
	jmpi(c, BPF_JNE, R1, USER_CS, compat);
	for (size_t i = 0; i < DT_NELEM(regs); i++) {
		ld(c, 8, R1, R0, regs[i][1]);
		st(c, 8, R6, regs[i][0], R1);
	}
	sti(c, 8, R6, U_BPAT, 0);
	sti(c, 8, R6, U_BXAT, 0);
	sti(c, 4, R6, U_SOURCE, SOURCE_REGS);
	sti(c, 4, R6, U_BACK, 0);
}

/* unwind(slot, where, most): r0 = bytes of frames that are now at slot + where; -1: ask the kernel's own walker */
void dt_bpf_unwind_functions(dt_bpf_tr *t)
{
	dt_bpf_code *c = t->c;
	uint32_t frame, find, level, word, instance, none = dt_bpf_label(c), compat = dt_bpf_label(c);

	if (!t->lib->unwind)
		return;
	frame = dt_bpf_func_new(c, "frame");
	find = dt_bpf_func_new(c, "find");
	level = dt_bpf_func_new(c, "level");
	word = dt_bpf_func_new(c, "word");
	instance = dt_bpf_func_new(c, "instance");
	dt_bpf_func_begin_global(c, t->lib->unwind, 3);
	mov(c, R6, R1);
	st(c, 4, R6, U_OUT, R2);
	st(c, 4, R6, U_MAX, R3);
	sti(c, 4, R6, U_N, 0);
	sti(c, 4, R6, U_NEXT, 0);
	for (int i = 0; i < C_ENTRIES; i++)
		sti(c, 8, R6, U_CACHE + i * C_SIZE + C_LEN, 0);
	sti(c, 8, R6, U_WINDOW_AT, 1);
	sti(c, 8, R6, U_WINDOW_MAX, 0);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R8, R0);
	note_task(t, none);
	note_registers(c, compat);
	ld(c, 8, R1, R6, U_PC);
	jmpi(c, BPF_JEQ, R1, 0, none);
	ld(c, 4, R1, R6, U_MAX);
	loop(c, frame);
	ld(c, 4, R0, R6, U_N);
	alui(c, BPF_LSH, R0, 3);
	leave(c);
	dt_bpf_place(c, none);
	answer(c, 0);
	dt_bpf_place(c, compat);
	answer(c, -1);
	frame_function(t, frame, find, word, instance);
	word_function(c, word);
	find_function(t, find, level);
	level_function(c, level);
	if (t->e->unwind->at.uretprobes)
		instance_function(t, instance);
}

bool dt_bpf_unwind(dt_bpf_tr *t, uint32_t off, uint32_t frames)
{
	dt_bpf_code *c = t->c;

	if (!can_unwind(t))
		return false;
	if (!t->lib->unwind)
		t->lib->unwind = dt_bpf_func_new(c, "unwind");
	mov(c, R1, R6);
	movi(c, R2, (int32_t)off);
	movi(c, R3, (int32_t)frames);
	dt_bpf_call(c, t->lib->unwind);
	return true;
}

/*
 * A program that is run by us (BPF_PROG_RUN), with an address of ours: it looks for the table of the file that
 * is mapped there, as a walk would do, and so leaves the file's key in dt_wanted if there is none.
 */
int dt_bpf_identify_code(dt_engine *e, int fd_slot, dt_bpf_code *c, dt_error *err)
{
	dt_bpf_lib lib = {0};
	dt_bpf_tr t = {.e = e, .c = c, .lib = &lib, .kind = PK_BEGIN, .prog_kind = PK_BEGIN, .err = err};
	uint32_t find, level, out = dt_bpf_label(c);

	dt_bpf_func_begin(c, dt_bpf_func_new(c, "identify"));
	find = dt_bpf_func_new(c, "find");
	level = dt_bpf_func_new(c, "level");
	map_value(c, R6, fd_slot, 0);
	ld(c, 8, R1, R1, 0);
	st(c, 8, R6, U_KEY, R1);
	sti(c, 4, R6, U_NEXT, 0);
	helper(c, BPF_FUNC_get_current_task_btf);
	mov(c, R8, R0);
	note_task(&t, out);
	mov(c, R1, R6);
	dt_bpf_call(c, find);
	dt_bpf_place(c, out);
	answer(c, 0);
	find_function(&t, find, level);
	level_function(c, level);
	return t.failed || dt_bpf_code_finish(c) < 0 ? dt_err(err, EDT_DIFINVAL, "%s", c->problem) : 0;
}
