/*
 * ehframe: the records of an .eh_frame section, and what is in their instructions.
 *
 * Private to src/elf (and the fuzzer); other modules use tables or the ranges of functions (cfi.h).
 * Any bytes may be given: every read is checked against the end of its record, and invalid records
 * are skipped.
 */
#ifndef DT_ELF_EHFRAME_H
#define DT_ELF_EHFRAME_H

#include "base/base.h"

/* Bytes still to be read; `bad` is set by a read past the end, and from then on all reads give 0. */
struct dt_eh_cursor {
	const uint8_t *p, *end;
	bool bad;
};
uint64_t dt_eh_uint(struct dt_eh_cursor *c, uint32_t bytes);
uint64_t dt_eh_uleb(struct dt_eh_cursor *c);
int64_t dt_eh_sleb(struct dt_eh_cursor *c);
/* The next n bytes; NULL: not available. */
const uint8_t *dt_eh_bytes(struct dt_eh_cursor *c, uint64_t n);

struct dt_eh_section {
	const uint8_t *data;
	uint64_t size, vaddr;
	uint32_t word; /* bytes of an address: 8 */
};
/* A pointer, encoded as DW_EH_PE_* says; relative ones are relative to their own vaddr. */
uint64_t dt_eh_pointer(const struct dt_eh_section *s, struct dt_eh_cursor *c, uint8_t encoding);

struct dt_eh_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;	  /* column of the return address */
	uint8_t encoding; /* of addresses in its FDEs */
	bool augmented;	  /* FDEs have augmentation data */
	bool signal; /* describes a signal trampoline: the address in the frame above is exact */
	struct dt_eh_cursor insns;
};
struct dt_eh_fde {
	uint64_t start, end; /* vaddrs */
	uint64_t offset;     /* of the record in the section */
};

/* The next FDE; false at the end. *at starts at 0. Invalid CIEs and FDEs are skipped. */
bool dt_eh_next(const struct dt_eh_section *s, uint64_t *at, struct dt_eh_fde *f);
/* All of an FDE that dt_eh_next() gave: its CIE and its instructions. */
bool dt_eh_read(const struct dt_eh_section *s, const struct dt_eh_fde *f, struct dt_eh_cie *cie,
		struct dt_eh_cursor *insns);

#endif
