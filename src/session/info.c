/*
 * info: what this machine, its kernel and the user's privilege allow, a row each, and what to do about each "no".
 * `dtrace --info` prints it.
 *
 * A row checks one thing and reports the result; the rows are a table, in order of importance:
 * without the first ones the others matter little. Then comes a row for each provider, with its own
 * reason.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/ktrace.h"
#include "kernel/lockdown.h"
#include "kernel/privilege.h"
#include "kernel/tracefs.h"
#include "session/session.h"

struct row {
	enum dtrace_has has;
	char detail[1200];
	char remedy[1200];
};

static void say(struct row *r, enum dtrace_has has, const char *detail, const char *remedy)
{
	r->has = has;
	snprintf(r->detail, sizeof(r->detail), "%s", detail);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
}

static void look_kernel(dtrace_hdl_t *h, struct row *r)
{
	struct utsname u;
	int major = 0, minor = 0;

	(void)h;
	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	say(r, major > 6 || (major == 6 && minor >= 1) ? DTRACE_HAS_YES : DTRACE_HAS_NO, "",
	    "Linux 6.1 or newer is needed");
	snprintf(r->detail, sizeof(r->detail), "%s %s %s, %ld CPUs", u.sysname, u.release,
		 u.machine, sysconf(_SC_NPROCESSORS_ONLN));
}

static void look_privilege(dtrace_hdl_t *h, struct row *r)
{
	(void)h;
	if (dt_privilege_to_trace()) {
		say(r, DTRACE_HAS_YES, geteuid() == 0 ? "root" : "CAP_BPF and CAP_PERFMON", "");
		return;
	}
	say(r, DTRACE_HAS_NO, "only your own processes, by -c and -p (-x engine=process), compiling, listing and the interpreter (-x engine=vm)", "");
	dt_privilege_advice(r->remedy, sizeof(r->remedy));
}

/* The only reliable check is to try it. */
static void look_bpf(dtrace_hdl_t *h, struct row *r)
{
	dtrace_hdl_t *trial = dtrace_open(NULL);
	dtrace_prog_t *p = NULL;

	(void)h;
	if (trial && dtrace_setopt(trial, "engine", "bpf") == 0)
		p = dtrace_compile_string(trial, "BEGIN { exit(0); }", NULL);
	if (p && dtrace_enable(trial, p, NULL) == 0 && dtrace_go(trial) == 0)
		say(r, DTRACE_HAS_YES, "programs run inside the kernel", "");
	else
		say(r, DTRACE_HAS_NO, trial ? dtrace_errtext(trial) : "out of memory",
		    dt_privilege_to_trace() ? "a kernel with CONFIG_BPF_SYSCALL"
					    : "the privilege above");
	dtrace_close(trial);
}

static void look_types(dtrace_hdl_t *h, struct row *r)
{
	(void)h;
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		say(r, DTRACE_HAS_YES, "/sys/kernel/btf/vmlinux", "");
	else
		say(r, DTRACE_HAS_NO, "no curthread, no args[] of kernel probes, few providers",
		    "a kernel with CONFIG_DEBUG_INFO_BTF");
}

static void look_lockdown(dtrace_hdl_t *h, struct row *r)
{
	(void)h;
	if (!dt_privilege_to_trace()) {
		say(r, DTRACE_HAS_NO, "not for this user", "the privilege above");
		return;
	}
	switch (dt_lockdown()) {
	case DT_LOCKDOWN_NONE: say(r, DTRACE_HAS_YES, "no lockdown", ""); break;
	case DT_LOCKDOWN_INTEGRITY:
		say(r, DTRACE_HAS_PARTLY,
		    "lockdown=integrity: no copyout(), and no kprobes on most kernels",
		    "boot without lockdown= and without Secure Boot, if you need these");
		break;
	case DT_LOCKDOWN_CONFIDENTIALITY:
		say(r, DTRACE_HAS_NO,
		    "lockdown=confidentiality: programs cannot read the memory of the kernel",
		    "boot with lockdown=integrity or without lockdown=");
		break;
	}
}

static void look_functions(dtrace_hdl_t *h, struct row *r)
{
	struct dt_ktrace k;

	dt_ktrace_probe(&k, h->types);
	if (!k.kprobe && !k.multi && !k.fentry) {
		say(r, DTRACE_HAS_NO, k.why,
		    dt_privilege_to_trace() ? "a kernel with CONFIG_KPROBES and CONFIG_FPROBE"
					    : "the privilege above");
		return;
	}
	say(r, k.multi || k.fentry ? DTRACE_HAS_YES : DTRACE_HAS_PARTLY, "",
	    "a kernel with CONFIG_FPROBE enables thousands of functions at once");
	snprintf(r->detail, sizeof(r->detail), "by%s%s%s", k.kprobe ? " kprobes" : "",
		 k.multi ? " kprobe.multi" : "", k.fentry ? " fentry" : "");
}

static void look_user(dtrace_hdl_t *h, struct row *r)
{
	(void)h;
	if (dt_perf_type("uprobe") >= 0)
		say(r, DTRACE_HAS_YES, "pid and static probes", "");
	else
		say(r, DTRACE_HAS_NO, "no pid and static probes", "a kernel with CONFIG_UPROBES");
}

