/*
 * attaching: attaches programs to events, and releases them.
 */
#ifndef DT_BPF_RUN_ATTACHING_H
#define DT_BPF_RUN_ATTACHING_H

#include "bpf/run/bpf_engine.h"

void dt_attach_keep(dt_bpf *e, int fd); /* a link, closed when everything is detached */
/* A small program to a raw tracepoint of the scheduler. */
struct dt_small_program;
int dt_attach_small(dt_bpf *e, const char *event, const struct dt_small_program *p,
		    int (*code)(dt_tr *t), dt_error *err);
int dt_attach_all(dt_bpf *e, dt_error *err);
void dt_attach_end(dt_bpf *e);
/* Run BEGIN or END. */
int dt_attach_fire(dt_bpf *e, enum dt_probe_kind kind, dt_error *err);

/* ---- attach_user.c ---- */
int dt_user_table_make(dt_bpf *e, uint32_t prog, dt_error *err); /* make and fill it */
void dt_user_table_free(dt_bpf *e, uint32_t prog);
void dt_user_row_write(dt_bpf *e, uint32_t prog, uint32_t probe);
/* Attach the probes from `first` on. */
int dt_attach_user(dt_bpf *e, uint32_t prog, uint32_t first, dt_error *err);
/* One place for a program of another sort. */
int dt_attach_place(dt_bpf *e, int prog, const char *path, uint64_t offset, int pid,
		    uint64_t cookie, dt_error *err);
/* The links in this process alone; the caller owns them (heap). */
int *dt_attach_user_take(dt_bpf *e, long pid, uint32_t *n);
void dt_attach_user_end(dt_bpf *e); /* all become links like others */

/* ---- attach_kernel.c ---- */
struct bpf_prog_load_opts;
/* What the kernel must know about the program; returns a descriptor to close afterwards if it is
 * above 0. */
int dt_attach_function_load(const dt_plan *plan, const struct dt_plan_prog *p,
			    enum bpf_prog_type *type, struct bpf_prog_load_opts *o);
int dt_attach_function_places(dt_bpf *e, uint32_t prog, dt_error *err); /* the table of a program on many */
int dt_attach_functions(dt_bpf *e, uint32_t prog, dt_error *err);
uint64_t dt_attach_function_misses(const dt_bpf *e);
void dt_attach_functions_end(dt_bpf *e); /* before links are closed */
void dt_attach_functions_free(dt_bpf *e);

/* ---- family.c ---- */
int dt_family_make(dt_bpf *e, dt_error *err);
int dt_family_attach(dt_bpf *e, dt_error *err);
void dt_family_root(dt_bpf *e, uint32_t pid);
void dt_family_adopt(dt_bpf *e, long pid, long parent);
void dt_family_disown(dt_bpf *e, long pid);

/* ---- extend.c ---- */
int dt_extend(dt_bpf *e, dt_ecb *ecbs, uint32_t n, dt_error *err);
void dt_extend_retire(dt_bpf *e, long pid);
void dt_extend_end(dt_bpf *e); /* wait for what is being released */

/* ---- gate.c: see the engine's interface ---- */
int dt_gate(dt_bpf *e, const char *path, uint64_t offset, long pid, dt_error *err);
uint64_t dt_gate_arrived(const dt_bpf *e);
long dt_gate_comer(const dt_bpf *e, uint64_t n);
void dt_gate_admit(dt_bpf *e, uint64_t n);

/* ---- sites.c ---- */
/* For static probes that support both: is a call into the kernel cheaper than a trap? */
bool dt_sites_by_call(dt_bpf *e);
/* May programs in user code change the program counter? */
bool dt_sites_move(dt_bpf *e);

#endif
