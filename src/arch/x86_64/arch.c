/*
 * arch for x86-64, and i386 in 32-bit programs. Calls and DWARF's numbers of registers are the System V ABI's; struct
 * pt_regs and the registers in a signal handler's frame (struct sigcontext, from r8 on) are in the kernel's
 * arch/x86/include.
 */
#include <elf.h>
#include <stdio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/x86_64/x86_64.h"
#include "base/base.h"

enum {
	R15,
	R14,
	R13,
	R12,
	RBP,
	RBX,
	R11,
	R10,
	R9,
	R8,
	RAX,
	RCX,
	RDX,
	RSI,
	RDI,
	ORIG_RAX,
	RIP,
	CS,
	RFLAGS,
	RSP,
	SS
};

static const dt_arch_reg regs[] = {
    [R15] = {"r15", 15, 7, {"r15", "r15d", "r15w", "r15b"}, NULL},
    [R14] = {"r14", 14, 6, {"r14", "r14d", "r14w", "r14b"}, NULL},
    [R13] = {"r13", 13, 5, {"r13", "r13d", "r13w", "r13b"}, NULL},
    [R12] = {"r12", 12, 4, {"r12", "r12d", "r12w", "r12b"}, NULL},
    [RBP] = {"rbp", 6, 10, {"rbp", "ebp", "bp", "bpl"}, NULL},
    [RBX] = {"rbx", 3, 11, {"rbx", "ebx", "bx", "bl"}, "bh"},
    [R11] = {"r11", 11, 3, {"r11", "r11d", "r11w", "r11b"}, NULL},
    [R10] = {"r10", 10, 2, {"r10", "r10d", "r10w", "r10b"}, NULL},
    [R9] = {"r9", 9, 1, {"r9", "r9d", "r9w", "r9b"}, NULL},
    [R8] = {"r8", 8, 0, {"r8", "r8d", "r8w", "r8b"}, NULL},
    [RAX] = {"rax", 0, 13, {"rax", "eax", "ax", "al"}, "ah"},
    [RCX] = {"rcx", 2, 14, {"rcx", "ecx", "cx", "cl"}, "ch"},
    [RDX] = {"rdx", 1, 12, {"rdx", "edx", "dx", "dl"}, "dh"},
    [RSI] = {"rsi", 4, 9, {"rsi", "esi", "si", "sil"}, NULL},
    [RDI] = {"rdi", 5, 8, {"rdi", "edi", "di", "dil"}, NULL},
    [ORIG_RAX] = {"orig_rax", -1, -1, {NULL}, NULL},
    [RIP] = {"rip", 16, 16, {"rip", "eip", "ip"}, NULL},
    [CS] = {"cs", -1, -1, {NULL}, NULL},
    [RFLAGS] = {"rflags", -1, -1, {NULL}, NULL},
    [RSP] = {"rsp", 7, 15, {"rsp", "esp", "sp", "spl"}, NULL},
    [SS] = {"ss", -1, -1, {NULL}, NULL},
};

/* Arguments of 32-bit code are words on the stack, above the return address. */
static void compat_arg(unsigned n, uint64_t frame, char *text, size_t size)
{
	snprintf(text, size, "*(userland uint32_t *)(uregs[%d] + %llu)", RSP,
		 (unsigned long long)frame + 4 * (n + 1));
}

/* By the low four bits of the opcode; the odd ones are the opposites. */
static void condition(uint16_t code, char *text, size_t size)
{
#define FLAGS "uregs[18]" /* RFLAGS */
#define LESS  "((" FLAGS " >> 7) ^ (" FLAGS " >> 11)) & 1"
	static const char *const conditions[] = {
	    FLAGS " & 0x800",
	    FLAGS " & 1",
	    FLAGS " & 0x40",
	    FLAGS " & 0x41",
	    FLAGS " & 0x80",
	    FLAGS " & 4",
	    LESS,
	    "(" FLAGS " & 0x40) | (" LESS ")",
	};

	snprintf(text, size, "(%s) %s 0", conditions[code >> 1 & 7], code & 1 ? "==" : "!=");
}

