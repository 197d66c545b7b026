/*
 * absent: reads user memory that is not in the page tables from the page cache.
 *
 * A program's constants come from its file. A page of them enters the process's page tables when
 * the process first touches it, and system calls are often the first to do so: open("/etc/passwd")
 * passes an address that the process itself has never read from. At the entry of the call a helper
 * that reads user memory fails there, since it must not wait; a moment later the kernel finds the
 * page in its page cache, where it has been all along. So this code looks there as well:
 *
 *	mapped(a)	the mapping at the address		mm->mm_mt -> vma
 *	untouched(a)	no entry in the page tables	mm->pgd -> ... -> 0
 *	cached(a)	the page of the file			vma->vm_file->f_mapping->i_pages -> folio
 *
 * (lib.c), each with loads that cannot fault, at offsets from the kernel's type information. A
 * folio is one or more struct page in the kernel's array of them, whose index is the page's number;
 * all memory is in the kernel's direct map. The start of both differs from boot to boot;
 * direct_map.c finds it.
 *
 * The bytes must be those that the process would read. In a private mapping the file's page is
 * stale once the process has written to its own copy; but then the page tables have an entry: one
 * for the copy or, if it was swapped out or is being moved, one that says where it is. So if there
 * is an entry of any kind, the page cache is not used. One exception, on CPUs that do not mark a page
 * as used themselves: an entry for a page that is marked as not used (all pages of a child, after fork) causes a fault as
 * well, and is read where it says (resting()). A mapping that is not readable, or that has
 * no file (memory that was never written to), is a fault as before. So is an address past the end
 * of the file, where a large folio can have more pages. A folio that is still being read from disk
 * is not valid. All of this may change meanwhile, so the folio is looked up again after the copy,
 * and must be the same.
 *
 * absent(slot, from, size, string) does this page by page, since the next page can be present,
 * absent or not needed: a string may end before it. The bytes are collected in the slot; the caller
 * copies them to their destination. It is called only when the helper has failed, so reading
 * present memory costs no more than before.
 */
#include "bpf/translate/unwind.h"

/* Words of the area in the slot; r7 points to it. */
enum {
	A_FROM = 0,
	A_LEFT = 8,
	A_AT = 16, /* bytes read so far */
	A_STRING = 24,
	A_MAPPING = 32,
	A_FOUND = 40,
	A_TMP = 48, /* saved S_TMP, which subroutines use */
};

/* ---- requirements ---- */

/* All fields that the subroutines name. */
static bool known_fields(const dt_tr *t)
{
	static const char *const fields[][2] = {
	    {"task_struct", "mm"},
	    {"mm_struct", "mm_mt.ma_root"},
	    {"mm_struct", "pgd"},
	    {"vm_area_struct", "vm_start"},
	    {"vm_area_struct", "vm_end"},
	    {"vm_area_struct", "vm_flags"},
	    {"vm_area_struct", "vm_file"},
	    {"vm_area_struct", "vm_pgoff"},
	    {"file", "f_mapping"},
	    {"address_space", "i_pages.xa_head"},
	    {"xa_node", "shift"},
	    {"folio", "flags"},
	    {"folio", "index"},
	    {"folio", "mapping"},
	    {"address_space", "host"},
	    {"inode", "i_size"},
	};
	uint32_t slots, marks, at;

	for (size_t i = 0; i < DT_NELEM(fields); i++)
		if (!dt_tr_find_field(t->plan, fields[i][0], fields[i][1], &at))
			return false;
	return dt_uw_known_tree(t) && dt_tr_find_field(t->plan, "xa_node", "slots", &slots) &&
	       dt_tr_find_field(t->plan, "xa_node", "marks", &marks) && marks - slots == 64 * 8;
}

static bool find_facts(dt_tr *t)
{
	dt_types *ts = t->plan->types;
	int64_t bit;

	if (!dt_arch_knows_pages() || !known_fields(t) ||
	    !dt_kernel_size(ts, "page", &t->learn->page_struct) ||
	    !dt_kernel_enum_value(ts, "pageflags", "PG_uptodate", &bit))
		return false;
	t->learn->uptodate = (uint32_t)bit & 63;
	return t->learn->page_struct != 0;
}

bool dt_tr_absent_can(dt_tr *t)
{
	static const char *const called[] = {"mapped", "untouched", "cached", "resting"};

	if (!dt_plan_can(t->plan, BTF) || !dt_plan_can(t->plan, READS) || t->task_arg ||
	    t->need->is.no_absent)
		return false;
	if (!t->need->is.absent) {
		if (!t->learn)
			return false;
		if (!find_facts(t)) {
			t->learn->is.no_absent = true;
			return false;
		}
		t->learn->is.absent = true;
	}
	if (!t->func.absent) {
		t->func.absent = dt_code_func_new(t->c, "absent");
		for (size_t i = 0; i < DT_NELEM(called) - !dt_tr_reads_old(t); i++)
			dt_sub_func(&t->sub, called[i]); /* emitted with those that others call */
	}
	return true;
}

