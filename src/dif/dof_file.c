/*
 * dof_file: opens a DOF image and returns checked pieces of it.
 *
 * This is the code that faces hostile bytes. dt_dof_open() checks the header and that every section
 * lies inside the file; the accessors check type, entry size and string bounds at each use. Nothing
 * relies on alignment (records are copied out), and sections may overlap: they are only read.
 */
#include <stdio.h>

#include "dif/dof_file.h"

static const struct {
	const char *name;
	uint32_t entsize;
} sect_types[] = {
    [DT_DOF_NONE] = {"NONE", 0},
    [DT_DOF_COMMENTS] = {"COMMENTS", 0},
    [DT_DOF_SOURCE] = {"SOURCE", 0},
    [DT_DOF_ECBDESC] = {"ECBDESC", 0},
    [DT_DOF_PROBEDESC] = {"PROBEDESC", 0},
    [DT_DOF_ACTDESC] = {"ACTDESC", sizeof(struct dof_act)},
    [DT_DOF_DIFOHDR] = {"DIFOHDR", 0},
    [DT_DOF_DIF] = {"DIF", sizeof(dt_instr)},
    [DT_DOF_STRTAB] = {"STRTAB", 0},
    [DT_DOF_VARTAB] = {"VARTAB", sizeof(dt_difvar)},
    [DT_DOF_RELTAB] = {"RELTAB", sizeof(struct dof_rel)},
    [DT_DOF_TYPTAB] = {"TYPTAB", 0},
    [DT_DOF_URELHDR] = {"URELHDR", 0},
    [DT_DOF_KRELHDR] = {"KRELHDR", 0},
    [DT_DOF_OPTDESC] = {"OPTDESC", sizeof(struct dof_opt)},
    [DT_DOF_PROVIDER] = {"PROVIDER", 0},
    [DT_DOF_PROBES] = {"PROBES", sizeof(struct dof_probe)},
    [DT_DOF_PRARGS] = {"PRARGS", 1},
    [DT_DOF_PROFFS] = {"PROFFS", 4},
    [DT_DOF_INTTAB] = {"INTTAB", 8},
    [DT_DOF_UTSNAME] = {"UTSNAME", 0},
    [DT_DOF_XLTAB] = {"XLTAB", 12},
    [DT_DOF_XLMEMBERS] = {"XLMEMBERS", 16},
    [DT_DOF_XLIMPORT] = {"XLIMPORT", 0},
    [DT_DOF_XLEXPORT] = {"XLEXPORT", 0},
    [DT_DOF_PREXPORT] = {"PREXPORT", 0},
    [DT_DOF_PRENOFFS] = {"PRENOFFS", 4},
    [DT_DOF_STATEMENTS] = {"STATEMENTS", sizeof(struct dof_stmt)},
    [DT_DOF_AGGREFS] = {"AGGREFS", sizeof(struct dof_aggref)},
};

const char *dt_dof_type_name(uint32_t type, char scratch[24])
{
	if (type < DT_NELEM(sect_types) && sect_types[type].name)
		return sect_types[type].name;
	snprintf(scratch, 24, "type %u", type);
	return scratch;
}

uint32_t dt_dof_entry_size(uint32_t type)
{
	return type < DT_NELEM(sect_types) ? sect_types[type].entsize : 0;
}

struct dof_sec dt_dof_section(const dt_dof_image *im, uint32_t index)
{
	struct dof_sec s;

	memcpy(&s, im->data + im->hdr.secoff + (uint64_t)index * im->hdr.secsize, sizeof(s));
	return s;
}

int dt_dof_bad(const dt_dof_image *im, uint32_t index, const char *fmt, ...)
{
	char why[256], scratch[24];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return dt_err(im->err, EDT_DIFINVAL, "DOF section %u (%s): %s", index,
		      dt_dof_type_name(dt_dof_section(im, index).type, scratch), why);
}

/* ---- opening ---- */

static int bad_file(const dt_dof_image *im, int code, const char *why)
{
	return dt_err(im->err, code, "invalid DOF: %s", why);
}

static int check_ident(const dt_dof_image *im)
{
	const uint8_t *id = im->hdr.ident;

	if (memcmp(id, DOF_MAGIC, 4) != 0)
		return bad_file(im, EDT_DIFINVAL, "the file does not begin with \\177DOF");
	if (id[DOF_ID_MODEL] != DOF_MODEL_LP64)
		return bad_file(im, EDT_DATAMODEL, "not made for a 64-bit system");
	if (id[DOF_ID_ENCODING] != DOF_ENCODING)
		return bad_file(im, EDT_DIFINVAL, "made for another byte order");
	if (id[DOF_ID_VERSION] < 1 || id[DOF_ID_VERSION] > DOF_VERSION_MAX)
		return bad_file(im, EDT_DIFVERS, "unknown DOF version");
	if (id[DOF_ID_DIFVERS] < 1 || id[DOF_ID_DIFVERS] > DT_DIF_VERSION)
		return bad_file(im, EDT_DIFVERS, "unknown DIF version");
	if (id[DOF_ID_IREGS] > DT_DIF_NREGS || id[DOF_ID_TREGS] > DT_DIF_NTREGS)
		return bad_file(im, EDT_DIFINVAL, "needs more registers than there are");
	for (int i = DOF_ID_PAD; i < DOF_ID_SIZE; i++)
		if (id[i] != 0)
			return bad_file(im, EDT_DIFINVAL, "identification is not zero-padded");
	return 0;
}

