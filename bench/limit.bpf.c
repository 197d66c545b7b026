/*
 * limit: what a tracer could cost at least. Each program answers, in BPF written by hand, the question of one row of
 * bench/table, without regard for firings that interrupt each other, for faults, or for what else may be enabled.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#define GETPPID 110
#define FRAMES 20
#define USER_FRAMES 100

struct task_struct {
	int pid, tgid;
	char comm[16];
	struct task_struct *group_leader;
} __attribute__((preserve_access_index));

struct registers { /* struct pt_regs; the headers have one of the user's */
	unsigned long before[14], di;
};

struct by_function {
	__u32 pid, call;
};

#define TABLE(name, kind, k, v, n)                                                                 \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##kind);                                                 \
		__uint(max_entries, n);                                                            \
		__type(key, k);                                                                    \
		__type(value, v);                                                                  \
	} name SEC(".maps")

struct buckets {
	__u64 n[128];
};
struct text {
	char c[32];
};
struct user_stack {
	__u64 pc[USER_FRAMES];
};

TABLE(total, PERCPU_ARRAY, __u32, __u64, 1);
TABLE(by_name, PERCPU_HASH, struct text, __u64, 4096);
TABLE(by_comm, PERCPU_HASH, char[16], __u64, 4096);
TABLE(by_pid, PERCPU_HASH, __u32, __u64, 4096);
TABLE(by_call, PERCPU_HASH, struct by_function, __u64, 4096);
TABLE(by_stack, PERCPU_HASH, __u32, __u64, 4096);
TABLE(by_user_stack, PERCPU_HASH, struct user_stack, __u64, 4096);
TABLE(scratch, PERCPU_ARRAY, __u32, struct user_stack, 1);
TABLE(times, PERCPU_ARRAY, __u32, struct buckets, 1);
TABLE(begun, HASH, __u32, __u64, 4096);
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} begun_task SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 4096);
	__uint(key_size, 4);
	__uint(value_size, FRAMES * 8);
} stacks SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} ring SEC(".maps");

#define ENTRY(name) SEC("raw_tp/sys_enter") int name(struct bpf_raw_tracepoint_args *ctx)
#define RETURN(name) SEC("raw_tp/sys_exit") int name(struct bpf_raw_tracepoint_args *ctx)

static __always_inline int add(void *map, const void *key)
{
	__u64 one = 1, *v = bpf_map_lookup_elem(map, key);

	if (v)
		*v += 1;
	else
		bpf_map_update_elem(map, key, &one, BPF_NOEXIST);
	return 0;
}

static __always_inline int add_bucket(__u64 value)
{
	__u32 zero = 0, bucket = 0;
	struct buckets *b = bpf_map_lookup_elem(&times, &zero);

	if (!b)
		return 0;
	for (int bits = 32; bits; bits /= 2)
		if (value >> bits) {
			value >>= bits;
			bucket += bits;
		}
	b->n[bucket & 127]++;
	return 0;
}

ENTRY(nothing)
{
	return 0;
}

ENTRY(count)
{
	__u32 key = 0;

	return ctx->args[1] == GETPPID ? add(&total, &key) : 0;
}

ENTRY(count_name)
{
	char key[16];

	bpf_get_current_comm(key, sizeof(key));
	return add(&by_comm, key);
}

ENTRY(count_pid)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	return add(&by_pid, &pid);
}

ENTRY(count_call)
{
	struct by_function key = {bpf_get_current_pid_tgid() >> 32, ctx->args[1]};

	return add(&by_call, &key);
}

ENTRY(quantize)
{
	return ctx->args[1] == GETPPID ? add_bucket(bpf_ktime_get_ns()) : 0;
}

ENTRY(pair_entry)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 now;

	if (ctx->args[1] != GETPPID)
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&begun, &tid, &now, BPF_ANY);
	return 0;
}

RETURN(pair_return)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 *then = bpf_map_lookup_elem(&begun, &tid);

	if (!then)
		return 0;
	add_bucket(bpf_ktime_get_ns() - *then);
	bpf_map_delete_elem(&begun, &tid);
	return 0;
}

