/*
 * pid: every function and every instruction of user programs.
 *
 *	pid123:libc.so.6:malloc:entry	pid123:a.out:main:return	pid123:a.out:main:1f
 *	pid123::main:			every instruction
 *	pid*:libc.so.6:malloc:entry	in all processes
 *
 * Each process has a provider, pidN, and its probes are created when a description names them: the
 * objects that the process has mapped are searched for matching functions. pid* stands for all
 * processes that map a file, now or later.
 *
 * One function can have many names: aliases, readable and mangled ones of C++ and Rust, libc.so.6
 * and libc.so. There is one probe for each place, and all names match it (matches()); it shows the
 * first name of the symbol table, demangled and without parameters.
 *
 * Ids are assigned in the order of discovery: processes do not live long enough for a fixed number
 * to be useful.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "probe/providers/pid.h"
#include "proc/control.h"
#include "proc/mappings.h"
#include "proc/sideband.h"
#include "type/user.h"

static void free_state(void *p)
{
	struct pid_state *st = p;

	if (!st)
		return;
	dt_pid_objects_free(&st->objects);
	dt_body_free(&st->code.body);
	dt_map_free(st->known);
	dt_map_free(st->done);
	dt_map_free(st->told);
	free(st);
}

struct pid_state *dt_pid_state(dt_probes *ps, const dt_provider *p)
{
	void **kept = dt_probes_keep(ps, p, free_state);
	struct pid_state *st = *kept;

	if (st)
		return st;
	*kept = st = dt_xcalloc(1, sizeof(*st));
	st->known = dt_map_new();
	st->done = dt_map_new();
	st->told = dt_map_new();
	dt_insn_kernel(&st->code.kernel);
	return st;
}

/* ---- names ---- */

static bool matches_text(const char *pattern, const char *text)
{
	return dt_glob_is_pattern(pattern) ? dt_glob_match(pattern, text)
					   : strcmp(pattern, text) == 0;
}

static bool one_name_matches(dt_probes *ps, const char *pattern, struct pid_object *o, uint32_t i)
{
	const char *raw = o->funcs[i].name, *pretty;

	if (matches_text(pattern, raw))
		return true;
	pretty = dt_pid_pretty(o, i, false, dt_probes_arena(ps));
	if (pretty == raw)
		return false;
	if (matches_text(pattern, pretty))
		return true;
	if (!strchr(pattern, '(') && !strchr(pattern, ')'))
		return false;
	return matches_text(pattern, dt_pid_pretty(o, i, true, dt_probes_arena(ps)));
}

/* Any of the names of the function. */
bool dt_pid_function_matches(dt_probes *ps, const char *pattern, struct pid_object *o,
			     uint32_t index)
{
	if (!*pattern)
		return true;
	for (uint32_t i = index; i < o->nfuncs && (i == index || o->funcs[i].alias); i++)
		if (one_name_matches(ps, pattern, o, i))
			return true;
	return false;
}

