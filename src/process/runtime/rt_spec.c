/*
 * rt_spec: speculations: vm/spec.c for several threads, without locks.
 *
 *	free --speculation()--> active --speculate()--> used --commit()--> committing --> ending --> free
 *	                          |                       |                                  ^
 *	                          +------- discard() -----+--------------> discarding -------+
 *
 * A clause that speculates makes its record in the thread's own buffer, as any other, and copies it to the speculation. The
 * thread is a writer of the speculation until the clause ends. While there are writers, commit() and discard() only set the
 * state, and the last writer does what is to be done: no thread ever waits for another one. So "busy" exists here: all
 * speculations are taken, but one will be free soon.
 *
 * A writer first says that it writes, then looks at the state; the others first change the state, then look for writers.
 */
#include "process/runtime/runtime.h"

static struct dt_pe_slot *slot_of(dt_vm_specs *s)
{
	return (struct dt_pe_slot *)(void *)((char *)s - offsetof(struct dt_pe_slot, specs));
}

static uint64_t look(const struct dt_pe_spec *x)
{
	return __atomic_load_n(&x->word, __ATOMIC_SEQ_CST);
}

static bool change(struct dt_pe_spec *x, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&x->word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void say_writes(const struct dt_pe_specs *s, uint32_t id)
{
	__atomic_store_n(&s->writes[s->self], id, __ATOMIC_SEQ_CST);
}

static uint64_t ending(const struct dt_pe_specs *s)
{
	return DT_PE_SPEC_ENDING + DT_PE_SPEC_OWNER * s->self;
}

/* May this thread end it, which is in that state? */
static bool claim(const struct dt_pe_specs *s, uint64_t id, uint64_t state)
{
	for (uint32_t i = 0; i < dt_rt_anchor.shared->nslots; i++)
		if (__atomic_load_n(&s->writes[i], __ATOMIC_SEQ_CST) == id)
			return false; /* that thread will */
	return change(&s->v[id - 1], state, ending(s));
}

static void set_free(struct dt_pe_spec *x)
{
	memset(x->data, 0, x->top);
	x->cost = x->top = 0;
	__atomic_store_n(&x->word, DT_PE_SPEC_FREE, __ATOMIC_SEQ_CST);
}

/* All its records to the thread's buffer, if there is room for all of them. */
static bool move(struct dt_pe_slot *s, const struct dt_pe_spec *x, uint64_t timestamp)
{
	const struct dt_pe_entry *at;

	if (!dt_rt_fits(s, x->cost))
		return false;
	for (uint64_t i = 0; i + sizeof(*at) <= x->top; i += at->head.size) {
		at = (const struct dt_pe_entry *)(const void *)(x->data + i);
		if (at->head.kind != DT_PE_RECORD || at->head.size < sizeof(*at) || at->head.size > x->top - i)
			break;
		dt_rt_add_copy(s, at, timestamp);
	}
	return true;
}

void dt_rt_spec_leave(struct dt_pe_slot *s)
{
	uint32_t id = s->specs.writes[s->specs.self];
	struct dt_pe_spec *x;
	uint64_t state;

	if (__builtin_expect(!id, 1))
		return;
	say_writes(&s->specs, 0);
	x = &s->specs.v[id - 1];
	state = look(x);
	if ((state != DT_PE_SPEC_COMMITTING && state != DT_PE_SPEC_DISCARDING) || !claim(&s->specs, id, state))
		return;
	if (state == DT_PE_SPEC_COMMITTING && !move(s, x, x->timestamp))
		s->drops++;
	set_free(x);
}

/* The thread has left a firing for ever. */
void dt_rt_spec_left(struct dt_pe_slot *s)
{
	s->specs.commits = 0;
	dt_rt_spec_leave(s);
	for (uint32_t i = 0; i < s->specs.n; i++)
		if (look(&s->specs.v[i]) == ending(&s->specs))
			set_free(&s->specs.v[i]);
}

uint64_t dt_vm_spec_new(dt_vm_specs *specs)
{
	struct dt_pe_specs *s = &slot_of(specs)->specs;
	bool busy = false;

	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t state = look(&s->v[i]);

		if (state == DT_PE_SPEC_FREE && change(&s->v[i], state, DT_PE_SPEC_ACTIVE))
			return i + 1;
		busy = busy || state > DT_PE_SPEC_USED;
	}
	if (busy)
		s->busy++;
	else
		s->unavail++;
	return 0;
}

/* Id 0 means "no speculation" and is not an error; one above nspec is. */
static struct dt_pe_spec *known(struct dt_pe_specs *s, uint64_t id, bool *bad)
{
	*bad = id > s->n;
	return id != 0 && !*bad ? &s->v[id - 1] : NULL;
}