static bool runs_compat(void)
{
	return access("/proc/sys/abi/vsyscall32", F_OK) == 0;
}

/* breg rsp, 8; breg rip, 0; lit15; and; litN; ge; lit3; shl; plus */
static const uint8_t plt[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};

/* A nop of two bytes and one of five. */
#define SITE	   0x66, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00
#define TEXT(...)  TEXT_(__VA_ARGS__)
#define TEXT_(...) #__VA_ARGS__
static const uint8_t site[] = {SITE};

static const char *const noreturn[] = {
    "ex_handler_msr_mce",	 "machine_real_restart",  "x86_64_start_kernel",
    "x86_64_start_reservations", "xen_cpu_bringup_again", NULL,
};

const dt_arch dt_arch_x86_64 = {
    .folder = "x86_64",
    .programs = "x86-64 or i386",
    .triplet = "x86_64-linux-gnu",
    .macro = "__amd64",
    .machine = EM_X86_64,
    .compat_machine = EM_386,
    .va_list_size = 24,
    .ordered_stores = true,
    .code_align = 1,
    .kernel_text = 0xffffffff80000000,

    .regs = regs,
    .nregs = DT_NELEM(regs),
    .nuregs = 26, /* ds, es, fs, gs, trapno */
    .nclock_regs = DT_NELEM(regs),
    .pc = RIP,
    .sp = RSP,
    .fp = RBP,
    .call = {.nargs = 6,
	     .arg = {RDI, RSI, RDX, RCX, R8, R9},
	     .stack_args = 8, /* the return address */
	     .result = RAX,
	     .ngo_args = 9,
	     .go_arg = {RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11},
	     .compat_arg = compat_arg,
	     .condition = condition},
    .entry = {.arg = {RDI, RSI, RDX, R10, R8, R9},
	      .compat_arg = {RBX, RCX, RDX, RSI, RDI, RBP},
	      .number = ORIG_RAX,
	      .number_size = 8,
	      .stack_size = 16384,
	      .compat_at = 16,		/* thread_info.status, at the start of the task */
	      .compat_bit = 2,		/* TS_COMPAT */
	      .number_bit = 0x40000000, /* __X32_SYSCALL_BIT */
	      .mode = CS,
	      .mode_mask = 0xffff,
	      .mode_native = 0x33, /* __USER_CS */
	      .runs_compat = runs_compat},
    .ret = {.flags = RFLAGS,
	    .stepped = 0x100, /* TF */
	    .features = "thread.features",
	    .shadowed = 1, /* ARCH_SHSTK_SHSTK */
	    .address_bits = 47},
    .unwind = {.sp = 7, /* rsp, rbp, rbx, return address */
	       .fp = 6,
	       .base = 3,
	       .ra = 16,
	       .ra_at = -8,
	       .fp_at = -16,
	       .nsaved = 17,
	       .plt = plt,
	       .plt_size = sizeof(plt),
	       .plt_literal = 6,
	       .entry_size = 1,
	       .entry = {{0x55, 0xff}},	       /* push %rbp */
	       .landing_pad = {0xfa1e0ff3}}, /* endbr64 */
    .paging = {.page_bits = 12,
	       .level_bits = 9,
	       .top = {39, 48}, /* four levels, or five */
	       .mask = 0x81,	/* present; a large page */
	       .table = 0x01,
	       .address = 0x000ffffffffff000,
	       .direct_align = 1ull << 30}, /* also when randomized: arch/x86/mm/kaslr.c */
    .frame = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 11, 12, 13, 17},
    .frame_size = 8 + 17 * 8 + 128, /* the red zone */
    .frame_pc = 8 + 17 * 8,
    .site = {.condition = "defined(__x86_64__)",
	     .what = "A nop of two bytes, one of five",
	     .text = ".byte " TEXT(SITE),
	     .bytes = site,
	     .size = sizeof(site),
	     .call = 2},
    .operand = dt_x86_64_operand,
    .noreturn = noreturn,

    .code = &dt_x86_64_code,
    .abi = &dt_x86_64_abi,
    .calls = &dt_x86_64_calls,
    .native = &dt_x86_64_native,
};
