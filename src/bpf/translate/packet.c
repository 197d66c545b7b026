/*
 * packet: the bytes of an sk_buff, for pcap() and skbcopy().
 *
 *	u32 captured, u32 length, then the bytes			DT_PAYLOAD_PACKET
 *
 * The beginning of a packet, all of it if it is small, is contiguous at skb->data. The rest is in
 * pages: an array of { page, length, offset } after the buffer. A page is an element of the
 * kernel's array of struct page, and all memory is in the direct map; direct_map.c finds the start
 * of both. If that is not known, and for packets that are lists of others (frag_list), the record
 * ends with the first piece, and `length` shows that there was more.
 */
#include "arch/arch.h"
#include "bpf/translate/unwind.h"

/* Words of the area in the slot. */
enum {
	P_SKB = 0,    /* later: the address of the array of pieces */
	P_PIECES = 8, /* how many there are */
	P_TO = 16,    /* where the next bytes go: offset in the slot */
	P_LEFT = 24,  /* bytes that there is room for */
};
_Static_assert(P_LEFT + 8 == DT_PACKET_WORDS, "the slot's area of packet.c");

#define PIECES_MAX 64 /* the kernel has 17, or up to 45 if it was configured so */

/* ---- requirements ---- */

struct pieces {
	uint32_t head, end, count, array;
};

/* The pieces are 16 bytes each, whatever they are called. */
static bool find_pieces(const dt_tr *t, struct pieces *p)
{
	dt_types *ts = t->plan->types;
	dt_type *info = ts ? dt_type_lookup(ts, "vmlinux", DT_NS_STRUCT, "skb_shared_info") : NULL;
	const dt_member *m;
	uint64_t bits;

	if (!info || !dt_arch_knows_pages() ||
	    !(m = dt_type_member(ts, info, "frags", &bits)))
		return false;
	m = m && dt_type_is_array(m->type) ? m : NULL;
	return m && dt_type_size(ts, dt_type_resolve(m->type)->ref) == 16 &&
	       dt_tr_find_field(t->plan, "sk_buff", "head", &p->head) &&
	       dt_tr_find_field(t->plan, "sk_buff", "end", &p->end) &&
	       dt_tr_find_field(t->plan, "skb_shared_info", "nr_frags", &p->count) &&
	       dt_tr_find_field(t->plan, "skb_shared_info", "frags", &p->array);
}

/* May fragments() be called? While learning, requests what that needs. */
static bool has_pieces(dt_tr *t)
{
	struct pieces p;
	dt_type *page;

	if (!find_pieces(t, &p) ||
	    !(page = dt_type_lookup(t->plan->types, "vmlinux", DT_NS_STRUCT, "page")))
		return false;
	if (t->learn) {
		t->learn->page_struct = (uint32_t)dt_type_size(t->plan->types, page);
		t->learn->is.direct = true;
	}
	if (!t->func.fragments)
		t->func.fragments = dt_code_func_new(t->c, "fragments");
	return true;
}

/* ---- fragments(slot) ---- */

/* r3 = the kernel address of the piece in S_TMP */
static void find_bytes(dt_tr *t, uint32_t stop)
{
	const struct dt_arch_paging *p = &dt_arch_host()->paging;
	dt_code *c = t->c;

	ld(c, 8, R1, R6, S_TMP);
	mov(c, R2, R1);
	alui(c, BPF_AND, R2, 1); /* memory of a device */
	jmpi(c, BPF_JNE, R2, 0, stop);
	map_value(c, R2, t->maps->control, 0);
	ld(c, 8, R3, R2, CTL_PAGES);
	alu(c, BPF_SUB, R1, R3);
	alui(c, BPF_DIV, R1, t->need->page_struct ? (int32_t)t->need->page_struct : 1);
	alui(c, BPF_LSH, R1, p->page_bits);
	ld(c, 8, R3, R2, CTL_DIRECT);
	jmpi(c, BPF_JEQ, R3, 0, stop);
	alu(c, BPF_ADD, R3, R1);
	ld(c, 4, R1, R6, S_TMP + 12);
	alu(c, BPF_ADD, R3, R1);
}