ENTRY(task_entry)
{
	__u64 *v;

	if (ctx->args[1] != GETPPID)
		return 0;
	v = bpf_task_storage_get(&begun_task, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (v)
		*v = bpf_ktime_get_ns();
	return 0;
}

RETURN(task_return)
{
	__u64 *then = bpf_task_storage_get(&begun_task, bpf_get_current_task_btf(), 0, 0);

	if (!then || !*then)
		return 0;
	add_bucket(bpf_ktime_get_ns() - *then);
	*then = 0;
	return 0;
}

/* Records with their time, without which those of several CPUs cannot be put in order. */
static __always_inline int record(__u64 *r, int n)
{
	if (!r)
		return 0;
	r[0] = 1;
	r[1] = bpf_ktime_get_ns();
	r[2] = bpf_get_current_pid_tgid() >> 32;
	if (n > 3)
		r[3] = r[1];
	if (n > 4)
		r[4] = ((struct registers *)bpf_task_pt_regs(bpf_get_current_task_btf()))->di;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

ENTRY(record_1)
{
	return ctx->args[1] == GETPPID ? record(bpf_ringbuf_reserve(&ring, 24, 0), 3) : 0;
}

ENTRY(record_2)
{
	return ctx->args[1] == GETPPID ? record(bpf_ringbuf_reserve(&ring, 32, 0), 4) : 0;
}

ENTRY(record_3)
{
	return ctx->args[1] == GETPPID ? record(bpf_ringbuf_reserve(&ring, 40, 0), 5) : 0;
}

ENTRY(fails)
{
	__u32 key = 0;

	return bpf_get_current_pid_tgid() >> 32 == 1 ? add(&total, &key) : 0;
}

ENTRY(fails_name)
{
	__u32 key = 0;
	__u64 name[2];

	bpf_get_current_comm(name, sizeof(name));
	return name[0] == 0x6170616461 && !name[1] ? add(&total, &key) : 0;
}

ENTRY(stack)
{
	__u32 id;

	if (ctx->args[1] != GETPPID)
		return 0;
	id = bpf_get_stackid(ctx, &stacks, 0);
	return add(&by_stack, &id);
}

ENTRY(user_stack)
{
	__u32 zero = 0;
	struct user_stack *s;

	if (ctx->args[1] != GETPPID)
		return 0;
	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return 0;
	__builtin_memset(s, 0, sizeof(*s));
	bpf_get_stack(ctx, s, sizeof(*s), BPF_F_USER_STACK);
	return add(&by_user_stack, s);
}

/* @[strjoin(execname, "-x")] = count() */
ENTRY(join)
{
	struct text t = {};
	int n = 0;

	if (ctx->args[1] != GETPPID)
		return 0;
	bpf_get_current_comm(t.c, 16);
	while (n < 16 && t.c[n])
		n++;
	t.c[n & 31] = '-';
	t.c[(n + 1) & 31] = 'x';
	return add(&by_name, &t);
}

/* @[substr(execname, 1, 3)] = count() */
ENTRY(part)
{
	struct text t = {}, all = {};

	if (ctx->args[1] != GETPPID)
		return 0;
	bpf_get_current_comm(all.c, 16);
	for (int i = 0; i < 3 && all.c[0] && all.c[i + 1]; i++)
		t.c[i] = all.c[i + 1];
	return add(&by_name, &t);
}

/* @ = sum(strstr(execname, "rk") != NULL) */
ENTRY(find)
{
	struct text all = {};
	__u32 key = 0;
	__u64 *v, found = 0;

	if (ctx->args[1] != GETPPID)
		return 0;
	bpf_get_current_comm(all.c, 16);
	for (int i = 0; i < 15 && all.c[i]; i++)
		if (all.c[i] == 'r' && all.c[i + 1] == 'k') {
			found = 1;
			break;
		}
	v = bpf_map_lookup_elem(&total, &key);
	if (v)
		*v += found;
	return 0;
}

SEC("perf_event") int sample(struct bpf_perf_event_data *ctx)
{
	__u32 id = bpf_get_stackid(ctx, &stacks, 0);

	return add(&by_stack, &id);
}

char _license[] SEC("license") = "Dual BSD/GPL";
