/*
 * place_table: the places with probes, in memory that the keeper has as well: it is reserved once, and they stay where they are.
 *
 * A table of cells finds those near an address; a list has those that are in code that is mapped, by address.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "process/process.h"

#define CELL_BITS 5 /* no place is larger than a cell */
#define NCELLS	  (1u << 14)
#define NONE	  UINT32_MAX

_Static_assert(DT_PATCH_MAX <= 1 << CELL_BITS, "a place is in two cells at most");

bool dt_pe_places_init(dt_pe_places *all, uint32_t cap)
{
	size_t size = sizeof(*all->memory) + (size_t)cap * sizeof(*all->v);
	void *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*all = (dt_pe_places){0};
	if (m == MAP_FAILED)
		return false;
	all->memory = m;
	all->v = (struct dt_pe_place *)(void *)(all->memory + 1);
	all->cap = cap;
	all->size = size;
	all->cells = dt_xmalloc(NCELLS * sizeof(*all->cells));
	for (uint32_t i = 0; i < NCELLS; i++)
		all->cells[i] = NONE;
	all->free = NONE;
	return true;
}

void dt_pe_places_free(dt_pe_places *all)
{
	if (!all->memory)
		return;
	for (uint32_t i = 0; i < all->memory->n; i++)
		dt_vec_free(&all->v[i].ecbs);
	free(all->cells);
	dt_vec_free(&all->order);
	munmap(all->memory, all->size);
	*all = (dt_pe_places){0};
}

/* ---- by address ---- */

static uint32_t *cell(const dt_pe_places *all, uint64_t at)
{
	return &all->cells[((at >> CELL_BITS) * 0x9e3779b97f4a7c15u) >> 50];
}

static void insert(dt_pe_places *all, uint32_t i)
{
	uint32_t *head = cell(all, all->v[i].patch.at);

	all->v[i].next = *head;
	*head = i;
	all->sorted = false;
}

static void take_out(dt_pe_places *all, uint32_t i)
{
	uint32_t *link = cell(all, all->v[i].patch.at);

	while (*link != i && *link != NONE)
		link = &all->v[*link].next;
	if (*link == i)
		*link = all->v[i].next;
	all->sorted = false;
}

/* The next place with a byte between these two; NULL: there is none. */
struct dt_pe_place *dt_pe_places_find(const dt_pe_places *all, uint64_t start, uint64_t end, uint32_t *it)
{
	uint32_t k = 0;

	for (uint64_t at = (start >> CELL_BITS) - 1; at <= (end - 1) >> CELL_BITS; at++)
		for (uint32_t i = *cell(all, at << CELL_BITS); i != NONE; i = all->v[i].next) {
			const dt_patch *p = &all->v[i].patch;

			if (p->at >> CELL_BITS == at && p->at < end && start < p->at + p->size && k++ == *it) {
				++*it;
				return &all->v[i];
			}
		}
	return NULL;
}

bool dt_pe_places_has(const dt_pe_places *all, uint64_t start, uint64_t end)
{
	return dt_pe_places_find(all, start, end, &(uint32_t){0}) != NULL;
}

static int by_address(const void *a, const void *b)
{
	const dt_patch *x = &(*(struct dt_pe_place *const *)a)->patch, *y = &(*(struct dt_pe_place *const *)b)->patch;

	return x->at < y->at ? -1 : x->at > y->at;
}

void dt_pe_places_sort(dt_pe_places *all)
{
	if (all->sorted)
		return;
	all->order.n = 0;
	for (uint32_t i = 0; i < all->memory->n; i++)
		if (all->v[i].state == DT_PE_PLANNED || all->v[i].state == DT_PE_IN)
			*dt_vec_add(&all->order, NULL) = &all->v[i];
	if (all->order.n)
		qsort(all->order.v, all->order.n, sizeof(*all->order.v), by_address);
	all->sorted = true;
}

/* ---- one ---- */

/* The keeper may look at any moment: it counts when it is complete. */
struct dt_pe_place *dt_pe_places_add(dt_pe_places *all, const struct dt_pe_place *like)
{
	uint32_t i = all->free;
	struct dt_pe_place *x;

	if (i == NONE && all->memory->n == all->cap)
		return NULL;
	if (i == NONE)
		i = all->memory->n++;
	else
		all->free = all->v[i].next;
	x = &all->v[i];
	*x = *like;
	__atomic_store_n(&x->state, DT_PE_PLANNED, __ATOMIC_RELEASE);
	insert(all, i);
	return x;
}

void dt_pe_places_drop(dt_pe_places *all, struct dt_pe_place *x)
{
	uint32_t i = (uint32_t)(x - all->v);

	if (x->state != DT_PE_AWAY)
		take_out(all, i);
	x->state = DT_PE_NONE;
	dt_vec_free(&x->ecbs);
	x->next = all->free;
	all->free = i;
}

/* Its code is not mapped any more. */
void dt_pe_places_away(dt_pe_places *all, struct dt_pe_place *x)
{
	take_out(all, (uint32_t)(x - all->v));
	x->state = DT_PE_AWAY;
}

/* It is again, somewhere. */
void dt_pe_places_back(dt_pe_places *all, struct dt_pe_place *x, uint64_t at)
{
	x->function += at - x->patch.at;
	x->call_at += x->call_at ? at - x->patch.at : 0;
	x->patch.at = at;
	x->state = DT_PE_PLANNED;
	insert(all, (uint32_t)(x - all->v));
}
