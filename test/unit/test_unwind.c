/*
 * Tables for unwinding: what each instruction of .eh_frame does to them, byte by byte; files that
 * are wrong; and our own stack, walked by the tables of the objects it is in, compared with
 * backtrace().
 */
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "proc/mappings.h"
#include "elf/cfi.h"
#include "unit.h"

/* ---- sections made by hand ---- */

static const struct dt_unwind_segment text = {.vaddr = 0x1000, .size = 0x1000, .offset = 0x1000};

static void put32(dt_buf *b, uint32_t n)
{
	dt_buf_add(b, &n, 4);
}

/* CIE: code alignment 1, data alignment -8, return address in 16, addresses absolute in 4 bytes
 * (DW_EH_PE_udata4); CFA = rsp + 8, return address at CFA - 8 */
static void cie(dt_buf *b, const char *letters, uint8_t encoding)
{
	static const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1, 0, 0};
	dt_buf body = {0};

	put32(&body, 0);
	dt_buf_putc(&body, 1);
	dt_buf_add(&body, letters, strlen(letters) + 1);
	dt_buf_add(&body, "\x01\x78\x10", 3);
	if (*letters == 'z') {
		dt_buf_putc(&body, 1);
		dt_buf_putc(&body, (char)encoding);
	}
	dt_buf_add(&body, initial, sizeof(initial));
	put32(b, (uint32_t)body.n);
	dt_buf_add(b, body.s, body.n);
	dt_buf_free(&body);
}

static void fde(dt_buf *b, uint32_t cie_at, uint32_t start, uint32_t len, const void *insns,
		size_t n)
{
	put32(b, (uint32_t)(4 + 8 + 1 + n));
	put32(b, (uint32_t)b->n - cie_at);
	put32(b, start);
	put32(b, len);
	dt_buf_putc(b, 0);
	dt_buf_add(b, insns, n);
}

/* The rows as text, one per line, without the last. */
static const char *rows(const dt_buf *section)
{
	static dt_buf out;
	dt_unwind u;

	dt_buf_reset(&out);
	dt_buf_puts(&out, "");
	dt_unwind_parse(&dt_arch_x86_64, section->s, section->n, 0x2000, &text, 1, &u);
	for (uint32_t i = 0; i + 1 < u.n; i++) {
		if (i)
			dt_buf_puts(&out, ", ");
		dt_unwind_print(&u.rows[i], &out);
	}
	dt_unwind_free(&u);
	return out.s;
}

/* A function at 0x1100, 256 bytes, with these instructions. */
static const char *function(const char *letters, const void *insns, size_t n)
{
	dt_buf b = {0};
	const char *s;

	cie(&b, letters, 0x03);
	fde(&b, 0, 0x1100, 0x100, insns, n);
	s = rows(&b);
	dt_buf_free(&b);
	return s;
}
#define FN(letters, bytes) function(letters, bytes, sizeof(bytes) - 1)

static void test_instructions(void)
{
	CHECK_STR(FN("zR", ""), "1100: sp+8");
	/* push %rbp; mov %rsp,%rbp; ...; leave */
	CHECK_STR(FN("zR", "\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0c\x07\x08"),
		  "1100: sp+8, 1101: sp+16 fp at cfa-16, 1104: fp+16 fp at cfa-16, 1124: sp+8 fp "
		  "at cfa-16");
	/* all sizes of advance */
	CHECK_STR(FN("zR", "\x02\x10\x0e\x10\x03\x10\x00\x0e\x18\x04\x10\x00\x00\x00\x0e\x20"),
		  "1100: sp+8, 1110: sp+16, 1120: sp+24, 1130: sp+32");
	/* set_loc; same_value, undefined, restore of rbp and rbx */
	CHECK_STR(FN("zR", "\x83\x03\x01\x10\x11\x00\x00\x08\x03\x07\x06\x41\xc6\x06\x03"),
		  "1100: sp+8 base at cfa-24, 1110: sp+8 fp lost, 1111: sp+8");
	/* remember and restore */
	CHECK_STR(FN("zR", "\x41\x0e\x10\x0a\x41\x0e\x08\x41\x0b"),
		  "1100: sp+8, 1101: sp+16, 1102: sp+8, 1103: sp+16");
	/* offset_extended, its signed and its negative form, def_cfa_sf, def_cfa_offset_sf */
	CHECK_STR(FN("zR", "\x05\x06\x02\x41\x11\x03\x03\x12\x07\x7e\x41\x13\x7d\x2f\x06\x7e"),
		  "1100: sp+8 fp at cfa-16, 1101: sp+16 fp at cfa-16 base at cfa-24, 1102: sp+24 fp "
		  "at cfa+1008 base at cfa-24");
	/* CFA by rbx, by another register */
	CHECK_STR(FN("zR", "\x0d\x03\x41\x0c\x08\x10"), "1100: base+8, 1101: reg 9+16");
	/* rip in a register, in another place */
	CHECK_STR(FN("zR", "\x09\x10\x01\x41\x90\x02\x41\x90\x01"), "1100: stop, 1102: sp+8");
	/* it has no caller */
	CHECK_STR(FN("zR", "\x07\x10"), "1100: end");
	/* others are skipped: args_size, val_offset, register, val_expression of r12 */
	CHECK_STR(FN("zR", "\x2e\x10\x14\x0c\x02\x09\x0c\x0d\x16\x0c\x02\x77\x08\x0e\x10"),
		  "1100: sp+16");
}

