/*
 * tools: D scripts shipped with dtrace, found by name (-s execsnoop) and listed (--tools).
 *
 * They are searched for in the directories of the environment variable DTRACE_TOOLS, separated by
 * colons, then in tools beside the program (the build directory has a link to that of the tree),
 * then in ../share/dtrace/tools, then inside the program (make static). A file found earlier replaces
 * one of the same name.
 *
 * The head of a tool is a comment; its second line is " * NAME - summary". tools/mkman makes manual pages of it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "dirs.h"

#define MAX_TOOLS 1000

struct tool {
	char name[64], summary[128];
};

static char *tool_dir(int *n)
{
	return next_dir(n, "DTRACE_TOOLS", NULL, "tools");
}

/* Tool number *n inside the program, which counts up from 0, for reading; NULL: no more. */
static FILE *next_inside(int *n, const char **name)
{
	const char *dir, *text;
	size_t len;

	while (dtrace_embedded((*n)++, &dir, name, &text, &len))
		if (strcmp(dir, "tools") == 0)
			return fmemopen((void *)(uintptr_t)text, len, "r");
	return NULL;
}

static FILE *open_inside(const char *tool)
{
	size_t len = strlen(tool);
	const char *name;
	int n = 0;
	FILE *f;

	while ((f = next_inside(&n, &name))) {
		if (strncmp(name, tool, len) == 0 && strcmp(name + len, ".d") == 0)
			return f;
		fclose(f);
	}
	return NULL;
}

FILE *open_tool(const char *name)
{
	FILE *f = NULL;
	char *dir, *path;
	int n = 0;

	if (!*name || strchr(name, '/'))
		return NULL;
	while (!f && (dir = tool_dir(&n))) {
		if (asprintf(&path, "%s/%s.d", dir, name) >= 0) {
			f = fopen(path, "re");
			free(path);
		}
		free(dir);
	}
	return f ? f : open_inside(name);
}

/* What the head of a file, which is closed, says of the tool of this name; false: it has none. */
static bool read_head(FILE *f, struct tool *t)
{
	char line[256], *text;
	size_t n = strlen(t->name);

	if (!f)
		return false;
	t->summary[0] = 0;
	for (int i = 0; i < 4 && !t->summary[0] && fgets(line, sizeof(line), f); i++) {
		text = line + strspn(line, "/* \t");
		if (strncmp(text, t->name, n) == 0 && strncmp(text + n, " - ", 3) == 0)
			snprintf(t->summary, sizeof(t->summary), "%.*s",
				 (int)strcspn(text + n + 3, "\n"), text + n + 3);
	}
	fclose(f);
	return t->summary[0];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tool *)a)->name, ((const struct tool *)b)->name);
}

static bool is_known(const struct tool *tools, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(tools[i].name, name) == 0)
			return true;
	return false;
}

/* A name of a file, "execsnoop.d", to that of the tool; false: it is not one, or is there already. */
static bool take_name(struct tool *tools, int n, const char *file)
{
	struct tool *t = &tools[n];
	size_t len = strlen(file);

	if (n >= MAX_TOOLS || len < 3 || len - 2 >= sizeof(t->name) ||
	    strcmp(file + len - 2, ".d") != 0)
		return false;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)(len - 2), file);
	return !is_known(tools, n, t->name);
}

/* Add the tools of a directory that are not there yet; returns how many there are then. */
static int add_tools(const char *dir, struct tool *tools, int n)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char *path;

	while (d && (e = readdir(d))) {
		if (!take_name(tools, n, e->d_name) || asprintf(&path, "%s/%s", dir, e->d_name) < 0)
			continue;
		n += read_head(fopen(path, "re"), &tools[n]);
		free(path);
	}
	if (d)
		closedir(d);
	return n;
}

void list_tools(FILE *out)
{
	struct tool *tools = calloc(MAX_TOOLS, sizeof(*tools));
	int n = 0, which = 0, inside = 0;
	const char *name;
	char *dir;
	FILE *f;

	if (!tools)
		fatal("out of memory");
	while ((dir = tool_dir(&which))) {
		n = add_tools(dir, tools, n);
		free(dir);
	}
	while ((f = next_inside(&inside, &name))) {
		if (take_name(tools, n, name))
			n += read_head(f, &tools[n]);
		else
			fclose(f);
	}
	qsort(tools, (size_t)n, sizeof(*tools), by_name);
	for (int i = 0; i < n; i++)
		fprintf(out, "%-15s %s\n", tools[i].name, tools[i].summary);
	free(tools);
	if (n == 0)
		fatal("no tools are installed");
}
