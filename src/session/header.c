/*
 * header: a C header from provider declarations (-h).
 *
 * Every probe becomes a macro PROVIDER_PROBE(args) and a test PROVIDER_PROBE_ENABLED(). The macro
 * calls an inline function of the traditional name, __dtrace_<provider>___<probe>, whose body is a
 * nop after a test of the probe's semaphore, and an ELF note that describes it: provider, name, and
 * the location of each argument (".note.stapsdt", the format that SystemTap, perf, bpftrace and gdb
 * read). So there is no post-link step and nothing to link against. A tracer increments the
 * semaphore, a 16-bit word in section .probes, while it traces the probe; _ENABLED() reads it. Not
 * traced: one load and one branch.
 *
 * On x86-64 there are two nops (dt_arch.site): one of two bytes, which the note refers to and where
 * every tracer can put a breakpoint; and one of five bytes, because Linux 6.18 turns a probe on
 * such a nop into a call, which on some machines costs less than a trap. Our tracer uses the
 * cheaper one (bpf/run/sites.c) and recognizes such sites by their bytes. A call writes below the
 * stack pointer, where a leaf function keeps variables. So each site also calls an empty function,
 * only on the path with the probe enabled: the enclosing function is then not a leaf, and compilers
 * keep nothing there. The call comes before the nops, or it could become a tail call, which does
 * not count.
 *
 * Arguments are passed as the plain integer or pointer of the declared size, so the header does
 * not depend on any typedef of the program. It compiles as C and as C++; where there is no such
 * asm, or with -D_DTRACE_VERSION=0, the macros are empty.
 *
 * The expansion of a probe p of provider v without arguments:
 *
 *	990:	dt_arch.site.text
 *		.pushsection .note.stapsdt,"?","note"
 *		.balign 4
 *		.4byte 992f-991f, 994f-993f, 3
 *	991:	.asciz "stapsdt"
 *	992:	.balign 4
 *	993:	.8byte 990b, _.stapsdt.base, v_p_semaphore
 *		.asciz "v"; .asciz "p"; .asciz ""
 *	994:	.balign 4
 *		.popsection
 *
 * _.stapsdt.base is one byte in its own section: readers compare its address with the one in the
 * note to find how far prelink has moved the file.
 */
#include <ctype.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "session/session.h"

#define MAX_ARGS 30 /* operands of one asm statement */

/* The part that every generated header shares; %s are members of dt_arch.site. */
static const char prelude[] =
    "#ifndef _DTRACE_VERSION\n"
    "#define _DTRACE_VERSION 1\n"
    "#endif\n"
    "\n"
    "#if _DTRACE_VERSION && %s && defined(__linux__) && defined(__GNUC__)\n"
    "#define _DTRACE_SITES 1\n"
    "#else\n"
    "#define _DTRACE_SITES 0\n"
    "#endif\n"
    "\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "\n"
    "#if _DTRACE_SITES && !defined(_DTRACE_SITE)\n"
    "#ifdef __LP64__\n"
    "#define _DTRACE_ADDR \".8byte \"\n"
    "#else\n"
    "#define _DTRACE_ADDR \".4byte \"\n"
    "#endif\n"
    "/* Called at a site, so that the enclosing function is not a leaf and keeps nothing below its "
    "stack pointer. */\n"
    "static __attribute__((noinline, cold, unused)) void _dtrace_calls(void)\n"
    "{\n"
    "\t__asm__ __volatile__(\"\");\n"
    "}\n"
    "/* %s, and the note that describes them. */\n"
    "#define _DTRACE_SITE(prov, name, args) \\\n"
    "\t\"990:\\t%s\\n\" \\\n"
    "\t\"\\t.pushsection .note.stapsdt,\\\"?\\\",\\\"note\\\"\\n\" \\\n"
    "\t\"\\t.balign 4\\n\" \\\n"
    "\t\"\\t.4byte 992f-991f, 994f-993f, 3\\n\" \\\n"
    "\t\"991:\\t.asciz \\\"stapsdt\\\"\\n\" \\\n"
    "\t\"992:\\t.balign 4\\n\" \\\n"
    "\t\"993:\\t\" _DTRACE_ADDR \"990b\\n\" \\\n"
    "\t\"\\t\" _DTRACE_ADDR \"_.stapsdt.base\\n\" \\\n"
    "\t\"\\t\" _DTRACE_ADDR prov \"_\" name \"_semaphore\\n\" \\\n"
    "\t\"\\t.asciz \\\"\" prov \"\\\"\\n\" \\\n"
    "\t\"\\t.asciz \\\"\" name \"\\\"\\n\" \\\n"
    "\t\"\\t.asciz \\\"\" args \"\\\"\\n\" \\\n"
    "\t\"994:\\t.balign 4\\n\" \\\n"
    "\t\"\\t.popsection\\n\" \\\n"
    "\t\".ifndef _.stapsdt.base\\n\" \\\n"
    "\t\"\\t.pushsection .stapsdt.base,\\\"aG\\\",\\\"progbits\\\",.stapsdt.base,comdat\\n\" \\\n"
    "\t\"\\t.weak _.stapsdt.base\\n\" \\\n"
    "\t\"\\t.hidden _.stapsdt.base\\n\" \\\n"
    "\t\"_.stapsdt.base:\\n\" \\\n"
    "\t\"\\t.space 1\\n\" \\\n"
    "\t\"\\t.size _.stapsdt.base, 1\\n\" \\\n"
    "\t\"\\t.popsection\\n\" \\\n"
    "\t\".endif\\n\"\n"
    "#define _DTRACE_SEMAPHORE \\\n"
    "\t__attribute__((weak, used, visibility(\"hidden\"), section(\".probes\"))) unsigned short\n"
    "#define _DTRACE_INLINE static __inline__ __attribute__((always_inline, unused))\n"
    "#endif\n"
    "\n";

