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

#endif
