/* Probes: what a description matches, ids, and the message when it matches nothing. */
#include <stdlib.h>

#include "unit.h"
#include "arch/syscalls.h"
#include "probe/probe.h"
#include "proc/control.h"

static dt_probes *ps;
static dt_error err;
static dt_probe **found;

static dt_probedesc desc(const char *prov, const char *mod, const char *func, const char *name)
{
	return (dt_probedesc){.prov = prov, .mod = mod, .func = func, .name = name};
}

static int match(const char *prov, const char *mod, const char *func, const char *name)
{
	dt_probedesc d = desc(prov, mod, func, name);

	return dt_probes_match(ps, &d, false, &found, &err);
}

static void test_dtrace(void)
{
	CHECK(match("", "", "", "BEGIN") == 1);
	CHECK(found[0]->id == 1);
	CHECK_STR(found[0]->prov, "dtrace");
	CHECK_STR(found[0]->func, "");
	CHECK(match("dtrace", "", "", "") == 3);
	CHECK(found[1]->id == 2 && found[2]->id == 3);
	CHECK(match("dtr*", "", "", "E*") == 2);
	CHECK(match("dtrace", "x", "", "BEGIN") == 0);
	CHECK(match("dtrace", "", "", "BEGN") == 0);
	CHECK(err.code == 0);
	CHECK_STR(err.text, "dtrace has no probe \"BEGN\"; did you mean \"BEGIN\"?");
}

static void test_syscall(void)
{
	uint32_t id;

	CHECK(match("syscall", "vmlinux", "read", "entry") == 1);
	CHECK_STR(found[0]->mod, "vmlinux");
	CHECK_STR(found[0]->func, "read");
	id = found[0]->id;
	CHECK(match("syscall", "vmlinux", "read", "") == 2 && found[1]->id == id + 1);
	CHECK(match("syscall", "vmlinux", "read", "return") == 1);
	CHECK(match("", "vmlinux", "read", "entry") == 1);
	CHECK(match("syscall", "", "read", "entry") == 1 + dt_has_compat_syscalls());
	CHECK(match("syscall", "linux32", "ugetrlimit", "return") == dt_has_compat_syscalls());
	CHECK(!dt_has_compat_syscalls() || found[0]->id > id + 2000);
	CHECK(match("syscall", "linux64", "read", "entry") == 0);
	CHECK_STR(err.text, "system calls are in module vmlinux (32-bit programs: linux32), not \"linux64\"");
	CHECK(match("syscall", "", "open*", "entry") >= 3);
	CHECK(match("syscall", "vmlinux", "[!a-z]*", "entry") == (dt_syscall_by_name("_sysctl") != NULL));
	CHECK(match("syscall", "vmlinux", "rea?", "entry") == 1);
	CHECK(match("sys*", "", "", "entry") > 300);
	CHECK(match("syscall", "", "openaz", "entry") == 0);
	CHECK_STR(err.text, "no system call \"openaz\"; did you mean \"openat\"?");
	CHECK(match("syscall", "", "read", "start") == 0);
	CHECK_STR(err.text, "system calls have the probes entry and return, not \"start\"");
}