static const char epilogue[] = "\n#ifdef __cplusplus\n}\n#endif\n";

/* ---- names ---- */

/* query-start -> query__start, as the declaration writes it. */
static void put_c_name(dt_buf *b, const char *d_name)
{
	for (const char *p = d_name; *p; p++) {
		if (*p == '-')
			dt_buf_puts(b, "__");
		else
			dt_buf_putc(b, *p == '.' ? '_' : *p);
	}
}

/* query-start -> QUERY_START */
static void put_macro_name(dt_buf *b, const char *d_name)
{
	for (const char *p = d_name; *p; p++)
		dt_buf_putc(b, *p == '-' || *p == '.' ? '_' : (char)toupper((unsigned char)*p));
}

/* ---- arguments ---- */

/* The C type for an argument, or NULL if there is none. *size: as in the note, negative if signed. */
static const char *carrier(dtrace_hdl_t *h, dt_type *t, int *size)
{
	static const char *const by_size[2][9] = {
	    {[1] = "unsigned char",
	     [2] = "unsigned short",
	     [4] = "unsigned int",
	     [8] = "unsigned long long"},
	    {[1] = "signed char", [2] = "short", [4] = "int", [8] = "long long"},
	};
	bool sign = dt_type_is_signed(t);
	uint64_t n = dt_type_size(h->types, t);

	if (dt_type_is_pointer(t) || dt_type_is_array(t) || dt_type_is_string(t)) {
		*size = 8;
		return "const volatile void *";
	}
	if (!dt_type_is_integer(t) || n > 8 || !by_size[sign][n])
		return NULL;
	*size = sign ? -(int)n : (int)n;
	return by_size[sign][n];
}

static bool has_pointer(const dt_provider_probe *pr)
{
	for (uint32_t i = 0; i < pr->nnative; i++)
		if (!dt_type_is_integer(pr->native[i]))
			return true;
	return false;
}

static int check_args(dtrace_hdl_t *h, const dt_provider_decl *pv, const dt_provider_probe *pr)
{
	int size;

	if (pr->nnative > MAX_ARGS)
		return dt_session_err(
		    h, EDT_COMPILER, "probe %s:::%s has %u arguments; a header can pass at most %d",
		    pv->name, pr->name, pr->nnative, MAX_ARGS);
	for (uint32_t i = 0; i < pr->nnative; i++)
		if (!carrier(h, pr->native[i], &size))
			return dt_session_err(
			    h, EDT_COMPILER,
			    "argument %u of probe %s:::%s is of type %s; a header can "
			    "pass integers and pointers only",
			    i + 1, pv->name, pr->name, dt_type_name(h->types, pr->native[i]));
	return 0;
}

static void put_formals(dt_buf *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		dt_buf_printf(b, "%sarg%u", i ? ", " : "", i);
}

static void put_params(dtrace_hdl_t *h, dt_buf *b, const dt_provider_probe *pr)
{
	int size;

	for (uint32_t i = 0; i < pr->nnative; i++) {
		const char *c = carrier(h, pr->native[i], &size);

		dt_buf_printf(b, "%s%s%sarg%u", i ? ", " : "", c, strchr(c, '*') ? "" : " ", i);
	}
	if (pr->nnative == 0)
		dt_buf_puts(b, "void");
}

/* "-4@%0 8@%1" */
static void put_note_args(dtrace_hdl_t *h, dt_buf *b, const dt_provider_probe *pr)
{
	int size;

	for (uint32_t i = 0; i < pr->nnative; i++) {
		carrier(h, pr->native[i], &size);
		dt_buf_printf(b, "%s%d@%%%u", i ? " " : "", size, i);
	}
}

/* ---- one probe ---- */

struct names {
	dt_buf prov, probe, macro; /* myserv, query__start, MYSERV_QUERY_START */
};

/* The declaration as the user wrote it, for the reader of the header. */
static void put_comment(dtrace_hdl_t *h, dt_buf *b, const dt_provider_decl *pv,
			const dt_provider_probe *pr)
{
	dt_buf_printf(b, "/* %s:::%s(", pv->name, pr->name);
	for (uint32_t i = 0; i < pr->nnative; i++) {
		const char *name = pr->native_names ? pr->native_names[i] : NULL;

		dt_buf_puts(b, i ? ", " : "");
		dt_type_print(h->types, pr->native[i], name, b);
	}
	dt_buf_puts(b, ") */\n");
}

