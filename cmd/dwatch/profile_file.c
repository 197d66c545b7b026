/*
 * profile_file: files that say what to watch.
 *
 *	# NAME - what it shows
 *	probe syscall::open:entry, syscall::openat:entry
 *	also openat syscall::openat:entry
 *	setting DWATCH_OPEN_MS 10
 *	option zdefs
 *	before
 *		clauses in D
 *	test expression in D
 *	details
 *		statements in D, which print
 *	after
 *		clauses in D
 *
 * The first line is as it stands here; all others are optional, and what is indented continues the
 * line above it. `also` is another name of the profile, with probes of its own. A setting is an
 * integer that the environment can change; D sees it as a constant. Clauses can use the constant
 * WATCHED, which is true for processes that the command line selects. A file found in an earlier
 * directory (dirs.h) replaces one of the same name.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../dirs.h"
#include "dwatch.h"

/* A profile or another name of one, for -Q. */
struct entry {
	char *name, *summary;
};

struct found {
	struct entry *v;
	int n;
};

static char *profile_dir(int *n)
{
	return next_dir(n, "DWATCH_PROFILES_PATH", "dwatch", "profiles");
}

static bool is_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/') && !strchr(s, '~');
}

/* The word at *s, NUL-terminated; *s is then at what follows the blanks after it. */
static char *take_word(char **s)
{
	char *word = *s + strspn(*s, " \t");

	*s = word + strcspn(word, " \t\n");
	if (**s)
		*(*s)++ = '\0';
	*s += strspn(*s, " \t");
	return word;
}

/* Is this the first line of the profile of that name: "# NAME - summary"? */
static bool is_head(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, "# ", 2) == 0 && strncmp(line + 2, name, n) == 0 &&
	       strncmp(line + 2 + n, " - ", 3) == 0;
}

static bool has(const struct found *f, const char *name)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->v[i].name, name) == 0)
			return true;
	return false;
}

static void add(struct found *f, const char *name, char *summary)
{
	if (!has(f, name)) {
		f->v = realloc(f->v, sizeof(*f->v) * (size_t)(f->n + 1));
		if (!f->v)
			fatal("out of memory");
		f->v[f->n++] = (struct entry){text_of("%s", name), text_of("%s", summary)};
	}
	free(summary);
}

/* Names of a file; those that it has besides its own only if `others`. */
static void add_file(struct found *f, const char *path, const char *name, bool others)
{
	FILE *in = fopen(path, "re");
	char *line = NULL, *rest, *summary;
	size_t size = 0;

	if (in && getline(&line, &size, in) > 0 && is_head(line, name)) {
		summary = line + strlen(name) + 5;
		if (!others)
			add(f, name, text_of("%.*s", (int)strcspn(summary, "\n"), summary));
		while (others && getline(&line, &size, in) > 0) {
			rest = line;
			if (strcmp(take_word(&rest), "also") == 0) {
				char *other = take_word(&rest);

				add(f, other,
				    text_of("as %s: %.*s", name, (int)strcspn(rest, "\n"), rest));
			}
		}
	}
	free(line);
	if (in)
		fclose(in);
}

/* All profiles; files of their own name come before other names of files. */
static struct found find_all(void)
{
	struct found f = {0};
	struct dirent *e;
	char *dir, *path;
	DIR *d;

	for (int others = 0; others < 2; others++) {
		for (int n = 0; (dir = profile_dir(&n)); free(dir)) {
			d = opendir(dir);
			while (d && (e = readdir(d))) {
				if (!is_name(e->d_name))
					continue;
				path = text_of("%s/%s", dir, e->d_name);
				add_file(&f, path, e->d_name, others);
				free(path);
			}
			if (d)
				closedir(d);
		}
	}
	return f;
}

static void forget(struct found *f)
{
	for (int i = 0; i < f->n; i++) {
		free(f->v[i].name);
		free(f->v[i].summary);
	}
	free(f->v);
}