static void test_profile(void)
{
	uint32_t id;

	CHECK(match("profile", "", "", "profile-97") == 1);
	CHECK(found[0]->data == 1000000000 / 97);
	CHECK(match("", "", "", "tick-10") == 1 && found[0]->data == 100000000);
	CHECK(match("", "", "", "tick-1s") == 1 && found[0]->data == 1000000000);
	id = found[0]->id;
	CHECK(match("", "", "", "tick-1sec") == 1 && found[0]->id != id);
	CHECK(match("", "", "", "tick-1s") == 1 && found[0]->id == id);
	CHECK(match("", "", "", "profile-10ms") == 1 && found[0]->data == 10000000);
	CHECK(match("profile", "", "", "tick-5000hz") == 1 && found[0]->data == 200000);
	CHECK(match("profile", "", "", "tick-200us") == 1);
	CHECK(match("profile", "", "", "tick-1day") == 1 && found[0]->data == 86400000000000);
	CHECK(match("profile", "", "", "tick-5001hz") == 0);
	CHECK_STR(err.text, "interval \"5001hz\" is too short; the shortest is 200us (5000hz)");
	CHECK(match("profile", "", "", "tick-199us") == 0);
	CHECK(match("profile", "", "", "tick-0") == 0);
	CHECK(match("profile", "", "", "tick-1fortnight") == 0);
	CHECK(match("profile", "", "", "tick-99999999999999999999") == 0);
	CHECK(match("profile", "", "", "tick-9999999999999999999day") == 0);
	CHECK(match("profile", "", "", "tick-") == 0);
	CHECK(match("profile", "m", "", "tick-3s") == 0);
	CHECK(match("profile", "", "", "tick-1?") >= 1);
	CHECK(match("profile", "", "", "profile-*") >= 7);
	/* The same name has the same id in another session. */
	dt_probes *first = ps;
	ps = dt_probes_new();
	CHECK(match("", "", "", "tick-1s") == 1 && found[0]->id == id);
	dt_probes_free(ps);
	ps = first;
}

static void test_profile_limit(void)
{
	char name[32];
	dt_probes *first = ps;
	int n = 0;

	ps = dt_probes_new();
	for (int i = 1; i <= 1100; i++) {
		snprintf(name, sizeof(name), "tick-%dms", i);
		n += match("profile", "", "", name);
	}
	CHECK(n == 1000 - 13);
	CHECK(match("", "", "", "tick-1ms") == 1);
	dt_probes_free(ps);
	ps = first;
}

static void test_all(void)
{
	dt_probedesc d = desc("", "", "", "");
	int all, anchored;
	bool func = true;

	all = dt_probes_match(ps, &d, true, &found, &err);
	for (int i = 1; i < all; i++)
		CHECK(found[i - 1]->id < found[i]->id);
	anchored = dt_probes_match(ps, &d, false, &found, &err);
	for (int i = 0; i < anchored; i++)
		func = func && *found[i]->func;
	CHECK(all > anchored && anchored > 600 && func);
}

static void test_ids(void)
{
	dt_probes *fresh = dt_probes_new();
	dt_probedesc d = {.id = 2};
	dt_buf b = {0};

	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 1);
	CHECK_STR(found[0]->name, "END");
	d.id = 10001;
	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 1);
	CHECK_STR(found[0]->func, dt_syscalls()->v[0].name);
	CHECK_STR(found[0]->name, "return");
	CHECK(dt_probes_known(fresh, 10002) == NULL); /* nothing else was searched for */
	d.id = 4000000;
	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 0);
	CHECK_STR(err.text, "no probe has id 4000000");
	CHECK(dt_probes_by_id(fresh, 9) == NULL);
	dt_probes_free(fresh);

	d = desc("syscall", "", "read", "entry");
	dt_probedesc_print(&d, &b);
	CHECK_STR(b.s, "syscall::read:entry");
	dt_buf_reset(&b);
	d = (dt_probedesc){.id = 7};
	dt_probedesc_print(&d, &b);
	CHECK_STR(b.s, "7");
	dt_buf_free(&b);
}

/* After a second interrupt a search through a program ends, wherever it is. */
static void test_stopped(void)
{
	dt_probes *fresh = dt_probes_new();
	dt_stop stop = 0;
	dt_jail *jail = dt_jail_new(&stop, NULL);
	dt_options opts;
	dt_procs *procs;
	dt_probedesc d = desc("pid*", "/proc/self/exe", "main", "entry");

	dt_options_init(&opts);
	procs = dt_procs_new(&opts, jail, NULL, NULL);
	dt_probes_set_procs(fresh, procs);
	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 1);
	d.func = "dt_probes_n?w";
	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 1);
	stop = 1;
	d.func = "dt_probes_fr?e";
	CHECK(dt_probes_match(fresh, &d, false, &found, &err) == 0);
	dt_probes_free(fresh);
	dt_procs_free(procs);
	dt_options_free(&opts);
	dt_jail_free(jail);
}

