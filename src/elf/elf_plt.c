/*
 * elf_plt: names for the stubs through which an object calls others: "malloc@plt".
 *
 * A stub is an indirect jump through a slot of the GOT; which function the slot is for, a
 * relocation says. So each stub is decoded (dt_arch_code.plt_slot), wherever the linker put it: .plt,
 * .plt.sec with landing pads, .plt.got. Stubs begin at multiples of the section's entry size. In code
 * for an unknown CPU they have no names.
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

/* The name of dynamic symbol n. */
static const char *symbol_name(Elf *elf, uint32_t table, uint64_t n)
{
	Elf_Scn *scn = elf_getscn(elf, table);
	GElf_Shdr sh;
	GElf_Sym sym;
	Elf_Data *d;

	if (n == 0 || n > INT32_MAX || !scn || !gelf_getshdr(scn, &sh) ||
	    (sh.sh_type != SHT_DYNSYM && sh.sh_type != SHT_SYMTAB) ||
	    !(d = dt_elf_section_data(scn, &sh)) || !gelf_getsym(d, (int)n, &sym))
		return NULL;
	return elf_strptr(elf, sh.sh_link, sym.st_name);
}

static void read_slots(const struct dt_arch_code *code, Elf *elf, slots *out)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		GElf_Rela r;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) || !(d = dt_elf_section_data(scn, &sh)))
			continue;
		for (int i = 0; gelf_getrela(d, i, &r); i++) {
			uint64_t type = GELF_R_TYPE(r.r_info);
			const char *name;

			if ((type != code->slot_relocation[0] && type != code->slot_relocation[1]) ||
			    !(name = symbol_name(elf, sh.sh_link, GELF_R_SYM(r.r_info))) || !*name)
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
	Elf_Scn *scn = dt_elf_find_section(elf, section, &sh);
	Elf_Data *d = scn ? dt_elf_section_data(scn, &sh) : NULL;
	uint64_t step;

	if (!d)
		return;
	step = sh.sh_entsize == 8 ? 8 : 16;
	for (uint64_t at = 0; at + step <= d->d_size; at += step) {
		const struct slot *s;
		struct slot key = {0};

		if (!code->plt_slot((const uint8_t *)d->d_buf + at, step, sh.sh_addr + at,
				    &key.vaddr) ||
		    !(s = bsearch(&key, known->v, known->n, sizeof(key), by_vaddr)))
			continue;
		dt_elf_add_symbol(to,
				  &(dt_elfsym){
				      .vaddr = sh.sh_addr + at,
				      .size = step,
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
	read_slots(a->code, elf, &known);
	for (size_t i = 0; known.n && i < DT_NELEM(sections); i++)
		add_section(to, a->code, elf, sections[i], &known);
	dt_vec_free(&known);
}
