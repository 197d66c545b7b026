/*
 * compile: machine code for clauses. Private to the module.
 *
 *   pe_native.c  clauses: predicate, records, aggregations
 *   pe_difo.c    DIF
 *
 * The interpreter is the specification. What is not known here stays with it: the whole clause.
 */
#ifndef DT_PROCESS_COMPILE_H
#define DT_PROCESS_COMPILE_H

#include "arch/native.h"
#include "process/process.h"

/* The functions of the runtime that are called: helpers.def. */
enum dt_pe_helper {
#define DT_PE_HELPER(name) H_##name,
#include "arch/helpers.def"
	H_MAX
};

/* Words of the function's stack. The first ones are registers of DIF. */
enum { DT_PE_VALUE = DT_N_STACK + 3, DT_PE_DATA, DT_PE_ECB };

/* Where the arguments of a probe are. */
enum dt_pe_args { DT_PE_ENTRY, DT_PE_RETURN, DT_PE_COMPUTED, DT_PE_ARGS_MAX };

struct dt_pe_fault {
	uint32_t label, code, action;
	int32_t offset;
};

/* The code of a clause, for each way of arguments; clauses of a pattern have many ECBs, which follow each other. */
struct dt_pe_made {
	const dt_clause *clause;
	bool tried[DT_PE_ARGS_MAX], reads_args;
	uint64_t code[DT_PE_ARGS_MAX];
};

struct dt_pe_compiler {
	dt_native n;
	const struct dt_native_ops *op;
	const dt_pe *p;
	uint64_t helper[H_MAX];
	enum dt_pe_args args;
	bool reads_args; /* of DT_PE_COMPUTED: the clause at hand needs them */
	uint32_t action; /* at hand, as faults count them */
	DT_VEC(struct dt_pe_fault) faults; /* code for them comes last */
	DT_VEC(struct dt_pe_made) made;
	bool works; /* there is a translator for this CPU */
};

/* ---- pe_native.c ---- */
void dt_pe_call(struct dt_pe_compiler *c, enum dt_pe_helper h); /* the slot is its first argument */

/* ---- pe_difo.c ---- */
bool dt_pe_difo_known(const struct dt_pe_compiler *c, const dt_difo *d, uint32_t *kept); /* kept: raised to what it needs */
void dt_pe_difo(struct dt_pe_compiler *c, const dt_difo *d); /* its value is in T0; NULL: 0 */

#endif
