/*
 * embedded: files that are inside the program.
 *
 * `make static` makes one self-contained file: packaging/embed writes a table of the D libraries
 * and tools, and the linker puts it into the program. Elsewhere there is no such table, and files
 * are read from their folders.
 */
#ifndef DT_EMBEDDED_H
#define DT_EMBEDDED_H

#include <stddef.h>

struct dt_embedded {
	const char *dir, *name; /* "lib", "errno.d"; NULL: the end of the table */
	const char *text, *end; /* *end is 0 */
};
/* NULL: this program has none. */
extern const struct dt_embedded dt_embedded_files[] __attribute__((weak));

#endif
