/*
 * ktrace: see ktrace.h. What the running kernel offers is probed, never derived from its version:
 * an empty program is loaded for each method, and perf's list of event types is read.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/ktrace.h"
#include "kernel/lockdown.h"
#include "kernel/privilege.h"

static int load_nothing(enum bpf_prog_type type, enum bpf_attach_type how, uint32_t btf_id,
			int btf_fd)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = how, .attach_btf_id = btf_id,
		    .attach_btf_obj_fd = (uint32_t)(btf_fd > 0 ? btf_fd : 0));

	return bpf_prog_load(type, "dtrace", "Dual BSD/GPL", nothing, DT_NELEM(nothing), &o);
}

/* A kernel with such links reports the missing target; one without reports that. */
static bool has_multi(void)
{
	int prog = load_nothing(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0, 0);
	bool yes;

	if (prog < 0)
		return false;
	yes = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, NULL) < 0 && errno == EINVAL;
	close(prog);
	return yes;
}

int dt_ktrace_module_btf(const char *module)
{
	uint32_t id = 0;

	if (!module || strcmp(module, "vmlinux") == 0)
		return 0;
	while (bpf_btf_get_next_id(id, &id) == 0) {
		char name[64] = "";
		struct bpf_btf_info info = {.name = (uintptr_t)name, .name_len = sizeof(name)};
		uint32_t len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0 && info.kernel_btf &&
		    strcmp(name, module) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

bool dt_ktrace_takes_fentry(dt_types *ts, const char *module, const char *name, bool exit)
{
	uint32_t id = dt_type_function_id(ts, module, name);
	int btf = id ? dt_ktrace_module_btf(module) : -1, prog = -1;

	if (btf >= 0)
		prog = load_nothing(BPF_PROG_TYPE_TRACING,
				    exit ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY, id, btf);
	if (prog >= 0)
		close(prog);
	if (btf > 0)
		close(btf);
	return prog >= 0;
}

/* A kernel that takes no such programs refuses one for any type, which is much cheaper than to look for a function. */
static bool refuses_fentry(void)
{
	int prog = load_nothing(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, 1, 0);

	if (prog >= 0)
		close(prog);
	return prog < 0 && errno == EPERM;
}

int dt_perf_type(const char *name)
{
	char *path = dt_xasprintf("/sys/bus/event_source/devices/%s/type", name);
	FILE *f = fopen(path, "re");
	int type = -1;

	free(path);
	if (f && fscanf(f, "%d", &type) != 1)
		type = -1;
	if (f)
		fclose(f);
	return type;
}

void dt_ktrace_probe(struct dt_ktrace *k, dt_types *ts)
{
	bool pmu = dt_perf_type("kprobe") >= 0;

	*k =
	    (struct dt_ktrace){.kprobe = pmu && dt_lockdown() != DT_LOCKDOWN_CONFIDENTIALITY,
			       .multi = has_multi(),
			       .fentry = ts && !refuses_fentry() && dt_ktrace_takes_fentry(ts, NULL, "vfs_read", false)};
	if (k->kprobe || k->multi || k->fentry)
		return;
	if (!dt_privilege_to_trace())
		snprintf(k->why, sizeof(k->why),
			 "kernel functions can be traced only by root, or with the capabilities "
			 "CAP_BPF and CAP_PERFMON");
	else if (pmu)
		snprintf(k->why, sizeof(k->why),
			 "this kernel is locked down (confidentiality mode): it refuses kprobes, "
			 "and has no kprobe.multi "
			 "(CONFIG_FPROBE)");
	else
		snprintf(k->why, sizeof(k->why),
			 "this kernel is built without kprobes (CONFIG_KPROBES, CONFIG_FPROBE), "
			 "and does not let BPF "
			 "programs be called by its functions (fentry)");
}