bool profile_exists(const char *name)
{
	struct found f = find_all();
	bool yes = has(&f, name);

	forget(&f);
	return yes;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

void profile_list(FILE *out, bool names_only, const regex_t *only)
{
	struct found f = find_all();

	qsort(f.v, (size_t)f.n, sizeof(*f.v), by_name);
	for (int i = 0; i < f.n; i++) {
		if (only && regexec(only, f.v[i].name, 0, NULL, 0) != 0)
			continue;
		if (names_only)
			fprintf(out, "%s\n", f.v[i].name);
		else
			fprintf(out, "%-22s %s\n", f.v[i].name, f.v[i].summary);
	}
	if (f.n == 0)
		fatal("no profiles are installed");
	forget(&f);
}

/* ---- reading one ---- */

/* The file of a profile, and its name, which the caller frees; NULL: there is none. */
static FILE *open_profile(const char *name, char **file)
{
	struct found f = {0};
	FILE *in = NULL;
	char *dir, *path;

	for (int n = 0; !in && is_name(name) && (dir = profile_dir(&n)); free(dir)) {
		path = text_of("%s/%s", dir, name);
		in = fopen(path, "re");
		free(path);
	}
	if (in) {
		*file = text_of("%s", name);
		return in;
	}
	f = find_all();
	for (int i = 0; i < f.n; i++)
		if (strcmp(f.v[i].name, name) == 0) { /* "as FILE: probes" */
			char *s = f.v[i].summary + 3;

			*file = text_of("%.*s", (int)strcspn(s, ":"), s);
			in = open_profile(*file, &path);
			free(path);
		}
	forget(&f);
	return in;
}

static void append(char **text, const char *line)
{
	char *old = *text;

	*text =
	    text_of("%s%s%s", old, *old && !strchr("\n", old[strlen(old) - 1]) ? "\n" : "", line);
	free(old);
}

/* Where the lines of a section go; NULL: it is one of single lines. */
static char **section(struct profile *p, const char *word)
{
	const struct {
		const char *word;
		char **text;
	} sections[] = {{"probe", &p->probe},
			{"before", &p->before},
			{"test", &p->test},
			{"details", &p->details},
			{"after", &p->after}};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcmp(word, sections[i].word) == 0)
			return sections[i].text;
	return NULL;
}

/* A line that is not indented; where lines that continue it go. */
static char **take_line(struct profile *p, char *line, const char *name, int number, char **other)
{
	char *rest = line, *word = take_word(&rest), **text = section(p, word);

	rest[strcspn(rest, "\n")] = '\0';
	if (text) {
		if (*rest)
			append(text, rest);
		return text;
	}
	if (strcmp(word, "setting") == 0) {
		list_add(&p->settings, rest);
	} else if (strcmp(word, "option") == 0) {
		list_add(&p->options, rest);
	} else if (strcmp(word, "also") == 0) {
		if (strcmp(take_word(&rest), p->name) == 0)
			*other = text_of("%s", rest);
	} else {
		fatal("profile %s, line %d: unknown word '%s'", name, number, word);
	}
	return NULL;
}

static void check(const char *name, const char *part, const char *text, bool expression)
{
	const char *why = not_closed(text, expression);

	if (why)
		fatal("profile %s: %s: %s", name, part, why);
}

void profile_read(struct profile *p, const char *name)
{
	char *line = NULL, *file = NULL, *other = NULL, **text = NULL;
	FILE *in = open_profile(name, &file);
	size_t size = 0;

	if (!in)
		fatal("there is no profile '%s'; dwatch -Q lists them", name);
	*p = (struct profile){text_of("%s", name), strdup(""), strdup(""), strdup(""),
			      strdup(""),	   strdup(""), {0},	   {0}};
	for (int number = 1; getline(&line, &size, in) > 0; number++) {
		if (number == 1 && !is_head(line, file))
			fatal("profile %s: its first line is not \"# %s - what it shows\"", name,
			      file);
		if (*line == '#' || line[strspn(line, " \t\n")] == '\0')
			continue;
		if (*line != ' ' && *line != '\t')
			text = take_line(p, line, name, number, &other);
		else if (text)
			append(text, line);
		else
			fatal("profile %s, line %d: it continues nothing", name, number);
	}
	if (ferror(in))
		fatal("profile %s: %s", name, strerror(errno));
	fclose(in);
	free(line);
	if (other) {
		free(p->probe);
		p->probe = other;
	}
	check(name, "before", p->before, false);
	check(name, "after", p->after, false);
	check(name, "details", p->details, false);
	check(name, "test", p->test, true);
	free(file);
}
