/*
 * arch for aarch64, and arm in 32-bit programs. Calls are those of AAPCS64, DWARF's numbers of registers of "DWARF for the
 * Arm 64-bit Architecture"; struct pt_regs and the registers in a signal handler's frame (struct sigcontext, from
 * regs[0] on) are in the kernel's arch/arm64/include.
 */
#include <elf.h>
#include <stdio.h>
#include <sys/personality.h>

#include "arch/aarch64/aarch64.h"
#include "arch/arch.h"
#include "base/base.h"

enum { X19 = 19, FP = 29, LR, SP, PC, PSTATE, ORIG_X0, SYSCALLNO };

#define X(n) [n] = {"x" #n, n, n, {"x" #n, "w" #n}, NULL}
static const dt_arch_reg regs[] = {
    X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13), X(14),
    X(15), X(16), X(17), X(18), X(19), X(20), X(21), X(22), X(23), X(24), X(25), X(26), X(27), X(28),
    [FP] = {"x29", 29, 29, {"x29", "w29", "fp"}, NULL},
    [LR] = {"x30", 30, 30, {"x30", "w30", "lr"}, NULL},
    [SP] = {"sp", 31, 31, {"sp", "wsp"}, NULL},
    [PC] = {"pc", 32, 32, {"pc"}, NULL},
    [PSTATE] = {"pstate", -1, -1, {NULL}, NULL},
    [ORIG_X0] = {"orig_x0", -1, -1, {NULL}, NULL},
    [SYSCALLNO] = {"syscallno", -1, -1, {NULL}, NULL},
};

/* r0 to r3, then words of the stack (r13). */
static void compat_arg(unsigned n, uint64_t frame, char *text, size_t size)
{
	if (n < 4)
		snprintf(text, size, "(uint32_t)uregs[%u]", n);
	else
		snprintf(text, size, "*(userland uint32_t *)(uregs[13] + %llu)", (unsigned long long)frame + 4 * (n - 4));
}

/* By the flags: N 31, Z 30, C 29, V 28; the odd ones are the opposites. */
static void flags_condition(unsigned code, char *text, size_t size)
{
#define FLAGS "uregs[33]" /* PSTATE */
#define LESS  FLAGS " >> 31 ^ " FLAGS " >> 28"
	static const struct {
		const char *text;
		bool opposite;
	} conditions[] = {
	    {FLAGS " & 0x40000000", false},
	    {FLAGS " & 0x20000000", false},
	    {FLAGS " & 0x80000000", false},
	    {FLAGS " & 0x10000000", false},
	    {"(" FLAGS " & 0x60000000) == 0x20000000", false},
	    {"(" LESS ") & 1", true},
	    {"((" LESS ") | " FLAGS " >> 30) & 1", true},
	};

	if (code >= 14)
		snprintf(text, size, "1");
	else
		snprintf(text, size, "(%s) %s 0", conditions[code >> 1].text,
			 (code & 1) != conditions[code >> 1].opposite ? "==" : "!=");
}

static void condition(uint16_t code, char *text, size_t size)
{
	char reg[24];

	snprintf(reg, sizeof(reg), (code & 31) == SP ? "0" : "uregs[%u]", code & 31u); /* 31: the register that is 0 */
	if (code & DT_AARCH64_BIT)
		snprintf(text, size, "(%s >> %u & 1) %s 0", reg, code >> 5 & 63u, code & 0x800 ? "!=" : "==");
	else if (code & DT_AARCH64_ZERO)
		snprintf(text, size, "(uint%u_t)%s %s 0", code & 0x20 ? 64u : 32u, reg, code & 0x40 ? "!=" : "==");
	else
		flags_condition(code & 15u, text, size);
}

/* Only some processors do. The kernel says so when a thread asks to be described as one of 32 bits. */
static bool runs_compat(void)
{
	int before = personality(0xffffffff);
	bool can = before >= 0 && personality((unsigned long)((before & ~PER_MASK) | PER_LINUX32)) >= 0;

	if (can)
		personality((unsigned long)before);
	return can;
}

static const uint8_t site[] = {0x1f, 0x20, 0x03, 0xd5};

static const char *const noreturn[] = {
    "arm64_serror_panic", "cpu_die_early", "cpu_park_loop", "cpu_soft_restart", "panic_bad_stack", NULL,
};

const dt_arch dt_arch_aarch64 = {
    .folder = "aarch64",
    .programs = "aarch64 or arm",
    .triplet = "aarch64-linux-gnu",
    .macro = "__aarch64",
    .machine = EM_AARCH64,
    .compat_machine = EM_ARM,
    .va_list_size = 32,
    .unnamed_aligns = true,
    .ordered_stores = false,
    .code_align = 4,
    .kernel_text = 0, /* randomized */

    .regs = regs,
    .nregs = DT_NELEM(regs),
    .nuregs = DT_NELEM(regs),
    .helper_frames = 1,
    .keeps_frames = true,
    .nclock_regs = ORIG_X0,
    .pc = PC,
    .sp = SP,
    .fp = FP,
    .call = {.nargs = 8,
	     .arg = {0, 1, 2, 3, 4, 5, 6, 7},
	     .stack_args = 0,
	     .result = 0,
	     .ngo_args = 16,
	     .go_arg = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	     .compat_arg = compat_arg,
	     .condition = condition},
    .entry = {.arg = {0, 1, 2, 3, 4, 5},
	      .compat_arg = {0, 1, 2, 3, 4, 5},
	      .number = SYSCALLNO,
	      .number_size = 4,
	      .stack_size = 16384,
	      .compat_at = 0,		/* thread_info.flags, at the start of the task */
	      .compat_bit = 1 << 22,	/* TIF_32BIT */
	      .mode = PSTATE,
	      .mode_mask = 0x10, /* PSR_MODE32_BIT */
	      .mode_native = 0,
	      .runs_compat = runs_compat},
    .unwind = {.sp = 31,
	       .fp = 29,
	       .base = 30, /* the return address is in a register, so the place of that is followed */
	       .ra = 30,
	       .ra_at = 0,
	       .fp_at = -16,
	       .nsaved = 33,
	       .address = 0x0000ffffffffffff, /* above: the signature */
	       .signal_code = 0xd4000001d2801168, /* mov x8, #139; svc #0 */
	       .signal_at = 128 + 176 + 8, /* struct siginfo, uc_mcontext, fault_address */
	       .entry_size = 4,
	       .entry = {{0xa9807bfd, 0xffc07fff}, {0x90000010, 0x9f00001f}}, /* stp x29, x30, [sp, #-n]!; adrp x16 in a PLT */
	       .landing_pad = {0xd503233f, 0xd503245f}}, /* paciasp; bti c */
    .paging = {.page_bits = 12,
	       .level_bits = 9,
	       .top = {39, 30}, /* 48 or 39 bits of address */
	       .mask = 3,
	       .table = 3,
	       .address = 0x0000fffffffff000,
	       .direct_align = 1ull << 30, /* ARM64_MEMSTART_ALIGN */
	       /* valid, of the user, not accessed: after a fork, on CPUs without FEAT_HAFDBS */
	       .old_mask = 1 | 1 << 6 | 1 << 10,
	       .old = 1 | 1 << 6},
    .site = {.condition = "defined(__aarch64__)",
	     .what = "A nop",
	     .text = "nop",
	     .bytes = site,
	     .size = sizeof(site),
	     .call = 0},
    .operand = dt_aarch64_operand,
    .noreturn = noreturn,

    .code = &dt_aarch64_code,
    .abi = &dt_aarch64_abi,
    .calls = &dt_aarch64_calls,
};