static void put_site(dtrace_hdl_t *h, dt_buf *b, const struct names *n, const dt_provider_probe *pr)
{
	const char *prov = n->prov.s, *probe = n->probe.s;

	dt_buf_printf(b, "_DTRACE_SEMAPHORE %s_%s_semaphore;\n", prov, probe);
	dt_buf_printf(b, "_DTRACE_INLINE int __dtraceenabled_%s___%s(void)\n{\n", prov, probe);
	dt_buf_printf(b,
		      "\treturn __builtin_expect(*(volatile unsigned short *)&%s_%s_semaphore, 0) "
		      "!= 0;\n}\n",
		      prov, probe);
	dt_buf_printf(b, "_DTRACE_INLINE void __dtrace_%s___%s(", prov, probe);
	put_params(h, b, pr);
	dt_buf_printf(b,
		      ")\n{\n\tif (!__dtraceenabled_%s___%s())\n\t\treturn;\n\t_dtrace_calls();\n",
		      prov, probe);
	dt_buf_printf(b, "\t__asm__ __volatile__(_DTRACE_SITE(\"%s\", \"%s\", \"", prov, probe);
	put_note_args(h, b, pr);
	dt_buf_puts(b, "\")");
	dt_buf_puts(b, pr->nnative ? "\n\t\t: : " : " : : ");
	for (uint32_t i = 0; i < pr->nnative; i++)
		dt_buf_printf(b, "%s\"nor\"(arg%u)", i ? ", " : "", i);
	/* memory that a pointer refers to must be written before, or a tracer would read old bytes */
	if (has_pointer(pr))
		dt_buf_puts(b, " : \"memory\"");
	dt_buf_puts(b, ");\n}\n");
	dt_buf_printf(b, "#define %s(", n->macro.s);
	put_formals(b, pr->nnative);
	dt_buf_printf(b, ") \\\n\t__dtrace_%s___%s(", prov, probe);
	put_formals(b, pr->nnative);
	dt_buf_puts(b, ")\n");
	dt_buf_printf(b, "#define %s_ENABLED() \\\n\t__dtraceenabled_%s___%s()\n", n->macro.s, prov,
		      probe);
}

static void put_empty(dt_buf *b, const struct names *n, const dt_provider_probe *pr)
{
	dt_buf_printf(b, "#define %s(", n->macro.s);
	put_formals(b, pr->nnative);
	dt_buf_puts(b, ") do { if (0) {");
	for (uint32_t i = 0; i < pr->nnative; i++)
		dt_buf_printf(b, " (void)(arg%u);", i);
	dt_buf_puts(b, " } } while (0)\n");
	dt_buf_printf(b, "#define %s_ENABLED() (0)\n", n->macro.s);
}

static int put_probe(dtrace_hdl_t *h, dt_buf *b, const dt_provider_decl *pv,
		     const dt_provider_probe *pr)
{
	struct names n = {0};

	if (check_args(h, pv, pr) < 0)
		return -1;
	put_c_name(&n.prov, pv->name);
	put_c_name(&n.probe, pr->name);
	put_macro_name(&n.macro, pv->name);
	dt_buf_putc(&n.macro, '_');
	put_macro_name(&n.macro, pr->name);
	put_comment(h, b, pv, pr);
	dt_buf_puts(b, "#if _DTRACE_SITES\n");
	put_site(h, b, &n, pr);
	dt_buf_puts(b, "#else\n");
	put_empty(b, &n, pr);
	dt_buf_puts(b, "#endif\n");
	dt_buf_free(&n.prov);
	dt_buf_free(&n.probe);
	dt_buf_free(&n.macro);
	return 0;
}

int dtrace_header(dtrace_hdl_t *h, const dtrace_prog_t *p, FILE *out)
{
	const struct dt_arch_site *site = &dt_arch_host()->site;
	dt_buf b = {0};
	int rc = 0;

	dt_buf_printf(&b, "/* Generated by dtrace -h from %s. Do not edit. */\n\n",
		      p->name ? p->name : "a program");
	dt_buf_printf(&b, prelude, site->condition, site->what, site->text);
	for (uint32_t i = 0; i < p->nproviders && rc == 0; i++) {
		const dt_provider_decl *pv = &p->providers[i];

		dt_buf_printf(&b, "#ifndef _DTRACE_PROVIDER_%s\n#define _DTRACE_PROVIDER_%s\n\n",
			      pv->name, pv->name);
		for (uint32_t j = 0; j < pv->nprobes && rc == 0; j++) {
			rc = put_probe(h, &b, pv, &pv->probes[j]);
			dt_buf_putc(&b, '\n');
		}
		dt_buf_printf(&b, "#endif /* _DTRACE_PROVIDER_%s */\n", pv->name);
	}
	dt_buf_puts(&b, epilogue);
	if (rc == 0)
		fwrite(b.s, 1, b.n, out);
	dt_buf_free(&b);
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = dt_session_err(h, EDT_FIO, "failed to write the header");
	return rc;
}
