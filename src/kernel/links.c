/*
 * links: see links.h.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "kernel/links.h"

int dt_link_tracepoint(const char *name, int prog, uint64_t cookie)
{
	struct {
		__u64 name;
		__u32 prog_fd, pad;
		__u64 cookie;
	} a = {.name = (uint64_t)(uintptr_t)name, .prog_fd = (uint32_t)prog, .cookie = cookie};

	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &a, sizeof(a));
}

#define MULTI_RETURN 1

int dt_link_uprobes(int prog, const char *path, const uint64_t *offsets, const uint64_t *refs,
		    const uint64_t *cookies, uint32_t n, bool returns, int pid)
{
	struct {
		__u32 prog_fd, target_fd, attach_type, flags;
		__u64 path, offsets, ref_ctr_offsets, cookies;
		__u32 cnt, multi_flags, pid, pad;
	} a = {.prog_fd = (uint32_t)prog,
	       .attach_type = DT_BPF_TRACE_UPROBE_MULTI,
	       .path = (uint64_t)(uintptr_t)path,
	       .offsets = (uint64_t)(uintptr_t)offsets,
	       .ref_ctr_offsets = (uint64_t)(uintptr_t)refs,
	       .cookies = (uint64_t)(uintptr_t)cookies,
	       .cnt = n,
	       .multi_flags = returns ? MULTI_RETURN : 0,
	       .pid = (uint32_t)pid};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
}

int dt_link_perf(int prog, struct perf_event_attr *a, int pid, int cpu, uint64_t cookie, int *event)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .perf_event.bpf_cookie = cookie);
	int link, error,
	    fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	link = bpf_link_create(prog, fd, BPF_PERF_EVENT, &o);
	error = errno;
	if (event && link >= 0)
		*event = fd;
	else
		close(fd); /* the link has it */
	errno = error;
	return link;
}

int dt_link_nothing(uint32_t expected_attach_type)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = expected_attach_type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dtrace", "Dual BSD/GPL", nothing,
			     DT_NELEM(nothing), &o);
}