static int check_header(const dt_dof_image *im)
{
	const struct dof_hdr *h = &im->hdr;

	if (check_ident(im) != 0)
		return -1;
	if (h->flags != 0)
		return bad_file(im, EDT_DIFINVAL, "unknown header flags");
	if (h->hdrsize != sizeof(struct dof_hdr))
		return bad_file(im, EDT_DIFINVAL, "wrong header size");
	if (h->secsize != sizeof(struct dof_sec))
		return bad_file(im, EDT_DIFINVAL, "wrong section header size");
	if (h->filesz != im->n)
		return bad_file(im, EDT_DIFINVAL, "the file is not as long as its header says");
	if (h->loadsz > h->filesz)
		return bad_file(im, EDT_DIFINVAL, "the loadable part is longer than the file");
	if (h->secoff < sizeof(struct dof_hdr) || h->secoff > im->n || h->secoff % 8 != 0)
		return bad_file(im, EDT_DIFINVAL, "section table offset out of range or unaligned");
	if (h->secnum > (im->n - h->secoff) / sizeof(struct dof_sec))
		return bad_file(im, EDT_DIFINVAL, "section table extends past the end");
	return 0;
}

static int check_section(const dt_dof_image *im, uint32_t i)
{
	struct dof_sec s = dt_dof_section(im, i);

	if (s.align == 0 || (s.align & (s.align - 1)) != 0)
		return dt_dof_bad(im, i, "alignment %u is not a power of two", s.align);
	if (s.offset % s.align != 0)
		return dt_dof_bad(im, i, "offset %llu is not aligned to %u",
				  (unsigned long long)s.offset, s.align);
	if (s.offset > im->n || s.size > im->n - s.offset)
		return dt_dof_bad(im, i, "extends past the end of the file");
	if (s.flags & ~DOF_LOAD)
		return dt_dof_bad(im, i, "unknown flags 0x%x", s.flags);
	if ((s.flags & DOF_LOAD) && s.offset + s.size > im->hdr.loadsz)
		return dt_dof_bad(im, i, "loadable, but outside the loadable part");
	if (s.type == DT_DOF_STRTAB && s.size > 0 && im->data[s.offset + s.size - 1] != '\0')
		return dt_dof_bad(im, i, "not NUL-terminated");
	return 0;
}

int dt_dof_open(dt_dof_image *im, const void *data, size_t n, dt_error *err)
{
	*im = (dt_dof_image){.data = data, .n = n, .err = err};
	if (n > DT_DOF_MAXSIZE)
		return bad_file(im, EDT_DIFSIZE, "larger than 8 MB");
	if (n < sizeof(im->hdr))
		return bad_file(im, EDT_DIFINVAL, "shorter than its header");
	memcpy(&im->hdr, data, sizeof(im->hdr));
	if (check_header(im) != 0)
		return -1;
	im->nsecs = im->hdr.secnum;
	for (uint32_t i = 0; i < im->nsecs; i++)
		if (check_section(im, i) != 0)
			return -1;
	return 0;
}

/* ---- pieces ---- */

const uint8_t *dt_dof_payload(const dt_dof_image *im, uint32_t from, uint32_t index, uint32_t type,
			      size_t *size)
{
	char want[24], have[24];
	struct dof_sec s;

	if (index >= im->nsecs) {
		dt_dof_bad(im, from, "refers to section %u, but there are %u", index, im->nsecs);
		return NULL;
	}
	s = dt_dof_section(im, index);
	if (s.type != type) {
		dt_dof_bad(im, from, "refers to section %u as %s, but it is %s", index,
			   dt_dof_type_name(type, want), dt_dof_type_name(s.type, have));
		return NULL;
	}
	*size = s.size;
	return im->data + s.offset;
}

const uint8_t *dt_dof_table(const dt_dof_image *im, uint32_t from, uint32_t index, uint32_t type,
			    uint32_t *count)
{
	uint32_t entsize = dt_dof_entry_size(type);
	struct dof_sec s;
	size_t size;
	const uint8_t *p = dt_dof_payload(im, from, index, type, &size);

	if (!p)
		return NULL;
	s = dt_dof_section(im, index);
	if (s.entsize != entsize) {
		dt_dof_bad(im, index, "entry size %u, must be %u", s.entsize, entsize);
		return NULL;
	}
	if (size % entsize != 0) {
		dt_dof_bad(im, index, "size %zu is not a multiple of the entry size %u", size,
			   entsize);
		return NULL;
	}
	*count = (uint32_t)(size / entsize);
	return p;
}

const char *dt_dof_string(const dt_dof_image *im, uint32_t from, uint32_t strtab, uint64_t offset,
			  size_t max)
{
	size_t size;
	const uint8_t *p = dt_dof_payload(im, from, strtab, DT_DOF_STRTAB, &size);

	if (!p)
		return NULL;
	if (offset >= size) {
		dt_dof_bad(im, from, "string offset %llu, but the table has %zu bytes",
			   (unsigned long long)offset, size);
		return NULL;
	}
	/* The table ends with a NUL, so a string ends inside it; max bounds the work. */
	if (max && strnlen((const char *)p + offset, max + 1) > max) {
		dt_dof_bad(im, from, "string at offset %llu is longer than %zu characters",
			   (unsigned long long)offset, max);
		return NULL;
	}
	return (const char *)p + offset;
}
