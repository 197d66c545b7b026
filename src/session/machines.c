/*
 * machines: this machine's name, and with option machines (-E) the others.
 *
 * vmname and hostid are constants of a machine, so they are inlines, compiled when a program uses one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "session/session.h"

#define DEFAULT_TARGETS "/run/dtrace/targets"
#define LOCAL_SOCKET	"/run/dtrace/dtraced.sock" /* not a target: this machine is one already */

/* Letters, digits and -._ only: it becomes D text, and is printed. */
static void clean_name(char *s)
{
	for (; *s; s++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._", *s))
			*s = '_';
}

void dt_machines_init(dtrace_hdl_t *h, const char *name)
{
	struct utsname u = {0};

	uname(&u);
	snprintf(h->here_os, sizeof(h->here_os), "%s-%s", u.sysname, u.release);
	snprintf(h->here_name, sizeof(h->here_name), "%s", name ? name : "host");
	clean_name(h->here_name);
	h->here = (struct dt_here){.is_agent = name != NULL, .name = h->here_name, .os = h->here_os};
	dt_compiler_set_here(h->cc, &h->here);
}

/* Of the machine; agents with other names on the same machine differ. */
uint64_t dt_machines_hostid(const char *name)
{
	size_t n = 0;
	char *id = dt_slurp(AT_FDCWD, "/etc/machine-id", &n);
	uint64_t hash = id ? dt_hash_bytes(id, n) : 0;

	free(id);
	return hash ^ dt_hash_bytes(name, strlen(name));
}

int dt_machines_define(dtrace_hdl_t *h, const char *name, dt_error *err)
{
	struct dt_source src = {.name = "vmname", .is_library = true};
	char *text;
	dt_program *p;

	if (strcmp(name, "vmname") != 0 && strcmp(name, "hostid") != 0)
		return 0;
	text = dt_xasprintf("inline string vmname = \"%s\";\ninline uint64_t hostid = %lluULL;\n", h->here.name,
			    (unsigned long long)dt_machines_hostid(h->here.name));
	src.text = text;
	src.len = strlen(text);
	p = dt_compile(h->cc, &src, err);
	free(text);
	return p ? 1 : -1;
}

/* ---- the others ---- */

static int tell(void *arg, const dt_diag *d)
{
	return dt_session_tell(arg, d);
}

void dt_machines_open(dtrace_hdl_t *h, bool local)
{
	const char *paths = h->opts.text[DT_O_TARGETS];
	struct dt_fleet_env env = {.opts = &h->opts, .os = h->here.os, .arg = h, .tell = tell};

	if (!paths)
		paths = getenv("DTRACE_TARGETS");
	if (h->fleet && local && !paths)
		dt_fleet_also(h->fleet, LOCAL_SOCKET);
	if (h->fleet)
		return;
	env.paths = paths ? paths : local ? DEFAULT_TARGETS ":" LOCAL_SOCKET : DEFAULT_TARGETS;
	h->fleet = dt_fleet_new(&env);
}

int dt_machines_program(dtrace_hdl_t *h, const dt_program *p, const struct dt_source *src)
{
	struct dt_wire_program *w;
	const char *name;
	uint32_t it = 0, kept = 0;

	if (!dt_opt(&h->opts, DT_O_MACHINES) || (h->here.is_agent && !h->fleet))
		return 0;
	dt_machines_open(h, false);
	if (dt_fleet_check(p, &h->err) < 0)
		return -1;
	while (dt_compiler_kept(h->cc, &it, &name))
		kept++;
	if (h->macros.argc > DT_WIRE_ARGS_MAX || kept > DT_WIRE_KEPT_MAX || src->len > DT_FRAME_MAX / 2)
		return dt_err(&h->err, E2BIG, "the program is too large for other machines");
	it = 0;
	w = dt_xcalloc(1, sizeof(*w));
	w->number = dt_fleet_count(h->fleet);
	w->is_cmdline = src->is_cmdline;
	w->spec = src->spec;
	w->name = src->name;
	w->text = src->text;
	w->len = src->len;
	w->argc = (uint32_t)h->macros.argc;
	for (uint32_t i = 0; i < w->argc; i++)
		w->argv[i] = h->macros.argv[i];
	while (dt_compiler_kept(h->cc, &it, &name))
		w->kept[w->nkept++] = name;
	dt_fleet_keep_text(h->fleet, p, w);
	free(w);
	return 0;
}

int dt_machines_enable(dtrace_hdl_t *h, const dt_program *p, uint32_t *matches)
{
	dt_buf b = {0};

	if (!h->fleet)
		return 0;
	memset(&h->err, 0, sizeof(h->err));
	if (dt_fleet_enable(h->fleet, p, matches, &h->err) < 0)
		return dt_session_fail(h);
	for (uint32_t i = 0; i < p->nclauses && !dt_opt(&h->opts, DT_O_ZDEFS) && !h->here.is_agent; i++) {
		if (matches[i] || !p->clauses[i].desc.machine)
			continue;
		dt_probedesc_print(&p->clauses[i].desc, &b);
		dt_session_err(h, EDT_NOPROBE, "probe description %s does not match any probes on any machine", b.s);
		dt_buf_free(&b);
		return -1;
	}
	return 0;
}

/* ---- the API ---- */

static int report_here(dtrace_hdl_t *h, dtrace_machine_f *f, void *arg)
{
	struct dtrace_machine m = {.size = sizeof(m),
				   .name = h->here.name,
				   .os = h->here.os,
				   .version = DT_VERSION_TEXT,
				   .ncpus = (unsigned)get_nprocs(),
				   .hostid = dt_machines_hostid(h->here.name)};

	return f(h, &m, arg);
}

int dtrace_machine_iter(dtrace_hdl_t *h, dtrace_machine_f *f, void *arg)
{
	struct dt_wire_machine m;
	int rc = report_here(h, f, arg);

	dt_machines_open(h, false);
	for (uint32_t i = 0; rc == 0 && dt_fleet_nth(h->fleet, i, &m); i++) {
		struct dtrace_machine out = {.size = sizeof(out),
					     .name = m.name,
					     .os = m.os,
					     .version = m.release,
					     .ncpus = m.ncpus,
					     .hostid = m.hostid,
					     .uncertainty = m.uncertainty};

		rc = f(h, &out, arg);
	}
	return rc;
}

struct listing {
	dtrace_hdl_t *h;
	dtrace_machine_probe_f *f;
	const char *machine;
	void *arg;
	int rc;
};

static int list_near(dtrace_hdl_t *h, const struct dtrace_probeinfo *p, void *arg)
{
	const struct listing *l = arg;

	return l->f(h, l->machine, p, l->arg);
}

static int list_far(void *arg, const struct dt_wire_probe *p)
{
	const char *const said[] = {p->prov, p->mod, p->func, p->name};
	char names[DT_NELEM(said)][DT_WIRE_NAME_MAX + 1];
	struct dtrace_probeinfo info = {p->id, names[0], names[1], names[2], names[3]};
	struct listing *l = arg;

	for (size_t i = 0; i < DT_NELEM(said); i++) {
		snprintf(names[i], sizeof(names[i]), "%s", said[i]);
		dt_make_safe(names[i], strlen(names[i]), false);
	}
	if (l->rc == 0)
		l->rc = l->f(l->h, l->machine, &info, l->arg);
	return l->rc;
}

static bool is_meant(const char *pattern, const char *name, const char *os)
{
	return !pattern || dt_glob_match(pattern, name) || dt_glob_match(pattern, os);
}

/* The part of the description that names machines, and the rest; without five parts: this machine. */
static const char *split(const char *text, char **machine)
{
	const char *p = text;
	int colons = 0;

	*machine = NULL;
	for (; *p; p++)
		colons += *p == ':';
	if (colons < 4) {
		*machine = *text ? dt_xstrdup("host") : NULL;
		return text;
	}
	*machine = dt_xasprintf("%.*s", (int)strcspn(text, ":"), text);
	return strchr(text, ':') + 1;
}

int dtrace_machine_probes(dtrace_hdl_t *h, const char *text, enum dtrace_spec spec, dtrace_machine_probe_f *f, void *arg)
{
	struct listing l = {.h = h, .f = f, .arg = arg};
	struct dt_wire_machine m;
	int rc = 0, found = 0;
	const char *desc;
	char *machine;

	dt_machines_open(h, false);
	desc = split(text ? text : "", &machine);
	memset(&h->err, 0, sizeof(h->err));
	if (is_meant(machine, h->here.name, h->here.os)) {
		l.machine = h->here.name;
		found += dtrace_probe_iter(h, desc, spec, list_near, &l) == 0;
	}
	for (uint32_t i = 0; dt_fleet_nth(h->fleet, i, &m) && l.rc == 0; i++) {
		dt_error why = {0};

		if (!is_meant(machine, m.name, m.os))
			continue;
		l.machine = m.name;
		if (dt_fleet_list(h->fleet, m.name, desc, spec, list_far, &l, &why) == 0)
			found++;
		else if (!h->err.code)
			h->err = why;
	}
	if (l.rc)
		rc = l.rc;
	else if (!found)
		rc = h->err.code ? dt_session_fail(h) : dt_session_err(h, EDT_NOPROBE, "no machine is called %s", machine ? machine : "so");
	free(machine);
	return rc;
}
