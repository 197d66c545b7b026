/*
 * stable: providers that are tables. doc/stable-providers.md says how to write one.
 *
 * A stable probe (proc:::exec, sched:::off-cpu ...) is one or more events of the kernel,
 * interpreted by a piece of D. Its row has its name, its arguments, and the events ("sites") at
 * which it fires; the functions here turn the table into a provider.
 */
#ifndef DT_STABLE_H
#define DT_STABLE_H

#include "probe/providers/providers.h"

#define DT_STABLE_ARGS	DT_ATTACH_ARGS

/* One event. A site with .instead set counts only if this kernel lacks the one before it. */
typedef struct dt_stable_site {
	enum dt_attach_kind kind;
	const char *event;	  /* tracepoint, kernel function, or system call by name */
	const char *module;	  /* functions: NULL: vmlinux */
	bool instead;
	bool nothing;			 /* nothing to do if this event exists: for an ELSE after it */
	bool in_child;			 /* the return of a system call in the thread that it has made, where the kernel reports that */
	uint64_t number;		 /* DT_AT_PERF: which of the software counters of perf; it fires each time the counter counts */
	uint32_t task_arg;		 /* as in dt_attach */
	const char *when;		 /* D, in terms of the event; NULL: always */
	const char *arg[DT_STABLE_ARGS]; /* D, for each native argument */
} dt_stable_site;

/* args[i]: native argument `from`, of type `native`, translated to `type` (NULL: not translated). */
typedef struct dt_stable_arg {
	int from;
	const char *native, *type;
} dt_stable_arg;

typedef struct dt_stable_probe {
	const char *name, *func, *mod; /* func NULL: none; mod NULL: vmlinux */
	enum dt_attach_inside inside;
	const char *needs;	       /* what a kernel without the events would need; NULL: the events themselves */
	dt_stable_arg args[DT_STABLE_ARGS];
	const dt_stable_site *sites; /* SITES() */
	uint32_t nsites;
} dt_stable_probe;

typedef struct dt_stable_table {
	const dt_stable_probe *probes; /* the position in the table is the id: add rows at the end */
	uint32_t n;
} dt_stable_table;

int dt_stable_discover(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, bool listing, char *why,
		       size_t whylen);
bool dt_stable_means(const dt_provider *p, const dt_probedesc *d, uint32_t i);
int dt_stable_args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		   const char **xlated, int *mapping, int max);
int dt_stable_attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		     size_t whylen);

/* E=Evolving, ISA: DTrace's stability of proc, sched, io, ip, tcp and udp. */
#define DT_STABLE_EVOLVING                                                                         \
	{                                                                                          \
		DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),              \
		    DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, ISA),          \
		    DT_ATTR(EVOLVING, EVOLVING, ISA)                                               \
	}

/* FreeBSD's stability of its static providers. */
#define DT_STABLE_FBSD                                                                             \
	{                                                                                          \
		DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),           \
		    DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),           \
		    DT_ATTR(PRIVATE, PRIVATE, ISA)                                                 \
	}

/* The provider of a table of rows. */
#define DT_STABLE_PROVIDER(id_, name_, rows, ...)                                                  \
	_Static_assert(DT_NELEM(rows) <= DT_ID_COUNT_##id_, "more probes than providers.def allows"); \
	static const dt_stable_table id_##_table = {rows, DT_NELEM(rows)};                         \
	const dt_provider dt_provider_##id_ = {                                                    \
	    .name = name_,                                                                         \
	    .id_base = DT_FIRST_ID_##id_,                                                          \
	    .id_count = DT_NELEM(rows),                                                            \
	    .attrs = __VA_ARGS__,                                                                  \
	    .discover = dt_stable_discover,                                                        \
	    .means = dt_stable_means,                                                              \
	    .args = dt_stable_args,                                                                \
	    .attach = dt_stable_attach,                                                            \
	    .data = &id_##_table,                                                                  \
	}

/* Sites. */
/* after .sites = */
#define SITES(...) \
	(const dt_stable_site[]){__VA_ARGS__}, .nsites = sizeof((const dt_stable_site[]){__VA_ARGS__}) / sizeof(dt_stable_site)
#define AT(kind_, event_, ...)	 {.kind = DT_AT_##kind_, .event = event_, ##__VA_ARGS__}
#define UNLESS(kind_, event_)	 {.kind = DT_AT_##kind_, .event = event_, .nothing = true}
#define ELSE(kind_, event_, ...) {.kind = DT_AT_##kind_, .event = event_, .instead = true, ##__VA_ARGS__}

#endif
