/*
 * places: where a probe can be. See doc/process-engine.md for why this is safe.
 *
 * A probe replaces whole instructions, at least five bytes. That is done only if
 *
 *   - the function has been decoded from its first byte to its last, and its code in memory is that of the file
 *   - no jump in the whole object, and no function, begins inside these bytes
 *   - the function has no jump table, or else none of its entries can lead there: each of these instructions but the first
 *     saves a register or makes space on the stack, which is done once for each call
 *   - the jump is in one page: if we are killed, each page has been written or not
 *   - none of the instructions is a call (its return address would be among them), or a system call
 */
#include <stdlib.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "arch/trap.h"
#include "elf/cfi.h"
#include "process/objects.h"

#define PAGE 4096u
#define NEAR 8 /* instructions before a system call that may say which one it is */

static bool has_table(const dt_body *b, uint64_t size)
{
	bool marked = b->insns.v[0].flags & DT_INSN_LANDING_PAD; /* then jumps that leave the function are known */

	for (uint32_t i = 0; i < b->insns.n && b->insns.v[i].offset < size; i++)
		if (b->insns.v[i].flags & DT_INSN_TABLE || (b->insns.v[i].flags & DT_INSN_INDIRECT && !marked))
			return true;
	return false;
}

static bool is_end(const dt_insn *i)
{
	return i->flags & (DT_INSN_RETURN | DT_INSN_INDIRECT | DT_INSN_TABLE) ||
	       (i->flags & DT_INSN_JUMP && !(i->flags & DT_INSN_MAYBE));
}

/* May these instructions be moved? */
static const char *try_window(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t size, uint32_t from, uint32_t to,
			      uint32_t probe, dt_patch *p)
{
	const struct dt_arch_code *arch = dt_arch_host()->code;
	const dt_insn *v = fs->body.insns.v;
	uint64_t start = fs->body.vaddr;
	bool table = has_table(&fs->body, size), dead = false;

	if (dt_pe_is_target(f, start + v[from].offset, start + v[to].offset + v[to].length))
		return "something jumps into the instructions that would be replaced";
	for (uint32_t i = from; i <= to; i++) {
		dead = dead || v[i].offset >= size || (i > from && is_end(&v[i - 1]));
		if (dead && !arch->is_padding(fs->code + v[i].offset, v[i].length))
			return "it is too short";
		if (i > from && table && !dead && !arch->makes_frame(fs->code + v[i].offset, v[i].length))
			return "its jump table may lead into the instructions that would be replaced";
	}
	p->size = v[to].offset + v[to].length - v[from].offset;
	if (p->size > DT_PATCH_MAX)
		return "it is too long";
	if (p->at / PAGE != (p->at + DT_PATCH_JUMP - 1) / PAGE)
		return "the jump would be in two pages, which cannot be changed at once";
	p->probe = v[probe].offset - v[from].offset;
	memcpy(p->was, fs->code + v[from].offset, p->size);
	p->stub = p->entry = p->at + 4096; /* only to see what can be moved */
	return dt_patch_make(p);
}

/* Instructions around number `i`: forward first. `base` is the address of the function. */
static const char *find_window(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t size, uint32_t i, bool first,
			       uint64_t base, dt_patch *p)
{
	const dt_insn *v = fs->body.insns.v;
	const char *why = NULL, *one;

	for (uint32_t from = i;; from--) {
		uint32_t to = i;

		while (to + 1 < fs->body.insns.n && v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP)
			to++;
		p->at = base + v[from].offset;
		one = v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP ? "it is too short"
										   : try_window(fs, f, size, from, to, i, p);
		if (!one)
			return NULL;
		why = why ? why : one;
		if (first || to == i || from == 0 || is_end(&v[from - 1]))
			break;
	}
	return why;
}

/* ---- events ---- */

