/* insn: where the instructions of a function are, and where its entry is best probed: x86-64, on any host. */
#include "arch/arch.h"
#include "arch/insn.h"
#include "unit.h"

static const struct dt_insn_mode old = {0}, new = {.optimizes = true}, narrow = {.optimizes = true, .narrow = true},
				 go = {.go = true};

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

/* Which instruction is chosen for the entry: its offset and the frame before it. */
static void entry(const char *what, const struct dt_insn_mode *k, const uint8_t *code, size_t n,
		  uint32_t offset, uint32_t frame, bool cheap)
{
	dt_insn i = {.offset = 99};

	CHECK(dt_arch_x86_64.code->entry(k, code, n, false, &i));
	if (i.offset != offset || i.frame != frame || !!(i.flags & DT_INSN_CHEAP) != cheap)
		fprintf(stderr, "%s: offset %u frame %u flags %x\n", what, i.offset, i.frame,
			i.flags);
	CHECK(i.offset == offset && i.frame == frame && !!(i.flags & DT_INSN_CHEAP) == cheap);
	CHECK(dt_arch_x86_64.code->entry(k, code, n, true, &i) && i.offset == 0);
}

static void entries(void)
{
	entry("push", &old, BYTES(0x55, 0xc3), 0, 0, true);
	entry("endbr64; push", &old, BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54, 0xc3), 4, 0, true);
	entry("endbr64; ret", &old, BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0xc3), 0, 0, false);
	entry("nop", &old, BYTES(0x90, 0xc3), 0, 0, true);
	entry("nop5, old", &old, BYTES(0x0f, 0x1f, 0x44, 0, 0, 0x55, 0xc3), 5, 0, true);
	entry("nop5, new", &new, BYTES(0x0f, 0x1f, 0x44, 0, 0, 0x55, 0xc3), 0, 0, true);
	entry("test; je", &old, BYTES(0x48, 0x85, 0xff, 0x74, 0, 0xc3), 3, 0, true);
	entry("mov %rdi,%rax; push", &old, BYTES(0x48, 0x89, 0xf8, 0x53, 0xc3), 3, 0, true);
	entry("mov x(%rip),%rax; push", &old, BYTES(0x48, 0x8b, 0x05, 1, 0, 0, 0, 0x53, 0xc3), 7, 0,
	      true);
	entry("mov %rsi,%rdi; push: an argument is gone", &old, BYTES(0x48, 0x89, 0xf7, 0x53, 0xc3),
	      0, 0, false);
	entry("mov (%rdi),%rax; push: could fail", &old, BYTES(0x48, 0x8b, 0x07, 0x53, 0xc3), 0, 0,
	      false);
	entry("mov %rax,(%rdi); push: memory changes", &old, BYTES(0x48, 0x89, 0x07, 0x53, 0xc3), 0,
	      0, false);
	entry("sub $8,%rsp; call", &old, BYTES(0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0xc3), 4, 8,
	      true);
	entry("sub; mov %fs:40,%rax; mov %rax,8(%rsp); je", &old,
	      BYTES(0x48, 0x83, 0xec, 0x18, 0x64, 0x48, 0x8b, 4, 0x25, 0x28, 0, 0, 0, 0x48, 0x89,
		    0x44, 0x24, 8, 0x74, 0, 0xc3),
	      18, 0x18, true);
	entry("sub; mov %rax,24(%rsp): not its frame", &old,
	      BYTES(0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x44, 0x24, 0x18, 0x74, 0, 0xc3), 0, 0,
	      false);
	entry("ret", &old, BYTES(0xc3), 0, 0, false);
	entry("endbr32; push %ebp", &narrow, BYTES(0xf3, 0x0f, 0x1e, 0xfb, 0x55, 0xc3), 4, 0, true);
	entry("sub $12,%esp; push", &narrow, BYTES(0x83, 0xec, 12, 0x53, 0xc3), 3, 12, true);
	entry("xor %eax,%eax; push: a register argument", &narrow, BYTES(0x31, 0xc0, 0x53, 0xc3), 0, 0, false);
	entry("mov 4(%esp),%eax; push", &narrow, BYTES(0x8b, 0x44, 0x24, 4, 0x53, 0xc3), 0, 0, false);
	entry("Go: cmp; jbe; push", &go, BYTES(0x49, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55, 0xc3), 6, 0, true);
	entry("Go: lea; cmp; jbe; sub", &go,
	      BYTES(0x4c, 0x8d, 0xa4, 0x24, 0x58, 0xfe, 0xff, 0xff, 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86, 0, 1, 0, 0,
		    0x48, 0x81, 0xec, 0, 2, 0, 0, 0x48, 0x8d, 0xac, 0x24, 0, 2, 0, 0),
	      18, 0, false);
	entry("Go: mov; sub; jb; cmp; jbe; push", &go,
	      BYTES(0x49, 0x89, 0xe4, 0x49, 0x81, 0xec, 0, 0, 2, 0, 0x72, 9, 0x4d, 0x3b, 0x66, 0x10, 0x76, 5, 0x55,
		    0xc3),
	      18, 0, true);
	entry("Go: add %rbx,%rax; push: no check", &go, BYTES(0x48, 0x01, 0xd8, 0x53, 0xc3), 0, 0, false);
	entry("Go: jbe alone", &go, BYTES(0x76, 2, 0x55, 0xc3), 0, 0, true);
	entry("xor %edi,%edi; jmp", &old, BYTES(0x31, 0xff, 0xeb, 0), 0, 0, false);
}

