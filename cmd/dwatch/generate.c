/*
 * generate: the D program.
 *
 *	#pragma D option quiet
 *	inline int64_t DWATCH_SLOW_MS = 10;		settings of the profile
 *	inline int WATCHED = uid == 1001;		-g -k -p -u
 *	clauses of the profile
 *	probes /WATCHED && tests/ { tag; details; tree }	the event
 *	clauses of the profile
 *	tick-10s { exit(0); }				-T
 *
 * Names become string constants (quote.c), users and groups numbers, so that what the program tests
 * is what the user wrote, whatever that is. The same text is run, and shown by -d.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "dwatch.h"

/* ---- which processes ---- */

static bool is_number(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0' && strlen(s) < 11;
}

/* Terms of a sum, "(a || b)": the text before the next one. */
static const char *next_term(int *n)
{
	return (*n)++ ? " || " : "(";
}

static void test_name(FILE *out, const char *name)
{
	enum { COMM = 15 }; /* characters that the kernel keeps */
	size_t n = strlen(name), from = *name == '*', to = n > 1 && name[n - 1] == '*' ? n - 1 : n;
	char *text = text_of("%.*s", (int)(to - from), name + from), *lit;

	if (!from && to == n && n > COMM)
		text[COMM] = '\0';
	lit = quote(text);
	if (!*text)
		fputs("1", out);
	else if (from && to < n)
		fprintf(out, "index(execname, %s) >= 0", lit);
	else if (from)
		fprintf(
		    out,
		    "(strlen(execname) >= %zu && substr(execname, strlen(execname) - %zu) == %s)",
		    strlen(text), strlen(text), lit);
	else if (to < n)
		fprintf(out, "index(execname, %s) == 0", lit);
	else
		fprintf(out, "execname == %s", lit);
	free(text);
	free(lit);
}

/* Numbers of users or groups: variable == number, for each that the text can be. */
static void test_ids(FILE *out, const char *text, bool users, int *n)
{
	const char *variable = users ? "uid" : "gid", *kind = users ? "user" : "group";
	const struct passwd *pw = users ? getpwnam(text) : NULL;
	const struct group *gr = users ? NULL : getgrnam(text);
	char *whole = text_of("^(%s)$", text);
	int before = *n;
	regex_t re;

	if (is_number(text)) {
		fprintf(out, "%s%s == %lu", next_term(n), variable, strtoul(text, NULL, 10));
	} else if (pw || gr) {
		fprintf(out, "%s%s == %u", next_term(n), variable, pw ? pw->pw_uid : gr->gr_gid);
	} else if (regcomp(&re, whole, REG_EXTENDED | REG_NOSUB) == 0) {
		while (users && (pw = getpwent()))
			if (regexec(&re, pw->pw_name, 0, NULL, 0) == 0)
				fprintf(out, "%suid == %u", next_term(n), pw->pw_uid);
		while (!users && (gr = getgrent()))
			if (regexec(&re, gr->gr_name, 0, NULL, 0) == 0)
				fprintf(out, "%sgid == %u", next_term(n), gr->gr_gid);
		regfree(&re);
		endpwent();
		endgrent();
	}
	free(whole);
	if (*n == before)
		fatal("no %s matches '%s'", kind, text);
}

static void test_list(FILE *out, const struct list *l, void (*test)(FILE *, const char *, int *))
{
	int n = 0;

	if (!l->n)
		return;
	fputs(" && ", out);
	for (int i = 0; i < l->n; i++)
		test(out, l->v[i], &n);
	fputs(")", out);
}

static void one_name(FILE *out, const char *s, int *n)
{
	fputs(next_term(n), out);
	test_name(out, s);
}

static void one_user(FILE *out, const char *s, int *n)
{
	test_ids(out, s, true, n);
}

static void one_group(FILE *out, const char *s, int *n)
{
	test_ids(out, s, false, n);
}