static void test_expressions(void)
{
	/* the PLT's, *(rbp - 8), *(rsp + 40) + 8, rbp + 16 */
	CHECK_STR(FN("zR", "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), "1100: plt 11");
	CHECK_STR(FN("zR", "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"),
		  "1100: *(fp-8)+0 fp at (fp)");
	CHECK_STR(FN("zR", "\x0f\x05\x77\x28\x06\x23\x08"), "1100: *(sp+40)+8");
	CHECK_STR(FN("zR", "\x0f\x02\x76\x10"), "1100: fp+16");
	CHECK_STR(FN("zR", "\x0f\x01\x96"), "1100: stop");
	CHECK_STR(FN("zR", "\x0f\x03\x79\x08\x06"), "1100: stop"); /* through r9 */
	/* a signal frame: rip at rsp + 168; without the S it is something else */
	CHECK_STR(FN("zRS", "\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"),
		  "1100: signal sp+40");
	CHECK_STR(FN("zR", "\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"), "1100: stop");
}

static void test_wrong(void)
{
	char deep[40];
	dt_buf b = {0};
	dt_unwind u;

	CHECK_STR(FN("zR", "\x3c"), "1100: stop"); /* no such instruction */
	CHECK_STR(FN("zR", "\x41\x0e\x10\x41\x0e"),
		  "1100: sp+8, 1101: sp+16, 1102: stop"); /* cut off */
	CHECK_STR(FN("zR", "\x0b"), "1100: stop");	  /* nothing was remembered */
	CHECK_STR(FN("zR", "\x41\x0e\x10\x03\x00\x20\x0e\x18"),
		  "1100: sp+8, 1101: sp+16"); /* past its end */
	memset(deep, 0x0a, sizeof(deep));
	CHECK_STR(function("zR", deep, sizeof(deep)), "1100: stop");
	CHECK_STR(FN("eh", "\x0e\x10"), ""); /* unknown augmentation */
	/* two FDEs, the later one first, with a gap; one that lies in the other; one in data */
	cie(&b, "zR", 0x03);
	fde(&b, 0, 0x1800, 0x10, "\x0e\x20", 2);
	fde(&b, 0, 0x1100, 0x100, "\x0e\x10", 2);
	fde(&b, 0, 0x1110, 0x10, "\x0e\x18", 2);
	fde(&b, 0, 0x11ff, 0x200, "\x0e\x28", 2);
	fde(&b, 0, 0x5000, 0x10, "\x0e\x18", 2);
	fde(&b, 0, 0x1208, 0x10, "\x0e\x10", 2);
	CHECK_STR(rows(&b), "1100: sp+16, 1218: none, 1800: sp+32");
	/* truncated anywhere, nothing breaks */
	for (size_t n = 0; n < b.n; n++) {
		dt_unwind_parse(&dt_arch_x86_64, b.s, n, 0x2000, &text, 1, &u);
		dt_unwind_free(&u);
	}
	dt_buf_free(&b);
	dt_unwind_parse(&dt_arch_x86_64, "\0\0\0\0\0\0\0\0", 8, 0, &text, 1, &u);
	CHECK(u.n == 0);
}

/* An FDE names its CIE, not what comes before it: else each of many could skip megabytes of zeroes. */
static void test_zeroes(void)
{
	dt_buf b = {0};

	put32(&b, 0);
	put32(&b, 0);
	cie(&b, "zR", 0x03);
	fde(&b, 0, 0x1100, 0x100, "\x0e\x20", 2);
	CHECK_STR(rows(&b), "");
	put32(&b, 0);
	fde(&b, 8, 0x1100, 0x100, "\x0e\x20", 2); /* skipped on the way from one to the next */
	CHECK_STR(rows(&b), "1100: sp+32");
	dt_buf_free(&b);
}

static void test_find(void)
{
	dt_unwind_row r[] = {{.pc = 10}, {.pc = 20}, {.pc = 30}};
	dt_unwind u = {.rows = r, .n = 3};

	CHECK(dt_unwind_find(&u, 9) == NULL);
	CHECK(dt_unwind_find(&u, 10) == &r[0] && dt_unwind_find(&u, 19) == &r[0]);
	CHECK(dt_unwind_find(&u, 20) == &r[1] && dt_unwind_find(&u, 1000) == &r[2]);
}

/* ---- our own stack ---- */

#define MOST 64

struct walk {
	dt_maps *maps;
	uint64_t pc, sp, fp, base;
	bool have_fp, have_base;
};

static uint64_t word(uint64_t addr)
{
	return *(const uint64_t *)(uintptr_t)addr;
}

static bool row_at(struct walk *w, uint64_t pc, dt_unwind_row *row)
{
	const dt_mapping *m = dt_maps_find(w->maps, pc);
	dt_error err;
	dt_unwind u = {0};
	const dt_unwind_row *r;
	dt_elf *e = m && m->kind == DT_MAP_FILE ? dt_elf_open(m->path, NULL, &err) : NULL;

	if (!e)
		return false;
	dt_unwind_read(e, &u);
	r = dt_unwind_find(&u, (uint32_t)(pc - m->start + m->offset));
	if (r)
		*row = *r;
	dt_unwind_free(&u);
	dt_elf_free(e);
	return r != NULL;
}

static void restore(uint64_t *value, bool *have, int16_t at, uint64_t cfa)
{
	if (at == DT_UW_LOST)
		*have = false;
	else if (at == DT_UW_AT_FP)
		*value = word(*value);
	else if (at != DT_UW_SAME) {
		*value = word(cfa + (uint64_t)((int64_t)at * 8));
		*have = true;
	}
}

/* One frame up; false at the end, or where this little walker does not know how. */
static bool step(struct walk *w, bool back)
{
	dt_unwind_row r;
	uint64_t cfa;

	if (!row_at(w, w->pc - back, &r))
		return false;
	switch (DT_UW_KIND(r.cfa)) {
	case DT_UW_SP: cfa = w->sp; break;
	case DT_UW_FP: cfa = w->fp; break;
	case DT_UW_BASE: cfa = w->base; break;
	default: return false;
	}
	cfa += (uint64_t)(int64_t)DT_UW_VALUE(r.cfa);
	restore(&w->fp, &w->have_fp, r.fp, cfa);
	restore(&w->base, &w->have_base, r.base, cfa);
	w->pc = dt_arch_host()->unwind.ra_at ? word(cfa - 8) : w->base;
	w->sp = cfa;
	return true;
}

static int compare(const void *a, const void *b)
{
	void *want[MOST];
	struct walk w = {.have_fp = true, .have_base = true};
	static bool done;
	dt_error err;
	int n, i = 0, first = 0;

	if (done)
		return *(const int *)a - *(const int *)b;
	done = true;
	n = backtrace(want, MOST);
	w.maps = dt_maps_read(getpid(), &err);
#if defined(__aarch64__)
	__asm__ volatile("adr %0, .\n mov %1, sp\n mov %2, x29\n mov %3, x30"
			 : "=&r"(w.pc), "=&r"(w.sp), "=&r"(w.fp), "=&r"(w.base));
#else
	__asm__ volatile("lea 0(%%rip), %0\n mov %%rsp, %1\n mov %%rbp, %2\n mov %%rbx, %3"
			 : "=&r"(w.pc), "=&r"(w.sp), "=&r"(w.fp), "=&r"(w.base));
#endif
	CHECK(w.maps && n > 5);
	while (first < n &&
	       (uint64_t)(uintptr_t)want[first] - (uint64_t)(uintptr_t)compare > 0x10000)
		first++; /* a sanitizer's own frames */
	for (i = first + 1; i < n && w.maps && step(&w, i > first + 1); i++)
		if (w.pc != (uint64_t)(uintptr_t)want[i]) {
			printf("frame %d: %llx, backtrace() says %p\n", i, (unsigned long long)w.pc,
			       want[i]);
			break;
		}
	CHECK(i == n);
	if (w.maps)
		dt_maps_free(w.maps);
	return *(const int *)a - *(const int *)b;
}

int main(void)
{
	int pair[2] = {2, 1};

	test_instructions();
	test_expressions();
	test_wrong();
	test_zeroes();
	test_find();
	qsort(pair, 2, sizeof(pair[0]), compare); /* with libc in between */
	return unit_done();
}
