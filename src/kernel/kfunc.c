/*
 * kfunc: see kfunc.h. The file is kept as read; a function is two words of it.
 *
 * Addresses: newer kernels (6.5) have a second file with the address of the call beside each name,
 * which is in the first bytes of the function. On older kernels names have to be looked up among
 * the symbols, where static functions of different files can have the same name. Both lists are in
 * order of address, so walking them together distinguishes these.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/kfunc.h"
#include "arch/arch.h"
#include "kernel/lockdown.h"
#include "kernel/mount.h"
#include "kernel/tracefs.h"

struct dt_kfuncs {
	dt_ksyms *ks;
	dt_arena *arena;
	char *text, *blacklist; /* files, with NULs at the ends of words */
	DT_VEC(dt_kfunc) all;
	bool read, resolved;
};

dt_kfuncs *dt_kfuncs_new(dt_ksyms *ks)
{
	dt_kfuncs *kf = dt_xcalloc(1, sizeof(*kf));

	kf->ks = ks;
	kf->arena = dt_arena_new();
	return kf;
}

dt_ksyms *dt_kfuncs_ksyms(const dt_kfuncs *kf)
{
	return kf->ks;
}

void dt_kfuncs_free(dt_kfuncs *kf)
{
	if (!kf)
		return;
	dt_vec_free(&kf->all);
	dt_arena_free(kf->arena);
	free(kf->text);
	free(kf->blacklist);
	free(kf);
}

const char *dt_kfunc_module(const char *written)
{
	return strcmp(written, "kernel") == 0 || strcmp(written, "genunix") == 0 ? "vmlinux"
										 : written;
}

/* ---- what must not be traced ---- */

/*
 * Functions that our programs cause the kernel to call, found with its function tracer on Linux 6.1
 * and 6.12: maps, ring buffers, task storage, reads of memory (and their faults), stacks, signals.
 * If traced, each would be entered again by the program that traces it; the kernel prevents that,
 * but counts the firing as lost.
 */
static const char *const own[] = {
    "__bpf_ringbuf_reserve",
    "__bpf_task_storage_get",
    "__check_heap_object",
    "__check_object_size",
    "__htab_map_lookup_elem",
    "__htab_lru_map_lookup_elem",
    "__htab_percpu_map_update_elem",
    "__rcu_read_lock",
    "__rcu_read_unlock",
    "__unwind_start",
    "__virt_addr_valid",
    "_raw_spin_lock",
    "_raw_spin_lock_irqsave",
    "_raw_spin_unlock",
    "_raw_spin_unlock_irqrestore",
    "alloc_htab_elem",
    "arch_irq_work_raise",
    "array_map_lookup_elem",
    "array_map_update_elem",
    "arch_perf_out_copy_user",
    "bad_area_nosemaphore",
    "check_stack_object",
    "copy_from_kernel_nofault",
    "copy_from_kernel_nofault_allowed",
    "copy_from_user_nofault",
    "default_send_IPI_self",
    "ex_handler_uaccess",
    "fixup_exception",
    "free_htab_elem",
    "get_callchain_entry",
    "get_perf_callchain",
    "get_recursion_context",
    "get_stack_info",
    "get_stack_info_noinstr",
    "htab_elem_free_rcu",
    "htab_lock_bucket",
    "htab_map_delete_elem",
    "htab_map_hash",
    "htab_map_update_elem",
    "htab_unlock_bucket",
    "in_entry_stack",
    "in_task_stack",
    "irq_work_queue",
    "irq_work_single",
    "is_bpf_text_address",
    "is_vmalloc_addr",
    "kernelmode_fixup_or_oops",
    "kernelmode_fixup_or_oops.constprop.0",
    "kernel_text_address",
    "__kernel_text_address",
    "ktime_get_mono_fast_ns",
    "lookup_elem_raw",
    "lookup_nulls_elem_raw",
    "migrate_disable",
    "migrate_enable",
    "nmi_uaccess_okay",
    "orc_find",
    "orc_find.part.0",
    "orc_ftrace_find",
    "perf_callchain",
    "perf_callchain_kernel",
    "perf_callchain_user",
    "perf_get_page_size",
    "pt_regs_offset",
    "put_callchain_entry",
    "put_recursion_context",
    "rcu_is_watching",
    "rethook_find_ret_addr",
    "rethook_try_get",
    "search_bpf_extables",
    "search_exception_tables",
    "search_extable",
    "search_kernel_exception_table",
    "search_module_extables",
    "stack_access_ok",
    "stack_map_get_build_id_offset",
    "strncpy_from_kernel_nofault",
    "strncpy_from_user_nofault",
    "task_storage_lookup",
    "task_storage_ptr",
    "unwind_get_return_address",
    "unwind_get_return_address_ptr",
    "unwind_next_frame",
    "unwind_next_frame.part.0",
    "__bad_area_nosemaphore",
    "x2apic_send_IPI_self",
    "apic_mem_wait_icr_idle",
    "ftrace_graph_ret_addr",
    "bsearch",
    "cmp_ex_search",
    "module_address_lookup",
    "__module_address",
    "__module_text_address",
    "is_module_text_address",
    "is_ftrace_trampoline",
    "ftrace_ops_trampoline",
    "bpf_address_lookup",
    "__bpf_address_lookup",
    "bpf_ksym_find",
    "kprobe_busy_begin",
    "kprobe_busy_end",
    "get_kprobe",
};

