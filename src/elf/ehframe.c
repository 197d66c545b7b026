/*
 * ehframe: reads the records of an .eh_frame section (the format is that of DWARF's .debug_frame,
 * with the changes that the Linux Standard Base describes).
 *
 *	record:	u32 length (0xffffffff: u64 length follows; 0: nothing, an end among several)
 *		u32 id: 0 for a CIE; for an FDE the distance from here back to its CIE
 *	CIE:	version, augmentation "zR...", alignments, return address column, instructions
 *	FDE:	address and length of the code it describes, instructions
 *
 * Nothing is trusted: lengths are checked against the end of the section, an FDE is used only if
 * its CIE is valid, and reading either takes a bounded number of steps.
 */
#include "elf/cfi.h"
#include "elf/ehframe.h"
#include "elf/elf_remote.h"

enum { /* DW_EH_PE_*: the low four bits say how it is stored, the next three what it is relative to
	*/
       PE_ABSPTR = 0x00,
       PE_ULEB128 = 0x01,
       PE_UDATA2 = 0x02,
       PE_UDATA4 = 0x03,
       PE_UDATA8 = 0x04,
       PE_SLEB128 = 0x09,
       PE_SDATA2 = 0x0a,
       PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c,
       PE_PCREL = 0x10,
       PE_RELATIVE = 0x70,
       PE_INDIRECT = 0x80,
       PE_OMIT = 0xff,
};

/* ---- bytes ---- */

uint64_t dt_eh_uint(struct dt_eh_cursor *c, uint32_t bytes)
{
	uint64_t n = 0;

	if (c->bad || (uint64_t)(c->end - c->p) < bytes) {
		c->bad = true;
		return 0;
	}
	memcpy(&n, c->p, bytes); /* little-endian, as this machine */
	c->p += bytes;
	return n;
}

#define LEB_MAX	   16 /* bytes; padded ones may be longer than they need */
#define LETTER_MAX 16

static uint64_t leb(struct dt_eh_cursor *c, uint32_t *bits, bool *negative)
{
	uint64_t n = 0;
	uint8_t b;

	*bits = 0;
	do {
		b = (uint8_t)dt_eh_uint(c, 1);
		if (*bits < 64)
			n |= (uint64_t)(b & 0x7f) << *bits;
		*bits += 7;
		c->bad = c->bad || *bits > LEB_MAX * 7;
	} while (b & 0x80 && !c->bad);
	*negative = b & 0x40;
	return n;
}

uint64_t dt_eh_uleb(struct dt_eh_cursor *c)
{
	uint32_t bits;
	bool negative;

	return leb(c, &bits, &negative);
}

int64_t dt_eh_sleb(struct dt_eh_cursor *c)
{
	uint32_t bits;
	bool negative;
	uint64_t n = leb(c, &bits, &negative);

	if (negative && bits < 64)
		n |= ~0ull << bits;
	return (int64_t)n;
}

const uint8_t *dt_eh_bytes(struct dt_eh_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || (uint64_t)(c->end - c->p) < n) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}

uint64_t dt_eh_pointer(const struct dt_eh_section *s, struct dt_eh_cursor *c, uint8_t encoding)
{
	uint64_t here = s->vaddr + (uint64_t)(c->p - s->data), n;

	switch (encoding & 0x0f) {
	case PE_ABSPTR: n = dt_eh_uint(c, s->word); break;
	case PE_ULEB128: n = dt_eh_uleb(c); break;
	case PE_UDATA2: n = dt_eh_uint(c, 2); break;
	case PE_UDATA4: n = dt_eh_uint(c, 4); break;
	case PE_UDATA8:
	case PE_SDATA8: n = dt_eh_uint(c, 8); break;
	case PE_SLEB128: n = (uint64_t)dt_eh_sleb(c); break;
	case PE_SDATA2: n = (uint64_t)(int16_t)dt_eh_uint(c, 2); break;
	case PE_SDATA4: n = (uint64_t)(int32_t)dt_eh_uint(c, 4); break;
	default: n = 0; c->bad = true;
	}
	if ((encoding & PE_RELATIVE) == PE_PCREL)
		n += here;
	else if (encoding & (PE_RELATIVE | PE_INDIRECT))
		c->bad = true; /* relative to a value known only at run time */
	return n;
}

/* ---- records ---- */

/* The record at *at: a cursor over what follows its length, and its id. False: there is none there. */
static bool record_at(const struct dt_eh_section *s, uint64_t *at, struct dt_eh_cursor *c,
		      uint64_t *id, uint64_t *id_at)
{
	struct dt_eh_cursor all = {.p = s->data, .end = s->data + s->size};
	uint64_t length;
	uint32_t id_size = 4;

	if (*at > s->size)
		return false;
	all.p += *at;
	length = dt_eh_uint(&all, 4);
	if (length == 0xffffffff) {
		length = dt_eh_uint(&all, 8);
		id_size = 8;
	}
	if (all.bad || length == 0 || length > (uint64_t)(all.end - all.p))
		return false;
	*c = (struct dt_eh_cursor){.p = all.p, .end = all.p + length};
	*at = (uint64_t)(c->end - s->data);
	*id_at = (uint64_t)(c->p - s->data);
	*id = dt_eh_uint(c, id_size);
	return true;
}