/* May other users' processes be inspected? */
static void look_processes(dtrace_hdl_t *h, struct row *r)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	(void)h;
	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	if (dt_privilege_has(CAP_SYS_PTRACE))
		say(r, scope == 3 ? DTRACE_HAS_NO : DTRACE_HAS_YES,
		    scope == 3 ? "kernel.yama.ptrace_scope is 3: none can be traced with -p or -c"
			       : "all of them",
		    "sysctl cannot lower it; boot with another value");
	else
		say(r, DTRACE_HAS_PARTLY,
		    scope ? "those started with -c, and their children" : "your own",
		    "root or CAP_SYS_PTRACE for those of other users");
}

static void look_symbols(dtrace_hdl_t *h, struct row *r)
{
	uint64_t address = 0;

	if (dt_ksym_by_name(dt_probes_ksyms(h->probes), NULL, "_text", &address) && address)
		say(r, DTRACE_HAS_YES, "/proc/kallsyms", "");
	else
		say(r, DTRACE_HAS_NO, "stacks of the kernel print as numbers",
		    "root or CAP_SYSLOG, and sysctl kernel.kptr_restrict below 2");
}

static void look_tracefs(dtrace_hdl_t *h, struct row *r)
{
	int fd = dt_tracefs_open();

	(void)h;
	if (fd < 0)
		say(r, DTRACE_HAS_PARTLY, "sdt probes are listed without their subsystem",
		    "mount -t tracefs tracefs /sys/kernel/tracing, and the right to read it");
	else
		say(r, DTRACE_HAS_YES, "sdt probes are listed with their subsystem", "");
	if (fd >= 0)
		close(fd);
}

static void look_counters(dtrace_hdl_t *h, struct row *r)
{
	struct perf_event_attr a = {.size = sizeof(a),
				    .type = PERF_TYPE_HARDWARE,
				    .config = PERF_COUNT_HW_CPU_CYCLES,
				    .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);

	(void)h;
	if (fd >= 0) {
		say(r, DTRACE_HAS_YES, "cpc probes on cycles, instructions, misses", "");
		close(fd);
	} else if (errno == EACCES || errno == EPERM) {
		say(r, DTRACE_HAS_NO, "the kernel refuses them",
		    "root or CAP_PERFMON, or sysctl kernel.perf_event_paranoid");
	} else {
		say(r, DTRACE_HAS_PARTLY, "only the kernel's own (page-faults-..., cpu-clock-...)",
		    "a virtual machine has counters if its host passes them on");
	}
}

static void look_cpp(dtrace_hdl_t *h, struct row *r)
{
	const char *path = h->opts.text[DT_O_CPPPATH];
	dt_buf out = {0};

	if (dt_cpp_run(h, "", 0, NULL, &out) == 0)
		say(r, DTRACE_HAS_YES, path ? path : "cpp", "");
	else
		say(r, DTRACE_HAS_NO, "-C does not work", path ? "see option cpppath" : "install cpp");
	dt_buf_free(&out);
}

static const struct {
	const char *what;
	void (*look)(dtrace_hdl_t *h, struct row *r);
} rows[] = {
    {"kernel", look_kernel},
    {"privilege", look_privilege},
    {"BPF", look_bpf},
    {"types of the kernel", look_types},
    {"memory of the kernel", look_lockdown},
    {"functions of the kernel", look_functions},
    {"probes in programs", look_user},
    {"processes", look_processes},
    {"names of the kernel", look_symbols},
    {"tracefs", look_tracefs},
    {"hardware counters", look_counters},
    {"C preprocessor", look_cpp},
};

static int tell(dtrace_hdl_t *h, const char *what, const struct row *r, dtrace_info_f *f, void *arg)
{
	struct dtrace_inforow out = {.size = sizeof(out),
				     .what = what,
				     .has = r->has,
				     .detail = r->detail,
				     .remedy = r->has == DTRACE_HAS_YES ? "" : r->remedy};

	return f(h, &out, arg);
}

static int count_probe(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	(void)h;
	(void)p;
	++*(uint32_t *)arg;
	return 0;
}

/* Probes of processes depend on the process, and are not listed without one. */
static bool is_of_processes(const char *provider)
{
	return strcmp(provider, "pid") == 0 || strcmp(provider, "usdt") == 0;
}

static int tell_provider(dtrace_hdl_t *h, const char *name, dtrace_info_f *f, void *arg)
{
	char what[80];
	struct row r;
	uint32_t n = 0;

	if (is_of_processes(name))
		return 0;
	snprintf(what, sizeof(what), "provider %s", name);
	if (dtrace_probe_iter(h, name, DTRACE_SPEC_PROVIDER, count_probe, &n) == 0) {
		say(&r, DTRACE_HAS_YES, "", "");
		snprintf(r.detail, sizeof(r.detail), "%u probes", n);
	} else {
		say(&r, DTRACE_HAS_NO, h->err.text, "");
	}
	return tell(h, what, &r, f, arg);
}

int dtrace_info(dtrace_hdl_t *h, dtrace_info_f *f, void *arg)
{
	for (size_t i = 0; i < DT_NELEM(rows); i++) {
		struct row r = {0};

		rows[i].look(h, &r);
		if (tell(h, rows[i].what, &r, f, arg) < 0)
			return dt_session_err(h, EDT_DIRABORT, NULL);
	}
	for (const dt_provider *const *p = dt_provider_table; *p; p++)
		if (tell_provider(h, (*p)->name, f, arg) < 0)
			return dt_session_err(h, EDT_DIRABORT, NULL);
	return 0;
}