const dt_mapping *dt_pe_place_mapping(struct dt_pe_files *files, const dt_event *event, uint32_t *it, dt_error *err)
{
	const struct dt_pe_file *f = event->at.path ? dt_pe_file(files, event->at.path, err) : NULL;
	const dt_mapping *m = f ? dt_pe_mapping(files, f, event->at.offset, it) : NULL;

	if (!event->at.path)
		dt_err(err, EDT_NOPROBE, "only probes in processes are available");
	else if (f && !m)
		dt_err(err, EDT_NOPROBE, "it is not in the memory of the process");
	return m;
}

bool dt_pe_is_event_of(struct dt_pe_files *files, const dt_event *event, const dt_mapping *m)
{
	dt_error ignored;
	const struct dt_pe_file *f = event->at.path ? dt_pe_file(files, event->at.path, &ignored) : NULL;

	return f && dt_pe_is_code_of(m, f) && event->at.offset - m->offset < m->end - m->start;
}

uint64_t dt_pe_semaphore(struct dt_pe_files *files, const dt_event *event, const dt_mapping *in)
{
	dt_error ignored;
	const struct dt_pe_file *f = dt_pe_file(files, event->at.path, &ignored);

	return f && event->at.ref_ctr ? dt_pe_data_address(files, f, in, event->at.ref_ctr) : 0;
}

static const char *check_event(const struct dt_pe_file *f, const dt_attach *at)
{
	if (at->kind != DT_AT_UPROBE && !(at->kind == DT_AT_URETPROBE && at->instruction))
		return "only probes in processes are available";
	if (f->go)
		return "it is a program of Go, which moves its stacks";
	if (at->text && at->text->when)
		return "it returns under a condition";
	if (!dt_elf_is_64(f->elf))
		return "it is a 32-bit program";
	if (dt_elf_machine(f->elf) != dt_arch_host()->machine)
		return "it is a program of another CPU";
	return NULL;
}

static const char *place_event(struct dt_pe_files *fs, struct dt_pe_file *f, const struct dt_pe_wish *w, struct dt_pe_place *to)
{
	const dt_attach *at = &w->event->at;
	bool entry = !w->probe || (strcmp(w->probe->provider->name, "pid") == 0 && strcmp(w->probe->name, "entry") == 0);
	uint64_t offset = at->offset + at->call - (entry ? at->number >> DT_AT_BEHIND : 0), vaddr, start = 0, size = 0;
	const char *why = check_event(f, at);
	const dt_insn *x;

	if (why)
		return why;
	if (!dt_elf_offset_to_vaddr(f->elf, offset, &vaddr) || !dt_pe_find_function(f, vaddr, &start, &size))
		return "the size of its function is not known";
	if (offset - w->in->offset >= w->in->end - w->in->start)
		return "it is not in the memory of the process";
	to->semaphore_at = at->ref_ctr;
	to->semaphore = dt_pe_semaphore(fs, w->event, w->in);
	if (at->ref_ctr && !to->semaphore)
		return "its semaphore is not in the memory of the process";
	to->function = w->in->start + (offset - w->in->offset) - (vaddr - start);
	why = dt_pe_read_function(fs, f, start, size, to->function);
	if (why)
		return why;
	x = dt_body_at(&fs->body, vaddr - start);
	if (!x)
		return "it is not at an instruction";
	why = find_window(fs, f, size, (uint32_t)(x - fs->body.insns.v), entry, to->function, &to->patch);
	to->inode = f->inode;
	to->offset = w->in->offset + (to->patch.at - w->in->start);
	return why;
}

/* The same place, by another name or for another clause. */
static bool is_same(const struct dt_pe_place *x, const dt_patch *p, const dt_event *event)
{
	return x->patch.at == p->at && x->patch.probe == p->probe && x->patch.size == p->size && !x->call &&
	       (x->event == event || (!x->event->prologue && !event->prologue && x->event->at.kind == event->at.kind &&
				      x->event->at.kind == DT_AT_UPROBE));
}

static bool is_free(const dt_pe_places *all, const dt_patch *p)
{
	return !dt_pe_places_has(all, p->at, p->at + p->size);
}

