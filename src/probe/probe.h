/*
 * probe: what can be traced. Probe ids, descriptions, matching, and the provider interface.
 *
 * A provider is a table of functions. It creates its probes lazily: only those that a pattern asks
 * for. Ids are stable between runs: every provider owns a fixed range (dt_provider.id_base) and
 * numbers its probes inside it by a property of the probe, not by the order of discovery.
 */
#ifndef DT_PROBE_H
#define DT_PROBE_H

#include "dif/dif.h"
#include "probe/attach.h"
#include "kernel/kfunc.h"

typedef struct dt_probe {
	uint32_t id;
	const struct dt_provider *provider;
	const char *prov, *mod, *func, *name;
	uint64_t data; /* the provider's own: a system call number, an interval ... */
	const char *machine; /* that has it; NULL: this one */
} dt_probe;

typedef struct dt_probes dt_probes; /* the registry of one session */
struct dt_file;			    /* proc/sideband.h */

typedef struct dt_provider {
	const char *name;     /* "syscall"; the provider field of its probes, or its prefix */
	uint32_t id_base, id_count;
	dt_attr attrs[5];     /* provider module function name args */
	bool variants;	      /* probes that differ only in their module are treated as one: args[] are those of the first */
	/* Could a description with this provider pattern match probes of this provider? Default
	 * (NULL): glob match of the pattern against `name`. */
	bool (*claims)(const struct dt_provider *p, const char *prov_pattern);
	/* Report (by dt_probes_add) every probe that may match d; extra ones are filtered out. With all
	 * fields empty this lists everything; with d->id set only that probe is reported. `why` may
	 * get one sentence if nothing can match; -1: that is an error. */
	int (*discover)(const struct dt_provider *p, dt_probes *ps, const dt_probedesc *d,
			bool listing, char *why, size_t whylen);
	/* For a listing: is there a part of discover() that takes long and does not touch the registry? Then ahead() is called with
	 * what this returns, by another thread while other providers discover, and has ended when discover() is called. One
	 * provider at most has this. NULL: no. */
	void *(*prepare)(const struct dt_provider *p, dt_probes *ps, const dt_probedesc *d);
	void (*ahead)(void *prepared);
	/* Does the description match probe number i of this provider, whether this kernel has it or
	 * not? If so, args() knows its arguments. NULL: only reported probes are known. */
	bool (*means)(const struct dt_provider *p, const dt_probedesc *d, uint32_t i);
	/* Does the description match this probe? Default (NULL): each of its four fields matches
	 * the probe's. For probes with several names. */
	bool (*matches)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d);
	/* Which kinds of probes matching d can appear during tracing: 1 << DT_AT_*. NULL: none
	 * ever. */
	uint32_t (*grows)(const struct dt_provider *p, const dt_probedesc *d);
	/* During tracing: this process has mapped a file (NULL: it has exec'd). Could that bring
	 * probes matching d? Such a provider has grows() and news(). */
	bool (*news)(const struct dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid,
		     const struct dt_file *file);
	/* During tracing: this process has been forked; it has its parent's mappings. The same
	 * question. NULL: never. */
	bool (*forked)(const struct dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid, long parent);
	/* Argument types as D text, native and translated: "struct file *" ; returns count, -1 untyped.
	 * names may be NULL; memory is static or from dt_probes_arena. */
	int (*args)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr,
		    const char **native, const char **xlated, int *mapping, int max);
	/* For probes in programs, whose types cannot be named in D text: the types themselves,
	 * after args() has returned their names. Where mapping is -1 the argument is not available,
	 * and why[] gets a sentence. NULL: the text is used. */
	void (*types)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_type **types,
		      const char **why, int n);
	/* The instruction that the probe is at, as an assembler writes it. False: unknown. NULL: probes are not at instructions. */
	bool (*instruction)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_buf *out);
	/* Where in the code its events are and how the kernel gets past them: a line each. NULL, or nothing is added: there is nothing to say. */
	void (*places)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_buf *out);
	/* How the probe is attached; *at is zeroed before. -1 and a sentence when it cannot be. Text is static or
	 * from dt_probes_arena. */
	int (*attach)(const struct dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at,
		      char *why, size_t whylen);
	const void *data; /* the provider's own: a table */
} dt_provider;

