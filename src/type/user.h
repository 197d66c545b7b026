/*
 * user: types of user programs, read from the DWARF or CTF of their ELF files.
 *
 * An object is one ELF file with its separate debug file, if it has one. It is opened when a type,
 * a function or a variable in it is first looked up, and kept open as long as the store lives:
 * processes that map the same file share it, and types remain when a process ends. Only named types
 * are read, and types that they refer to when these are needed (dwarf.c explains how a name is
 * found).
 *
 * Pointers in types of user programs are userland ones.
 *
 *   user.c        objects and processes; look-ups; the choice of the reader
 *   user_node.c   shared by the readers: creating nodes, checking members
 *   user_ask.c    the readers below, in a helper;  user_serve.c  the helper's side
 *   user_args.c   functions: parameters, and which register each is in
 *   dwarf.c       DWARF: names and addresses to DIEs;  dwarf_type.c  DIEs to nodes;  dwarf_func.c
 * parameters ctf.c         CTF v3: the section, checked and indexed;  ctf_type.c  ids to nodes
 */
#ifndef DT_TYPE_USER_H
#define DT_TYPE_USER_H

#include "elf/elf.h"
#include "type/type.h"

/* ---- where the objects of processes come from: the session provides them ---- */
struct dt_user_source {
	void *arg;
	dt_jail *jail; /* reads them; NULL: this process does */
	/* Open an object of a process. object NULL: the nth one that it has mapped; 0 is the
	 * executable. *bias is where it is loaded, *name (heap) its base name. NULL with *err,
	 * whose tag gives the reason (D_PROC_BADPID, D_PROC_GRAB, D_PROC_LIB); NULL without an
	 * error code: there is no nth one. */
	dt_elf *(*open)(void *arg, long pid, const char *object, uint32_t nth, char **name,
			uint64_t *bias, dt_error *err);
	/* Where separate debug files are (option debugdir); NULL, or NULL from it: /usr/lib/debug.
	 */
	const char *(*debug_dir)(void *arg);
};
void dt_types_set_user(dt_types *ts, const struct dt_user_source *source);

/* ---- names. A module is "pidN" (any object, the executable first) or "pidN`object" ---- */
bool dt_module_is_user(const char *module);
/* The type, or NULL with *err (may be NULL): tag D_PROC_*, D_TYPE_ERR (no type data, or corrupt),
 * D_DECL_IDENT (no such type; the text has the nearest name). dt_type_lookup() does the same
 * without *err. */
dt_type *dt_user_type(dt_types *ts, const char *module, enum dt_namespace ns, const char *name,
		      dt_error *err);
/* A variable or function: its type and its address in the process. Tags as above, D_SYM_NOTYPES,
 * D_IDENT_UNDEF. */
dt_type *dt_user_symbol(dt_types *ts, const char *module, const char *symbol, uint64_t *address,
			dt_error *err);

/* ---- functions, for the pid provider ---- */
#define DT_USER_RAW_ARGS 10 /* arg0..arg9 */

typedef struct dt_user_arg {
	dt_type *type;	  /* pointers are userland */
	const char *text; /* its spelling, for -lv */
	int raw;	  /* which of arg0..arg9 has it; -1: none */
	const char *why;  /* raw < 0: why: "double is passed in a floating-point register" */
} dt_user_arg;

/*
 * The arguments of the function at `address` (its st_value) in the ELF file `path`, opened as by
 * dt_elf_open() with `place` (NULL: its debug file is searched for in debug_dir()); `symbol` is its
 * name in the symbol table, not demangled. At the entry they are the parameters; at the return
 * args[0] is the offset and args[1] the value. Returns how many; -1 with *err (may be NULL) if the
 * file has no information. *out belongs to the store; repeating the call costs a stat().
 */
int dt_user_args(dt_types *ts, const char *path, const struct dt_elf_place *place,
		 const char *symbol, uint64_t address, bool is_return, const dt_user_arg **out,
		 dt_error *err);

#endif
