/*
 * tr_builtin: built-in variables.
 *
 * Variables for which the kernel has a helper are one call; arguments, stacks and properties of the
 * thread have their own files. Values that are expensive and cannot change (timestamp, names,
 * registers of the system call) are computed once per firing and kept in the slot.
 */
#include "bpf/translate/translate.h"

/* ---- time ---- */

void dt_tr_time(dt_tr *t)
{
	uint32_t have = dt_code_label(t->c);

	dt_tr_reads(t, time);
	ld(t->c, 8, R0, R6, S_TIME);
	jmpi(t->c, BPF_JNE, R0, 0, have);
	helper(t->c, BPF_FUNC_ktime_get_ns);
	st(t->c, 8, R6, S_TIME, R0);
	dt_code_place(t->c, have);
}

/* ---- the probe ---- */

static void probe_name(dt_tr *t, uint32_t part, uint32_t rd)
{
	dt_tr_name(t, part);
	dt_tr_set(
	    t, rd, R0,
	    (dt_tr_val){.kind = V_NAME, .n = part, .bound = dt_layout_name_bound(t->plan, part)});
}

/* ---- texts ---- */

static void constant_text(dt_tr *t, const char *s, uint32_t rd)
{
	uint32_t at = dt_tr_string(t, s);

	map_value(t->c, R0, t->maps->rodata, at);
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_TEXT, .n = at});
}

/* execargs: the argument area of the process, NULs made blanks; lib.c does it */
static void exec_args(dt_tr *t, uint32_t rd)
{
	uint32_t at = dt_tr_sub_args(t, "execargs");

	dt_tr_here(t);
	dt_tr_exec_args(t, at);
	dt_tr_sub_run(t, "execargs");
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_STRING});
}

/* Names of cgroups: lib_cgroup.c makes them of what `find` puts into r0. */
static void cgroup_text(dt_tr *t, const char *fn, void (*find)(dt_tr *), uint32_t bound,
			uint32_t rd)
{
	uint32_t at = dt_tr_sub_args(t, fn);

	dt_tr_needs(t, groups);
	dt_tr_here(t);
	find(t);
	st(t->c, 8, R6, (int)at, R0);
	dt_tr_sub_run(t, fn);
	dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_STRING, .bound = bound});
}

static bool text(dt_tr *t, uint32_t id, uint32_t rd)
{
	switch (id) {
	case DT_VAR_EXECNAME:
		dt_tr_process_name(t);
		dt_slot_lea(t->c, R0, S_COMM);
		dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_COMM, .n = S_COMM});
		return true;
	case DT_VAR_THREADNAME:
		dt_tr_thread_name(t);
		dt_slot_lea(t->c, R0, S_THREAD);
		dt_tr_set(t, rd, R0, (dt_tr_val){.kind = V_COMM, .n = S_THREAD});
		return true;
	case DT_VAR_PROBEPROV ... DT_VAR_PROBENAME:
		probe_name(t, id - DT_VAR_PROBEPROV, rd);
		return true;
	case DT_VAR_ZONENAME: constant_text(t, "global", rd); return true;
	case DT_VAR_JAILNAME: constant_text(t, "0", rd); return true;
	case DT_VAR_EXECARGS:
		if (t->task_arg)
			return text(
			    t, DT_VAR_EXECNAME,
			    rd); /* the memory of another process cannot be read: use its name */
		exec_args(t, rd);
		return true;
	case DT_VAR_CONTAINERID: cgroup_text(t, "containerid", dt_tr_cgroup, 65, rd); return true;
	case DT_VAR_CGROUPNAME: cgroup_text(t, "cgroupname", dt_tr_cgroup_name, 0, rd); return true;
	case DT_VAR_CGROUP: cgroup_text(t, "grouppath", dt_tr_cgroup, 0, rd); return true;
	case DT_VAR_CONTAINER: cgroup_text(t, "container", dt_tr_cgroup, 0, rd); return true;
	default: return false;
	}
}

static void sign_extend_int(dt_code *c)
{
	alui(c, BPF_LSH, R0, 32);
	alui(c, BPF_ARSH, R0, 32);
}

void dt_tr_builtin(dt_tr *t, uint32_t id, uint32_t rd)
{
	dt_code *c = t->c;

	if (text(t, id, rd))
		return;
	switch (id) {
	case DT_VAR_ARG0 ... DT_VAR_ARG9:
		dt_tr_arg(t, id - DT_VAR_ARG0);
		dt_tr_set(t, rd, R0, dt_tr_known_arg(t, id - DT_VAR_ARG0));
		return;
	case DT_VAR_TIMESTAMP: dt_tr_time(t); break;
	case DT_VAR_WALLTIMESTAMP:
		dt_tr_time(t);
		map_value(c, R1, t->maps->control, CTL_WALL);
		ld(c, 8, R1, R1, 0);
		alu(c, BPF_ADD, R0, R1);
		break;
	case DT_VAR_EPID: dt_tr_epid(t, false); break;
	case DT_VAR_ID: dt_tr_probe_id(t); break;
	case DT_VAR_CPU: ld(c, 4, R0, R6, S_CPU); break;
	case DT_VAR_PID:
		dt_tr_pid_tgid(t);
		alui(c, BPF_RSH, R0, 32);
		break;
	case DT_VAR_TID:
		dt_tr_pid_tgid(t);
		sign_extend_int(c);
		break;
	case DT_VAR_VTIMESTAMP: dt_tr_vtimestamp(t); break;
	case DT_VAR_CURTHREAD:
		dt_tr_task(t, false);
		dt_tr_set(t, rd, R0, dt_tr_trusted(t, 0));
		return;
	case DT_VAR_IPL: movi(c, R0, t->kind == PK_PROFILE ? 2 : 0); break;
	case DT_VAR_ERRNO: dt_tr_error_number(t); break;
	case DT_VAR_STACKDEPTH: dt_tr_stack_depth(t, false); break;
	case DT_VAR_USTACKDEPTH: dt_tr_stack_depth(t, true); break;
	case DT_VAR_CALLER: dt_tr_caller(t, false); break;
	case DT_VAR_UCALLER: dt_tr_caller(t, true); break;
	case DT_VAR_JID: movi(c, R0, 0); break;
	default:
		if (dt_tr_task_value(t, id))
			break;
		dt_tr_here(t);
		ja(c, dt_tr_fault_label(t, DT_FLT_ILLOP));
		t->reachable = false;
		return;
	}
	dt_tr_set(t, rd, R0, NUMBER);
}

/* ---- args[], regs[], uregs[] ---- */

void dt_tr_builtin_array(dt_tr *t, uint32_t id, uint32_t index_reg, uint32_t rd)
{
	const dt_tr_val *v = &t->now.reg[index_reg];
	uint64_t n = index_reg ? v->n : 0;

	if (index_reg && v->kind != V_CONST) {
		dt_tr_fail(t, "at DIF offset %u: an index that is not constant", t->loff);
		return;
	}
	if (id == DT_VAR_ARGS)
		dt_tr_arg(t, n < 10 ? (uint32_t)n : 10);
	else if (id == DT_VAR_UREGS)
		dt_tr_user_register(t, n);
	else if (id == DT_VAR_REGS)
		dt_tr_register(t, n);
	else
		movi(t->c, R0, 0);
	dt_tr_set(t, rd, R0,
		  id == DT_VAR_ARGS ? dt_tr_known_arg(t, (uint32_t)(n < 10 ? n : 10)) : NUMBER);
}
