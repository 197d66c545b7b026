/* aarch64: what the files of this folder share: the parts of dt_arch_aarch64. */
#ifndef DT_ARCH_AARCH64_H
#define DT_ARCH_AARCH64_H

#include "arch/abi.h"
#include "arch/insn.h"
#include "arch/operand.h"
#include "arch/syscalls.h"

extern const struct dt_arch_code dt_aarch64_code;   /* insn.c */
extern const struct dt_arch_abi dt_aarch64_abi;	    /* abi.c */
extern const struct dt_arch_calls dt_aarch64_calls; /* syscalls.c */

bool dt_aarch64_operand(const char **p, struct dt_operand *o); /* operand.c */

/* ---- bytes.c: single instructions, of 32 bits ---- */
#define DT_AARCH64_NOP 0xd503201fu
uint32_t dt_aarch64_word(const uint8_t *at);
/* Does the kernel refuse a probe there (arm_probe_decode_insn), or would it do harm? */
bool dt_aarch64_refuses(uint32_t w);
bool dt_aarch64_is_literal_load(uint32_t w); /* kprobes simulate it; uprobes are refused (Linux 6.12) */
bool dt_aarch64_simulates(uint32_t w); /* the kernel does what it does, without a step */
/* A load that begins a sequence which fails if it is interrupted, and the store that ends it. */
bool dt_aarch64_begins_exclusive(uint32_t w);
bool dt_aarch64_ends_exclusive(uint32_t w);
#define DT_AARCH64_EXCLUSIVE 32 /* a sequence has no more instructions */
/* A jump or call to a fixed place: how far it is. */
bool dt_aarch64_branch(uint32_t w, int64_t *distance);
bool dt_aarch64_is_call(uint32_t w); /* also through a register */
bool dt_aarch64_is_conditional(uint32_t w);
bool dt_aarch64_is_return(uint32_t w);
bool dt_aarch64_is_landing_pad(uint32_t w);
bool dt_aarch64_is_adr(uint32_t w, uint64_t at, uint64_t *address); /* adr, adrp */
/* As in struct dt_arch_code. */
bool dt_aarch64_kprobe_refuses(const uint8_t *code, uint32_t offset, uint8_t length);
bool dt_aarch64_is_padding(const uint8_t *at, uint8_t length);
bool dt_aarch64_is_uprobe(const uint8_t *was, const uint8_t *now, uint8_t length);
size_t dt_aarch64_kernel_tail(const uint8_t *code, size_t n);
bool dt_aarch64_plt_slot(const uint8_t *p, size_t n, uint64_t vaddr, uint64_t *slot);

/* ---- print.c ---- */
bool dt_aarch64_print(const struct dt_insn_mode *k, const uint8_t *code, size_t n, uint64_t vaddr, dt_buf *out,
		      uint64_t *target);

/* Conditions of jumps (dt_insn.condition): which kind, then its fields as in the instruction.
 *	FLAGS	condition
 *	ZERO	register, bit 5: 64 bits, bit 6: jumps if it is not 0
 *	BIT	register, bits 5-10 which, bit 11: jumps if it is set */
enum dt_aarch64_condition { DT_AARCH64_FLAGS, DT_AARCH64_ZERO = 0x1000, DT_AARCH64_BIT = 0x2000 };

#endif
