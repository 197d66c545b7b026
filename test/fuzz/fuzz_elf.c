/*
 * libFuzzer target: any bytes as an ELF object (symbols, PLT, static probes, unwind tables,
 * sections, also compressed), as the arguments of a static probe, as a mangled name, as
 * /proc/PID/maps, and as a perf map.
 */
#include <stdint.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "proc/mappings.h"
#include "proc/perfmap.h"
#include "elf/sdt_notes.h"
#include "elf/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look_up(dt_elf *e, const dt_elfsym *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 1 + n / 16) {
		const dt_elfsym *at = dt_elf_function_at(e, s[i].vaddr);

		if (at && at->alias)
			abort();
		if (i > 0 && s[i].vaddr < s[i - 1].vaddr)
			abort();
		free(dt_demangle(s[i].name, true));
	}
}

static void read_probes(dt_elf *e)
{
	dt_arena *a = dt_arena_new();
	dt_sdt_arg args[10];
	size_t it = 0;
	dt_sdt s;

	while (dt_sdt_next(e, &it, &s))
		dt_sdt_args(a, e, &s, args, 10);
	dt_arena_free(a);
}

/* Any text as the arguments of a probe in an object that can be read. */
static void read_arguments(const char *text)
{
	static dt_elf *self;
	dt_sdt s = {.prov = "p", .name = "n", .args = text, .pc = 0x1000};
	dt_arena *a = dt_arena_new();
	dt_sdt_arg args[10];
	dt_error err;

	if (!self)
		self = dt_elf_open("/bin/true", NULL, &err);
	if (self)
		dt_sdt_args(a, self, &s, args, 10);
	dt_arena_free(a);
}

static void read_object(dt_elf *e)
{
	static const char *const sections[] = {".text", ".eh_frame", ".debug_info", ".plt",
					       ".data"};
	const dt_elfsym *syms;
	struct dt_elf_section sec;
	dt_unwind u;
	uint64_t x;
	uint32_t n;
	char buf[64];

	for (size_t i = 0; i < DT_NELEM(sections); i++)
		dt_elf_section(e, sections[i], &sec);
	read_probes(e);
	dt_unwind_read(e, &u);
	dt_unwind_free(&u);
	dt_elf_soname(e);
	dt_elf_bias(e, 0x1000, 0, &x);
	dt_elf_read(e, dt_elf_entry(e), buf, sizeof(buf));
	dt_elf_data(e, &syms);
	n = dt_elf_functions(e, &syms);
	look_up(e, syms, n);
	dt_elf_shrink(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	dt_error err = {0};
	dt_elf *e = dt_elf_open_memory(data, n, &err);
	char *text = dt_xmalloc(n + 1);
	dt_perfmap *pm;
	uint64_t at;
	dt_maps *m;

	if (e)
		read_object(e);
	else if (err.code == 0 || !err.text[0])
		abort(); /* every refusal has a reason */
	dt_elf_free(e);
	m = dt_maps_parse((const char *)data, n);
	dt_maps_find(m, 0x1000);
	dt_maps_free(m);
	pm = dt_perfmap_new("/nonexistent", NULL, NULL, NULL);
	dt_perfmap_add(pm, (const char *)data, n);
	dt_perfmap_find(pm, 0x1000, &at);
	dt_perfmap_free(pm);
	memcpy(text, data, n);
	text[n] = 0;
	free(dt_demangle(text, true));
	read_arguments(text);
	free(text);
	return 0;
}
