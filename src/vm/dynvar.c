/*
 * dynvar: associative arrays and thread-local variables.
 *
 * They share one pool of dynvarsize bytes, divided into equal chunks; a chunk holds one variable:
 * header, key, value. The chunk size is the largest that any DIFO can store (in a small pool never
 * below 256 bytes, as in DTrace), so a store needs only a free chunk. If there is none, or a key is
 * larger than expected, the store is lost and counted; the program continues. With one CPU and no
 * concurrent readers, a freed chunk can be reused at once: there are no dirty or rinsing lists and
 * no drops of those kinds. (Threads of a target process share the pool, one at a time. What they read by
 * reference may change while they read it, as in DTrace.)
 *
 * A key is the variable's id and scope and then, for each part of the tuple, its length and bytes.
 * Strings are compared as strings: up to their NUL.
 *
 * Storing 0 (or NULL) frees the variable. Reading one that does not exist gives 0; but an element
 * of an array whose values are kept by reference is created when it is referenced, filled with
 * zeros, so that a[k].n = 1 has memory to write to and a[k] is the empty string.
 */
#include <stdlib.h>

#include "vm/machine.h"

#define MAX_CHUNK (16u << 20)
#define PREFIX	  8 /* before a by-reference value, as in vars.c; always zero here */

struct chunk {
	uint64_t hash;
	uint32_t next; /* in the bucket or the free list; index + 1 */
	uint32_t key_size;
	uint32_t value_offset, value_size; /* value_size 0: not in use */
	uint32_t byref, pad;
	uint8_t data[]; /* key, padding, value; 8-aligned */
};

/* A link is index + 1; one that points nowhere ends the list. */
static struct chunk *chunk_at(const dt_vm_dynvars *d, uint32_t link)
{
	return link - 1 < d->nchunks ? (struct chunk *)(void *)(d->pool + (uint64_t)(link - 1) * d->chunk) : NULL;
}

#define LOCK_TURNS (1u << 30) /* about a second */

static uint64_t room_in(const dt_vm_dynvars *d)
{
	return d->chunk - sizeof(struct chunk);
}

/* Is the value inside the chunk, as this program made it? */
static bool is_sound(const dt_vm_dynvars *d, const struct chunk *c)
{
	return c->value_size >= 8 && c->value_size <= room_in(d) && c->value_offset <= room_in(d) - c->value_size &&
	       c->value_offset % 8 == 0;
}

static dt_vm_dynvars *pool_of(dt_vm *vm, bool thread)
{
	return thread && vm->own.nchunks ? &vm->own : &vm->dyn;
}

/* The holder is in this file, and soon out of it; or it is a thread of a target that was stopped there, or has left by a signal
 * (process/runtime/rt_fire.c). Outside targets nobody waits for ever: a lock that is not given back is taken. */