/* One piece: a callback of bpf_loop. */
static void piece_function(dt_tr *t, uint32_t func)
{
	dt_code *c = t->c;
	uint32_t stop = dt_code_label(c), fits = dt_code_label(c);

	begin_callback(c, func);
	mov(c, R7, R1);
	dt_slot_lea(c, R8, t->at->packet);
	ld(c, 8, R1, R8, P_PIECES);
	jmp(c, BPF_JGE, R7, R1, stop);
	ld(c, 8, R9, R8, P_LEFT);
	jmpi(c, BPF_JEQ, R9, 0, stop);
	ld(c, 8, R3, R8, P_SKB);
	alui(c, BPF_LSH, R7, 4);
	alu(c, BPF_ADD, R3, R7);
	read_memory(c, false, S_TMP, 16, stop);
	find_bytes(t, stop);
	ld(c, 4, R1, R6, S_TMP + 8);
	jmp(c, BPF_JGE, R1, R9, fits);
	mov(c, R9, R1);
	dt_code_place(c, fits);
	jmpi(c, BPF_JGT, R9, (int32_t)t->need->is.packet, stop); /* never */
	ld(c, 8, R1, R8, P_TO);
	jmpi(c, BPF_JGT, R1, (int32_t)(t->at->slot_size - t->need->is.packet), stop); /* the same */
	alu(c, BPF_ADD, R1, R6);
	mov(c, R2, R9);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, stop);
	ld(c, 8, R1, R8, P_TO);
	alu(c, BPF_ADD, R1, R9);
	st(c, 8, R8, P_TO, R1);
	ld(c, 8, R1, R8, P_LEFT);
	alu(c, BPF_SUB, R1, R9);
	st(c, 8, R8, P_LEFT, R1);
	answer(c, 0);
	dt_code_place(c, stop);
	answer(c, 1);
}

void dt_tr_packet_functions(dt_tr *t)
{
	dt_code *c = t->c;
	uint32_t piece, none = dt_code_label(c);
	struct pieces p;

	if (!t->func.fragments || !find_pieces(t, &p))
		return;
	piece = dt_code_func_new(c, "fragment");
	dt_code_func_begin_global(c, t->func.fragments, 1);
	mov(c, R6, R1);
	dt_slot_lea(c, R8, t->at->packet);
	ld(c, 8, R3, R8, P_SKB);
	alui(c, BPF_ADD, R3, (int32_t)p.head);
	read_memory(c, false, S_TMP, 8, none);
	ld(c, 8, R3, R8, P_SKB);
	alui(c, BPF_ADD, R3, (int32_t)p.end);
	read_memory(c, false, S_TMP + 8, 4, none);
	ld(c, 8, R9, R6, S_TMP);
	ld(c, 4, R1, R6, S_TMP + 8);
	alu(c, BPF_ADD, R9, R1);
	mov(c, R3, R9);
	alui(c, BPF_ADD, R3, (int32_t)p.count);
	read_memory(c, false, S_TMP, 1, none);
	ld(c, 1, R1, R6, S_TMP);
	st(c, 8, R8, P_PIECES, R1);
	alui(c, BPF_ADD, R9, (int32_t)p.array);
	st(c, 8, R8, P_SKB, R9);
	movi(c, R1, PIECES_MAX);
	loop(c, piece);
	dt_code_place(c, none);
	answer(c, 0);
	piece_function(t, piece);
}

/* ---- the datum ---- */