dt_vm_buf *dt_vm_spec_use(dt_vm_specs *specs, uint64_t id, bool *bad)
{
	struct dt_pe_slot *s = slot_of(specs);
	struct dt_pe_spec *x = known(&s->specs, id, bad);

	dt_rt_spec_leave(s); /* a clause may do this several times */
	if (!x)
		return NULL;
	say_writes(&s->specs, (uint32_t)id);
	for (;;) {
		uint64_t state = look(x);

		if (state == DT_PE_SPEC_USED || (state == DT_PE_SPEC_ACTIVE && change(x, state, DT_PE_SPEC_USED)))
			return &s->specs.buf;
		if (state != DT_PE_SPEC_ACTIVE)
			break;
	}
	dt_rt_spec_leave(s);
	return NULL;
}

/* From now on nobody begins to write. True: nobody writes, the caller ends it. */
static bool take(const struct dt_pe_specs *s, uint64_t id, uint64_t to)
{
	struct dt_pe_spec *x = &s->v[id - 1];

	for (;;) {
		uint64_t state = look(x);

		if (state != DT_PE_SPEC_USED && (state != DT_PE_SPEC_ACTIVE || to == DT_PE_SPEC_COMMITTING))
			return false;
		if (change(x, state, to))
			return claim(s, id, to);
	}
}

/* What the caller is to move; dt_vm_spec_discard() follows. */
dt_vm_buf *dt_vm_spec_data(dt_vm_specs *specs, uint64_t id, bool *bad)
{
	struct dt_pe_slot *s = slot_of(specs);
	struct dt_pe_spec *x = known(&s->specs, id, bad);

	if (!x)
		return NULL;
	if (look(x) == DT_PE_SPEC_USED)
		x->timestamp = dt_vm_builtin(&s->e.vm, DT_VAR_TIMESTAMP);
	if (!take(&s->specs, id, DT_PE_SPEC_COMMITTING))
		return NULL;
	s->specs.commits = (uint32_t)id;
	return &s->specs.buf;
}

void dt_vm_spec_discard(dt_vm_specs *specs, uint64_t id, bool *bad)
{
	struct dt_pe_specs *s = &slot_of(specs)->specs;
	struct dt_pe_spec *x = known(s, id, bad);

	if (!x)
		return;
	if (s->commits == id || take(s, id, DT_PE_SPEC_DISCARDING))
		set_free(x);
	s->commits = 0;
}

void dt_vm_spec_drop(dt_vm_specs *specs)
{
	slot_of(specs)->specs.drops++;
}

/* ---- buffers: one is the thread's, the other stands for the speculation that it uses ---- */

static struct dt_pe_slot *slot_with(const dt_vm_buf *b)
{
	uint64_t at = b->ring ? offsetof(struct dt_pe_slot, specs.buf) : offsetof(struct dt_pe_slot, e.principal);

	return (struct dt_pe_slot *)(void *)((char *)(uintptr_t)b - at);
}

bool dt_vm_buf_fits(const dt_vm_buf *b, uint64_t cost, uint64_t reserve)
{
	const struct dt_pe_specs *s = &slot_with(b)->specs;
	uint32_t id = s->writes[s->self];
	uint64_t used = id ? __atomic_load_n(&s->v[id - 1].cost, __ATOMIC_RELAXED) : 0;

	(void)reserve;
	return used <= s->limit && cost <= s->limit - used;
}

/* Other threads take space as well. */
static struct dt_pe_entry *take_space(const struct dt_pe_specs *s, uint32_t cost, uint64_t size)
{
	struct dt_pe_spec *x = &s->v[s->writes[s->self] - 1];
	uint64_t used = __atomic_load_n(&x->cost, __ATOMIC_RELAXED), at;

	do
		if (used > s->limit || cost > s->limit - used)
			return NULL;
	while (!__atomic_compare_exchange_n(&x->cost, &used, used + cost, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	at = __atomic_fetch_add(&x->top, size, __ATOMIC_SEQ_CST);
	return at <= s->cap && size <= s->cap - at ? (struct dt_pe_entry *)(void *)(x->data + at) : NULL;
}

void dt_vm_buf_add(dt_vm_buf *into, dt_vm_rec *r)
{
	const struct dt_pe_entry *from = (const struct dt_pe_entry *)(const void *)((char *)r - offsetof(struct dt_pe_entry, rec));
	struct dt_pe_slot *s = slot_with(into);
	struct dt_pe_entry *to;

	if (!into->ring) {
		dt_rt_added(s, r);
		return;
	}
	to = s->specs.writes[s->specs.self] ? take_space(&s->specs, r->cost, from->head.size) : NULL;
	if (!to) {
		s->specs.drops++;
		return;
	}
	memcpy(&to->rec, r, from->head.size - offsetof(struct dt_pe_entry, rec));
	to->head.size = from->head.size;
	__atomic_store_n(&to->head.kind, DT_PE_RECORD, __ATOMIC_RELEASE);
}

bool dt_vm_buf_move(dt_vm_buf *to, dt_vm_buf *from, uint64_t timestamp, uint64_t reserve)
{
	struct dt_pe_slot *s = slot_with(to);

	(void)from, (void)reserve;
	return move(s, &s->specs.v[s->specs.commits - 1], timestamp);
}