static void lock(const dt_vm *vm, dt_vm_dynstate *s)
{
	uint64_t turns = 0;
	uint32_t none = 0;

	while (!__atomic_compare_exchange_n(&s->lock, &none, vm->number + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		none = 0;
		while (__atomic_load_n(&s->lock, __ATOMIC_RELAXED))
			if (!DT_VM_WAITS && ++turns > LOCK_TURNS)
				__atomic_store_n(&s->lock, 0, __ATOMIC_RELAXED);
	}
}

static void unlock(dt_vm_dynstate *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

/* ---- how large a chunk must be ---- */

struct estimate {
	uint64_t keys[DT_DIF_NTREGS], constant[256];
	bool known[256];
	uint32_t n;
};

static uint64_t value_room(const dt_vm *vm, bool thread, uint32_t id)
{
	const dt_vm_scope *s = thread ? &vm->threads : &vm->globals;
	uint32_t i = id - DT_VAR_USER_MIN;

	return id >= DT_VAR_USER_MIN && i < s->n && s->v[i].byref
		   ? PREFIX + dt_align_up(s->v[i].size, 8)
		   : 8;
}

static uint64_t key_room(const dt_vm *vm, const struct estimate *e, dt_instr i)
{
	uint64_t size = vm->strsize;

	if (DT_I_OP(i) == DT_OP_PUSHTV)
		return 16;
	if (DT_I_TYPE(i) != DT_TYPE_STRING && e->known[DT_I_R2(i)])
		size = e->constant[DT_I_R2(i)];
	return 8 + dt_align_up(size < MAX_CHUNK ? size : MAX_CHUNK, 8);
}

/* The largest variable this DIFO stores, following its pushes in order; 0: stores none. */
static uint64_t largest_store(const dt_vm *vm, const dt_difo *d)
{
	struct estimate e = {0};
	uint64_t max = 0, size;

	for (uint32_t pc = 0; pc < d->len; pc++) {
		dt_instr i = d->text[pc];
		uint32_t op = DT_I_OP(i), index = DT_I_INDEX(i), rd = DT_I_RD(i);

		switch (op) {
		case DT_OP_SETX:
			e.known[rd] = index < d->intlen;
			e.constant[rd] = e.known[rd] ? d->inttab[index] : 0;
			break;
		case DT_OP_PUSHTV:
		case DT_OP_PUSHTR:
			if (e.n < DT_DIF_NTREGS)
				e.keys[e.n++] = key_room(vm, &e, i);
			break;
		case DT_OP_POPTS: e.n -= e.n > 0; break;
		case DT_OP_FLUSHTS: e.n = 0; break;
		case DT_OP_LDGAA: /* creates elements kept by reference */
		case DT_OP_LDTAA:
		case DT_OP_STTS:
		case DT_OP_STGAA:
		case DT_OP_STTAA:
			size = 16 + value_room(vm, op != DT_OP_STGAA && op != DT_OP_LDGAA, index);
			for (uint32_t k = 0; k < e.n && op != DT_OP_STTS; k++)
				size += e.keys[k];
			if (size > max)
				max = size;
			break;
		default: break;
		}
	}
	return max;
}

int dt_vm_dyn_init(dt_vm *vm, const struct dt_vm_config *c)
{
	dt_vm_dynvars *d = &vm->dyn;
	uint64_t most = 0, size, n;

	for (uint32_t i = 0; i < c->ndifos; i++) {
		size = largest_store(vm, c->difos[i]);
		if (size > most)
			most = size;
	}
	if (!most)
		return 0;
	size = dt_align_up(sizeof(struct chunk) + most, 8);
	d->chunk = size < DT_CHUNK_MIN(c->dynvarsize) ? DT_CHUNK_MIN(c->dynvarsize) : size;
	n = c->dynvarsize / (d->chunk + sizeof(uint32_t));
	d->nchunks = n < 1 ? 1 : n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
	for (d->nbuckets = 1; d->nbuckets < d->nchunks; d->nbuckets *= 2)
		;
	d->pool = dt_vm_memory(d->chunk * d->nchunks);
	d->buckets = dt_vm_memory((uint64_t)d->nbuckets * sizeof(uint32_t));
	d->key = dt_vm_memory(d->chunk);
	d->state = dt_vm_memory(sizeof(*d->state));
	return d->pool && d->buckets && d->key && d->state ? 0 : -1;
}

void dt_vm_dyn_fini(dt_vm *vm)
{
	free(vm->dyn.pool);
	free(vm->dyn.buckets);
	free(vm->dyn.key);
	free(vm->dyn.state);
}

/* ---- keys ---- */

static bool key_put(dt_vm_dynvars *d, uint64_t *n, const void *p, uint64_t size)
{
	uint64_t room = d->chunk - *n;

	if (room < 8 || size > room - 8)
		return false;
	memcpy(d->key + *n, &size, 8);
	if (size)
		memcpy(d->key + *n + 8, p, size);
	*n += 8 + size;
	return true;
}

/* Write the key to d->key. False: a fault, or (with *big set) larger than any chunk. */
static bool key_make(dt_vm *vm, uint32_t id, bool thread, const dt_vm_arg *tuple, uint32_t n,
		     uint64_t *size, bool *big)
{
	dt_vm_dynvars *d = pool_of(vm, thread);
	uint64_t head = thread ? vm->fire->thread << 17 | 1u << 16 | id : id;

	memcpy(d->key, &head, 8);
	*size = 8;
	*big = false;
	for (uint32_t i = 0; i < n; i++) {
		const void *p = &tuple[i].value;
		uint64_t len = 8;
		dt_vm_str s;

		if (tuple[i].byref && tuple[i].type == DT_TYPE_STRING) {
			if (!dt_vm_string(vm, tuple[i].value, vm->strsize, &s))
				return false;
			p = s.p;
			len = s.n;
		} else if (tuple[i].byref) {
			len = tuple[i].size;
			p = dt_vm_readable(vm, tuple[i].value, len);
			if (!p)
				return false;
		}
		if (!key_put(d, size, p, len)) {
			*big = true;
			return false;
		}
	}
	return true;
}

/* The link that points to the variable with the current key, or to 0 where it would go. */
static uint32_t *find(dt_vm_dynvars *d, uint64_t hash, uint64_t key_size)
{
	uint32_t *link = &d->buckets[hash & (d->nbuckets - 1)], n = d->nchunks;
	struct chunk *c;

	for (; n-- && (c = chunk_at(d, *link)); link = &c->next)
		if (c->hash == hash && c->key_size == key_size && key_size <= room_in(d) &&
		    is_sound(d, c) && !memcmp(c->data, d->key, key_size))
			break;
	return link;
}

static uint64_t value_address(const struct chunk *c)
{
	return dt_vm_addr(c->data + c->value_offset + PREFIX);
}

static void release(dt_vm_dynvars *d, uint32_t *link)
{
	uint32_t at = *link;
	struct chunk *c = chunk_at(d, at);

	*link = c->next;
	c->value_size = 0;
	c->next = d->state->free;
	d->state->free = at;
}

/* A free chunk, linked in and holding the current key; NULL: a drop. */
static struct chunk *allocate(dt_vm_dynvars *d, uint32_t *link, uint64_t hash, uint64_t key_size,
			      uint64_t value_size)
{
	uint64_t offset = dt_align_up(key_size, 8);
	dt_vm_dynstate *s = d->state;
	struct chunk *c;
	uint32_t at = s->free ? s->free : s->fresh + 1;

	c = offset + value_size > room_in(d) ? NULL : chunk_at(d, at);
	if (!c) {
		s->drops++;
		return NULL;
	}
	if (s->free)
		s->free = c->next;
	else
		s->fresh++;
	*link = at;
	*c = (struct chunk){.hash = hash,
			    .key_size = (uint32_t)key_size,
			    .value_offset = (uint32_t)offset,
			    .value_size = (uint32_t)value_size};
	memcpy(c->data, d->key, key_size);
	memset(c->data + offset, 0, value_size);
	return c;
}

static const dt_vm_var *type_of(const dt_vm *vm, bool thread, uint32_t id)
{
	const dt_vm_scope *s = thread ? &vm->threads : &vm->globals;

	return id - DT_VAR_USER_MIN < s->n ? &s->v[id - DT_VAR_USER_MIN] : NULL;
}

/* Where a variable of the thread has its value without any search; NULL: nowhere. */
static uint64_t *direct_value(dt_vm_dynvars *d, const dt_vm_var *v, const dt_vm_scope *threads, bool thread, const dt_vm_arg *tuple)
{
	return d->direct && thread && !tuple && v && !v->byref ? &d->direct[v - threads->v] : NULL;
}

static uint64_t load(dt_vm_dynvars *d, const dt_vm_var *v, uint64_t size, uint64_t room)
{
	uint64_t value, hash = dt_hash_bytes(d->key, size);
	uint32_t *link = find(d, hash, size);
	struct chunk *c = chunk_at(d, *link);

	if (!c) {
		if (!room)
			return 0;
		c = allocate(d, link, hash, size, room);
		if (!c)
			return 0;
		c->byref = true;
	}
	if (c->byref && v && v->byref)
		return value_address(c);
	memcpy(&value, c->data + c->value_offset, 8);
	return value;
}

uint64_t dt_vm_dyn_load(dt_vm *vm, uint32_t id, bool thread, const dt_vm_arg *tuple, uint32_t n)
{
	const dt_vm_var *v = type_of(vm, thread, id);
	dt_vm_dynvars *d = pool_of(vm, thread);
	uint64_t size, value, *direct = direct_value(d, v, &vm->threads, thread, tuple);
	bool big;

	if (direct)
		return *direct;
	if (!d->nchunks)
		return 0;
	if (!key_make(vm, id, thread, tuple, n, &size, &big)) {
		d->state->drops += big && v && v->byref;
		return 0;
	}
	lock(vm, d->state);
	value = load(d, v, size, tuple && v && v->byref ? value_room(vm, thread, id) : 0);
	unlock(d->state);
	return value;
}

static void store(dt_vm *vm, dt_vm_dynvars *d, const dt_vm_var *v, uint64_t size, uint64_t room, uint64_t value)
{
	uint64_t hash = dt_hash_bytes(d->key, size);
	uint32_t *link = find(d, hash, size);
	struct chunk *c = chunk_at(d, *link);
	bool made = !c, byref = v && v->byref;

	if (value == 0) {
		if (c)
			release(d, link);
		return;
	}
	if (!c)
		c = allocate(d, link, hash, size, room);
	if (!c || c->value_size < room)
		return;
	c->byref = byref;
	if (!byref)
		memcpy(c->data + c->value_offset, &value, 8);
	else if (!dt_vm_copy(vm, value, c->data + c->value_offset + PREFIX, v->size, v->string,
			     v->user) &&
		 made)
		release(d, link); /* a fault must not leave an empty variable */
}

void dt_vm_dyn_store(dt_vm *vm, uint32_t id, bool thread, const dt_vm_arg *tuple, uint32_t n,
		     uint64_t value)
{
	const dt_vm_var *v = type_of(vm, thread, id);
	dt_vm_dynvars *d = pool_of(vm, thread);
	uint64_t size, *direct = direct_value(d, v, &vm->threads, thread, tuple);
	bool big;

	if (direct) {
		*direct = value;
		return;
	}
	if (!d->nchunks)
		return;
	if (!key_make(vm, id, thread, tuple, n, &size, &big)) {
		d->state->drops += big && value;
		return;
	}
	lock(vm, d->state);
	store(vm, d, v, size, value_room(vm, thread, id), value);
	unlock(d->state);
}

bool dt_vm_dyn_writable(const dt_vm_dynvars *d, uint64_t offset, uint64_t n)
{
	const struct chunk *c = chunk_at(d, (uint32_t)(offset / d->chunk) + 1);
	uint64_t start, at = offset % d->chunk;

	if (!c || !is_sound(d, c) || !c->byref)
		return false;
	start = sizeof(*c) + c->value_offset + PREFIX;
	return at >= start && n <= c->value_size - PREFIX &&
	       at - start <= c->value_size - PREFIX - n;
}
