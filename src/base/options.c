/*
 * options: implements options.def: parsing values by kind, defaults, and when an option may be set.
 *
 * Every value ends up as a number in value[] (rates in nanoseconds, choices as an index, versions
 * and stability packed) except texts and lists. The numbers fit a signed 64-bit integer, because
 * DOF and the engines keep them in one. A refused value leaves the old one in place.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/options.h"

#define NS_PER_SEC 1000000000ull

/* "|auto|vm|bpf" for each choice. */
#define DT_CHOICES(id, tag)	   static const char choices_##id[] =
#define DT_CHOICE(id, value, text) "|" text
#define DT_CHOICES_END(id)	   ;
#include "base/options.def"
#undef DT_CHOICES
#undef DT_CHOICE
#undef DT_CHOICES_END

#define CHOICES_CHOICE(id)  (choices_##id + 1)
#define CHOICES_BOOL(id)    NULL
#define CHOICES_INT(id)	    NULL
#define CHOICES_SIZE(id)    NULL
#define CHOICES_RATE(id)    NULL
#define CHOICES_PERCENT(id) NULL
#define CHOICES_STRING(id)  NULL
#define CHOICES_LIST(id)    NULL
#define CHOICES_ATTR(id)    NULL
#define CHOICES_VERSION(id) NULL

