/*
 * list: the lines of -l. There may be a hundred thousand, for which printf() is slow.
 */
#include <string.h>

#include "args.h"

void list_heading(FILE *out)
{
	fprintf(out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
}

/* A column, on the right, and a space. The place after it; NULL: there is not enough. */
static char *column(char *to, const char *end, const char *text, size_t width)
{
	size_t n = strlen(text), blanks = width > n ? width - n : 0;

	if (!to || (size_t)(end - to) < blanks + n + 1)
		return NULL;
	memset(to, ' ', blanks);
	memcpy(to + blanks, text, n);
	to[blanks + n] = ' ';
	return to + blanks + n + 1;
}

void list_line(FILE *out, const struct dtrace_probeinfo *p)
{
	char line[1024], *at = line, *end = line + sizeof(line);
	char id[16] = "", *digit = id + sizeof(id) - 1;
	unsigned n = p->id;

	do
		*--digit = (char)('0' + n % 10);
	while (n /= 10);
	at = column(at, end, digit, 5);
	at = column(at, end, p->provider, 10);
	at = column(at, end, p->module, 17);
	at = column(at, end, p->function, 33);
	at = column(at, end, p->name, 0);
	if (at) {
		at[-1] = '\n';
		fwrite_unlocked(line, 1, (size_t)(at - line), out);
	} else { /* names of programs can be long */
		fprintf(out, "%5s %10s %17s %33s %s\n", digit, p->provider, p->module, p->function, p->name);
	}
}
