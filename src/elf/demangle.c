/*
 * demangle: readable names of C++ and Rust functions.
 *
 * libiberty does the work. Rust's older mangling looks like C++ with a hash at the end ("::h" and
 * 16 hexadecimal digits); libiberty leaves the hash out. A name is never demangled longer than
 * MAX_LENGTH: templates can explode, and nobody reads that.
 */
#include <stdlib.h>
#include <libiberty/demangle.h>

#include "elf/elf.h"

#define MAX_MANGLED 4096
#define MAX_LENGTH  16384

char *dt_demangle(const char *name, bool params)
{
	int options = DMGL_AUTO | (params ? DMGL_PARAMS | DMGL_ANSI : 0);
	char *s;

	/* Both manglings begin with _Z or _R; so do names of ordinary C functions, but rarely. */
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || strlen(name) > MAX_MANGLED)
		return NULL;
	s = cplus_demangle(name, options);
	if (s && strlen(s) > MAX_LENGTH) {
		free(s);
		s = NULL;
	}
	return s;
}
