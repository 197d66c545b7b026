/*
 * elf_plt: names for the stubs through which an object calls others: "malloc@plt".
 *
 * A stub is an indirect jump through a slot of the GOT; a relocation says which function the slot
 * is for. So each stub is decoded (dt_arch_code.plt_slot), wherever the linker put it: .plt,
 * .plt.sec with landing pads, .plt.got. Stubs begin at multiples of the section's entry size. In
 * code for an unknown CPU they have no names.
 */
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "elf/elf_object.h"

struct slot {
	uint64_t vaddr;
	const char *name;
};
typedef DT_VEC(struct slot) slots;

static int by_vaddr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* The dynamic symbols that relocations refer to. */
struct symbols {
	Elf_Data *data; /* NULL: none that may be read */
	uint32_t strings;
};

static struct symbols read_symbols(dt_elf *to, Elf *elf, uint32_t table)
{
	Elf_Scn *scn = elf_getscn(elf, table);
	struct symbols s = {0};
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) ||
	    (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB) ||
	    !dt_elf_string(to, elf, sh.sh_link, 0))
		return s;
	s.data = dt_elf_section_data(to, scn, &sh);
	s.strings = sh.sh_link;
	return s;
}

static const char *symbol_name(Elf *elf, const struct symbols *s, uint64_t n)
{
	GElf_Sym sym;

	if (n == 0 || n > INT32_MAX || !gelf_getsym(s->data, (int)n, &sym))
		return NULL;
	return elf_strptr(elf, s->strings, sym.st_name);
}

static void read_slots(dt_elf *to, const struct dt_arch_code *code, Elf *elf, slots *out)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)) && !dt_stopped(to->stop)) {
		struct symbols syms;
		GElf_Shdr sh;
		GElf_Rela r;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) || !(d = dt_elf_section_data(to, scn, &sh)))
			continue;
		syms = read_symbols(to, elf, sh.sh_link);
		for (int i = 0; syms.data && out->n < DT_MAX_ELF_SYMBOLS && gelf_getrela(d, i, &r);
		     i++) {
			uint64_t type = GELF_R_TYPE(r.r_info);
			const char *name;

			if ((type != code->slot_relocation[0] &&
			     type != code->slot_relocation[1]) ||
			    !(name = symbol_name(elf, &syms, GELF_R_SYM(r.r_info))) || !*name)
				continue;
			*dt_vec_add(out, NULL) = (struct slot){r.r_offset, name};
		}
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_vaddr);
}

static void add_section(dt_elf *to, const struct dt_arch_code *code, Elf *elf, const char *section,
			const slots *known)
{
	GElf_Shdr sh;
	Elf_Scn *scn = dt_elf_find_section(to, elf, section, &sh);
	Elf_Data *d = scn ? dt_elf_section_data(to, scn, &sh) : NULL;
	uint64_t step, size, left = DT_MAX_ELF_PLT; /* bytes of names: many stubs can share one */

	if (!d)
		return;
	step = code->stub_step ? code->stub_step : sh.sh_entsize == 8 ? 8 : 16;
	size = code->stub_size ? code->stub_size : step;
	for (uint64_t at = 0; at + size <= d->d_size && !dt_stopped(to->stop); at += step) {
		const struct slot *s;
		struct slot key = {0};
		size_t len;

		if (!code->plt_slot((const uint8_t *)d->d_buf + at, size, sh.sh_addr + at,
				    &key.vaddr) ||
		    !(s = bsearch(&key, known->v, known->n, sizeof(key), by_vaddr)))
			continue;
		len = strnlen(s->name, DT_MAX_ELF_NAME);
		if (len + 4 >= DT_MAX_ELF_NAME || len > left)
			continue;
		left -= len;
		dt_elf_add_symbol(to,
				  &(dt_elfsym){
				      .vaddr = sh.sh_addr + at,
				      .size = size,
				      .name = dt_arena_printf(to->arena, "%s@plt", s->name),
				      .bind = STB_LOCAL,
				      .type = STT_FUNC,
				      .plt = true,
				  },
				  true);
	}
}

void dt_elf_add_plt(dt_elf *to, Elf *elf)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	const dt_arch *a = dt_arch_of(to->ehdr.e_machine);
	slots known = {0};

	if (!a)
		return;
	read_slots(to, a->code, elf, &known);
	for (size_t i = 0; known.n && i < DT_NELEM(sections); i++)
		add_section(to, a->code, elf, sections[i], &known);
	dt_vec_free(&known);
}
