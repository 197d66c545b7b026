/*
 * family: option follow, in this process: the map of processes and their ancestors, which two small
 * programs keep up to date (translate/tr_family.c).
 */
#include <bpf/bpf.h>

#include "bpf/run/attaching.h"
#include "bpf/run/kmap.h"
#include "bpf/run/load.h"

#define FAMILY_SIZE 65536

int dt_family_make(dt_bpf *e, dt_error *err)
{
	if (e->plan.follows)
		e->maps.family = dt_kmap_make(e,
					      &(struct dt_kmap){.type = BPF_MAP_TYPE_HASH,
								.name = "dt_family",
								.key = 4,
								.value = 4,
								.entries = FAMILY_SIZE,
								.flags = BPF_F_NO_PREALLOC},
					      err);
	return e->plan.follows && e->maps.family < 0 ? -1 : 0;
}

int dt_family_attach(dt_bpf *e, dt_error *err)
{
	static const struct dt_small_program small = {.name = "dtrace_family",
						      .type = BPF_PROG_TYPE_RAW_TRACEPOINT};

	if (!e->plan.follows)
		return 0;
	return dt_attach_small(e, "sched_process_free", &small, dt_tr_family_free, err) < 0 ||
		       dt_attach_small(e, "sched_process_fork", &small, dt_tr_family_fork, err) < 0
		   ? -1
		   : 0;
}

static uint32_t key_of(const dt_bpf *e, long pid)
{
	return (uint32_t)pid | (e->plan.features.pidns_ino ? DT_FAMILY_OURS : 0);
}

/* A process that has probes. */
void dt_family_root(dt_bpf *e, uint32_t pid)
{
	uint32_t key = key_of(e, pid);

	if (e->plan.follows && pid)
		bpf_map_update_elem(e->maps.family, &key, &pid, BPF_NOEXIST);
}

/* A child that existed before tracing: the same as its parent. */
void dt_family_adopt(dt_bpf *e, long pid, long parent)
{
	uint32_t key = key_of(e, pid), root = key_of(e, parent);

	if (pid == parent)
		dt_family_root(e, (uint32_t)pid);
	else if (e->plan.follows && bpf_map_lookup_elem(e->maps.family, &root, &root) == 0)
		bpf_map_update_elem(e->maps.family, &key, &root, BPF_NOEXIST);
}

/* A process that has ended. Those without a mark are deleted in the kernel: by now the number may
 * belong to another process. */
void dt_family_disown(dt_bpf *e, long pid)
{
	uint32_t key = key_of(e, pid);

	if (e->plan.follows && e->plan.features.pidns_ino)
		bpf_map_delete_elem(e->maps.family, &key);
}
