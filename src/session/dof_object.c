/*
 * dof_object: the ELF object of -G.
 *
 * Probes made with our headers (header.c) need no post-link step, so the object has no code: it
 * exists for build systems that link it. It contains the program as DOF in a section that is not
 * loaded, where tools find it.
 *
 *   0 (null)   1 .SUNW_dof   2 .note.GNU-stack   3 .shstrtab
 */
#include <elf.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "session/session.h"

static const char section_names[] = "\0.SUNW_dof\0.note.GNU-stack\0.shstrtab";
enum { NAME_DOF = 1, NAME_STACK = 11, NAME_SHSTRTAB = 27 };

static void write_elf(const void *dof, size_t n, FILE *out)
{
	size_t names_at = sizeof(Elf64_Ehdr) + n;
	size_t table_at = dt_align_up(names_at + sizeof(section_names), 8);
	Elf64_Ehdr eh = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_REL,
	    .e_machine = dt_arch_host()->machine,
	    .e_version = EV_CURRENT,
	    .e_ehsize = sizeof(Elf64_Ehdr),
	    .e_shoff = table_at,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = 4,
	    .e_shstrndx = 3,
	};
	Elf64_Shdr sh[4] = {
	    {0},
	    {.sh_name = NAME_DOF,
	     .sh_type = SHT_PROGBITS,
	     .sh_offset = sizeof(eh),
	     .sh_size = n,
	     .sh_addralign = 8},
	    {.sh_name = NAME_STACK,
	     .sh_type = SHT_PROGBITS,
	     .sh_offset = sizeof(eh),
	     .sh_addralign = 1},
	    {.sh_name = NAME_SHSTRTAB,
	     .sh_type = SHT_STRTAB,
	     .sh_offset = names_at,
	     .sh_size = sizeof(section_names),
	     .sh_addralign = 1},
	};
	static const char zero[8];

	fwrite(&eh, sizeof(eh), 1, out);
	fwrite(dof, 1, n, out);
	fwrite(section_names, 1, sizeof(section_names), out);
	fwrite(zero, 1, table_at - names_at - sizeof(section_names), out);
	fwrite(sh, sizeof(sh), 1, out);
}

int dtrace_object(dtrace_hdl_t *h, const dtrace_prog_t *p, FILE *out)
{
	void *dof = NULL;
	size_t n = 0;

	if (p && dtrace_dof_create(h, p, &dof, &n) < 0)
		return -1;
	if (dt_opt(&h->opts, DT_O_LINKTYPE) == DT_LINKTYPE_DOF)
		fwrite(dof, 1, n, out);
	else
		write_elf(dof, n, out);
	free(dof);
	if (fflush(out) != 0 || ferror(out))
		return dt_session_err(h, EDT_FIO, "failed to write the object");
	return 0;
}
