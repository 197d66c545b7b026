/*
 * load: programs into the kernel, and its reasons when it refuses one. Maps are made before
 * (bpf_maps.c, buffers.c). Everything is a file descriptor of this process and goes away with it; nothing is pinned.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/image.h"
#include "kernel/lockdown.h"

/* Why bpf() said no. EPERM means privilege nearly always; say what is missing and how to get it. */
int dt_load_error(dt_error *err, const char *doing)
{
	int e = errno;

	if (e == EPERM || e == EACCES)
		return dt_err(
		    err, EPERM,
		    "cannot %s the kernel: this needs root, or the capabilities CAP_BPF and "
		    "CAP_PERFMON (sudo setcap cap_bpf,cap_perfmon+ep on the program)",
		    doing);
	return dt_err(err, e, "cannot %s the kernel: %s", doing, dt_strerror(e));
}

#define LOG_SIZE (16u << 20)

/* The verifier's last words, for a message nobody should ever see. */
static void explain(enum bpf_prog_type type, const dt_code *c, struct bpf_prog_load_opts *o,
		    dt_error *err)
{
	char *log = dt_xcalloc(1, LOG_SIZE), *last;
	enum dt_lockdown lockdown = dt_lockdown();
	size_t n;

	o->log_buf = log;
	o->log_size = LOG_SIZE;
	o->log_level = getenv("DTRACE_BPF_LOG") ? 2 : 1;
	bpf_prog_load(type, "dtrace", "Dual BSD/GPL", c->insns.v, c->insns.n, o);
	if (getenv("DTRACE_BPF_LOG"))
		fputs(log, stderr);
	for (n = strlen(log); n && (log[n - 1] == '\n' || strncmp(log + n - 1, "\nproc", 5) == 0);
	     n--)
		log[n - 1] = 0;
	last = strrchr(log, '\n');
	if (last && strstr(last, "processed ")) {
		*last = 0;
		last = strrchr(log, '\n');
	}
	if (strstr(last ? last : log,
		   "bpf_probe_write_user")) /* it is about the helper, not what it is given */
		dt_err(err, EPERM,
		       "the kernel does not let %s write user memory, so copyout() and "
		       "copyoutstr() cannot be used%s",
		       lockdown ? "BPF programs"
				: "BPF programs without the capability CAP_SYS_ADMIN",
		       lockdown ? ": it is locked down (kernel lockdown, integrity mode)" : "");
	else if (lockdown == DT_LOCKDOWN_CONFIDENTIALITY)
		dt_err(err, EPERM,
		       "the kernel does not let BPF programs read its memory: it is locked "
		       "down (kernel lockdown, confidentiality mode)");
	else
		dt_err(err, EDT_DIFINVAL, "the kernel refuses the program: %s",
		       last ? last + 1 : log);
	free(log);
}

static const enum bpf_prog_type prog_types[PK_MAX] = {
    [PK_BEGIN] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_END] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_ENTRY] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_RETURN] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_TRACEPOINT] = BPF_PROG_TYPE_RAW_TRACEPOINT,
    [PK_PROFILE] = BPF_PROG_TYPE_PERF_EVENT,
    [PK_PERF] = BPF_PROG_TYPE_PERF_EVENT,
    [PK_FUNC_ENTRY] = BPF_PROG_TYPE_KPROBE,
    [PK_FUNC_RETURN] = BPF_PROG_TYPE_KPROBE,
    [PK_INSTRUCTION] = BPF_PROG_TYPE_KPROBE,
    [PK_UPROBE] = BPF_PROG_TYPE_KPROBE,
    [PK_URETPROBE] = BPF_PROG_TYPE_KPROBE,
};

/* A program that is told which tracepoint it is for has typed pointers in its context. */
static int trust_arguments(dt_engine *e, const struct dt_plan_prog *p, enum bpf_prog_type *type,
			   struct bpf_prog_load_opts *o, dt_error *err)
{
	const char *event = e->probes.v[p->only].at.event;
	uint32_t id = dt_tr_tracepoint_id(e, event);

	if (!id)
		return dt_err(err, EDT_NOPROBE,
			      "this kernel's type information has no tracepoint %s", event);
	*type = BPF_PROG_TYPE_TRACING;
	o->expected_attach_type = BPF_TRACE_RAW_TP;
	o->attach_btf_id = id;
	return 0;
}

#define AGAIN 1 /* without some of what peek.c does */

int dt_load_program(dt_engine *e, struct dt_plan_prog *p, dt_error *err)
{
	enum bpf_prog_type type = prog_types[p->kind];
	LIBBPF_OPTS(bpf_prog_load_opts, o, .func_info_rec_size = sizeof(struct bpf_func_info));
	dt_code c = {0};
	struct bpf_func_info *info = NULL;
	int btf = -1, module, rc;

	p->typed = dt_tr_typed_args(e, p);
	rc = dt_tr_program(e, p, &c, err);

	if (rc == 0 && getenv("DTRACE_BPF_DUMP")) {
		dt_buf text = {0};

		dt_code_print(&c, &text);
		fputs(text.s, stderr);
		dt_buf_free(&text);
	}
	if (rc == 0) {
		info = dt_xcalloc(c.funcs.n, sizeof(*info));
		btf = dt_code_btf(&c, e->at.slot_size, info, err);
		rc = btf < 0 ? -1 : 0;
	}
	if (dt_plan_is_user(p->kind) && e->need.waiting)
		o.prog_flags |= BPF_F_SLEEPABLE;
	if (dt_plan_is_user(p->kind) && e->has_uprobe_multi)
		o.expected_attach_type = DT_BPF_TRACE_UPROBE_MULTI;
	module = dt_attach_function_load(e, p, &type, &o);
	if (rc == 0 && (p->task_arg || (p->typed && p->kind == PK_TRACEPOINT)))
		rc = trust_arguments(e, p, &type, &o, err);
	if (rc == 0) {
		o.prog_btf_fd = (uint32_t)btf;
		o.func_info = info;
		o.func_info_cnt = c.funcs.n;
		p->fd = bpf_prog_load(type, "dtrace", "Dual BSD/GPL", c.insns.v, c.insns.n, &o);
		if (p->fd < 0 &&
		    (errno == EPERM || errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
			rc = dt_load_error(err, "load a program into");
		} else if (p->fd < 0 && e->trusts) {
			e->trusts = false;
			rc = AGAIN;
		} else if (p->fd < 0 && e->cast_func) {
			e->cast_func = 0;
			rc = AGAIN;
		} else if (p->fd < 0) {
			explain(type, &c, &o, err);
			rc = -1;
		}
	}
	if (btf >= 0)
		close(btf);
	if (module > 0)
		close(module);
	free(info);
	dt_code_free(&c);
	return rc == AGAIN ? dt_load_program(e, p, err) : rc;
}

int dt_load_all(dt_engine *e, dt_error *err)
{
	if (e->need.vtime && dt_vtime_load(e, err) < 0)
		return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (!e->progs.v[i].lazy && dt_load_program(e, &e->progs.v[i], err) < 0)
			return -1;
	for (uint32_t i = 0; i < e->progs.n; i++)
		if (dt_plan_is_continued(e, &e->progs.v[i]) &&
		    bpf_map_update_elem(e->progs.v[i].fd_next, &(uint32_t){0},
					&e->progs.v[i + 1].fd, 0) < 0)
			return dt_err(err, errno, "cannot join two programs: %s",
				      dt_strerror(errno));
	return 0;
}
