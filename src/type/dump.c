/*
 * dump: the types of a container as C declarations, in the order of creation.
 *
 * The options ctypes and dtypes write this: the types from -C headers, and those that the program
 * declared. Tags first, so that typedefs can refer to them.
 */
#include "type/store.h"

static void dump_sou(dt_types *ts, const dt_type *t, dt_buf *out)
{
	dt_buf_printf(out, "%s %s", t->kind == DT_K_UNION ? "union" : "struct", t->name);
	if (!t->members) {
		dt_buf_puts(out, ";\n");
		return;
	}
	dt_buf_printf(out, " { /* %llu bytes */\n", (unsigned long long)t->size);
	for (uint32_t i = 0; i < t->nmembers; i++) {
		const dt_member *m = &t->members[i];

		dt_buf_putc(out, '\t');
		dt_type_print(ts, m->type, m->name, out);
		if (m->bit_width)
			dt_buf_printf(out, " : %u", m->bit_width);
		dt_buf_printf(out, "; /* +%llu */\n", (unsigned long long)m->bit_offset / 8);
	}
	dt_buf_puts(out, "};\n");
}

static void dump_enum(const dt_type *t, dt_buf *out)
{
	dt_buf_printf(out, "enum %s {\n", t->name);
	for (uint32_t i = 0; i < t->nenumerators; i++)
		dt_buf_printf(out, "\t%s = %lld,\n", t->enumerators[i].name,
			      (long long)t->enumerators[i].value);
	dt_buf_puts(out, "};\n");
}

static void dump_named(dt_types *ts, const dt_map *names, dt_buf *out)
{
	const char *name;
	void *value;
	uint32_t it = 0;

	while (names && dt_map_next(names, &it, &name, &value)) {
		const dt_type *t = value;

		if (t->kind == DT_K_ENUM) {
			dump_enum(t, out);
		} else if (t->kind == DT_K_TYPEDEF) {
			dt_buf_puts(out, "typedef ");
			dt_type_print(ts, t->ref, name, out);
			dt_buf_puts(out, ";\n");
		} else if (dt_type_is_sou(t)) {
			dump_sou(ts, t, out);
		}
	}
}

void dt_types_dump(dt_types *ts, const char *container, dt_buf *out)
{
	static const enum dt_namespace order[] = {DT_NS_ENUM, DT_NS_STRUCT, DT_NS_UNION,
						  DT_NS_ORDINARY};
	const struct dt_container *c = strcmp(container, "C") == 0 ? &ts->c : &ts->d;

	for (size_t i = 0; i < DT_NELEM(order); i++)
		dump_named(ts, c->names[order[i]], out);
}
