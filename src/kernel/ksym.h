/*
 * ksym: names and addresses of kernel symbols, from /proc/kallsyms.
 *
 * Nothing is read before the first lookup. The kernel is asked for a single name, where it answers (ask_kernel());
 * otherwise the whole file is read once (about 120,000 lines,
 * 50 ms): the kernel writes it line by line and there is no index. It includes functions of modules
 * and of BPF programs. If an address is not found the file is read again, at most once a second,
 * since modules come and go.
 */
#ifndef DT_KERNEL_KSYM_H
#define DT_KERNEL_KSYM_H

#include "base/base.h"

typedef struct dt_ksyms dt_ksyms;

dt_ksyms *dt_ksyms_new(void);
void dt_ksyms_free(dt_ksyms *ks);
/* The symbol that addr lies in. module is "vmlinux" or a module's name, "bpf" for BPF programs. The
 * strings live until the next call. False: unknown, or the kernel hides addresses from us. */
bool dt_ksym_by_addr(dt_ksyms *ks, uint64_t addr, const char **module, const char **name,
		     uint64_t *offset);
/* module NULL or "": any. "kernel" and "genunix" mean vmlinux. */
bool dt_ksym_by_name(dt_ksyms *ks, const char *module, const char *name, uint64_t *addr);
/* All symbols in order of address; *it starts at 0; false at the end. */
bool dt_ksym_next(dt_ksyms *ks, uint32_t *it, uint64_t *addr, const char **module, const char **name);
/* Where the next symbol above addr begins; 0: unknown. */
uint64_t dt_ksym_end(dt_ksyms *ks, uint64_t addr);

#endif