extern const dt_provider *const dt_provider_table[]; /* ends with NULL */
dt_hint dt_provider_hint(const char *name);	     /* names like this one */

dt_probes *dt_probes_new(void);
void dt_probes_free(dt_probes *ps);
dt_arena *dt_probes_arena(dt_probes *ps);
/* The types that providers describe arguments with; set once by the session. */
void dt_probes_set_types(dt_probes *ps, dt_types *ts);
dt_types *dt_probes_types(dt_probes *ps);
void dt_probes_set_options(dt_probes *ps, const dt_options *opts); /* NULL: all have their defaults */
bool dt_probes_option(const dt_probes *ps, enum dt_opt_id id);
/* What the provider field of a description may be, for providers whose probes are in processes (news()): others are not asked, so that
 * no process is touched that may not be traced. NULL: anything. */
typedef bool dt_probes_may_f(void *arg, const char *prov);
void dt_probes_limit(dt_probes *ps, dt_probes_may_f *may, void *arg);
/* The processes of the session (proc/control.h); NULL: there are none, as in unit tests. */
struct dt_procs;
void dt_probes_set_procs(dt_probes *ps, struct dt_procs *procs);
struct dt_procs *dt_probes_procs(const dt_probes *ps);
dt_kfuncs *dt_probes_kfuncs(dt_probes *ps); /* the functions that can be traced; as above */
dt_ksyms *dt_probes_ksyms(dt_probes *ps); /* the kernel's symbols, read when first asked */
/* For providers, in discover(): a probe was found. One already known by id is returned again. */
dt_probe *dt_probes_add(dt_probes *ps, const dt_provider *p, uint32_t id, const char *prov,
			const char *mod, const char *func, const char *name, uint64_t data);
/* Is this in the words of bpftrace ("kprobe:vfs_read")? Then the description in D is added to *out. */
bool dt_probe_foreign(const dt_probedesc *d, dt_buf *out);
/* All probes that match, in order of id. Returns the count (0 is not an error; *err then may hold a
 * provider's sentence why, err->code 0), or -1 with *err for a malformed description. The array
 * belongs to the registry until the next call. */
int dt_probes_match(dt_probes *ps, const dt_probedesc *d, bool listing, dt_probe ***out,
		    dt_error *err);
/* The same for those of tables that this kernel lacks: enough of each to ask its provider about its arguments. */
int dt_probes_lacking(dt_probes *ps, const dt_probedesc *d, dt_probe ***out);
dt_probe *dt_probes_by_id(dt_probes *ps, uint32_t id);
/* For providers, in discover(): does a probe that is already known match? */
bool dt_probes_has(dt_probes *ps, const dt_probedesc *d);
/* For providers: does each of the four fields match? What is done without dt_provider.matches. */
bool dt_probe_fits(const dt_probe *pr, const dt_probedesc *d);
/* For providers: a probe already reported, without a search; and the number of p's probes. */
dt_probe *dt_probes_known(const dt_probes *ps, uint32_t id);
uint32_t dt_probes_count(const dt_probes *ps, const dt_provider *p);
/* For providers, in discover(): the tag that belongs to their sentence (D_PROC_FUNC; D_PDESC_ZERO otherwise). */
void dt_probes_blame(dt_probes *ps, enum dt_tag tag);
/* For providers, in attach(): the D text of this event, to be filled in. */
dt_attach_text *dt_probes_text(dt_probes *ps, dt_attach *at);
/* For providers: a place for data that one of them keeps; freed with the registry. */
void **dt_probes_keep(dt_probes *ps, const dt_provider *p, void (*free_it)(void *));
/* "prov:mod:func:name" */
void dt_probedesc_print(const dt_probedesc *d, dt_buf *out);

#endif
