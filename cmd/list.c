/*
 * list: the lines of -l. There may be a hundred thousand, for which printf() is slow.
 */
#include <string.h>

#include "args.h"

void list_heading(FILE *out)
{
	fprintf(out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
}

/* A column, on the right, and a space. */
static void column(FILE *out, const char *text, size_t width)
{
	static const char blanks[] = "                                        ";
	size_t n = strlen(text);

	if (width > n)
		fwrite_unlocked(blanks, 1, width - n, out);
	fwrite_unlocked(text, 1, n, out);
	putc_unlocked(' ', out);
}

void list_line(FILE *out, const struct dtrace_probeinfo *p)
{
	char id[16] = "", *digit = id + sizeof(id) - 1;
	unsigned n = p->id;

	do
		*--digit = (char)('0' + n % 10);
	while (n /= 10);
	column(out, digit, 5);
	column(out, p->provider, 10);
	column(out, p->module, 17);
	column(out, p->function, 33);
	fputs_unlocked(p->name, out);
	putc_unlocked('\n', out);
}