static void one_pid(FILE *out, const char *s, int *n)
{
	fprintf(out, "%spid == %s", next_term(n), s);
}

static void watched(FILE *out, const struct options *o)
{
	bool numbers = true;

	for (int i = 0; i < o->pids.n; i++)
		numbers &= is_number(o->pids.v[i]);
	fputs("inline int WATCHED = 1", out);
	if (numbers) /* others: events.c */
		test_list(out, &o->pids, one_pid);
	test_list(out, &o->users, one_user);
	test_list(out, &o->groups, one_group);
	test_list(out, &o->names, one_name);
	fputs(";\n", out);
}

/* ---- settings and options of a profile ---- */

static void settings(FILE *out, const struct profile *p)
{
	for (int i = 0; i < p->settings.n; i++) {
		char *name = text_of("%s", p->settings.v[i]), *text = strchr(name, ' '), *end;
		size_t len;
		long long n;

		if (text)
			*text++ = '\0';
		len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (!text || name[len] || strncmp(name, "DWATCH_", 7) != 0)
			fatal("profile %s: a setting is DWATCH_NAME and a number", p->name);
		if (getenv(name))
			text = getenv(name);
		errno = 0;
		n = strtoll(text, &end, 10);
		if (!*text || *end || errno || isspace((unsigned char)*text))
			fatal("%s=%s: an integer is needed", name, text);
		fprintf(out, "inline int64_t %s = %lld;\n", name, n);
		free(name);
	}
	for (int i = 0; i < p->options.n; i++) {
		if (p->options
			.v[i][strspn(p->options.v[i], "abcdefghijklmnopqrstuvwxyz0123456789=")])
			fatal("profile %s: '%s' is not an option", p->name, p->options.v[i]);
		fprintf(out, "#pragma D option %s\n", p->options.v[i]);
	}
}

/* ---- the event ---- */

/* Arguments that a system call gives to a new program: an array of user addresses that ends with 0. */
static void arguments_of_call(FILE *out, int argument, long max)
{
	fputs("\tthis->size = probemod == \"linux32\" ? 4 : 8;\n\tthis->p = 1;\n", out);
	for (long i = 0; i < max; i++) {
		fprintf(out,
			"\tthis->p = !this->p ? 0 : this->size == 4 ? *(uint32_t *)copyin(arg%d + "
			"%ld, 4) :\n"
			"\t    *(uint64_t *)copyin(arg%d + %ld, 8);\n",
			argument, i * 4, argument, i * 8);
		fprintf(out, "\tprintf(\"%%s\", this->p ? %scopyinstr(this->p)%s : \"\");\n",
			i ? "strjoin(\" \", " : "", i ? ")" : "");
	}
}

/* Those of the process itself: strings, one after the other. */
static void arguments(FILE *out, long max)
{
	fputs("\tthis->p = curthread->mm != NULL ? curthread->mm->arg_start : 0;\n"
	      "\tthis->end = curthread->mm != NULL ? curthread->mm->arg_end : 0;\n",
	      out);
	for (long i = 0; i < max; i++) {
		fputs("\tthis->s = this->p < this->end ? copyinstr(this->p) : \"\";\n", out);
		fprintf(out, "\tprintf(\"%%s\", %s);\n",
			i ? "this->p < this->end ? strjoin(\" \", this->s) : \"\"" : "this->s");
		fputs("\tthis->p += strlen(this->s) + 1;\n", out);
	}
}

static const char psargs[] = "execargs == \"\" ? execname : execargs";

/* The argument of a system call that has those of the new program; -1: this is another probe. */
static int exec_argument(const char *desc)
{
	if (strncmp(desc, "syscall:", 8) != 0)
		return -1;
	return strstr(desc, ":execve:entry") ? 1 : strstr(desc, ":execveat:entry") ? 2 : -1;
}