/* Its stub has no place yet. */
static struct dt_pe_place *add(dt_pe_places *all, struct dt_pe_place *like)
{
	like->patch.stub = like->patch.entry = 0;
	return dt_pe_places_add(all, like);
}

struct dt_pe_place *dt_pe_place(dt_pe_places *all, struct dt_pe_files *files, const struct dt_pe_wish *w, dt_error *err)
{
	struct dt_pe_file *f = dt_pe_file(files, w->event->at.path, err);
	struct dt_pe_place p = {.event = w->event}, *x;
	const char *why;
	uint32_t it = 0;

	if (!f)
		return NULL;
	dt_pe_sweep(files, f);
	why = place_event(files, f, w, &p);
	while (!why && (x = dt_pe_places_find(all, p.patch.at, p.patch.at + p.patch.size, &it)))
		if (is_same(x, &p.patch, w->event))
			return x;
	if (!why && !is_free(all, &p.patch))
		why = "another probe is too near";
	x = why ? NULL : add(all, &p);
	if (!x)
		dt_err(err, EDT_NOPROBE, "%s", why ? why : "there are too many probes");
	return x;
}

/* ---- system calls ---- */

struct dt_pe_where { /* a function */
	const dt_mapping *in;
	struct dt_pe_range code;
	uint64_t base;
	bool returns; /* these are wanted, too */
};

/* Instructions before number i, of which the last one has just run when the probe fires; or after it. */
static bool call_window(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t size, uint32_t i, bool after, uint64_t base,
			dt_patch *p)
{
	const dt_insn *v = fs->body.insns.v;
	uint32_t from = after ? i + 1 : i, to = after ? i + 1 : i - 1;

	if (after) {
		while (to + 1 < fs->body.insns.n && v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP)
			to++;
		p->at = base + v[from].offset;
		return v[to].offset + v[to].length - v[from].offset >= DT_PATCH_JUMP && !try_window(fs, f, size, from, to, from, p);
	}
	while (from > 0 && v[i].offset - v[from].offset < DT_PATCH_JUMP && !is_end(&v[from - 1]))
		from--;
	p->at = base + v[from].offset;
	return i > 0 && v[i].offset - v[from].offset >= DT_PATCH_JUMP &&
	       !dt_pe_is_target(f, fs->body.vaddr + v[i].offset - 1, fs->body.vaddr + v[i].offset + 1) && /* past the probe */
	       !try_window(fs, f, size, from, to, i, p);
}

/* The number of the call that instruction i makes, if one before it says so; UINT32_MAX: not known. */
static uint32_t number_of(const struct dt_pe_files *fs, uint32_t i)
{
	const dt_insn *v = fs->body.insns.v;
	uint32_t number = UINT32_MAX;

	for (uint32_t k = i; number == UINT32_MAX && k > 0 && i - k < NEAR && !is_end(&v[k - 1]); k--)
		number = dt_arch_host()->code->call_number(fs->code + v[k - 1].offset, v[k - 1].length);
	return number;
}

/* The call moves as well: what comes back from it, does in the stub. */
static bool call_moves(const struct dt_pe_files *fs, const struct dt_pe_file *f, uint64_t size, uint32_t i, uint64_t base, dt_patch *p)
{
	const dt_insn *v = fs->body.insns.v;

	for (uint32_t from = i;; from--) {
		uint32_t to = i;

		while (to + 1 < fs->body.insns.n && v[to].offset + v[to].length - v[from].offset < DT_PATCH_JUMP)
			to++;
		p->at = base + v[from].offset;
		p->calls = true;
		p->after = 1; /* it is not known yet, and takes room */
		if (v[to].offset + v[to].length - v[from].offset >= DT_PATCH_JUMP && !try_window(fs, f, size, from, to, i, p))
			return true;
		if (from == 0 || is_end(&v[from - 1]) || v[i].offset - v[from - 1].offset > DT_PATCH_MAX)
			return false;
	}
}

