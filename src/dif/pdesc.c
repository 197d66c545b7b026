/*
 * pdesc: the text of a probe description -> its fields.
 *
 *   [[[provider:]module:]function:]name     the last one may be another field (-P, -m, -f)
 *   1234                                    a probe id
 *   machine:provider:module:function:name   with option machines; the others may be empty, but must be there
 *
 * This is the only parser, for programs and for listing, and the only table of field lengths, which
 * DOF files must also respect.
 */
#include <ctype.h>
#include <stdlib.h>

#include "dif/dif.h"

const struct dt_pdesc_field dt_pdesc_fields[DT_PDESC_NFIELDS] = {
    [DT_PDESC_PROV] = {"provider", 63},
    [DT_PDESC_MOD] = {"module", 63},
    [DT_PDESC_FUNC] = {"function", 191},
    [DT_PDESC_NAME] = {"name", 63},
};

#define MACHINE_MAX 127 /* characters of a pattern of machines */

static int bad(dt_error *err, const char *why)
{
	return dt_err(err, EDT_BADSPEC, "%s", why);
}

int dt_pdesc_check(const dt_probedesc *d, dt_error *err)
{
	const char *value[] = {d->prov, d->mod, d->func, d->name};

	for (int i = 0; i < DT_PDESC_NFIELDS; i++) {
		const struct dt_pdesc_field *f = &dt_pdesc_fields[i];

		if (strlen(value[i]) <= f->max)
			continue;
		dt_err(err, EDT_BADSPEC, "the %s is longer than %zu characters", f->name, f->max);
		err->tag = D_PDESC_INVAL;
		return -1;
	}
	return 0;
}

/* One field: blanks around it removed, macros replaced. NULL and *err. */
static const char *read_field(const struct dt_pdesc_input *in, const char *s, size_t len,
			      dt_error *err)
{
	const char *value;

	while (len > 0 && isspace((unsigned char)*s))
		s++, len--;
	while (len > 0 && isspace((unsigned char)s[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)s[i]) && (unsigned char)s[i] < 0x80)
			return bad(err, "it contains blanks or control characters"), NULL;
	value = dt_arena_strndup(in->arena, s, len);
	return in->expand ? in->expand(in->arg, value) : value;
}

static bool is_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && !text[digits];
}

static int read_id(const char *text, uint32_t *id, dt_error *err)
{
	unsigned long long v = strtoull(text, NULL, 10);

	if (strlen(text) > 10 || v == 0 || v > UINT32_MAX)
		return bad(err, "this is not a probe id");
	*id = (uint32_t)v;
	return 0;
}

int dt_pdesc_parse(const struct dt_pdesc_input *in, dt_probedesc *out, dt_error *err)
{
	const char *start[DT_PDESC_NFIELDS + 1], *value[DT_PDESC_NFIELDS] = {"", "", "", ""};
	int n = 0, first = 0; /* 1: the first is that of machines */

	*out = (dt_probedesc){.prov = "", .mod = "", .func = "", .name = ""};
	if (in->last == DT_PDESC_NAME && is_number(in->text))
		return read_id(in->text, &out->id, err);
	for (const char *s = in->text;; s = strchr(s, ':') + 1) {
		if (n > in->last + in->machines)
			return bad(err, n == DT_PDESC_NFIELDS && !in->machines && !strchr(s, ':') ?
				   "Overspecified probe description (five parts, the first one machines: use -E)" : "Overspecified probe description");
		start[n++] = s;
		if (!strchr(s, ':'))
			break;
	}
	if (n > in->last + 1) {
		first = 1;
		out->machine = read_field(in, start[0], strcspn(start[0], ":"), err);
		if (!out->machine)
			return -1;
		if (!*out->machine || strlen(out->machine) > MACHINE_MAX)
			return bad(err, "the name of the machines is empty or too long");
	}
	for (int i = first; i < n; i++) {
		int field = in->last - n + 1 + i;

		value[field] = read_field(in, start[i], strcspn(start[i], ":"), err);
		if (!value[field])
			return -1;
	}
	out->prov = value[DT_PDESC_PROV];
	out->mod = value[DT_PDESC_MOD];
	out->func = value[DT_PDESC_FUNC];
	out->name = value[DT_PDESC_NAME];
	return dt_pdesc_check(out, err);
}
