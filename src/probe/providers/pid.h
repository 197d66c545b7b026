/*
 * pid: shared by the files of the pid provider.
 *
 *   pid.c         names, arguments, attaching
 *   pid_search.c  descriptions to probes
 *   pid_object.c  their ELF files, and places in their code
 */
#ifndef DT_PROVIDERS_PID_H
#define DT_PROVIDERS_PID_H

#include "elf/elf.h"
#include "arch/insn.h"
#include "probe/providers/providers.h"

/* An ELF file with code, shared by all processes that map it. It stays open: probes are attached
 * through its descriptor, whatever happens to its name, its process and its mount namespace. */
struct pid_object {
	dt_elf *elf;
	char path[32]; /* "/proc/self/fd/N" */
	char *name;    /* a path by which we can open it, for its types; the same as path if it has
			  none */
	uint64_t dev, inode;
	const char *seen; /* its path as a process mapped it during tracing (pid.c, bring()); NULL: it was found otherwise */
	dt_map *links; /* names of symbolic links to it that descriptions have used */
	bool go; /* made by Go's linker */
	const dt_elfsym *funcs;
	uint32_t nfuncs;
	dt_jail *jail; /* reads it */
	const char **pretty[2]; /* readable names by function, without and with parameters; made at need */
	bool *swept;	     /* functions whose jumps are in targets */
	dt_jump_targets targets;
};

/* The functions at one address: the first one and its aliases. Code is the implementation of an
 * IFUNC. */
struct pid_function {
	struct pid_object *object;
	uint32_t index;
	uint64_t vaddr, size;
};

/* Where a function returns. */
struct pid_return {
	uint64_t vaddr;
	bool maybe; /* a jump to another function, under this condition */
	uint8_t condition;
	bool cheap;    /* the kernel emulates it */
	uint32_t pops; /* dt_insn's */
};
typedef DT_VEC(struct pid_return) pid_returns;

struct pid_code {
	struct dt_insn_mode kernel;
	dt_body body; /* of the function that was decoded last */
	const struct pid_object *object;
};

/* The file of an open descriptor, which it owns from now on; NULL with *err. It is first searched
 * for in the list. */
typedef DT_VEC(struct pid_object *) pid_objects;
struct pid_object *dt_pid_object(pid_objects *all, int fd, const struct dt_elf_place *place,
				 const char *name, dt_arena *a, dt_error *err);
void dt_pid_objects_free(pid_objects *all);
/* A function of Go itself, with arguments in registers, not one of C or in assembly language. */
bool dt_pid_is_go(const struct pid_object *o, uint32_t index);
/* Readable: of C++ and Rust, with or without parameters; others as in the file. */
const char *dt_pid_pretty(struct pid_object *o, uint32_t index, bool params, dt_arena *a);
/* Where its code is; false: it has none, or it is chosen when the program starts and the choice is
 * not known. */
bool dt_pid_function(struct pid_object *o, uint32_t index, struct pid_function *f);
/* Its instructions; valid until the next call. NULL: they cannot be read. */
const dt_body *dt_pid_body(struct pid_code *c, const struct pid_function *f);
/* The instruction for its entry probe. */
bool dt_pid_entry(struct pid_code *c, const struct pid_function *f, dt_insn *at);
void dt_pid_returns(struct pid_code *c, const struct pid_function *f, pid_returns *out);

/* ---- probes ---- */

#define DT_PID_ALL "pid*" /* the provider for all processes */

enum pid_what { PID_ENTRY, PID_RETURN, PID_OFFSET, PID_ADDRESS };

/* What dt_probe.data points to. */
struct pid_place {
	struct pid_function f; /* PID_ADDRESS: only its object */
	long pid;	       /* 0: all */
	const char *module;    /* base name of the object */
	const char *path;      /* as the process sees it */
	bool exe;
	enum pid_what what;
	uint64_t offset; /* of the instruction in the function; PID_ADDRESS: its vaddr */
	uint64_t number; /* PID_ENTRY: dt_insn.frame; PID_ADDRESS: the address */
};

struct pid_state { /* kept with the registry */
	pid_objects objects;
	struct pid_code code;
	dt_map *known; /* place as text -> itself */
	dt_map *done;  /* description and mappings as text: searched already */
	dt_map *told;  /* number of a file and description as text: reported as news */
	uint32_t n;    /* probes so far */
};

/* ---- pid.c ---- */
/* The event of a function in all processes. Its return is found by the return address: also if it ends with a jump to another
 * one, as part of which that then counts. */
int dt_pid_attach_function(dt_probes *ps, const struct pid_function *f, bool on_return, dt_attach *at, char *why, size_t whylen);
struct pid_state *dt_pid_state(dt_probes *ps, const dt_provider *p);
bool dt_pid_function_matches(dt_probes *ps, const char *pattern, struct pid_object *o,
			     uint32_t index);
bool dt_pid_hex(const char *s, uint64_t *n); /* a hexadecimal number and nothing else */

/* ---- pid_search.c ---- */
/* Files of this name or pattern: found() gets each, some twice. */
enum { PID_RUNNING = 1 /* processes map them now */, PID_BROUGHT = 2 /* ... or did since tracing began */, PID_INSTALLED = 4 /* libraries */ };
void dt_pid_files(dt_probes *ps, const char *name, unsigned where, void (*found)(void *arg, struct pid_object *o, const char *base),
		  void *arg);
int dt_pid_discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing,
		    char *why, size_t whylen);

#endif
