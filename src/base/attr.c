/*
 * attr: stability attributes (how far a name, its meaning and its dependence on a platform can be
 * relied on) and interface versions, in text and as numbers.
 */
#include <strings.h>

#include "base/options.h"

const char *const dt_stab_names[8] = {"Internal", "Private",  "Obsolete", "External",
				      "Unstable", "Evolving", "Stable",	  "Standard"};
const char *const dt_class_names[6] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

static uint8_t lower(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

dt_attr dt_attr_min(dt_attr a, dt_attr b)
{
	return (dt_attr){lower(a.name, b.name), lower(a.data, b.data), lower(a.class_, b.class_)};
}

bool dt_attr_below(dt_attr a, dt_attr min)
{
	return a.name < min.name || a.data < min.data || a.class_ < min.class_;
}

/* The index of the word s[0..n) in names, case ignored; -1 if it is not there. */
static int word_index(const char *s, size_t n, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == n && strncasecmp(s, names[i], n) == 0)
			return (int)i;
	return -1;
}

int dt_attr_parse(const char *s, dt_attr *out)
{
	size_t n1 = strcspn(s, "/"), n2;
	int name, data, class_;

	if (s[n1] != '/')
		return -1;
	n2 = strcspn(s + n1 + 1, "/");
	if (s[n1 + 1 + n2] != '/')
		return -1;
	name = word_index(s, n1, dt_stab_names, DT_NELEM(dt_stab_names));
	data = word_index(s + n1 + 1, n2, dt_stab_names, DT_NELEM(dt_stab_names));
	s += n1 + n2 + 2;
	class_ = word_index(s, strlen(s), dt_class_names, DT_NELEM(dt_class_names));
	if (name < 0 || data < 0 || class_ < 0)
		return -1;
	*out = (dt_attr){(uint8_t)name, (uint8_t)data, (uint8_t)class_};
	return 0;
}

void dt_attr_format(dt_attr a, dt_buf *out)
{
	dt_buf_printf(out, "%s/%s/%s", dt_stab_names[a.name & 7], dt_stab_names[a.data & 7],
		      dt_class_names[a.class_ < 6 ? a.class_ : 0]);
}

int dt_version_parse(const char *s, uint64_t *out)
{
	static const unsigned limits[3] = {255, 4095, 4095}; /* the fields of DT_VERSION */
	unsigned part[3] = {0, 0, 0};
	int n = 0;

	for (;;) {
		if (*s < '0' || *s > '9')
			return -1;
		for (; *s >= '0' && *s <= '9'; s++) {
			part[n] = part[n] * 10 + (unsigned)(*s - '0');
			if (part[n] > limits[n])
				return -1;
		}
		n++;
		if (*s == '\0')
			break;
		if (*s++ != '.' || n == 3)
			return -1;
	}
	if (n < 2)
		return -1;
	*out = DT_VERSION(part[0], part[1], part[2]);
	return 0;
}