void dt_tr_absent(dt_tr *t, bool string)
{
	mov(t->c, R1, R6);
	movi(t->c, R4, string);
	dt_code_call(t->c, t->func.absent);
}

/* ---- absent() ---- */

/* Argument n of a subroutine = r1 */
static void argument(dt_tr *t, const char *name, int n)
{
	st(t->c, 8, R6, (int)dt_tr_sub_args(t, name) + n * 8, R1);
}

static void constant(dt_tr *t, const char *name, int n, uint64_t value)
{
	movq(t->c, R1, value);
	argument(t, name, n);
}

/* A word of the control map */
static void control(dt_tr *t, const char *name, int n, uint32_t word)
{
	map_value(t->c, R1, t->maps->control, 0);
	ld(t->c, 8, R1, R1, (int)word);
	argument(t, name, n);
}

/* r0 = name(A_FROM, ...) */
static void call(dt_tr *t, const char *name)
{
	ld(t->c, 8, R1, R7, A_FROM);
	argument(t, name, 0);
	mov(t->c, R1, R6);
	dt_code_call(t->c, dt_sub_func(&t->sub, name));
}

/* ---- pages that are old ---- */

bool dt_tr_reads_old(const dt_tr *t)
{
	uint32_t mm, pgd;

	return dt_arch_host()->paging.old_mask && dt_arch_knows_pages() && dt_plan_can(t->plan, BTF) && dt_plan_can(t->plan, READS) &&
	       dt_tr_find_field(t->plan, "task_struct", "mm", &mm) && dt_tr_find_field(t->plan, "mm_struct", "pgd", &pgd);
}

void dt_tr_want_old(dt_tr *t)
{
	if (!dt_tr_reads_old(t) || !t->learn || !dt_kernel_size(t->plan->types, "page", &t->learn->page_struct))
		return;
	t->learn->is.direct = true;
}

void dt_tr_old_page(dt_tr *t, int from, uint32_t none)
{
	const struct dt_arch_paging *p = &dt_arch_host()->paging;
	dt_code *c = t->c;
	uint32_t mm = 0;

	dt_tr_field(t, "task_struct", "mm", &mm);
	mov(c, R1, from);
	argument(t, "resting", 0);
	helper(c, BPF_FUNC_get_current_task);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)mm);
	read_memory(c, false, S_TMP, 8, none);
	ld(c, 8, R1, R6, S_TMP);
	jmpi(c, BPF_JEQ, R1, 0, none);
	argument(t, "resting", 1);
	control(t, "resting", 2, CTL_DIRECT);
	jmpi(c, BPF_JEQ, R1, 0, none);
	control(t, "resting", 3, CTL_TOP);
	control(t, "resting", 4, CTL_LIMIT);
	constant(t, "resting", 5, p->mask);
	constant(t, "resting", 6, p->table);
	constant(t, "resting", 7, p->page_bits);
	constant(t, "resting", 8, p->level_bits);
	constant(t, "resting", 9, p->old_mask);
	constant(t, "resting", 10, p->old);
	mov(c, R1, R6);
	dt_code_call(c, dt_sub_func(&t->sub, "resting"));
	jmpi(c, BPF_JEQ, R0, 0, none);
}

/* ---- the next bytes ---- */

/* r1 = where the next bytes go; r8 of them: there is room for a page after the largest request */
static void target(dt_tr *t, uint32_t fail)
{
	ld(t->c, 8, R1, R7, A_AT);
	jmpi(t->c, BPF_JGT, R1, (int32_t)t->at->absent_size, fail);
	alu(t->c, BPF_ADD, R1, R7);
	alui(t->c, BPF_ADD, R1, DT_ABSENT_WORDS);
}

/* r1 = A_FROM, r8 = the bytes wanted that are in its page */
static void next_piece(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t rest = dt_code_label(c);

	ld(c, 8, R1, R7, A_FROM);
	alui(c, BPF_AND, R1, DT_ABSENT_PIECE - 1);
	movi(c, R8, DT_ABSENT_PIECE);
	alu(c, BPF_SUB, R8, R1);
	ld(c, 8, R1, R7, A_LEFT);
	jmp(c, BPF_JLE, R8, R1, rest);
	mov(c, R8, R1);
	dt_code_place(c, rest);
	jmpi(c, BPF_JLE, R8, DT_ABSENT_PIECE, rest = dt_code_label(c)); /* for the verifier */
	movi(c, R8, DT_ABSENT_PIECE);
	dt_code_place(c, rest);
}