const struct dt_opt_desc dt_opt_table[DT_O_MAX] = {
#define DT_OPTION(id, name, number, ctx, kind, deflt, help)                                        \
	[DT_O_##id] = {name, number, DT_OPT_##ctx, DT_OPT_##kind, deflt, CHOICES_##kind(id), help},
#include "base/options.def"
#undef DT_OPTION
};

#define PPM_PER_PERCENT 10000

/* Values outside [min, max] are refused, or moved to the nearest end when tracing starts (clamp). */
static const struct limit {
	enum dt_opt_id id;
	uint64_t min, max;
	bool clamp;
} limits[] = {
    {DT_O_CLEANRATE, 200000, 60 * NS_PER_SEC, true}, /* 200 us to 60 s */
    {DT_O_STATUSRATE, 0, 10 * NS_PER_SEC, true},
    {DT_O_BUFSIZE, 0, INT64_MAX, false}, /* too small for a record: found when tracing is enabled */
    {DT_O_STRSIZE, 1, 64 << 10, false},  /* a firing has a dozen strings */
    {DT_O_IREGS, 1, 8, false},		 /* what the machine has */
    {DT_O_TREGS, 1, 8, false},
    {DT_O_JSTACKSTRSIZE, 0, INT32_MAX, false},
    {DT_O_STACKFRAMES, 0, INT32_MAX, false},
    {DT_O_USTACKFRAMES, 0, INT32_MAX, false},
    {DT_O_JSTACKFRAMES, 0, INT32_MAX, false},
    {DT_O_MAXFRAMES, 1, INT32_MAX, false},
    {DT_O_LOOPMAX, 1, DT_LOOPMAX_MAX, false},
    {DT_O_NSPEC, 0, DT_NSPEC_MAX, false},
    {DT_O_PCAPSIZE, 1, 65535, false},	   /* what a pcap file can say */
    {DT_O_SCRATCHSIZE, 1, 1 << 20, false}, /* each firing that is under way has that much */
    {DT_O_CPU, 0, INT32_MAX, false},
    {DT_O_LOGSIZE, 4096, INT64_MAX, false},
    {DT_O_LOGFILES, 1, 10000, false},
};

/*
 * Compile-time options that have already been used when a #pragma is read: the preprocessor has
 * run, libraries are loaded, the tree is being printed. The others apply from the pragma on.
 */
static const enum dt_opt_id not_in_pragma[] = {
    DT_O_CPP,	    DT_O_CPPHDRS,  DT_O_CPPPATH, DT_O_DEFINE, DT_O_UNDEF,
    DT_O_INCDIR,    DT_O_CTYPES,   DT_O_DTYPES,	 DT_O_DEBUG,  DT_O_LIBDIR,
    DT_O_SYSLIBDIR, DT_O_NOLIBS,   DT_O_STDC,	 DT_O_LDPATH, DT_O_OBJCOPYPATH,
    DT_O_LINKMODE,  DT_O_LINKTYPE, DT_O_TREE,	 DT_O_SETENV, DT_O_UNSETENV,
    DT_O_CGROUP,    DT_O_CONTAINER,
};

/* ---- values ---- */

static const struct {
	const char *word;
	bool value;
} bool_words[] = {
    {"yes", true},	 {"no", false},	   {"enable", true}, {"enabled", true}, {"disable", false},
    {"disabled", false}, {"true", true},   {"false", false}, {"on", true},	{"off", false},
    {"set", true},	 {"unset", false}, {"1", true},	     {"0", false},
};

static const struct {
	const char *suffix;
	uint64_t ns;
} rate_units[] = {
    {"", 1},
    {"ns", 1},
    {"nsec", 1},
    {"us", 1000},
    {"usec", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"s", NS_PER_SEC},
    {"sec", NS_PER_SEC},
    {"m", 60 * NS_PER_SEC},
    {"min", 60 * NS_PER_SEC},
    {"h", 3600 * NS_PER_SEC},
    {"hour", 3600 * NS_PER_SEC},
    {"d", 86400 * NS_PER_SEC},
    {"day", 86400 * NS_PER_SEC},
};

/* Digits (decimal, 0 octal, 0x hex) at s; *end is after them. False when there are none or too many.
 */
static bool parse_digits(const char *s, uint64_t *v, char **end)
{
	if (*s < '0' || *s > '9')
		return false; /* no blanks, no sign */
	errno = 0;
	*v = strtoull(s, end, 0);
	return errno == 0 && *v <= INT64_MAX;
}

static bool parse_bool(const char *s, uint64_t *v)
{
	for (size_t i = 0; i < DT_NELEM(bool_words); i++) {
		if (strcasecmp(s, bool_words[i].word) == 0) {
			*v = bool_words[i].value;
			return true;
		}
	}
	return false;
}

static bool parse_int(const char *s, uint64_t *v)
{
	char *end;

	return parse_digits(s, v, &end) && *end == '\0';
}

static bool parse_size(const char *s, uint64_t *v)
{
	static const char units[] = "kmgt";
	const char *unit;
	char *end;
	unsigned shift;

	if (!parse_digits(s, v, &end))
		return false;
	if (*end == '\0')
		return true;
	unit = strchr(units, *end | 0x20);
	if (unit == NULL || *unit == '\0' || end[1] != '\0')
		return false;
	shift = 10 * (unsigned)(unit - units + 1);
	if (*v > (uint64_t)INT64_MAX >> shift)
		return false;
	*v <<= shift;
	return true;
}

static bool parse_rate(const char *s, uint64_t *v)
{
	char *end;

	if (!parse_digits(s, v, &end))
		return false;
	if (strcasecmp(end, "hz") == 0) {
		if (*v == 0 || *v > NS_PER_SEC)
			return false;
		*v = NS_PER_SEC / *v;
		return true;
	}
	for (size_t i = 0; i < DT_NELEM(rate_units); i++) {
		if (strcasecmp(end, rate_units[i].suffix) == 0) {
			if (*v > INT64_MAX / rate_units[i].ns)
				return false;
			*v *= rate_units[i].ns;
			return true;
		}
	}
	return false;
}

/* With up to four decimal places. */
static bool parse_percent(const char *s, uint64_t *v)
{
	uint64_t unit = PPM_PER_PERCENT;
	char *end;

	if (!parse_digits(s, v, &end) || *v > 100)
		return false;
	*v *= unit;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9' && unit > 1; end++)
			*v += (uint64_t)(*end - '0') * (unit /= 10);
	}
	return strcmp(end, "%") == 0 && *v > 0 && *v <= 100 * PPM_PER_PERCENT;
}

static bool parse_choice(const char *s, const char *choices, uint64_t *v)
{
	size_t n = strlen(s);

	for (*v = 0; *choices != '\0'; (*v)++) {
		size_t len = strcspn(choices, "|");

		if (len == n && strncmp(s, choices, n) == 0)
			return true;
		choices += len;
		if (*choices == '|')
			choices++;
	}
	return false;
}

static bool parse_attr(const char *s, uint64_t *v)
{
	dt_attr a;

	if (dt_attr_parse(s, &a) != 0)
		return false;
	*v = (uint64_t)a.name << 16 | (uint64_t)a.data << 8 | a.class_;
	return true;
}