/* The helpers themselves, and the functions for task storage and memory of map elements. */
static const char *const own_prefixes[] = {
    "bpf_get_current_",
    "bpf_get_smp_processor_id",
    "bpf_get_numa_node_id",
    "bpf_get_ns_current_",
    "bpf_get_prandom_",
    "bpf_get_stack",
    "bpf_get_task_stack",
    "bpf_get_func_",
    "bpf_get_attach_cookie",
    "bpf_ktime_get_",
    "bpf_jiffies64",
    "bpf_map_lookup_elem",
    "bpf_map_update_elem",
    "bpf_map_delete_elem",
    "bpf_map_lookup_percpu",
    "bpf_probe_read_",
    "bpf_probe_write_user",
    "bpf_ringbuf_",
    "bpf_task_storage_",
    "bpf_task_pt_regs",
    "bpf_local_storage_",
    "__bpf_local_storage_",
    "bpf_selem_",
    "__bpf_selem_",
    "bpf_loop",
    "bpf_send_signal",
    "bpf_user_rnd_u32",
    "bpf_copy_from_user",
    "bpf_mem_cache_",
    "bpf_strncmp",
    "__bpf_get_stack",
    "bpf_prog_inc_misses_",
    "bpf_perf_prog_read_",
    "unit_alloc",
    "unit_free",
    "pcpu_freelist_",
    "__pcpu_freelist_",
    "___pcpu_freelist_",
    "copy_map_value",
    "check_and_",
};

static bool has_own_prefix(const char *name)
{
	for (size_t i = 0; strchr("_bcpu", *name) && i < DT_NELEM(own_prefixes); i++)
		if (strncmp(name, own_prefixes[i], strlen(own_prefixes[i])) == 0)
			return true;
	return false;
}

/* Their return is not a place in the code. */
static const char *const noreturn[] = {
    "__module_put_and_kthread_exit",
    "__reiserfs_panic",
    "__stack_chk_fail",
    "arch_call_rest_init",
    "arch_cpu_idle_dead",
    "cpu_startup_entry",
    "do_exit",
    "do_group_exit",
    "do_task_dead",
    "kthread_complete_and_exit",
    "kthread_exit",
    "make_task_dead",
    "mpt_halt_firmware",
    "nmi_panic_self_stop",
    "oops_exit_noreturn",
    "panic",
    "panic_smp_self_stop",
    "rest_init",
    "rewind_stack_and_make_dead",
    "rewind_stack_do_exit",
    "start_kernel",
    "stop_this_cpu",
    "vhost_task_exit",
};

bool dt_kfunc_is_noreturn(const char *name)
{
	for (size_t i = 0; i < DT_NELEM(noreturn); i++)
		if (strcmp(name, noreturn[i]) == 0)
			return true;
	for (const char *const *of_cpu = dt_arch_host()->noreturn; *of_cpu; of_cpu++)
		if (strcmp(name, *of_cpu) == 0)
			return true;
	return false;
}

/* ---- files ---- */

/* The next word of a line, ended by a NUL; NULL: there is none. */
static char *word(char **at)
{
	char *w = *at + strspn(*at, " \t"), *end = w + strcspn(w, " \t");

	*at = end + (*end != 0);
	*end = 0;
	return *w ? w : NULL;
}

static char *next_line(char **at)
{
	char *line = *at, *end = line + strcspn(line, "\n");

	if (!*line)
		return NULL;
	*at = end + (*end != 0);
	*end = 0;
	return line;
}

