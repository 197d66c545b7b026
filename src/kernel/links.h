/*
 * links: attaches programs to events, where the kernel's interface is newer than the oldest
 * supported system headers and libraries. Whether the running kernel has it is always probed
 * (features.c), never guessed.
 */
#ifndef DT_KERNEL_LINKS_H
#define DT_KERNEL_LINKS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

/* The result of BPF_OBJ_GET_INFO_BY_FD for links to kernel functions; `missed` since Linux 6.7. */
struct dt_link_info {
	__u32 type, id, prog_id, pad;
	union {
		struct {
			__u64 addrs;
			__u32 count, flags;
			__u64 missed;
		} multi;
		struct {
			__u32 type, pad;
			__u64 name;
			__u32 name_len, offset;
			__u64 addr, missed;
		} kprobe;
		__u64 room[16];
	};
};

#define DT_BPF_TRACE_UPROBE_MULTI 48 /* expected_attach_type of programs for dt_link_uprobes() */

/* All return a descriptor, or -1 with errno. */
/* A raw tracepoint; name NULL: the one that the program was loaded for. A cookie other than 0: Linux 6.10. */
int dt_link_tracepoint(const char *name, int prog, uint64_t cookie);
/* Many places in one file: Linux 6.6. refs and cookies may be NULL; pid 0: all processes. */
int dt_link_uprobes(int prog, const char *path, const uint64_t *offsets, const uint64_t *refs,
		    const uint64_t *cookies, uint32_t n, bool returns, int pid);
struct perf_event_attr;
/* A perf event, which goes away with the link. */
/* event: gets a descriptor of the event, to be closed; NULL: the link alone keeps it. */
int dt_link_perf(int prog, struct perf_event_attr *a, int pid, int cpu, uint64_t cookie, int *event);
/* A program that does nothing, of type BPF_PROG_TYPE_KPROBE. */
int dt_link_nothing(uint32_t expected_attach_type);

#endif
