/*
 * abi: where a function of a user program finds its parameters, by the ABI of the CPU.
 *
 * A parameter is described by what the rules depend on: its size, alignment, and the scalars inside
 * it. Parameters are placed one after the other, in order; struct dt_abi_used counts what the
 * previous ones have taken.
 */
#ifndef DT_ARCH_ABI_H
#define DT_ARCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

#define DT_ABI_FIELDS 64

struct dt_abi_field { /* a scalar; arrays are one for each element */
	uint64_t offset, size;
	bool is_float;
};

struct dt_abi_value {
	enum { DT_ABI_INTEGER, DT_ABI_FLOAT, DT_ABI_OBJECT } kind;
	uint64_t size, align;
	/* objects up to dt_arch_abi.flat bytes: all different fields */
	struct dt_abi_field field[DT_ABI_FIELDS];
	uint32_t nfields;
	bool irregular; /* a field is not aligned (packed), or there are too many */
};

struct dt_abi_used {
	uint32_t ints, vectors; /* registers */
	uint64_t stack;		/* bytes */
};

struct dt_abi_place {
	enum {
		DT_ABI_REGISTER,  /* integer register n */
		DT_ABI_SLOT,	  /* word n of the stack's arguments */
		DT_ABI_VECTOR,	  /* floating-point registers */
		DT_ABI_ONE,	  /* an object: integer register n */
		DT_ABI_SEVERAL,	  /* an object: more than one register */
		DT_ABI_REFERENCE, /* its address is argument n (registers, then words of the stack) */
		DT_ABI_MEMORY,	  /* by value on the stack, more than a word or an object */
		DT_ABI_NOTHING,	  /* an empty object: not passed */
	} how;
	uint32_t n;
};

/* What the folder of a CPU provides. */
struct dt_arch_abi {
	uint32_t int_regs, vector_regs; /* for arguments */
	uint64_t float_size; /* floating-point numbers up to this size are passed in vector registers */
	uint64_t flat; /* objects up to this size are passed by the types of their fields */
	void (*pass_object)(const struct dt_abi_value *v, struct dt_abi_used *used, struct dt_abi_place *to);
	/* Is an object returned in memory that the caller provides? */
	bool (*returns_in_memory)(const struct dt_abi_value *v);
	/* If so: does the address of that memory take the first integer register, as a hidden parameter? Is it what
	 * the function returns? */
	bool hidden_argument, returns_address;
};

/* Where the next parameter is. */
void dt_abi_pass(const struct dt_arch_abi *abi, const struct dt_abi_value *v, struct dt_abi_used *used,
		 struct dt_abi_place *to);
/* For pass_object: on the stack. */
void dt_abi_on_stack(const struct dt_abi_value *v, struct dt_abi_used *used, struct dt_abi_place *to);

#endif