/* The kernel's own list: "0xfrom-0xto<tab>name". Only root may read it, and not in lockdown. */
static dt_map *read_blacklist(dt_kfuncs *kf)
{
	int fd = open("/sys/kernel/debug/kprobes", O_RDONLY | O_DIRECTORY | O_CLOEXEC), top = -1;
	dt_map *names = dt_map_new();
	char *at, *line, *name;
	size_t len;

	if (fd < 0 && dt_lockdown() == DT_LOCKDOWN_NONE && (top = dt_private_mount("debugfs")) >= 0)
		fd = openat(top, "kprobes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kf->blacklist = at = dt_slurp(fd, "blacklist", &len);
	while (at && (line = next_line(&at)))
		if (word(&line) && (name = word(&line)))
			dt_map_set(names, name, name);
	if (fd >= 0)
		close(fd);
	if (top >= 0)
		close(top);
	return names;
}

static void refuse_some(dt_kfuncs *kf)
{
	dt_map *blacklist = read_blacklist(kf), *ours = dt_map_new();

	for (size_t i = 0; i < DT_NELEM(own); i++)
		dt_map_set(ours, own[i], ours);
	for (uint32_t i = 0; i < kf->all.n; i++) {
		dt_kfunc *f = &kf->all.v[i];

		if (f->refused)
			continue;
		if (dt_map_get(blacklist, f->name))
			f->refused = "the kernel itself calls it while it handles a probe";
		else if (dt_map_get(ours, f->name) || has_own_prefix(f->name))
			f->refused = "the tracer itself calls it while a probe fires";
	}
	dt_map_free(blacklist);
	dt_map_free(ours);
}

/* "[address] name [module]", the module in brackets */
static void read_list(dt_kfuncs *kf, bool addresses)
{
	char *at = kf->text, *line, *module = NULL, *w;

	while ((line = next_line(&at))) {
		dt_kfunc f = {.module = "vmlinux"};

		if (addresses && (w = word(&line)))
			f.place = strtoull(w, NULL, 16);
		f.name = word(&line);
		if (!f.name)
			continue;
		w = word(&line);
		if (w && *w == '[') {
			w++;
			w[strcspn(w, "]")] = 0;
			module = module && strcmp(module, w) == 0 ? module : w;
			f.module = module;
		}
		if (strncmp(f.name, "__ftrace_invalid_address_", 25) == 0)
			f.refused = "it has been removed from the kernel";
		*dt_vec_add(&kf->all, NULL) = f;
	}
}

static bool read_tracefs(dt_kfuncs *kf)
{
	int top = dt_tracefs_open();
	bool addresses = true;
	size_t len;

	kf->text = dt_slurp(top, "available_filter_functions_addrs", &len);
	if (!kf->text || !*kf->text) {
		free(kf->text);
		kf->text = dt_slurp(top, "available_filter_functions", &len);
		addresses = false;
	}
	if (top >= 0)
		close(top);
	if (!kf->text || !*kf->text)
		return false;
	read_list(kf, addresses);
	return true;
}

/* Symbols that the type information calls functions; whether one can be traced is only known by
 * trying.
 */
static void read_symbols(dt_kfuncs *kf, dt_types *ts)
{
	const char *module, *name;
	uint32_t it = 0;
	uint64_t addr;

	while (ts && dt_ksym_next(kf->ks, &it, &addr, &module, &name))
		if (dt_type_function_id(ts, module, name))
			*dt_vec_add(&kf->all, NULL) =
			    (dt_kfunc){.name = dt_arena_strdup(kf->arena, name),
				       .module = dt_arena_strdup(kf->arena, module),
				       .addr = addr};
}

const dt_kfunc *dt_kfuncs_all(dt_kfuncs *kf, dt_types *ts, uint32_t *n)
{
	if (!kf->read) {
		kf->read = true;
		if (!read_tracefs(kf) && dt_lockdown() == DT_LOCKDOWN_CONFIDENTIALITY)
			read_symbols(kf, ts);
		refuse_some(kf);
	}
	*n = kf->all.n;
	return kf->all.v;
}

bool dt_kfuncs_find(const dt_kfuncs *kf, const char *module, const char *name, uint32_t *it)
{
	if (module && *module)
		module = dt_kfunc_module(module);
	for (; *it < kf->all.n; (*it)++) {
		const dt_kfunc *f = &kf->all.v[*it];

		if (strcmp(f->name, name) == 0 &&
		    (!module || !*module || strcmp(f->module, module) == 0))
			return true;
	}
	return false;
}

/* ---- addresses ---- */

/* Both lists side by side, one module after the other. */
static void resolve_by_name(dt_kfuncs *kf)
{
	const char *name, *module, *current = NULL;
	uint32_t at = 0;
	uint64_t addr;

	for (uint32_t i = 0; i < kf->all.n; i++) {
		dt_kfunc *f = &kf->all.v[i];
		uint32_t it;

		if (!current || strcmp(current, f->module) != 0)
			at = 0;
		current = f->module;
		if (f->refused || f->addr)
			continue;
		for (it = at; !f->addr && dt_ksym_next(kf->ks, &it, &addr, &module, &name);)
			if (strcmp(name, f->name) == 0 && strcmp(module, f->module) == 0) {
				f->addr = addr;
				at = it;
			}
	}
}

#define PROLOGUE 32 /* maximum distance of the call from the start of a function */

uint64_t dt_kfunc_address(dt_kfuncs *kf, uint32_t index)
{
	dt_kfunc *f = index < kf->all.n ? &kf->all.v[index] : NULL;
	const char *module, *name;
	uint64_t offset;

	if (!f)
		return 0;
	if (!f->addr && f->place) {
		if (dt_ksym_by_addr(kf->ks, f->place, &module, &name, &offset) && offset < PROLOGUE)
			f->addr = f->place - offset;
	} else if (!f->addr && !kf->resolved) {
		kf->resolved = true;
		resolve_by_name(kf);
	}
	return f->addr;
}
