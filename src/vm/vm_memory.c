/*
 * vm_memory: which addresses a program may read or write.
 *
 * Readable: scratch, storage of variables, texts of built-in variables, string tables. Writable:
 * allocated scratch, and the storage of by-reference variables. Everything else, in particular
 * kernel memory, gives BADADDR with the address as value. User memory is that of this process, in
 * which BEGIN and END run; it is read by process_vm_readv(), which fails where a plain load would
 * crash.
 *
 * A pointer returned here stays valid until the end of the DIFO: no region ever moves.
 */
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "vm/machine.h"

void *dt_vm_memory(uint64_t n)
{
	return n > SIZE_MAX / 2 ? NULL : calloc(1, n ? n : 1);
}

void dt_vm_add_region(dt_vm *vm, const void *base, uint64_t size)
{
	if (base && size)
		*dt_vec_add(&vm->regions, NULL) = (struct dt_vm_region){dt_vm_addr(base), size};
}

static int by_base(const void *a, const void *b)
{
	const struct dt_vm_region *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

void dt_vm_sort_regions(dt_vm *vm)
{
	if (vm->regions.n)
		qsort(vm->regions.v, vm->regions.n, sizeof(*vm->regions.v), by_base);
}

static uint64_t left_in(uint64_t addr, const void *base, uint64_t size)
{
	uint64_t off = addr - dt_vm_addr(base);

	return base && off < size ? size - off : 0;
}

static uint64_t left_in_regions(const dt_vm *vm, uint64_t addr)
{
	uint32_t lo = 0, hi = vm->regions.n;

	while (lo < hi) { /* the last region that begins at or below addr */
		uint32_t mid = lo + (hi - lo) / 2;

		if (vm->regions.v[mid].base <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr - vm->regions.v[lo - 1].base >= vm->regions.v[lo - 1].size)
		return 0;
	return vm->regions.v[lo - 1].size - (addr - vm->regions.v[lo - 1].base);
}

static uint64_t left_in_pool(uint64_t addr, const dt_vm_dynvars *d)
{
	return left_in(addr, d->pool, d->chunk * d->nchunks);
}

/* How many bytes can be read from addr on; 0: none. */
static uint64_t readable_left(const dt_vm *vm, uint64_t addr)
{
	uint64_t n = left_in(addr, vm->scratch, vm->scratch_size);

	if (!n)
		n = left_in(addr, vm->globals.statics, vm->globals.statics_size);
	if (!n)
		n = left_in(addr, vm->locals.statics, vm->locals.statics_size);
	if (!n)
		n = left_in_pool(addr, &vm->dyn);
	if (!n)
		n = left_in_pool(addr, &vm->own);
	if (!n)
		n = left_in(addr, vm->texts, vm->texts_size);
	return n ? n : left_in_regions(vm, addr);
}

const void *dt_vm_readable(dt_vm *vm, uint64_t addr, uint64_t n)
{
	if (n == 0)
		return vm->scratch;
	if (readable_left(vm, addr) < n) {
		dt_vm_fault(vm, DT_FLT_BADADDR, addr);
		return NULL;
	}
	return (const void *)(uintptr_t)addr;
}

static bool is_writable(dt_vm *vm, uint64_t addr, uint64_t n)
{
	const dt_vm_scope *scopes[] = {&vm->globals, &vm->locals};
	const dt_vm_dynvars *pools[] = {&vm->dyn, &vm->own};

	if (n == 0 || left_in(addr, vm->scratch, vm->scratch_used) >= n)
		return true;
	for (size_t i = 0; i < DT_NELEM(scopes); i++)
		if (left_in(addr, scopes[i]->statics, scopes[i]->statics_size) >= n)
			return dt_vm_static_writable(scopes[i], addr - dt_vm_addr(scopes[i]->statics), n);
	for (size_t i = 0; i < DT_NELEM(pools); i++)
		if (left_in_pool(addr, pools[i]) >= n)
			return dt_vm_dyn_writable(pools[i], addr - dt_vm_addr(pools[i]->pool), n);
	return false;
}

void *dt_vm_writable(dt_vm *vm, uint64_t addr, uint64_t n)
{
	if (!is_writable(vm, addr, n)) {
		dt_vm_fault(vm, DT_FLT_BADADDR, addr);
		return NULL;
	}
	return n ? (void *)(uintptr_t)addr : vm->scratch;
}

bool dt_vm_string(dt_vm *vm, uint64_t addr, uint64_t limit, dt_vm_str *s)
{
	uint64_t max = limit ? limit - 1 : 0, left = readable_left(vm, addr);
	const char *p = (const char *)(uintptr_t)addr, *nul;

	if (!left) {
		dt_vm_fault(vm, DT_FLT_BADADDR, addr);
		return false;
	}
	nul = memchr(p, 0, left < max ? left : max);
	if (!nul && left < max) { /* the region ended before a NUL */
		dt_vm_fault(vm, DT_FLT_BADADDR, addr + left);
		return false;
	}
	s->p = p;
	s->n = nul ? (size_t)(nul - p) : max;
	return true;
}

/* ---- user memory ---- */

static bool read_self(uint64_t addr, void *to, uint64_t n)
{
	struct iovec local = {to, n}, remote = {(void *)(uintptr_t)addr, n};

	return n == 0 || process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

bool dt_vm_load_user(dt_vm *vm, uint64_t addr, void *to, uint64_t n)
{
	if (read_self(addr, to, n))
		return true;
	dt_vm_fault(vm, DT_FLT_BADADDR, addr);
	return false;
}

bool dt_vm_load_user_string(dt_vm *vm, uint64_t addr, char *to, uint64_t limit)
{
	uint64_t got = 0;

	while (got + 1 < limit) { /* page by page: the NUL may be the last byte that is mapped */
		uint64_t n = 4096 - ((addr + got) & 4095);
		char *nul;

		if (n > limit - 1 - got)
			n = limit - 1 - got;
		if (!dt_vm_load_user(vm, addr + got, to + got, n))
			return false;
		nul = memchr(to + got, 0, n);
		got += n;
		if (nul) { /* discard what was read after it */
			memset(nul, 0, (size_t)(to + got - nul));
			return true;
		}
	}
	if (limit)
		to[got] = '\0';
	return true;
}

bool dt_vm_copy(dt_vm *vm, uint64_t addr, void *to, uint64_t size, bool string, bool user)
{
	const void *p;
	dt_vm_str s;

	if (string && user)
		return dt_vm_load_user_string(vm, addr, to, size);
	if (user)
		return dt_vm_load_user(vm, addr, to, size);
	if (string) {
		if (!dt_vm_string(vm, addr, size, &s))
			return false;
		memmove(to, s.p, s.n);
		if (size)
			((char *)to)[s.n] = '\0';
		return true;
	}
	p = dt_vm_readable(vm, addr, size);
	if (p)
		memmove(to, p, size);
	return p != NULL;
}

/* ---- scratch ---- */

void dt_vm_scratch_reset(dt_vm *vm)
{
	vm->scratch_used = 0;
	vm->scratch_size = vm->scratch_cap;
}

/* Memory of earlier clauses of the firing stays allocated: pointers to it may be in this->. */
void dt_vm_scratch_limit(dt_vm *vm, uint64_t size)
{
	uint64_t left = vm->scratch_cap - vm->scratch_used;

	vm->scratch_size = vm->scratch_used + (size < left ? size : left);
}

void *dt_vm_alloc(dt_vm *vm, uint64_t n)
{
	uint64_t start = dt_align_up(vm->scratch_used, 8);

	if (start > vm->scratch_size || n > vm->scratch_size - start) {
		dt_vm_fault(vm, DT_FLT_NOSCRATCH, 0);
		return NULL;
	}
	vm->scratch_used = start + n;
	/* Never written before, or stale from another firing: clear it. */
	return memset(vm->scratch + start, 0, n);
}

void *dt_vm_give(dt_vm *vm, uint64_t n, uint64_t more)
{
	if ((vm->given_max && n > vm->given_max - vm->given) || n > UINT64_MAX - more) {
		dt_vm_fault(vm, DT_FLT_NOSCRATCH, 0);
		return NULL;
	}
	vm->given += vm->given_max ? n : 0;
	vm->gave = true;
	return dt_vm_alloc(vm, n + more);
}