/* The record at *at or after it, past empty ones. */
static bool next_record(const struct dt_eh_section *s, uint64_t *at, struct dt_eh_cursor *c,
			uint64_t *id, uint64_t *id_at)
{
	uint32_t length;

	for (; *at < s->size && s->size - *at >= sizeof(length); *at += sizeof(length)) {
		memcpy(&length, s->data + *at, sizeof(length));
		if (length)
			return record_at(s, at, c, id, id_at);
	}
	return false;
}

/* What the letters after "z" stand for, in their order; the rest of the data is skipped by its
 * length. */
static void read_augmentation(const struct dt_eh_section *s, struct dt_eh_cursor *c,
			      const char *letters, struct dt_eh_cie *cie)
{
	struct dt_eh_cursor data = {0};
	uint64_t n = dt_eh_uleb(c);

	data.p = dt_eh_bytes(c, n);
	if (!data.p)
		return;
	data.end = data.p + n;
	for (; *letters && !data.bad; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R': cie->encoding = (uint8_t)dt_eh_uint(&data, 1); break;
		case 'L': dt_eh_uint(&data, 1); break;
		case 'P':
			encoding = (uint8_t)dt_eh_uint(&data, 1);
			dt_eh_pointer(s, &data, encoding & 0x0f); /* only to skip it */
			break;
		case 'S': cie->signal = true; break;
		case 'B': break;
		default: return; /* unknown: what follows cannot be told apart */
		}
	}
	c->bad = c->bad || data.bad;
}

static bool read_cie(const struct dt_eh_section *s, uint64_t at, struct dt_eh_cie *cie)
{
	struct dt_eh_cursor c;
	uint64_t id, id_at;
	const uint8_t *nul;
	const char *letters;
	uint8_t version;

	*cie = (struct dt_eh_cie){.encoding = PE_ABSPTR};
	if (!record_at(s, &at, &c, &id, &id_at) || id != 0 || c.bad)
		return false;
	version = (uint8_t)dt_eh_uint(&c, 1);
	if (c.bad || (version != 1 && version != 3))
		return false;
	letters = (const char *)c.p;
	nul = memchr(c.p, 0, c.end - c.p < LETTER_MAX ? (size_t)(c.end - c.p) : LETTER_MAX);
	if (!nul)
		return false;
	c.p = nul + 1;
	cie->code_align = dt_eh_uleb(&c);
	cie->data_align = dt_eh_sleb(&c);
	cie->ra = version == 1 ? dt_eh_uint(&c, 1) : dt_eh_uleb(&c);
	if (*letters == 'z') {
		cie->augmented = true;
		read_augmentation(s, &c, letters + 1, cie);
	} else if (*letters) {
		return false;
	}
	cie->insns = c;
	return !c.bad;
}

/* CIE and addresses of the FDE in c; c ends up at its instructions. */
static bool read_fde(const struct dt_eh_section *s, struct dt_eh_cursor *c, uint64_t id,
		     uint64_t id_at, struct dt_eh_cie *cie, struct dt_eh_fde *f)
{
	uint64_t length;

	if (id == 0 || id > id_at || c->bad || !read_cie(s, id_at - id, cie) ||
	    cie->encoding == PE_OMIT)
		return false;
	f->start = dt_eh_pointer(s, c, cie->encoding);
	length = dt_eh_pointer(s, c, cie->encoding & 0x0f);
	f->end = f->start + length;
	if (cie->augmented)
		dt_eh_bytes(c, dt_eh_uleb(c));
	return !c->bad && f->end > f->start;
}

bool dt_eh_next(const struct dt_eh_section *s, uint64_t *at, struct dt_eh_fde *f)
{
	struct dt_eh_cie cie;
	struct dt_eh_cursor c;
	uint64_t id, id_at;

	for (;;) {
		f->offset = *at;
		if (!next_record(s, at, &c, &id, &id_at))
			return false;
		if (read_fde(s, &c, id, id_at, &cie, f))
			return true;
	}
}

bool dt_eh_read(const struct dt_eh_section *s, const struct dt_eh_fde *f, struct dt_eh_cie *cie,
		struct dt_eh_cursor *insns)
{
	struct dt_eh_fde again;
	uint64_t at = f->offset, id, id_at;

	return next_record(s, &at, insns, &id, &id_at) &&
	       read_fde(s, insns, id, id_at, cie, &again);
}

/* ---- for callers that only need to know where functions are: cfi.h ---- */

void dt_cfi_walk(dt_elf *e, struct dt_cfi_walk *w)
{
	struct dt_elf_section s;

	*w = (struct dt_cfi_walk){.word = dt_elf_is_64(e) ? 8 : 4};
	if (e->remote) {
		w->ranges = dt_elf_ask_ranges(e, &w->nranges);
		return;
	}
	if (dt_elf_section(e, ".eh_frame", &s) && s.data) {
		w->data = s.data;
		w->size = s.data_size;
		w->vaddr = s.vaddr;
	}
}

bool dt_cfi_next(struct dt_cfi_walk *w, uint64_t *start, uint64_t *end)
{
	const struct dt_eh_section s = {w->data, w->size, w->vaddr, w->word};
	struct dt_eh_fde f;

	if (w->at < w->nranges) {
		*start = w->ranges[2 * w->at];
		*end = w->ranges[2 * w->at++ + 1];
		return true;
	}
	if (!w->data || !dt_eh_next(&s, &w->at, &f))
		return false;
	*start = f.start;
	*end = f.end;
	return true;
}