bool dt_pid_hex(const char *s, uint64_t *n)
{
	char *end;

	if (!isxdigit((unsigned char)*s) || (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')))
		return false;
	errno = 0;
	*n = strtoull(s, &end, 16);
	return *end == 0 && errno == 0;
}

static bool name_matches(const char *pattern, const struct pid_place *x, const char *name)
{
	uint64_t n;

	if (!*pattern || matches_text(pattern, name))
		return true;
	return x->what >= PID_OFFSET && dt_pid_hex(pattern, &n) &&
	       n == (x->what == PID_ADDRESS ? x->number : x->offset);
}

static bool matches(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const dt_probedesc *d)
{
	const struct pid_place *x = (const struct pid_place *)(uintptr_t)pr->data;

	(void)p;
	if (*d->prov && strcmp(d->prov, pr->prov) != 0)
		return false;
	if (!dt_object_is_called(d->mod, x->module, x->path, x->exe) && !dt_map_get(x->f.object->links, d->mod))
		return false;
	if (x->what == PID_ADDRESS ? strcmp(d->func, "-") != 0
				   : !dt_pid_function_matches(ps, d->func, x->f.object, x->f.index))
		return false;
	return name_matches(d->name, x, pr->name);
}

/* pid and a number, or pid*; pid alone, for a message about what is missing. */
static bool claims(const dt_provider *p, const char *prov)
{
	(void)p;
	if (strncmp(prov, "pid", 3) != 0)
		return false;
	return strcmp(prov, DT_PID_ALL) == 0 || prov[3 + strspn(prov + 3, "0123456789")] == 0;
}

/* ---- while tracing ---- */

/* A process can always load an object or run another program; for all processes, only a file named
 * by its path is known from the start. */
static uint32_t grows(const dt_provider *p, const dt_probedesc *d)
{
	uint32_t kinds = 0;

	(void)p;
	if (strcmp(d->prov, DT_PID_ALL) == 0 && d->mod[0] == '/' && !dt_glob_is_pattern(d->mod))
		return 0;
	if (strcmp(d->func, "-") == 0)
		return 0;
	if (strcmp(d->name, "return") != 0)
		kinds |= 1u << DT_AT_UPROBE;
	if (!*d->name || matches_text(d->name, "return"))
		kinds |= 1u << DT_AT_URETPROBE;
	return kinds;
}

/*
 * A file that a process has mapped, for pid*. It is opened at once, below the root directory of the process: when it is
 * searched, the process may have ended. A build id does not tell whether we know it: copies in containers have the same one,
 * and probes are put in files.
 */
static void bring(dt_probes *ps, struct pid_state *st, const dt_file *file)
{
	struct dt_procs *procs = dt_probes_procs(ps);
	dt_sideband *sb = procs ? dt_procs_sideband(procs) : NULL;
	char root[64] = "", *name;
	struct dt_elf_place place = {.root = root, .path = file->path, .jail = procs ? dt_procs_jail(procs) : NULL};
	int fd = sb ? dt_sideband_open_file(sb, file) : -1;
	struct pid_object *o;
	dt_error ignored = {0};

	if (fd < 0)
		return;
	dt_sideband_root(sb, file, root, sizeof(root));
	name = dt_xasprintf("%s%s", root, file->path);
	o = dt_pid_object(&st->objects, fd, &place, name, dt_probes_arena(ps), &ignored);
	free(name);
	if (o && !o->seen)
		o->seen = dt_arena_strdup(dt_probes_arena(ps), file->path);
}

static bool is_news_to(struct pid_state *st, const dt_probedesc *d, const dt_file *file)
{
	char *key = dt_xasprintf("%u %s:%s:%s:%s", file->id, d->prov, d->mod, d->func, d->name);
	bool yes = !dt_map_get(st->told, key);

	dt_map_set(st->told, key, st);
	free(key);
	return yes;
}

static bool news(const dt_provider *p, dt_probes *ps, const dt_probedesc *d, long pid,
		 const dt_file *file)
{
	struct pid_state *st = dt_pid_state(ps, p);
	bool all = strcmp(d->prov, DT_PID_ALL) == 0;

	if (!file) /* the mappings of an exec are reported file by file */
		return false;
	/* the event does not say which file is the executable */
	if (!dt_object_is_called(d->mod, file->base, file->path, true) && (all || !dt_exe_has_link(pid, d->mod, file->path)))
		return false;
	if (!all)
		return true;
	if (file->vdso || file->anon || !is_news_to(st, d, file))
		return false;
	bring(ps, st, file);
	return true;
}

/* ---- arguments ---- */

static int user_args(dt_probes *ps, const struct pid_place *x, const dt_user_arg **a)
{
	const struct pid_object *o = x->f.object;

	if (x->what > PID_RETURN || !dt_probes_types(ps))
		return -1;
	return dt_user_args(dt_probes_types(ps), o->name, NULL, o->funcs[x->f.index].name,
			    x->f.vaddr, x->what == PID_RETURN, a, NULL);
}

static int args(const dt_provider *p, dt_probes *ps, const dt_probe *pr, const char **native,
		const char **xlated, int *mapping, int max)
{
	const struct pid_place *x = (const struct pid_place *)(uintptr_t)pr->data;
	const dt_user_arg *a = NULL;
	int n = user_args(ps, x, &a);

	(void)p, (void)xlated;
	if (n > max)
		n = max;
	for (int i = 0; i < n; i++) {
		native[i] = a[i].text;
		mapping[i] = a[i].raw;
	}
	return n;
}

static void types(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_type **to,
		  const char **why, int n)
{
	const dt_user_arg *a = NULL;
	int have = user_args(ps, (const struct pid_place *)(uintptr_t)pr->data, &a);

	(void)p;
	for (int i = 0; i < n && i < have; i++) {
		to[i] = a[i].type;
		why[i] = a[i].why;
	}
}

/* ---- attaching ---- */

static const char *condition_text(dt_probes *ps, uint16_t code)
{
	char text[80];

	dt_arch_host()->call.condition(code, text, sizeof(text));
	return dt_arena_strdup(dt_probes_arena(ps), text);
}

static bool put_at(const struct pid_place *x, uint64_t vaddr, dt_attach *at, char *why,
		   size_t whylen)
{
	at->path = x->f.object->path;
	at->pid = (int)x->pid;
	if (dt_elf_vaddr_to_offset(x->f.object->elf, vaddr, &at->offset))
		return true;
	snprintf(why, whylen, "address 0x%llx is not in the file", (unsigned long long)vaddr);
	return false;
}

/* Option uretprobe: where the return address is still at the stack pointer. */
static int attach_trampoline(struct pid_state *st, const struct pid_place *x, const pid_returns *r,
			     dt_attach *at, char *why, size_t whylen)
{
	dt_insn i = {0};

	at->kind = DT_AT_URETPROBE;
	at->number = r->n == 1 ? r->v[0].vaddr - x->f.vaddr : 0;
	if (!dt_pid_entry(&st->code, &x->f, &i) || i.frame)
		i.offset = 0;
	return put_at(x, x->f.vaddr + i.offset, at, why, whylen) ? 0 : -1;
}

static int attach_sites(dt_probes *ps, const struct pid_place *x, const pid_returns *r,
			dt_attach *at, char *why, size_t whylen)
{
	for (uint32_t i = 0; i < r->n; i++) {
		dt_attach *next = i ? dt_arena_alloc(dt_probes_arena(ps), sizeof(*next)) : at;

		if (i)
			at->also = next;
		at = next;
		at->kind = DT_AT_URETPROBE;
		at->instruction = true;
		at->number = r->v[i].vaddr - x->f.vaddr;
		at->pops = r->v[i].pops;
		if (r->v[i].maybe)
			dt_probes_text(ps, at)->when = condition_text(ps, r->v[i].condition);
		if (!put_at(x, r->v[i].vaddr, at, why, whylen))
			return -1;
	}
	return 0;
}

/* Go copies its stacks, and would find unknown return addresses on them. */
static bool is_trampoline(dt_probes *ps, const struct pid_place *x)
{
	return dt_probes_option(ps, DT_O_URETPROBE) && !x->f.object->go;
}

static int attach_returns(dt_probes *ps, const dt_provider *p, const struct pid_place *x,
			  dt_attach *at, char *why, size_t whylen)
{
	struct pid_state *st = dt_pid_state(ps, p);
	pid_returns r = {0};
	int rc;

	dt_pid_returns(&st->code, &x->f, &r);
	if (r.n == 0) {
		snprintf(why, whylen, "no instruction by which it returns");
		return -1;
	}
	rc = is_trampoline(ps, x)
		 ? attach_trampoline(st, x, &r, at, why, whylen)
		 : attach_sites(ps, x, &r, at, why, whylen);
	dt_vec_free(&r);
	return rc;
}

static void narrow_args(dt_probes *ps, const struct pid_place *x, dt_attach *at)
{
	dt_attach_text *text = dt_probes_text(ps, at);
	char arg[80];

	text->narg = DT_ATTACH_ARGS;
	for (uint32_t i = 0; i < DT_ATTACH_ARGS; i++) {
		dt_arch_host()->call.compat_arg(i, x->number, arg, sizeof(arg));
		text->arg[i] = dt_arena_strdup(dt_probes_arena(ps), arg);
	}
}

/* Go uses other registers for them. */
static void go_args(dt_probes *ps, dt_attach *at)
{
	const struct dt_arch_call *call = &dt_arch_host()->call;
	dt_attach_text *text = dt_probes_text(ps, at);

	text->narg = DT_ATTACH_ARGS;
	for (uint32_t i = 0; i < call->ngo_args && i < DT_ATTACH_ARGS; i++)
		text->arg[i] = dt_arena_printf(dt_probes_arena(ps), "uregs[%u]", call->go_arg[i]);
}

static int attach(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_attach *at, char *why,
		  size_t whylen)
{
	const struct pid_place *x = (const struct pid_place *)(uintptr_t)pr->data;

	if (x->what == PID_RETURN)
		return attach_returns(ps, p, x, at, why, whylen);
	at->kind = DT_AT_UPROBE;
	at->number = x->what == PID_ENTRY ? x->number | DT_AT_ENTRY | x->offset << DT_AT_BEHIND : 0;
	if (x->what == PID_ENTRY && !dt_elf_is_64(x->f.object->elf))
		narrow_args(ps, x, at);
	else if (x->what == PID_ENTRY && dt_pid_is_go(x->f.object, x->f.index))
		go_args(ps, at);
	return put_at(x, (x->what == PID_ADDRESS ? 0 : x->f.vaddr) + x->offset, at, why, whylen)
		   ? 0
		   : -1;
}

int dt_pid_attach_function(dt_probes *ps, const struct pid_function *f, bool on_return, dt_attach *at, char *why, size_t whylen)
{
	struct pid_state *st = dt_pid_state(ps, &dt_provider_pid);
	struct pid_place x = {.f = *f};
	dt_insn i;

	if (on_return)
		return attach_trampoline(st, &x, &(pid_returns){0}, at, why, whylen);
	if (!dt_pid_entry(&st->code, f, &i) || i.flags & DT_INSN_REFUSED) {
		snprintf(why, whylen, "%s begins with an instruction that the kernel cannot probe", f->object->funcs[f->index].name);
		return -1;
	}
	at->kind = DT_AT_UPROBE;
	at->number = i.frame | DT_AT_ENTRY | (uint64_t)i.offset << DT_AT_BEHIND;
	return put_at(&x, f->vaddr + i.offset, at, why, whylen) ? 0 : -1;
}

/* An instruction, and who executes it where its breakpoint is. */
static void print_place(const struct pid_place *x, uint64_t vaddr, bool cheap, uint32_t pops, dt_buf *out)
{
	struct pid_object *o = x->f.object;
	struct dt_insn_mode mode = {.narrow = !dt_elf_is_64(o->elf)};
	uint8_t code[DT_INSN_MAX];
	uint64_t target;

	dt_buf_printf(out, "%llx: ", (unsigned long long)(vaddr - x->f.vaddr));
	dt_insn_print(&mode, code, dt_elf_read(o->elf, vaddr, code, sizeof(code)), vaddr, out, &target);
	dt_buf_printf(out, "%s\n", cheap  ? " (emulated by the kernel)"
				  : pops ? " (carried out by the probe, from Linux 6.19; otherwise single-stepped)"
					 : " (single-stepped)");
}

static void places(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_buf *out)
{
	const struct pid_place *x = (const struct pid_place *)(uintptr_t)pr->data;
	struct pid_state *st = dt_pid_state(ps, p);
	pid_returns r = {0};
	dt_insn i = {0};

	if (x->what == PID_ENTRY && dt_pid_entry(&st->code, &x->f, &i))
		print_place(x, x->f.vaddr + i.offset, i.flags & DT_INSN_CHEAP, 0, out);
	if (x->what != PID_RETURN)
		return;
	if (is_trampoline(ps, x)) {
		dt_buf_printf(out, "a return address that is changed at the entry (option uretprobe)\n");
		return;
	}
	dt_pid_returns(&st->code, &x->f, &r);
	for (uint32_t k = 0; k < r.n; k++)
		print_place(x, r.v[k].vaddr, r.v[k].cheap, r.v[k].pops, out);
	dt_vec_free(&r);
}

static bool instruction(const dt_provider *p, dt_probes *ps, const dt_probe *pr, dt_buf *out)
{
	const struct pid_place *x = (const struct pid_place *)(uintptr_t)pr->data;
	struct pid_object *o = x->f.object;
	struct dt_insn_mode mode = {.narrow = !dt_elf_is_64(o->elf)};
	uint64_t at = x->what == PID_ADDRESS ? x->offset : x->f.vaddr + x->offset, target;
	uint8_t code[DT_INSN_MAX];
	const dt_elfsym *sym;

	(void)p, (void)ps;
	if (x->what < PID_OFFSET || !dt_insn_print(&mode, code, dt_elf_read(o->elf, at, code, sizeof(code)), at, out, &target))
		return false;
	sym = target ? dt_elf_function_at(o->elf, target) : NULL;
	if (sym && target == sym->vaddr)
		dt_buf_printf(out, " <%s>", sym->name);
	else if (sym)
		dt_buf_printf(out, " <%s+%llx>", sym->name, (unsigned long long)(target - sym->vaddr));
	return true;
}

const dt_provider dt_provider_pid = {
    .name = "pid",
    DT_PROVIDER_IDS(pid),
    .attrs = {DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(EVOLVING, EVOLVING, ISA),
	      DT_ATTR(PRIVATE, PRIVATE, UNKNOWN)},
    .claims = claims,
    .matches = matches,
    .grows = grows,
    .news = news,
    .discover = dt_pid_discover,
    .args = args,
    .types = types,
    .instruction = instruction,
    .places = places,
    .attach = attach,
};
