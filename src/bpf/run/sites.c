/*
 * sites: tries what the kernel does at places in our own code.
 *
 * May a program change the registers of the thread, and does the kernel then leave out the instruction (tr_return.c)? A place
 * of ours is probed by a program that moves the program counter.
 *
 * Is a trap or a call cheaper?
 *
 * A static probe made by dtrace -h has two nops, one for each way into the kernel: one that becomes
 * a breakpoint, and one of five bytes that Linux 6.18 turns into a call to a page with a system
 * call in it. Which is cheaper depends on the machine: where this was written (a virtual machine on
 * an AMD EPYC) it was the breakpoint, by 80 of 500 ns, because the return from that page is
 * mispredicted; on other processors the call is reported to cost half. So it is measured once in a
 * session that has such probes: two equivalent places in our own code are probed by an empty
 * program, and passed a few hundred times. That takes a millisecond.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "bpf/run/attaching.h"
#include "kernel/links.h"
#include "arch/arch.h"
#include "arch/insn.h"
#include "arch/site.h"
#include "proc/mappings.h"

#define ROUNDS 12

static int probe_ourselves(dt_bpf *e, int prog, const dt_maps *maps, const char *at);

/* ---- may programs change registers? ---- */

/* A program that moves the program counter. */
static int mover(void)
{
	int16_t pc = (int16_t)DT_REG_AT(dt_arch_host()->pc);
	const struct bpf_insn insns[] = {
	    {.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 2, .src_reg = 1, .off = pc},
	    {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = DT_SITE_DISTANCE},
	    {.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 2, .off = pc},
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = DT_BPF_TRACE_UPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dtrace", "Dual BSD/GPL", insns, DT_NELEM(insns), &o);
}

bool dt_sites_move(dt_bpf *e)
{
	const struct dt_site_moved *site = dt_site_moved();
	int prog = site && dt_plan_can(&e->plan, BTF) && dt_plan_can(&e->plan, UPROBE_MULTI) ? mover() : -1;
	dt_error ignored = {0};
	dt_maps *maps = prog >= 0 ? dt_maps_read(getpid(), &ignored) : NULL;
	bool yes = maps && probe_ourselves(e, prog, maps, site->at) == 0 && site->pass() == 1;

	dt_maps_free(maps);
	if (prog >= 0)
		close(prog);
	return yes;
}

/* ---- a trap or a call? ---- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t fastest(void (*pass)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = now(), took;

		pass();
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

static int probe_ourselves(dt_bpf *e, int prog, const dt_maps *maps, const char *at)
{
	uint64_t address = (uint64_t)(uintptr_t)at;
	const dt_mapping *m = dt_maps_find(maps, address);
	int fd = m ? dt_mapping_open(getpid(), m) : -1, rc = -1;
	dt_error ignored = {0};
	char path[32];

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = dt_attach_place(e, prog, path, address - m->start + m->offset, getpid(), 0, &ignored);
	close(fd);
	return rc;
}

static bool measure(dt_bpf *e, const struct dt_site_pair *pair)
{
	int prog = dt_link_nothing(DT_BPF_TRACE_UPROBE_MULTI);
	dt_error ignored = {0};
	dt_maps *maps = prog >= 0 ? dt_maps_read(getpid(), &ignored) : NULL;
	bool yes = false;

	if (maps && probe_ourselves(e, prog, maps, pair->trap) == 0 &&
	    probe_ourselves(e, prog, maps, pair->call) == 0)
		yes = fastest(pair->pass_call) < fastest(pair->pass_trap);
	dt_maps_free(maps);
	if (prog >= 0)
		close(prog);
	return yes;
}

bool dt_sites_by_call(dt_bpf *e)
{
	const struct dt_site_pair *pair = dt_site_pair();
	struct dt_insn_mode kernel = {0};

	if (e->sites != SITES_UNKNOWN)
		return e->sites == SITES_CALL;
	e->sites = SITES_TRAP;
	dt_insn_kernel(&kernel);
	if (pair && kernel.optimizes && dt_plan_can(&e->plan, UPROBE_MULTI)) {
		uint64_t wanted = dt_opt(e->plan.opts, DT_O_SITES);

		if (wanted == DT_SITES_CALL || (wanted == DT_SITES_AUTO && measure(e, pair)))
			e->sites = SITES_CALL;
	}
	return e->sites == SITES_CALL;
}
