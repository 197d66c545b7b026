/*
 * libFuzzer target: any bytes as the answer of a helper (jail/jail.h) about an ELF file, a perf map or types: nothing that
 * is believed of it may lead outside of it, or in circles. The first byte says which question it was for.
 */
#include <stdint.h>
#include <stdlib.h>

#include "elf/elf_remote.h"
#include "proc/perfmap.h"
#include "type/user_remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void use_symbols(dt_elf *e)
{
	const dt_elfsym *s;
	uint32_t n = dt_elf_functions(e, &s);
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const dt_elfsym *at = dt_elf_function_at(e, s[i].vaddr);

		if (strlen(s[i].name) != s[i].name_len || (at && at->alias))
			abort();
		sum += strlen(s[i].name);
	}
	if (n && !dt_elf_function_named(e, s[0].name) && sum)
		abort();
	dt_elf_data_at(e, 1);
}

static void use_headers(dt_elf *e)
{
	struct dt_elf_section s;
	uint64_t x;
	char buf[16];

	dt_elf_bias(e, 0x1000, 0, &x);
	dt_elf_vaddr_to_offset(e, dt_elf_entry(e), &x);
	dt_elf_offset_to_vaddr(e, 0, &x);
	dt_elf_read(e, dt_elf_entry(e), buf, sizeof(buf));
	dt_elf_section(e, ".text", &s);
	dt_elf_in_section(e, ".text", 1);
	dt_elf_is_static(e);
}

static void use_probes(dt_elf *e)
{
	size_t it = 0;
	dt_sdt s;

	e->remote->probes_asked = true;
	while (dt_sdt_next(e, &it, &s))
		if (!*s.prov || !*s.name || strlen(s.args) > SIZE_MAX / 2)
			abort();
}

static void use_ranges(dt_elf *e)
{
	struct dt_cfi_walk w;
	uint64_t start, end;

	e->remote->ranges_asked = true;
	dt_cfi_walk(e, &w);
	while (dt_cfi_next(&w, &start, &end))
		;
}

static void read_perfmap(const dt_buf *answer)
{
	dt_perfmap *pm = dt_perfmap_new("/nonexistent", NULL, NULL, NULL);
	uint64_t at;

	dt_perfmap_add(pm, "1000 10 first\n", 14);
	dt_perfmap_take(pm, answer);
	for (uint64_t addr = 0x1000; addr < 0x1020; addr += 8) {
		const char *s = dt_perfmap_find(pm, addr, &at);

		if (s && strlen(s) > SIZE_MAX / 2)
			abort();
	}
	dt_perfmap_free(pm);
}

static void explore(dt_types *ts, dt_type *t, int depth)
{
	if (!t || depth > 8)
		return;
	dt_type_name(ts, t);
	t = dt_type_resolve(t);
	dt_type_complete(ts, t);
	dt_type_size(ts, t);
	dt_type_align(ts, t);
	for (uint32_t i = 0; i < t->nmembers; i++)
		explore(ts, t->members[i].type, depth + 1);
	explore(ts, t->ref, depth + 1);
}

static void read_types(const dt_buf *answer, int question)
{
	dt_types *ts = dt_types_new();
	struct dt_user_object o = {.ts = ts, .name = "x"};
	struct dt_user_reader *r = dt_remote_new(&o);
	struct dt_user_function f = {0};
	dt_type *t = NULL;
	bool found;

	dt_types_set_btf_path(ts, NULL);
	if (question == 0 && dt_remote_take_type(r, answer, &t))
		explore(ts, t, 0);
	if (question == 1 && dt_remote_take_function(r, answer, &f, &found) && found)
		for (uint32_t i = 0; i < f.nparams; i++)
			explore(ts, f.params[i], 0);
	if (question == 2) {
		t = dt_user_lazy(r, DT_K_STRUCT, "s", 64, NULL);
		t->lazy = false;
		t->open = true;
		dt_remote_take_members(r, answer, t);
		t->open = false;
		explore(ts, t, 0);
	}
	r->ops->close(r);
	dt_types_free(ts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	dt_elf *e = dt_xcalloc(1, sizeof(*e));
	dt_buf answer = {0};
	dt_error err = {0};
	dt_unwind u = {0};

	e->fd = -1;
	e->arena = dt_arena_new();
	e->remote = dt_xcalloc(1, sizeof(*e->remote));
	e->symbols_read = true;
	if (n)
		dt_buf_add(&answer, data + 1, n - 1);
	switch (n ? data[0] % 10 : 0) {
	case 0:
		if (dt_elf_take_headers(e, &answer, &err))
			use_headers(e);
		break;
	case 1:
		if (dt_elf_take_symbols(e, &answer))
			use_symbols(e);
		break;
	case 2:
		if (dt_elf_take_probes(e, &answer))
			use_probes(e);
		break;
	case 3:
		if (dt_elf_take_unwind(&answer, &u) && u.n)
			dt_unwind_find(&u, u.rows[u.n / 2].pc);
		dt_unwind_free(&u);
		break;
	case 4:
		if (dt_elf_take_ranges(e, &answer))
			use_ranges(e);
		break;
	case 5: read_perfmap(&answer); break;
	case 9: {
		const char *names[4];

		if (dt_elf_take_names(e, &answer, DT_NELEM(names), names))
			for (size_t i = 0; i < DT_NELEM(names); i++)
				dt_hash_bytes(names[i] ? names[i] : "", names[i] ? strlen(names[i]) : 0);
		break;
	}
	default: read_types(&answer, data[0] % 10 - 6); break;
	}
	dt_buf_free(&answer);
	dt_elf_free(e);
	return 0;
}