/* slot + to = `size` bytes of the member of the sk_buff in r8 */
static void read_member(dt_tr *t, const char *member, int to, uint32_t size)
{
	uint32_t at = 0;

	dt_tr_field(t, "sk_buff", member, &at);
	mov(t->c, R3, R8);
	alui(t->c, BPF_ADD, R3, (int32_t)at);
	read_memory(t->c, false, to, size, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

/* What is not at skb->data, after the r9 bytes that were; the first byte is at slot + P_TO. r9 = how many there are. */
static void put_rest(dt_tr *t, uint32_t most)
{
	dt_code *c = t->c;
	uint32_t all = dt_code_label(c);

	if (!has_pieces(t))
		return;
	ld(c, 4, R1, R6, S_TMP + 4);
	jmpi(c, BPF_JEQ, R1, 0, all);
	dt_slot_lea(c, R2, t->at->packet);
	st(c, 8, R2, P_SKB, R8);
	movi(c, R1, (int32_t)most);
	alu(c, BPF_SUB, R1, R9);
	st(c, 8, R2, P_LEFT, R1);
	ld(c, 8, R1, R2, P_TO);
	alu(c, BPF_ADD, R1, R9);
	st(c, 8, R2, P_TO, R1);
	mov(c, R1, R6);
	dt_code_call(c, t->func.fragments);
	dt_slot_lea(c, R2, t->at->packet);
	ld(c, 8, R1, R2, P_LEFT);
	movi(c, R9, (int32_t)most);
	alu(c, BPF_SUB, R9, R1);
	dt_code_place(c, all);
}

/* The sk_buff in r8: its sizes and its first piece's address to S_TMP, and r9 = bytes of that piece, at most so many */
static void first_piece(dt_tr *t, uint32_t most)
{
	dt_code *c = t->c;
	uint32_t fits = dt_code_label(c);

	st(c, 8, R6, S_FVALUE, R8);
	read_member(t, "len", S_TMP, 4);
	read_member(t, "data_len", S_TMP + 4, 4);
	read_member(t, "data", S_TMP + 8, 8);
	ld(c, 4, R9, R6, S_TMP);
	ld(c, 4, R1, R6, S_TMP + 4);
	alu(c, BPF_SUB, R9, R1);
	jmpi(c, BPF_JLE, R9, (int32_t)most, fits);
	movi(c, R9, (int32_t)most);
	dt_code_place(c, fits);
}

/* r1 = where to; r9 bytes of the first piece */
static void read_first(dt_tr *t)
{
	dt_code *c = t->c;

	ld(c, 8, R3, R6, S_TMP + 8);
	st(c, 8, R6, S_FVALUE, R3);
	mov(c, R2, R9);
	helper(c, BPF_FUNC_probe_read_kernel);
	jmpi(c, BPF_JNE, R0, 0, dt_tr_fault_label(t, DT_FLT_BADADDR));
}

static void learn_size(dt_tr *t, uint32_t most)
{
	if (t->learn && t->learn->is.packet < most)
		t->learn->is.packet = most;
}

void dt_tr_packet(dt_tr *t, uint32_t off, uint32_t size)
{
	dt_code *c = t->c;
	uint32_t none = dt_code_label(c), most = size - 8;

	learn_size(t, most);
	dt_slot_lea(c, R1, off);
	sti(c, 8, R1, 0, 0);
	jmpi(c, BPF_JEQ, R0, 0, none);
	mov(c, R8, R0);
	first_piece(t, most);
	ld(c, 4, R1, R6, S_TMP);
	dt_slot_st(c, 4, off + 4, R1);
	dt_slot_lea(c, R1, t->at->packet);
	sti(c, 8, R1, P_TO, (int32_t)off + 8);
	dt_slot_lea(c, R1, off + 8);
	read_first(t);
	put_rest(t, most);
	dt_slot_st(c, 4, off, R9);
	dt_code_place(c, none);
}

/* The sk_buff is in the tuple; the copy is in scratch memory, which layout.c makes larger than any packet. */
void dt_tr_packet_copy(dt_tr *t, uint32_t size)
{
	dt_code *c = t->c;

	learn_size(t, size);
	dt_tr_needs(t, memory);
	dt_tr_here(t);
	dt_tr_alloc_const(t, size, true);
	st(c, 8, R6, S_VALUE, R0);
	alui(c, BPF_ADD, R0, (int32_t)t->at->scratch);
	dt_slot_lea(c, R1, t->at->packet);
	st(c, 8, R1, P_TO, R0);
	ld(c, 8, R8, R6, S_TUPLE);
	first_piece(t, size);
	dt_slot_lea(c, R1, t->at->packet);
	ld(c, 8, R1, R1, P_TO);
	jmpi(c, BPF_JGT, R1, (int32_t)(t->at->slot_size - size), dt_tr_fault_label(t, DT_FLT_NOSCRATCH)); /* never */
	alu(c, BPF_ADD, R1, R6);
	read_first(t);
	put_rest(t, size);
	ld(c, 8, R0, R6, S_VALUE);
	jmpi(c, BPF_JGT, R0, (int32_t)t->at->scratch_size, dt_tr_fault_label(t, DT_FLT_NOSCRATCH)); /* the same */
}