static void test_messages(void)
{
	char long_name[80];

	CHECK(match("sycall", "", "read", "entry") == 0);
	CHECK_STR(err.text, "no process has static probes of a provider named sycall; did you mean \"syscall\"?");
	CHECK(match("nosuch", "", "vfs_read", "entry") == 0);
	CHECK_STR(err.text, "no process has static probes of a provider named nosuch; -Z waits for one that has");
	CHECK(match("pid99999999", "", "main", "entry") == 0);
	CHECK_STR(err.text, "no process 99999999");
	CHECK(match("", "", "", "no-such-probe") == 0);
	CHECK_STR(err.text, "");
	CHECK(match("z*", "", "", "") == 0);
	CHECK_STR(err.text, "");
	memset(long_name, 'a', sizeof(long_name));
	long_name[64] = '\0';
	CHECK(match("", "", "", long_name) == -1);
	CHECK(err.code == EDT_BADSPEC && err.tag);
	long_name[63] = '\0';
	CHECK(match("", "", "", long_name) == 0);
}

/* Argument types as the providers give them. */
static void test_args(void)
{
	const char *native[32] = {0}, *xlated[32] = {0};
	int mapping[32] = {0};

	CHECK(match("syscall", "vmlinux", "read", "entry") == 1);
	CHECK(found[0]->provider->args(found[0]->provider, ps, found[0], native, xlated, mapping,
				       32) == 3);
	CHECK_STR(native[0], "int");
	CHECK_STR(native[1], "userland void *");
	CHECK_STR(native[2], "size_t");
	CHECK(match("syscall", "vmlinux", "read", "return") == 1);
	CHECK(found[0]->provider->args(found[0]->provider, ps, found[0], native, xlated, mapping,
				       32) == 2);
	CHECK_STR(native[1], "int64_t");
	CHECK(match("syscall", "vmlinux", "getpid", "entry") == 1);
	CHECK(found[0]->provider->args(found[0]->provider, ps, found[0], native, xlated, mapping,
				       32) == 0);
	CHECK(match("syscall", "vmlinux", "nfsservctl", "entry") == 1);
	CHECK(found[0]->provider->args(found[0]->provider, ps, found[0], native, xlated, mapping,
				       32) == -1);
	CHECK(match("dtrace", "", "", "ERROR") == 1);
	CHECK(found[0]->provider->args(found[0]->provider, ps, found[0], native, xlated, mapping,
				       32) == 6);
}

/* An id belongs to one provider: their ranges do not overlap. */
static void test_ranges(void)
{
	for (const dt_provider *const *a = dt_provider_table; *a; a++) {
		CHECK((*a)->id_base > 0 && (*a)->id_count > 0);
		CHECK((*a)->id_count <= INT32_MAX - (*a)->id_base);
		for (const dt_provider *const *b = a + 1; *b; b++)
			CHECK((*a)->id_base + (*a)->id_count <= (*b)->id_base ||
			      (*b)->id_base + (*b)->id_count <= (*a)->id_base);
	}
}

/* Each provider has a place of its own, however many there are. */
static void test_keep(void)
{
	static dt_provider providers[40];
	void **kept[40];

	for (int i = 0; i < 40; i++) {
		kept[i] = dt_probes_keep(ps, &providers[i], free);
		CHECK(*kept[i] == NULL);
		*kept[i] = dt_xmalloc(1);
	}
	for (int i = 0; i < 40; i++)
		CHECK(dt_probes_keep(ps, &providers[i], free) == kept[i]);
	for (int i = 1; i < 40; i++)
		CHECK(*kept[i] != *kept[i - 1]);
}

int main(void)
{
	ps = dt_probes_new();
	test_dtrace();
	test_syscall();
	test_profile();
	test_profile_limit();
	test_all();
	test_ids();
	test_ranges();
	test_stopped();
	test_messages();
	test_args();
	test_keep();
	dt_probes_free(ps);
	return unit_done();
}