/* r0 = where the kernel has the byte */
static void find_page(dt_tr *t)
{
	const struct dt_arch_paging *p = &dt_arch_host()->paging;

	ld(t->c, 8, R1, R7, A_MAPPING);
	argument(t, "cached", 1);
	control(t, "cached", 2, CTL_DIRECT);
	control(t, "cached", 3, CTL_PAGES);
	constant(t, "cached", 4, t->need->page_struct);
	constant(t, "cached", 5, t->need->uptodate);
	constant(t, "cached", 6, p->page_bits);
	call(t, "cached");
}

/* If there is an entry (r0 is 0), and its page is old: the bytes there, to done. */
static void read_old(dt_tr *t, uint32_t done, uint32_t fail)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c);

	jmpi(c, BPF_JNE, R0, 0, none);
	ld(c, 8, R9, R7, A_FROM);
	dt_tr_old_page(t, R9, fail);
	st(c, 8, R7, A_FOUND, R0);
	target(t, fail);
	mov(c, R2, R8);
	ld(c, 8, R3, R7, A_FOUND);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, fail);
	dt_tr_old_page(t, R9, fail);
	ld(c, 8, R1, R7, A_FOUND);
	jmp(c, BPF_JNE, R0, R1, fail);
	ja(c, done);
	dt_code_place(c, none);
}

/* Read from the page cache. `none`: nothing is mapped there; `fail`: it is not in memory. */
static void read_cached(dt_tr *t, uint32_t none, uint32_t fail)
{
	const struct dt_arch_paging *p = &dt_arch_host()->paging;
	dt_code *c = t->c;
	uint32_t mm = 0, done = dt_code_label(c);

	dt_tr_field(t, "task_struct", "mm", &mm);
	helper(c, BPF_FUNC_get_current_task);
	mov(c, R3, R0);
	alui(c, BPF_ADD, R3, (int32_t)mm);
	read_memory(c, false, S_TMP, 8,
		    none); /* a typed pointer takes the kernel longer to verify */
	ld(c, 8, R1, R6, S_TMP);
	jmpi(c, BPF_JEQ, R1, 0, none);
	argument(t, "mapped", 1);
	argument(t, "untouched", 1);
	call(t, "mapped");
	jmpi(c, BPF_JEQ, R0, 0, none);
	st(c, 8, R7, A_MAPPING, R0);
	control(t, "untouched", 2, CTL_DIRECT);
	jmpi(c, BPF_JEQ, R1, 0, fail);
	control(t, "untouched", 3, CTL_TOP);
	control(t, "untouched", 4, CTL_LIMIT);
	constant(t, "untouched", 5, p->mask);
	constant(t, "untouched", 6, p->table);
	constant(t, "untouched", 7, p->page_bits);
	constant(t, "untouched", 8, p->level_bits);
	call(t, "untouched");
	if (dt_tr_reads_old(t))
		read_old(t, done, fail);
	else
		jmpi(c, BPF_JEQ, R0, 0, fail);
	find_page(t);
	jmpi(c, BPF_JEQ, R0, 0, fail);
	st(c, 8, R7, A_FOUND, R0);
	target(t, fail);
	mov(c, R2, R8);
	ld(c, 8, R3, R7, A_FOUND);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, fail);
	find_page(t);
	ld(c, 8, R1, R7, A_FOUND);
	jmp(c, BPF_JNE, R0, R1, fail);
	dt_code_place(c, done);
}

/* For a string: to `done` if it ends in the bytes that were read last. A NUL is put after them,
 * then the kernel copies them onto themselves, and returns the length. */
static void look_for_end(dt_tr *t, uint32_t done, uint32_t fail)
{
	dt_code *c = t->c;
	uint32_t number = dt_code_label(c);

	ld(c, 8, R1, R7, A_STRING);
	jmpi(c, BPF_JEQ, R1, 0, number);
	target(t, fail);
	mov(c, R2, R1);
	alu(c, BPF_ADD, R2, R8);
	sti(c, 1, R2, 0, 0);
	mov(c, R3, R1);
	mov(c, R2, R8);
	alui(c, BPF_ADD, R2, 1);
	helper(c, BPF_FUNC_probe_read_kernel_str);
	jmp(c, BPF_JSLE, R0, R8, done);
	dt_code_place(c, number);
}