static void add_call(dt_pe_places *all, struct dt_pe_place *x, const dt_mapping *in, const dt_patch *p, enum dt_pe_call_kind kind)
{
	x->patch = *p;
	x->call = kind;
	x->offset = in->offset + (p->at - in->start);
	add(all, x);
}

/* One call: before it, and after it, or both at once. */
static void place_call(dt_pe_places *all, struct dt_pe_files *fs, const struct dt_pe_file *f, const struct dt_pe_where *w, uint32_t i,
		       struct dt_pe_found *found)
{
	static const dt_event event; /* there is nothing to compute */
	struct dt_pe_place x = {
	    .event = &event, .call_at = w->base + fs->body.insns.v[i].offset, .call_number = number_of(fs, i), .inode = f->inode};
	dt_patch before = {0}, after = {0}, both = {0};
	bool has = call_window(fs, f, w->code.size, i, false, w->base, &before) && is_free(all, &before), halves = false;

	if (has && w->returns)
		halves = !call_window(fs, f, w->code.size, i, true, w->base, &after) || !is_free(all, &after);
	found->placed++;
	if ((!has || halves) && call_moves(fs, f, w->code.size, i, w->base, &both) && is_free(all, &both)) {
		add_call(all, &x, w->in, &both, DT_PE_CALL);
		return;
	}
	found->placed -= !has;
	found->missed += !has;
	found->halves += halves;
	if (has)
		add_call(all, &x, w->in, &before, DT_PE_CALL);
	if (has && w->returns && !halves)
		add_call(all, &x, w->in, &after, DT_PE_CALLED);
}

/* What signal handlers return to: nothing leads there that could be seen. Unwind information ends with it. */
static bool is_signal_return(const struct dt_pe_files *fs, const struct dt_pe_where *w, uint32_t i)
{
	const dt_insn *x = &fs->body.insns.v[i];

	return x->offset + x->length == w->code.own || number_of(fs, i) == SYS_rt_sigreturn;
}

/* The calls of one function, which has been decoded. */
static void place_calls(dt_pe_places *all, struct dt_pe_files *fs, const struct dt_pe_file *f, const struct dt_pe_where *w,
			struct dt_pe_found *found)
{
	const dt_insn *v = fs->body.insns.v;

	for (uint32_t i = 0; i + 1 < fs->body.insns.n && v[i + 1].offset < w->code.size; i++)
		if (dt_trap_find_call(fs->code + v[i].offset, v[i].length) == 0 && !is_signal_return(fs, w, i))
			place_call(all, fs, f, w, i, found);
}

static void place_calls_of(dt_pe_places *all, struct dt_pe_files *fs, struct dt_pe_file *f, const dt_mapping *in, bool returns,
			   struct dt_pe_found *found)
{
	struct dt_pe_where w = {.in = in, .returns = returns};
	uint64_t offset;

	dt_pe_sweep(fs, f);
	for (uint32_t i = 0; dt_pe_code_of(f, i, &w.code); i++) {
		uint64_t n = w.code.size < DT_PE_FUNCTION_MAX ? dt_elf_read(f->elf, w.code.start, fs->code, w.code.size) : 0;

		if (dt_trap_find_call(fs->code, n) >= n || !dt_elf_vaddr_to_offset(f->elf, w.code.start, &offset) ||
		    offset - in->offset >= in->end - in->start)
			continue;
		w.base = in->start + (offset - in->offset);
		if (!dt_pe_read_function(fs, f, w.code.start, w.code.size, w.base))
			place_calls(all, fs, f, &w, found);
		else
			found->missed++;
	}
}

void dt_pe_place_calls(dt_pe_places *all, struct dt_pe_files *fs, const dt_mapping *in, bool returns, struct dt_pe_found *found)
{
	char *path = dt_proc_path(fs->pid, in->path);
	dt_error ignored;
	struct dt_pe_file *f = dt_pe_file(fs, path, &ignored);

	fs->last_path = NULL;
	free(path);
	if (f && !f->go && dt_pe_is_code_of(in, f) && dt_elf_is_64(f->elf))
		place_calls_of(all, fs, f, in, returns, found);
}
