/* peer: hand-written BPF C programs for the same questions. */
#include <asm/unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, char[16]);
	__type(value, __u64);
} by_comm SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} total SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} ring SEC(".maps");

SEC("raw_tp/sys_enter") int count(struct bpf_raw_tracepoint_args *ctx)
{
	char key[16];
	__u64 one = 1, *v;

	bpf_get_current_comm(key, sizeof(key));
	v = bpf_map_lookup_elem(&by_comm, key);
	if (v)
		*v += 1;
	else
		bpf_map_update_elem(&by_comm, key, &one, BPF_NOEXIST);
	return 0;
}

SEC("raw_tp/sys_enter") int one(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 key = 0;
	__u64 *v;

	if (ctx->args[1] != __NR_getppid)
		return 0;
	v = bpf_map_lookup_elem(&total, &key);
	if (v)
		*v += 1;
	return 0;
}

struct task_struct {
	int pid, tgid, prio, static_prio, exit_state;
	struct task_struct *real_parent;
} __attribute__((preserve_access_index));

static void add(__u64 n)
{
	__u32 key = 0;
	__u64 *v = bpf_map_lookup_elem(&total, &key);

	if (v)
		*v += n;
}

SEC("raw_tp/sys_enter") int members(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	if (ctx->args[1] == __NR_getppid)
		add(t->pid + t->tgid + t->prio + t->static_prio);
	return 0;
}

SEC("raw_tp/sys_enter") int zero(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	if (ctx->args[1] == __NR_getppid)
		add(t->exit_state);
	return 0;
}

SEC("raw_tp/sys_enter") int parent(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task_btf();

	if (ctx->args[1] == __NR_getppid)
		add(t->real_parent->tgid + t->real_parent->prio);
	return 0;
}

/* Nested loops of 30 rounds each, as bpf_loop() and as loops that the verifier follows. */
struct sums {
	__u64 i, sum;
};

static long inner(__u64 j, struct sums *s)
{
	s->sum += s->i ^ j;
	return 0;
}

static long outer(__u64 i, struct sums *s)
{
	s->i = i;
	bpf_loop(30, inner, s, 0);
	return 0;
}

SEC("raw_tp/sys_enter") int loops(struct bpf_raw_tracepoint_args *ctx)
{
	struct sums s = {};

	if (ctx->args[1] != __NR_getppid)
		return 0;
	bpf_loop(30, outer, &s, 0);
	add(s.sum);
	return 0;
}

SEC("raw_tp/sys_enter") int unrolled(struct bpf_raw_tracepoint_args *ctx)
{
	volatile __u64 seed = 0;
	__u64 sum = seed;

	if (ctx->args[1] != __NR_getppid)
		return 0;
#pragma clang loop unroll(disable)
	for (__u64 i = 0; i < 30; i++)
#pragma clang loop unroll(disable)
		for (__u64 j = 0; j < 30; j++)
			sum += i ^ (j + seed);
	add(sum);
	return 0;
}

SEC("raw_tp/sys_enter") int record(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 *r;

	if (ctx->args[1] != __NR_getppid)
		return 0;
	r = bpf_ringbuf_reserve(&ring, 40, 0);
	if (!r)
		return 0;
	r[0] = 1;
	r[1] = bpf_get_current_pid_tgid();
	r[2] = bpf_ktime_get_ns();
	r[3] = 0;
	r[4] = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("kprobe") int user(void *ctx)
{
	__u32 key = 0;
	__u64 *v = bpf_map_lookup_elem(&total, &key);

	if (v)
		*v += 1;
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
