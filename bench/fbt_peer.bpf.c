/* fbt_peer: fbt:::entry { @[probefunc] = count(); } written by hand in BPF C. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} by_function SEC(".maps");

SEC("kprobe.multi") int entry(void *ctx)
{
	__u64 key = bpf_get_func_ip(ctx), one = 1, *v;

	v = bpf_map_lookup_elem(&by_function, &key);
	if (v)
		*v += 1;
	else
		bpf_map_update_elem(&by_function, &key, &one, BPF_NOEXIST);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
