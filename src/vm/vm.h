/*
 * vm: the DIF interpreter, the reference for what every opcode, subroutine, variable and
 * aggregation means. It runs without any privilege and never accesses memory it does not own: every
 * address is looked up among the regions a program may read or write, anything else is a fault.
 */
#ifndef DT_VM_H
#define DT_VM_H

#include "engine/engine.h"

/* Run one DIFO outside any session (tests, fuzzing). Scratch and variables are created for the
 * call. Returns the value; *fault.code is 0 (DT_FLT_UNKNOWN) with offset -2 when there was no
 * fault. */
uint64_t dt_vm_eval(const dt_difo *d, size_t strsize, dt_fault *fault);

/*
 * ---- vm_front.c: the front's part of clauses (lang/split.c), run when a record of their machine's part comes ----
 *
 * The engine is a dt_engine_vm that was opened with env.rests, all such clauses. It is one place for all machines: variables
 * are those of the program. Records are read by consume().
 */
/* One of these clauses, on a probe of some machine: ecb->clause is it. NULL and *err. */
struct dt_vm_ecb *dt_vm_front_add(dt_engine *e, const dt_ecb *ecb, dt_error *err);
struct dt_vm_arrival {
	uint32_t machine, cpu;
	dt_account *payer; /* for rows of aggregations; NULL: this machine */
	uint64_t time; /* of the clock of this machine */
	const dt_clause *from; /* the machine's part ... */
	const dt_datum *values; /* ... and its data, one for each action */
};
void dt_vm_front_run(dt_engine *e, struct dt_vm_ecb *x, const struct dt_vm_arrival *a);

#endif
