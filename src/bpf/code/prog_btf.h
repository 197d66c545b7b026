/*
 * prog_btf: the minimal type information that the kernel requires.
 */
#ifndef DT_BPF_CODE_PROG_BTF_H
#define DT_BPF_CODE_PROG_BTF_H

#include "bpf/code/emit.h"

/* BTF with a FUNC per function of c; info gets one record for each. Returns the fd, or -1 with errno. */
int dt_code_btf(const dt_code *c, uint32_t slot_size, struct bpf_func_info *info);

/* BTF for a map of task storage with values of this size. */
struct dt_storage_btf {
	int fd; /* -1 with errno */
	uint32_t key, value;
};
struct dt_storage_btf dt_code_btf_storage(uint32_t value_size);

#endif
