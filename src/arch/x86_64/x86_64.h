/* x86_64: what the files of this folder share: the parts of dt_arch_x86_64. */
#ifndef DT_ARCH_X86_64_H
#define DT_ARCH_X86_64_H

#include "arch/abi.h"
#include "arch/insn.h"
#include "arch/operand.h"
#include "arch/syscalls.h"

extern const struct dt_arch_code dt_x86_64_code;   /* insn.c */
extern const struct dt_arch_abi dt_x86_64_abi;	   /* abi.c */
extern const struct dt_arch_calls dt_x86_64_calls; /* syscalls.c */
extern const struct dt_native_ops dt_x86_64_native; /* native.c */

bool dt_x86_64_operand(const char **p, struct dt_operand *o); /* operand.c */
struct dt_patch;
const char *dt_x86_64_patch(struct dt_patch *p); /* patch.c */
const char *dt_x86_64_sample(struct dt_patch *p);

/* ---- bytes.c: as in struct dt_arch_code ---- */
bool dt_x86_64_kprobe_refuses(const uint8_t *code, uint32_t offset, uint8_t length);
bool dt_x86_64_makes_frame(const uint8_t *at, uint8_t length);
bool dt_x86_64_refers(const uint8_t *at, uint8_t length, uint64_t vaddr, uint64_t start, uint64_t end);
bool dt_x86_64_is_padding(const uint8_t *at, uint8_t length);
bool dt_x86_64_is_uprobe(const uint8_t *was, const uint8_t *now, uint8_t length);
uint32_t dt_x86_64_call_number(const uint8_t *at, uint8_t length);
bool dt_x86_64_plt_slot(const uint8_t *p, size_t n, uint64_t vaddr, uint64_t *slot);

#endif
