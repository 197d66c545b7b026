/*
 * c_layout: offsets of the members of a struct or union declared in D: C's rules as implemented by
 * gcc for this CPU, so that a D copy of a C declaration has the same offsets.
 *
 * Plain members go to the next multiple of their alignment. A bit-field goes to the next free bit,
 * unless it would then cross a boundary of its declared type: it moves to that boundary. Named
 * bit-fields raise the alignment of the struct like a plain member of their type; unnamed ones only
 * take space, except on CPUs where they align as well (unnamed_aligns), and are not kept as members.
 *
 * While a struct is open, the current position is kept in a separate record; the struct's size and
 * alignment stay 0, which is what "incomplete" means to the rest of the store.
 *
 * Structs read from a file already have their layout; only their alignment is computed here.
 */
#include "arch/arch.h"
#include "type/store.h"

struct dt_layout {
	dt_type *sou;
	uint64_t end; /* in bits: the next free one (struct), or the longest member (union) */
	uint32_t align;
	struct dt_layout *next;
};

static struct dt_layout *layout_of(dt_types *ts, dt_type *sou)
{
	struct dt_layout *l;

	for (l = ts->open; l != NULL; l = l->next)
		if (l->sou == sou)
			return l;
	l = dt_arena_alloc(ts->arena, sizeof(*l));
	*l = (struct dt_layout){sou, 0, 1, ts->open};
	ts->open = l;
	return l;
}

static void append(dt_types *ts, dt_type *sou, const dt_member *m)
{
	uint32_t n = sou->nmembers;

	if ((n & (n - 1)) == 0) { /* full at every power of two */
		dt_member *v = dt_arena_alloc(ts->arena, (n ? n * 2 : 1) * sizeof(*v));

		if (n != 0)
			memcpy(v, sou->members, n * sizeof(*v));
		sou->members = v;
	}
	sou->members[sou->nmembers++] = *m;
}

void dt_type_add_member(dt_types *ts, dt_type *sou, const char *name, dt_type *t, uint32_t width)
{
	struct dt_layout *l = layout_of(ts, sou);
	uint64_t start = sou->kind == DT_K_UNION ? 0 : l->end;
	uint64_t size = dt_size_mul(dt_type_size(ts, t), 8);
	uint32_t align = dt_type_align(ts, t);
	bool named = name != NULL && *name != '\0';
	uint64_t end;

	if (width == 0) {
		start = dt_align_up(start, (uint64_t)align * 8);
		end = dt_size_add(start, size);
	} else {
		if (size != 0 && start / size != (start + width - 1) / size)
			start = dt_align_up(start, (uint64_t)align * 8);
		end = dt_size_add(start, width);
	}
	if (end > l->end)
		l->end = end;
	if ((width == 0 || named || dt_arch_host()->unnamed_aligns) && align > l->align)
		l->align = align;
	if (width == 0 || named)
		append(
		    ts, sou,
		    &(dt_member){named ? dt_arena_strdup(ts->arena, name) : "", t, start, width});
}

void dt_type_finish_sou(dt_types *ts, dt_type *sou)
{
	struct dt_layout *l = layout_of(ts, sou), **p;

	for (p = &ts->open; *p != l; p = &(*p)->next)
		;
	*p = l->next;
	sou->align = l->align;
	sou->size = dt_align_up((l->end + 7) / 8, l->align);
	if (sou->members == NULL) /* empty, but complete */
		sou->members = dt_arena_alloc(ts->arena, sizeof(dt_member));
}

/*
 * Type data does not contain the alignment of a struct: it is that of its most aligned member,
 * unless some member is not at a matching offset: then the struct is packed.
 */
static uint32_t sou_align(dt_types *ts, dt_type *t, int depth)
{
	uint32_t align = 1;
	bool packed = false;

	if (t->align != 0)
		return t->align;
	if (depth > 32)
		return 1;
	dt_type_complete(ts, t);
	for (uint32_t i = 0; i < t->nmembers; i++) {
		const dt_member *m = &t->members[i];
		dt_type *mt = dt_type_resolve(m->type);
		uint32_t a;

		while (mt->kind == DT_K_ARRAY)
			mt = dt_type_resolve(mt->ref);
		a = mt->kind == DT_K_STRUCT || mt->kind == DT_K_UNION ? sou_align(ts, mt, depth + 1)
								      : mt->align;
		if (a == 0)
			continue;
		if (a > align)
			align = a;
		packed |= m->bit_width == 0 && m->bit_offset % ((uint64_t)a * 8) != 0;
	}
	t->align = packed || t->size % align != 0 ? 1 : align;
	return t->align;
}

uint32_t dt_sou_align(dt_types *ts, dt_type *t)
{
	return sou_align(ts, t, 0);
}

uint64_t dt_va_list_size(void)
{
	return dt_arch_host()->va_list_size;
}