static void details(FILE *out, const struct options *o, const struct profile *p, const char *desc)
{
	if (o->ids)
		fputs("\tprintf(\"<%d> \", id);\n", out);
	for (int i = 0; i < o->code.n; i++)
		fprintf(out, "\t%s;\n", o->code.v[i]);
	if (o->code.n)
		return;
	if (o->arrows)
		fputs("\tprintf(\"%s %s:%s:%s:%s ...\", probename == \"entry\" ? \"->\" : "
		      "probename == \"return\" ? \"<-\" : \"|\",\n"
		      "\t    probeprov, probemod, probefunc, probename);\n",
		      out);
	else if (p && *p->details)
		fprintf(out, "\t%s\n", p->details + strspn(p->details, " \t"));
	else if (exec_argument(desc) >= 0)
		arguments_of_call(out, exec_argument(desc), o->max_args);
	else if (o->max_args != MAX_ARGS)
		arguments(out, o->max_args);
	else
		fprintf(out, "\tprintf(\"%%s\", %s);\n", psargs);
}

/* The process and its parents, the oldest first. Memory of others cannot be read here: they have only their names, and
 * events.c looks for their arguments. */
static void tree(FILE *out)
{
	fputs("\tthis->t0 = curthread->group_leader;\n", out);
	for (int i = 1; i < TREE_LEVELS; i++)
		fprintf(out, "\tthis->t%d = this->t%d->real_parent->group_leader;\n", i, i - 1);
	fputs("\tprintf(\"", out);
	for (int i = 0; i < TREE_LEVELS; i++)
		fprintf(out, " %*s%s-+= %%05d %%d.%%d %%s\\n", i, "", i ? "\\\\" : "");
	fputs("\"", out);
	for (int i = TREE_LEVELS - 1; i >= 0; i--) {
		fprintf(out, ",\n\t    taskpid(this->t%d), this->t%d->cred->euid.val, ", i, i);
		fprintf(out, "this->t%d->cred->egid.val, ", i);
		if (i)
			fprintf(out, "stringof(this->t%d->comm)", i);
		else
			fputs(psargs, out);
	}
	fputs(");\n", out);
}

/* A clause for some of the descriptions, from number `from`; returns the next one. System calls that start programs
 * have one of their own. */
static int event(FILE *out, const struct options *o, const struct profile *p,
		 const struct list *probes, int from)
{
	int exec = exec_argument(probes->v[from]), i = from;

	fputs(probes->v[i++], out);
	for (; i < probes->n && exec < 0 && exec_argument(probes->v[i]) < 0; i++)
		fprintf(out, ",\n%s", probes->v[i]);
	fputs("\n/WATCHED", out);
	if (p && *p->test)
		fprintf(out, " && (%s)", p->test);
	for (int t = 0; t < o->tests.n; t++)
		fprintf(out, " && (%s)", o->tests.v[t]);
	fputs("/\n{\n"
	      "\tprintf(\"%Y %d.%d %s[%d]: \", walltimestamp, uid, gid, execname, pid);\n",
	      out);
	if (o->psargs)
		fprintf(out, "\tprintf(\"%%s\", %s); /* for -z */\n", psargs);
	details(out, o, p, probes->v[from]);
	fputs("\tprintf(\"\\n\");\n", out);
	if (o->tree)
		tree(out);
	fputs("}\n", out);
	return i;
}

char *generate(const struct options *o, const struct profile *p, const struct list *probes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fatal("out of memory");
	fputs("#pragma D option quiet\n#pragma D option switchrate=10hz\n", out);
	if (p)
		settings(out, p);
	watched(out, o);
	if (p && *p->before)
		fprintf(out, "\n%s\n", p->before);
	for (int i = 0; i < probes->n;) {
		fputs("\n", out);
		i = event(out, o, p, probes, i);
	}
	if (p && *p->after)
		fprintf(out, "\n%s\n", p->after);
	if (o->seconds)
		fprintf(out, "\nprofile:::tick-%lds\n{\n\texit(0);\n}\n", o->seconds);
	if (fclose(out) != 0)
		fatal("out of memory");
	return text;
}