static bool parse_value(const struct dt_opt_desc *d, const char *s, uint64_t *v)
{
	*v = 0;
	switch (d->kind) {
	case DT_OPT_BOOL: return parse_bool(s, v);
	case DT_OPT_INT: return parse_int(s, v);
	case DT_OPT_SIZE: return parse_size(s, v);
	case DT_OPT_PERCENT: return parse_percent(s, v);
	case DT_OPT_RATE: return parse_rate(s, v);
	case DT_OPT_CHOICE: return parse_choice(s, d->choices, v);
	case DT_OPT_ATTR: return parse_attr(s, v);
	case DT_OPT_VERSION: return dt_version_parse(s, v) == 0;
	case DT_OPT_STRING:
	case DT_OPT_LIST: *v = 1; return *s != '\0';
	}
	return false;
}

static bool in_range(int id, uint64_t v)
{
	for (size_t i = 0; i < DT_NELEM(limits); i++) {
		const struct limit *l = &limits[i];

		if ((int)l->id == id && !l->clamp && (v < l->min || v > l->max))
			return false;
	}
	return true;
}

/* What a value should look like, for the message. */
static const char *expected(const struct dt_opt_desc *d)
{
	switch (d->kind) {
	case DT_OPT_BOOL: return "yes or no";
	case DT_OPT_INT: return "a number";
	case DT_OPT_SIZE: return "a size such as 256, 32k or 4m";
	case DT_OPT_PERCENT: return "a percentage such as 2% or 0.5%";
	case DT_OPT_RATE: return "a rate such as 10hz, 100ms or 1s";
	case DT_OPT_CHOICE: return d->choices;
	case DT_OPT_ATTR: return "a stability such as Evolving/Evolving/Common";
	case DT_OPT_VERSION: return "a version such as 1.2";
	default: return "a text";
	}
}

/* ---- the set ---- */

static void store(dt_options *o, int id, const char *s, uint64_t v)
{
	if (dt_opt_table[id].kind == DT_OPT_LIST) {
		*dt_vec_add(&o->list[id], NULL) = dt_xstrdup(s);
	} else if (dt_opt_table[id].kind == DT_OPT_STRING) {
		free(o->text[id]);
		o->text[id] = dt_xstrdup(s);
	}
	o->value[id] = v;
}

void dt_options_init(dt_options *o)
{
	uint64_t v;

	memset(o, 0, sizeof(*o));
	for (int i = 0; i < DT_O_MAX; i++)
		if (dt_opt_table[i].deflt != NULL &&
		    parse_value(&dt_opt_table[i], dt_opt_table[i].deflt, &v))
			store(o, i, dt_opt_table[i].deflt, v);
}

void dt_options_free(dt_options *o)
{
	for (int i = 0; i < DT_O_MAX; i++) {
		free(o->text[i]);
		o->text[i] = NULL;
		for (uint32_t j = 0; j < o->list[i].n; j++)
			free(o->list[i].v[j]);
		dt_vec_free(&o->list[i]);
	}
}

const char *dt_option_choice(enum dt_opt_id id, uint64_t value, size_t *len)
{
	const char *s = dt_opt_table[id].choices;

	for (; s && value > 0; value--) {
		s = strchr(s, '|');
		s = s ? s + 1 : NULL;
	}
	*len = s ? strcspn(s, "|") : 0;
	return s ? s : "";
}

int dt_options_find(const char *name)
{
	for (int i = 0; i < DT_O_MAX; i++)
		if (strcmp(dt_opt_table[i].name, name) == 0)
			return i;
	return -1;
}

static int unknown_name(const char *name, dt_error *err)
{
	const char *names[DT_O_MAX], *near;

	for (int i = 0; i < DT_O_MAX; i++)
		names[i] = dt_opt_table[i].name;
	near = dt_nearest(name, names, DT_O_MAX);
	if (near == NULL)
		return dt_err(err, EDT_BADOPTNAME, "there is no option \"%s\"", name);
	return dt_err(err, EDT_BADOPTNAME, "there is no option \"%s\"; did you mean \"%s\"?", name,
		      near);
}

