/*
 * kfunc: the functions of the kernel and its modules that can be traced.
 *
 * The kernel lists them in tracefs (available_filter_functions): all that begin with a place for a
 * call to a tracer. Where tracefs is hidden (lockdown), the symbols that its type information knows
 * as functions are used instead. The order is that of the kernel, so an index means the same
 * function until a module is loaded.
 *
 * Some in the list must not be traced: those that the kernel itself calls while it handles a probe
 * (it has a list of them), and those that our programs call. They stay in the table with the
 * reason, so that indices do not change.
 */
#ifndef DT_KERNEL_KFUNC_H
#define DT_KERNEL_KFUNC_H

#include "kernel/ksym.h"
#include "type/type.h"

typedef struct dt_kfunc {
	const char *name, *module; /* "vmlinux" or a module's name */
	uint64_t place;		   /* where the kernel would put the call; 0: not known */
	uint64_t addr;	     /* first instruction; 0: not asked for yet, see dt_kfunc_address() */
	const char *refused; /* why it must not be traced; NULL: it can be */
} dt_kfunc;

typedef struct dt_kfuncs dt_kfuncs;

/* Nothing is read before the first lookup. */
dt_kfuncs *dt_kfuncs_new(dt_ksyms *ks);
void dt_kfuncs_free(dt_kfuncs *kf);
dt_ksyms *dt_kfuncs_ksyms(const dt_kfuncs *kf); /* those that it was made with */
/* All of them; the array lives until dt_kfuncs_free(). ts is used only where tracefs is hidden. */
const dt_kfunc *dt_kfuncs_all(dt_kfuncs *kf, dt_types *ts, uint32_t *n);
/* The first at or after *it with this name (module NULL or "": any); *it becomes its index. */
bool dt_kfuncs_find(const dt_kfuncs *kf, const char *module, const char *name, uint32_t *it);
/* Its address, from the kernel's symbols; 0: not known. */
uint64_t dt_kfunc_address(dt_kfuncs *kf, uint32_t index);
/* Does it never return? */
bool dt_kfunc_is_noreturn(const char *name);
/* "kernel" and "genunix" mean vmlinux. */
const char *dt_kfunc_module(const char *written);

#endif