/* VEX and EVEX instructions that the kernel would take for others */
static void mistaken(void)
{
	dt_body b = {0};
	dt_insn i;

	/* vzeroupper; vcmpps; vpbroadcastd %esi,%ymm17; vaddps, which is fine; ret */
	dt_arch_x86_64.code->decode(&b, &new,
		       BYTES(0xc5, 0xf8, 0x77, 0xc5, 0xf8, 0xc2, 0xc1, 0, 0x62, 0xe2, 0x7d, 0x28,
			     0x7c, 0xce, 0xc5, 0xf8, 0x58, 0xc1, 0xc3),
		       0);
	CHECK(b.insns.n == 5);
	for (uint32_t k = 0; k < 3; k++)
		CHECK(b.insns.v[k].flags & DT_INSN_REFUSED);
	CHECK(!(b.insns.v[3].flags & DT_INSN_REFUSED));
	dt_body_free(&b);
	/* vpbroadcastd %esi,%ymm17; mov %edi,%eax; cmp $1,%eax; ja: as strchr() begins */
	CHECK(dt_arch_x86_64.code->entry(
	    &new,
	    BYTES(0x62, 0xe2, 0x7d, 0x28, 0x7c, 0xce, 0x89, 0xf8, 0x83, 0xf8, 1, 0x77, 0, 0xc3),
	    false, &i));
	CHECK(i.offset == 11 && i.flags & DT_INSN_CHEAP);
	/* vpbroadcastd; mov %edi,%eax; ret: the first that is not refused */
	CHECK(dt_arch_x86_64.code->entry(&new, BYTES(0x62, 0xe2, 0x7d, 0x28, 0x7c, 0xce, 0x89, 0xf8, 0xc3),
			    false, &i));
	CHECK(i.offset == 6 && !(i.flags & DT_INSN_REFUSED));
}

static void decode(dt_body *b, const struct dt_insn_mode *k, const uint8_t *code, size_t n)
{
	dt_arch_x86_64.code->decode(b, k, code, n, 0x1000);
}

