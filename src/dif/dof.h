/*
 * dof: the DTrace Object Format: a program as a file.
 *
 * The reader takes any bytes: everything is checked before it is used, and a bad file is an error
 * that says what is wrong and where.
 */
#ifndef DT_DOF_H
#define DT_DOF_H

#include "dif/dif.h"

/* Section types, in the order of the format. */
enum dt_dof_sect {
	DT_DOF_NONE, DT_DOF_COMMENTS, DT_DOF_SOURCE, DT_DOF_ECBDESC, DT_DOF_PROBEDESC, DT_DOF_ACTDESC,
	DT_DOF_DIFOHDR, DT_DOF_DIF, DT_DOF_STRTAB, DT_DOF_VARTAB, DT_DOF_RELTAB, DT_DOF_TYPTAB,
	DT_DOF_URELHDR, DT_DOF_KRELHDR, DT_DOF_OPTDESC, DT_DOF_PROVIDER, DT_DOF_PROBES,
	DT_DOF_PRARGS, DT_DOF_PROFFS, DT_DOF_INTTAB, DT_DOF_UTSNAME, DT_DOF_XLTAB, DT_DOF_XLMEMBERS,
	DT_DOF_XLIMPORT, DT_DOF_XLEXPORT, DT_DOF_PREXPORT, DT_DOF_PRENOFFS,
	/* Ours, never loadable, so that others skip them (dof_file.h): */
	DT_DOF_STATEMENTS = 256, DT_DOF_AGGREFS,
};
#define DT_DOF_MAXSIZE (8u << 20)

/* Append the program as DOF. */
void dt_dof_write(const dt_program *p, dt_buf *out);
/* Read; everything in arena memory. NULL and *err (EDT_DIFINVAL ...). Statements are rebuilt from
 * action kinds; types are those of the DIF records only. The DIFOs are verified. */
dt_program *dt_dof_read(const void *data, size_t n, dt_arena *a, dt_error *err);
/* A readable listing of a DOF file: header, sections, contents. */
int dt_dof_print(const void *data, size_t n, dt_buf *out, dt_error *err);

#endif
