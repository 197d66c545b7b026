/*
 * policy: who may use which probes. A line for each rule, of words KEY=VALUE; # begins a comment:
 *
 *	user=root providers=*
 *	user=1000 providers=syscall,profile
 *	user=host destructive=yes
 *
 * user is a name, a number, * (anyone), host (the other end of a guest's serial port) or nats (who comes over NATS). The first rule that fits
 * counts; without one the connection is refused.
 */
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtraced.h"

static struct rule *add_rule(struct policy *p, struct rule r)
{
	p->rules = realloc(p->rules, (size_t)(p->nrules + 1) * sizeof(*p->rules));
	if (!p->rules)
		die("out of memory");
	p->rules[p->nrules] = r;
	return &p->rules[p->nrules++];
}

static const struct {
	const char *name;
	uid_t user;
} carriers[] = {{"nats", NATS_USER}, {"vsock", VSOCK_USER}, {"host", HOST_USER}};

static bool is_carrier(uid_t user)
{
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (carriers[i].user == user)
			return true;
	return false;
}

const char *policy_user_text(uid_t user, char text[USER_TEXT])
{
	snprintf(text, USER_TEXT, "%ld", (long)user);
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (carriers[i].user == user)
			snprintf(text, USER_TEXT, "%s", carriers[i].name);
	return text;
}

static void read_user(struct rule *r, const char *value, const char *where)
{
	const struct passwd *pw;
	unsigned long n;
	char *end;

	r->anyone = strcmp(value, "*") == 0;
	if (r->anyone)
		return;
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (strcmp(value, carriers[i].name) == 0) {
			r->user = carriers[i].user;
			return;
		}
	if (*value && !value[strspn(value, "0123456789")]) {
		errno = 0;
		n = strtoul(value, &end, 10);
		if (errno || n >= UINT32_MAX || is_carrier((uid_t)n))
			die("%s: %s is not the number of a user", where, value);
		r->user = (uid_t)n;
		return;
	}
	pw = getpwnam(value);
	if (!pw)
		die("%s: there is no user %s", where, value);
	r->user = pw->pw_uid;
}

/* A part of all CPUs: a number, then %. */
static char *read_overhead(const char *value, const char *where)
{
	char *end;
	double part = strtod(value, &end);

	if (end == value || strcmp(end, "%") != 0 || !(part > 0 && part <= 100))
		die("%s: overhead=%s: it is a part of all CPUs, such as 2%%", where, value);
	return strdup(value);
}

static unsigned long long read_memory(const char *value, const char *where)
{
	static const char units[] = "kmg";
	char *end;
	unsigned long long n = strtoull(value, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == value || *value == '-' || (*end && (!unit || end[1])) || n == 0 || n >= 1ULL << 33)
		die("%s: memory=%s: it is a number of bytes, such as 64m", where, value);
	return n << (unit ? 10 * (unit - units + 1) : 0);
}

static void read_word(struct rule *r, const char *word, const char *where)
{
	const char *value = strchr(word, '=');

	if (!value)
		die("%s: \"%s\" is not of the form key=value", where, word);
	value++;
	if (strncmp(word, "user=", 5) == 0) {
		read_user(r, value, where);
	} else if (strncmp(word, "providers=", 10) == 0) {
		r->providers = strdup(value);
	} else if (strcmp(word, "destructive=yes") == 0 || strcmp(word, "destructive=no") == 0) {
		r->destructive = *value == 'y';
	} else if (strncmp(word, "sessions=", 9) == 0) {
		r->sessions = strdup(value);
	} else if (strncmp(word, "overhead=", 9) == 0) {
		r->overhead = read_overhead(value, where);
	} else if (strncmp(word, "memory=", 7) == 0) {
		r->memory = read_memory(value, where);
	} else {
		die("%s: unknown word \"%s\"; there are user, providers, overhead, memory, sessions and destructive=yes|no", where, word);
	}
}

static void read_line(struct policy *p, char *line, const char *where)
{
	struct rule r = {0};
	bool any = false;
	int users = 0;
	char *save = NULL;

	line[strcspn(line, "#\r\n")] = 0;
	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		read_word(&r, w, where);
		any = true;
		users += strncmp(w, "user=", 5) == 0;
	}
	if (any && users != 1)
		die("%s: a rule needs user=, once", where);
	if (any)
		add_rule(p, r);
}

void policy_read(struct policy *p, const char *path)
{
	char *line = NULL, where[512];
	size_t room = 0;
	ssize_t len;
	FILE *f = path ? fopen(path, "re") : NULL;
	int n = 0;

	if (!path) {
		add_rule(p, (struct rule){.user = 0});
		add_rule(p, (struct rule){.user = getuid()});
		add_rule(p, (struct rule){.user = HOST_USER});
		return;
	}
	if (!f)
		die("cannot read %s: %s", path, strerror(errno));
	while ((len = getline(&line, &room, f)) >= 0) {
		snprintf(where, sizeof(where), "%s, line %d", path, ++n);
		if (strlen(line) != (size_t)len)
			die("%s: it is not text", where);
		read_line(p, line, where);
	}
	if (ferror(f))
		die("cannot read %s: %s", path, strerror(errno));
	free(line);
	fclose(f);
}

const struct rule *policy_of(const struct policy *p, uid_t user)
{
	for (int i = 0; i < p->nrules; i++)
		if ((!p->rules[i].anyone && p->rules[i].user == user) || (p->rules[i].anyone && !is_carrier(user)))
			return &p->rules[i];
	return NULL;
}
