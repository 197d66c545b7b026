/*
 * The running kernel's types, read by us and by libbpf: every named struct and union has the same
 * size, and its members the same places, widths and sizes. Anonymous members are looked through.
 */
#include <bpf/btf.h>
#include <unistd.h>

#include "type/type.h"
#include "unit.h"

static struct btf *btf;
static unsigned members;

static const char *str(uint32_t offset)
{
	return btf__name_by_offset(btf, offset);
}

static void compare_members(dt_types *ts, dt_type *t, const char *tag, const struct btf_type *b,
			    uint64_t base)
{
	const struct btf_member *m = btf_members(b);

	for (uint32_t i = 0; i < btf_vlen(b); i++) {
		uint64_t want = base + btf_member_bit_offset(b, i), at = 0;
		const struct btf_type *mt =
		    btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, m[i].type));
		const dt_member *ours;

		if (!*str(m[i].name_off)) {
			if (btf_is_composite(mt))
				compare_members(ts, t, tag, mt, want);
			continue;
		}
		members++;
		ours = dt_type_member(ts, t, str(m[i].name_off), &at);
		if (ours && at == want && ours->bit_width == btf_member_bitfield_size(b, i) &&
		    (btf_is_fwd(mt) ||
		     (int64_t)dt_type_size(ts, ours->type) == btf__resolve_size(btf, m[i].type)))
			continue;
		unit_failed++;
		printf("%s.%s: at bit %llu, want %llu\n", tag, str(m[i].name_off),
		       ours ? (unsigned long long)at : 0, (unsigned long long)want);
	}
}

int main(void)
{
	dt_types *ts;

	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return unit_done(); /* nothing to compare with */
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	CHECK(btf != NULL);
	ts = dt_types_new();
	for (uint32_t id = 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *b = btf__type_by_id(btf, id);
		const char *tag = str(b->name_off);
		dt_type *t;

		/* of several with one name, a look-up finds the first */
		if (!btf_is_composite(b) || !*tag ||
		    btf__find_by_name_kind(btf, tag, btf_kind(b)) != (int)id)
			continue;
		t = dt_type_lookup(ts, "vmlinux", btf_is_struct(b) ? DT_NS_STRUCT : DT_NS_UNION,
				   tag);
		if (!t || dt_type_size(ts, t) != b->size) {
			unit_failed++;
			printf("%s: size %llu, want %u\n", tag,
			       t ? (unsigned long long)dt_type_size(ts, t) : 0, b->size);
			continue;
		}
		unit_passed++;
		compare_members(ts, t, tag, b, 0);
	}
	CHECK(members > 10000);
	dt_types_free(ts);
	btf__free(btf);
	return unit_done();
}