/* Options of other DTraces that are accepted and have no effect. */
static bool is_ignored(const char *name)
{
	static const char *const names[] = {
#define DT_IGNORED(name) name,
#include "base/options.def"
#undef DT_IGNORED
	};

	for (size_t i = 0; i < DT_NELEM(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool allowed_in_pragma(int id)
{
	for (size_t i = 0; i < DT_NELEM(not_in_pragma); i++)
		if ((int)not_in_pragma[i] == id)
			return false;
	return true;
}

int dt_options_set(dt_options *o, const char *name, const char *value, enum dt_opt_when when,
		   dt_error *err)
{
	int id = dt_options_find(name);
	const struct dt_opt_desc *d;
	uint64_t v = 1;

	if (id < 0)
		return is_ignored(name) ? 0 : unknown_name(name, err);
	d = &dt_opt_table[id];
	if (when == DT_WHEN_TRACING && d->ctx != DT_OPT_DYNAMIC)
		return dt_err(err, EDT_ACTIVE, NULL);
	if (when == DT_WHEN_PRAGMA && !allowed_in_pragma(id))
		return dt_err(err, EDT_BADOPTCTX,
			      "option \"%s\" acts before the program is read: use -x", name);
	if (value == NULL && d->kind != DT_OPT_BOOL)
		return dt_err(err, EDT_BADOPTVAL, "option \"%s\" needs a value: %s", name,
			      expected(d));
	if (value != NULL && !parse_value(d, value, &v))
		return dt_err(err, d->kind == DT_OPT_VERSION ? EDT_VERSINVAL : EDT_BADOPTVAL,
			      "invalid value \"%s\" for option \"%s\": expected %s", value, name,
			      expected(d));
	if (id == DT_O_SETENV && (value[0] == '=' || !strchr(value, '=')))
		return dt_err(err, EDT_BADOPTVAL,
			      "invalid value \"%s\" for option \"%s\": expected NAME=value", value,
			      name);
	if (!in_range(id, v))
		return dt_err(err, EDT_BADOPTVAL, "\"%s\" is out of range for option \"%s\"", value,
			      name);
	if (d->kind == DT_OPT_VERSION && v > DT_VERSION_CURRENT)
		return dt_err(err, EDT_VERSUNDEF, "version %s is newer than %s, the latest", value,
			      DT_VERSION_TEXT);
	if (d->kind == DT_OPT_VERSION && o->is_set[id] && v > o->value[id])
		return dt_err(err, EDT_VERSREDUCED,
			      "a version lower than %s was requested before and cannot be raised again",
			      value);
	store(o, id, value, v);
	o->is_set[id] = true;
	if (id == DT_O_OFORMAT && v != DT_OFORMAT_TEXT)
		o->value[DT_O_QUIET] = true; /* notices are not part of such output */
	return 0;
}

/* ---- when tracing starts ---- */

/* Per-CPU sizes count once for each CPU. */
static const struct {
	enum dt_opt_id id;
	bool per_cpu;
} buffers[] = {
    {DT_O_BUFSIZE, true},
    {DT_O_AGGSIZE, true},
    {DT_O_SPECSIZE, false},
    {DT_O_DYNVARSIZE, false},
};

bool dt_options_lower(dt_options *o, enum dt_opt_id id)
{
	if (dt_opt(o, DT_O_BUFRESIZE) == DT_BUFRESIZE_MANUAL || o->value[id] < 2 * 4096)
		return false;
	o->value[id] /= 2;
	return true;
}

int dt_options_settle(dt_options *o, dt_error *err)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t most = dt_memory_for_buffers();

	if (o->is_set[DT_O_CPU] && cpus > 0 && dt_opt(o, DT_O_CPU) >= (uint64_t)cpus)
		return dt_err(err, EDT_BADOPTVAL,
			      "-x cpu=%" PRIu64 ": this machine has CPUs 0 to %ld",
			      dt_opt(o, DT_O_CPU), cpus - 1);

	for (size_t i = 0; i < DT_NELEM(limits); i++) {
		const struct limit *l = &limits[i];

		if (l->clamp && o->value[l->id] < l->min)
			o->value[l->id] = l->min;
		else if (l->clamp && o->value[l->id] > l->max)
			o->value[l->id] = l->max;
	}
	for (size_t i = 0; i < DT_NELEM(buffers); i++) {
		enum dt_opt_id id = buffers[i].id;
		uint64_t share = buffers[i].per_cpu && online > 0 ? most / (uint64_t)online : most;

		while (o->value[id] > share)
			if (!dt_options_lower(o, id))
				return dt_err(err, ENOMEM,
					      "%s does not fit in this machine's memory",
					      dt_opt_table[id].name);
	}
	return 0;
}