static void bodies(void)
{
	dt_body b = {0};

	/* test %edi,%edi; je 1f; ret; 1: jmp outside; lock incl (%rdi); syscall; cs nop; vmovdqu */
	decode(&b, &new,
	       BYTES(0x85, 0xff, 0x74, 1, 0xc3, 0xe9, 0, 1, 0, 0, 0xf0, 0xff, 0x07, 0x0f, 0x05,
		     0x2e, 0x90, 0xc5, 0xfa, 0x6f, 0x07));
	CHECK(b.whole && b.insns.n == 8);
	CHECK(b.insns.v[1].flags & DT_INSN_MAYBE && b.insns.v[1].target == 0x1005 &&
	      b.insns.v[1].condition == 4);
	CHECK(b.insns.v[2].flags & DT_INSN_RETURN);
	CHECK(b.insns.v[3].flags & DT_INSN_JUMP && !(b.insns.v[3].flags & DT_INSN_MAYBE) &&
	      b.insns.v[3].target == 0x110a);
	for (uint32_t i = 4; i < 8; i++)
		CHECK(b.insns.v[i].flags & DT_INSN_REFUSED);
	CHECK(dt_body_at(&b, 2) == &b.insns.v[1] && dt_body_at(&b, 5) == &b.insns.v[3]);
	CHECK(!dt_body_at(&b, 1) && !dt_body_at(&b, 3) && !dt_body_at(&b, 0x100));

	/* a five-byte nop after a store below the stack pointer: not where it becomes a call */
	static const uint8_t red[] = {0x89, 0x7c, 0x24, 0xfc, 0x0f, 0x1f, 0x44, 0, 0, 0xc3};

	decode(&b, &new, red, sizeof(red));
	CHECK(b.insns.n == 3 && b.insns.v[1].flags & DT_INSN_REFUSED);
	decode(&b, &old, red, sizeof(red));
	CHECK(b.insns.n == 3 && !(b.insns.v[1].flags & DT_INSN_REFUSED));

	/* a table of jumps: movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax */
	decode(&b, &old, BYTES(0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0));
	CHECK(b.insns.n == 3 && !(b.insns.v[2].flags & DT_INSN_INDIRECT));
	/* mov 16(%rax),%rax; jmp *%rax: a method */
	decode(&b, &old, BYTES(0x48, 0x8b, 0x40, 0x10, 0xff, 0xe0));
	CHECK(b.insns.n == 2 && b.insns.v[1].flags & DT_INSN_INDIRECT);
	/* jmp *x(,%rax,8): a table; jmp *x(%rip): another function; jmp *8(%rax): a method */
	decode(&b, &old,
	       BYTES(0xff, 0x24, 0xc5, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0xff, 0x60, 8));
	CHECK(b.insns.n == 3 && !(b.insns.v[0].flags & DT_INSN_INDIRECT) &&
	      b.insns.v[1].flags & DT_INSN_INDIRECT && b.insns.v[2].flags & DT_INSN_INDIRECT);
	/* endbr64; add %rdx,%rax; notrack jmp *%rax; jmp *%rax */
	decode(&b, &old,
	       BYTES(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x01, 0xd0, 0x3e, 0xff, 0xe0, 0xff, 0xe0));
	CHECK(b.insns.n == 4 && !(b.insns.v[2].flags & DT_INSN_INDIRECT) &&
	      b.insns.v[3].flags & DT_INSN_INDIRECT);

	/* no instruction, and one that is cut off */
	decode(&b, &old, BYTES(0x55, 0x06, 0x06));
	CHECK(!b.whole && b.insns.n == 1);
	decode(&b, &old, BYTES(0x55, 0xe8, 0x00));
	CHECK(!b.whole && b.insns.n == 1);
	decode(&b, &old, BYTES(0x06));
	CHECK(!b.whole && b.insns.n == 0 && !dt_body_at(&b, 0));
	dt_body_free(&b);
}

static void targets(void)
{
	dt_jump_targets t = {0};

	dt_arch_x86_64.code->targets(&t, &old, BYTES(0x74, 2, 0xeb, 0xfc, 0xe8, 0, 0, 0, 0, 0xc3), 0x2000);
	CHECK(t.n == 2 && t.v[0] == 0x2004 && t.v[1] == 0x2000);
	dt_vec_free(&t);
}

/* As an assembler writes them, and where calls and jumps go. */
static void printed(void)
{
	static const struct {
		const char *text;
		uint64_t target;
		uint8_t code[8];
		size_t n;
	} rows[] = {
	    {"push %rbp", 0, {0x55}, 1},
	    {"mov (%rdi), %rax", 0, {0x48, 0x8b, 0x07}, 3},
	    {"mov %rax, 0x18(%rdi)", 0, {0x48, 0x89, 0x47, 0x18}, 4},
	    {"call 0x1025", 0x1025, {0xe8, 0x20, 0, 0, 0}, 5},
	    {"jz 0xff2", 0xff2, {0x74, 0xf0}, 2},
	    {"call %rax", 0, {0xff, 0xd0}, 2},
	};
	uint64_t target = 0;
	dt_buf b = {0};

	for (size_t i = 0; i < DT_NELEM(rows); i++) {
		b.n = 0;
		target = 0;
		CHECK(dt_arch_x86_64.code->print(&old, rows[i].code, rows[i].n, 0x1000, &b, &target));
		CHECK_STR(b.s, rows[i].text);
		CHECK(target == rows[i].target);
	}
	CHECK(!dt_arch_x86_64.code->print(&old, rows[3].code, 2, 0x1000, &b, &target)); /* cut short */
	CHECK(!dt_arch_x86_64.code->print(&old, rows[0].code, 0, 0x1000, &b, &target));
	dt_buf_free(&b);
}

int main(void)
{
	struct dt_insn_mode k;

	entries();
	mistaken();
	bodies();
	targets();
	printed();
	dt_insn_kernel(&k); /* whichever it is */
	return unit_done();
}
