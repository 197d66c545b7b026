/*
 * uapi: numbers of the kernel's binary interface that are newer than the oldest system headers we
 * build with. Whether the running kernel has them is always tried, never guessed.
 */
#ifndef DT_BPF_UAPI_H
#define DT_BPF_UAPI_H

#include <linux/bpf.h>

/* Inode of the initial pid namespace (include/linux/proc_ns.h); the same on every kernel. */
#define DT_PROC_PID_INIT_INO 0xEFFFFFFCu

/* BPF_RAW_TRACEPOINT_OPEN with a cookie: Linux 6.10. */
struct dt_raw_tracepoint_attr {
	__u64 name;
	__u32 prog_fd;
	__u32 pad;
	__u64 cookie;
};

/* What BPF_OBJ_GET_INFO_BY_FD says of links to kernel functions; `missed` since Linux 6.7. */
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

/* BPF_LINK_CREATE of many places in one file: Linux 6.6. */
#define DT_BPF_TRACE_UPROBE_MULTI   48
#define DT_BPF_F_UPROBE_MULTI_RETURN 1
struct dt_uprobe_multi_attr {
	__u32 prog_fd;
	__u32 target_fd;
	__u32 attach_type;
	__u32 flags;
	__u64 path;
	__u64 offsets;
	__u64 ref_ctr_offsets;
	__u64 cookies;
	__u32 cnt;
	__u32 multi_flags;
	__u32 pid;
	__u32 pad;
};

#endif