/* A_FROM += r8, A_AT += r8, A_LEFT -= r8; r1 = A_LEFT */
static void advance(dt_code *c)
{
	ld(c, 8, R1, R7, A_FROM);
	alu(c, BPF_ADD, R1, R8);
	st(c, 8, R7, A_FROM, R1);
	ld(c, 8, R1, R7, A_AT);
	alu(c, BPF_ADD, R1, R8);
	st(c, 8, R7, A_AT, R1);
	ld(c, 8, R1, R7, A_LEFT);
	alu(c, BPF_SUB, R1, R8);
	st(c, 8, R7, A_LEFT, R1);
}

/* What piece() returns */
enum { P_MORE, P_DONE, P_NONE, P_FAIL };

/* piece(slot): the bytes of the next page. A function of its own, so that the kernel verifies it once
 * and not for every page. */
static void piece_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t have = dt_code_label(c), done = dt_code_label(c), fail = dt_code_label(c),
		 none = dt_code_label(c);

	dt_code_func_begin_global(c, func, 1);
	mov(c, R6, R1);
	dt_slot_lea(c, R7, t->at->absent);
	next_piece(t);
	target(t, fail);
	mov(c, R2, R8);
	ld(c, 8, R3, R7, A_FROM);
	helper(c, BPF_FUNC_probe_read_user);
	jmpi(c, BPF_JEQ, R0, 0, have);
	read_cached(t, none, fail);
	dt_code_place(c, have);
	look_for_end(t, done, fail);
	advance(c);
	jmpi(c, BPF_JEQ, R1, 0, done);
	answer(c, P_MORE);
	dt_code_place(c, done);
	answer(c, P_DONE);
	dt_code_place(c, fail);
	answer(c, P_FAIL);
	dt_code_place(c, none);
	answer(c, P_NONE);
}

/* absent(slot, from, size, string): r0 as in translate.h */
void dt_tr_absent_function(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t again = dt_code_label(c), done = dt_code_label(c), fail = dt_code_label(c),
		 none = dt_code_label(c), piece;
	/* in so many pages can it be; the verifier goes through the loop as often */
	int32_t pieces =
	    (int32_t)((t->at->absent_size + DT_ABSENT_PIECE - 1) / DT_ABSENT_PIECE + 1);

	if (!t->func.absent)
		return;
	piece = dt_code_func_new(c, "piece");
	dt_code_func_begin_global(c, t->func.absent, 4);
	mov(c, R6, R1);
	dt_slot_lea(c, R7, t->at->absent);
	st(c, 8, R7, A_FROM, R2);
	st(c, 8, R7, A_LEFT, R3);
	sti(c, 8, R7, A_AT, 0);
	st(c, 8, R7, A_STRING, R4);
	ld(c, 8, R1, R6, S_TMP);
	st(c, 8, R7, A_TMP, R1);
	jmpi(c, BPF_JGT, R3, (int32_t)t->at->absent_size, none);
	movi(c, R9, pieces);
	dt_code_place(c, again);
	jmpi(c, BPF_JEQ, R9, 0, fail);
	alui(c, BPF_SUB, R9, 1);
	mov(c, R1, R6);
	dt_code_call(c, piece);
	jmpi(c, BPF_JEQ, R0, P_MORE, again);
	jmpi(c, BPF_JEQ, R0, P_DONE, done);
	jmpi(c, BPF_JEQ, R0, P_NONE, none);
	dt_code_place(c, fail);
	sti(c, 4, R6, S_ABSENT, 1);
	dt_tr_count(t, CPU_ABSENT);
	dt_code_place(c, none);
	ld(c, 8, R1, R7, A_TMP);
	st(c, 8, R6, S_TMP, R1);
	answer(c, 0);
	dt_code_place(c, done);
	ld(c, 8, R1, R7, A_TMP);
	st(c, 8, R6, S_TMP, R1);
	alui(c, BPF_ADD, R7, DT_ABSENT_WORDS);
	st(c, 8, R6, S_SELF, R7); /* an address becomes a number */
	ld(c, 8, R0, R6, S_SELF);
	leave(c);
	piece_function(t, piece);
}

/* ---- the small program of direct_map.c ---- */

/* CTL_PEEKED = argument 0 ? the word at that address : the address of the thread */
int dt_tr_peek_code(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t read = dt_code_label(c), out = dt_code_label(c);

	dt_code_func_begin(c, dt_code_func_new(c, "peek"));
	map_value(c, R6, t->maps->control, CTL_PEEKED);
	ld(c, 8, R3, R1, 0);
	jmpi(c, BPF_JNE, R3, 0, read);
	helper(c, BPF_FUNC_get_current_task);
	st(c, 8, R6, 0, R0);
	ja(c, out);
	dt_code_place(c, read);
	mov(c, R1, R6);
	movi(c, R2, 8);
	helper(c, BPF_FUNC_probe_read_kernel);
	dt_code_place(c, out);
	answer(c, 0);
	return t->failed ? -1 : 0;
}
