/*
 * text: the writer that prints as DTrace does. Scripts rely on columns and blanks: never change
 * them.
 *
 *	CPU     ID                    FUNCTION:NAME
 *	  0      1                           :BEGIN   hello
 *
 * The header is printed once, before the first record; quiet suppresses header and columns and
 * leaves the bare values. With flowindent (-F) the columns are CPU and the indented flow, also
 * when quiet. Options are read for every record, because setopt() may change them.
 */
#include <stdlib.h>

#include "consume/writer.h"

struct dt_writer {
	const struct dt_consumer_env *env;
	dt_buf out;
	bool head_done;
	bool quiet, flow; /* as of the current record */
};

/* ---- values ---- */

void dt_text_int(dt_buf *out, const dt_value *v, bool quiet)
{
	size_t width = v->size == 8 ? 16 : v->size == 4 ? 8 : v->size == 2 ? 5 : 3;

	if (!quiet)
		dt_buf_putc(out, ' ');
	/* Narrow integers print without sign, as in DTrace: (char)-1 is 255. */
	if (v->size < 4 || !v->is_signed)
		dt_buf_put_int(out, dt_value_unsigned(v), false, quiet ? 0 : width);
	else
		dt_buf_put_int(out, v->u, true, quiet ? 0 : width);
}

void dt_text_hexdump(dt_buf *out, const void *p, size_t n)
{
	const unsigned char *b = p;

	dt_buf_puts(out, "\n           ");
	for (int i = 0; i < 16; i++)
		dt_buf_printf(out, "  %x", i);
	dt_buf_puts(out, "  0123456789abcdef\n");
	for (size_t at = 0; at < n; at += 16) {
		size_t row = n - at < 16 ? n - at : 16;

		dt_buf_printf(out, "     %5zx:", at);
		for (size_t i = 0; i < 16; i++) {
			if (i < row)
				dt_buf_printf(out, " %02x", b[at + i]);
			else
				dt_buf_puts(out, "   ");
		}
		dt_buf_puts(out, "  ");
		for (size_t i = 0; i < row; i++)
			dt_buf_putc(out,
				    b[at + i] >= ' ' && b[at + i] <= '~' ? (char)b[at + i] : '.');
		dt_buf_putc(out, '\n');
	}
}

static bool is_printable(unsigned char c)
{
	return (c >= ' ' && c <= '~') || (c >= '\a' && c <= '\r'); /* \a \b \t \n \v \f \r */
}

/* Printable up to a NUL with only NULs after it? Then *len is where it ends. */
static bool is_text(const unsigned char *p, size_t n, size_t *len)
{
	size_t i = 0;

	while (i < n && is_printable(p[i]))
		i++;
	*len = i;
	while (i < n && p[i] == '\0')
		i++;
	return i == n;
}

void dt_text_bytes(dt_buf *out, const dt_value *v, int width, bool quiet, bool force_dump)
{
	unsigned char *whole;
	size_t len;

	if (!force_dump && is_text(v->data, v->size, &len)) {
		dt_buf_puts(out, quiet ? "" : "  ");
		dt_buf_add(out, v->data, len);
		for (size_t i = len; !quiet && i < (size_t)width; i++)
			dt_buf_putc(out, ' ');
		return;
	}
	if (v->full <= v->size) {
		dt_text_hexdump(out, v->data, v->size);
		return;
	}
	/* A string shows all of its type's bytes, though the record may have left out the NULs. */
	whole = dt_xcalloc(1, v->full);
	memcpy(whole, v->data, v->size);
	dt_text_hexdump(out, whole, v->full);
	free(whole);
}

void dt_text_guard(dt_buf *out, size_t from, const struct dt_consumer_env *env)
{
	if (out->n > from && env->terminal && !dt_opt(env->opts, DT_O_RAWOUTPUT))
		dt_make_safe(out->s + from, out->n - from, true);
}

/* ---- addresses ---- */

void dt_text_frame(dt_buf *out, const dt_frame *f)
{
	if (f->mod && f->sym)
		dt_buf_printf(out, "%s`%s", f->mod, f->sym);
	else if (f->sym)
		dt_buf_puts(out, f->sym);
	else if (f->mod)
		dt_buf_printf(out, "%s`0x%llx", f->mod, (unsigned long long)f->pc);
	else
		dt_buf_printf(out, "0x%llx", (unsigned long long)f->pc);
	if (f->sym && f->off)
		dt_buf_printf(out, "+0x%llx", (unsigned long long)f->off);
}

void dt_text_symbol(dt_buf *out, const dt_value *v, const struct dt_consumer_env *env)
{
	bool module = v->act == DT_ACT_MOD || v->act == DT_ACT_UMOD;
	dt_frame f;

	dt_symbolise(env, v, 0, &f);
	if (module && f.mod) {
		dt_buf_puts(out, f.mod);
		return;
	}
	if (module)
		f.sym = NULL;
	if (v->act != DT_ACT_UADDR)
		f.off = 0;
	dt_text_frame(out, &f);
}

/* A frame of a stack, by options stackoffsets and ustackmerge. */
static void put_frame(dt_buf *out, const dt_value *v, dt_frame *f,
		      const struct dt_consumer_env *env)
{
	bool user = dt_act(v->act)->payload == DT_PAYLOAD_USTACK;

	if (f->sym && !dt_opt(env->opts, DT_O_STACKOFFSETS))
		f->off = 0;
	if (user && !f->sym && f->mod && f->off && dt_opt(env->opts, DT_O_USTACKMERGE))
		dt_buf_printf(out, "%s+0x%llx", f->mod, (unsigned long long)f->off);
	else
		dt_text_frame(out, f);
}

void dt_text_stack(dt_buf *out, const dt_value *v, int indent, const struct dt_consumer_env *env)
{
	size_t at = 0;

	dt_buf_putc(out, '\n');
	for (uint32_t i = 0; i < v->nframes; i++) {
		const char *helper = dt_value_helper(v, &at);
		size_t from = out->n;
		dt_frame f;

		dt_symbolise(env, v, i, &f);
		dt_buf_printf(out, "%*s", indent, "");
		if (!f.sym && helper[0] && helper[0] != '@')
			dt_buf_puts(out, helper);
		else
			put_frame(out, v, &f, env);
		dt_buf_putc(out, '\n');
		if (helper[0] == '@' && helper[1])
			dt_buf_printf(out, "%*s  [ %s ]\n", indent, "", helper + 1);
		dt_make_safe(out->s + from, out->n - from, true);
	}
}

/* ---- the writer ---- */

static dt_writer *text_open(const struct dt_consumer_env *env)
{
	dt_writer *w = dt_xcalloc(1, sizeof(*w));

	w->env = env;
	return w;
}

static void text_close(dt_writer *w)
{
	dt_buf_free(&w->out);
	free(w);
}

static void put_flow(dt_writer *w, const dt_record_event *r)
{
	bool syscall = strcmp(r->probe->prov, "syscall") == 0;
	dt_buf b = {0};

	dt_buf_printf(&b, "%*s", (int)r->flow.indent, "");
	if (r->flow.kind == DT_FLOW_NONE)
		dt_buf_printf(&b, "| %s:%s", r->probe->func, r->probe->name);
	else if (r->flow.kind == DT_FLOW_ENTRY)
		dt_buf_printf(&b, "%s%s", syscall ? " => " : " -> ", r->probe->func);
	else
		dt_buf_printf(&b, "%s%s", syscall ? " <= " : " <- ", r->probe->func);
	dt_buf_printf(&w->out, "%3u %-41s ", r->cpu, b.s);
	dt_buf_free(&b);
}

static void put_head(dt_writer *w)
{
	if (w->flow)
		dt_buf_printf(&w->out, "%3s %-41s\n", "CPU", "FUNCTION");
	else
		dt_buf_printf(&w->out, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
	w->head_done = true;
}

/* "%3u %6u %32s " */
static void put_probe(dt_buf *out, uint32_t cpu, const dt_probe *p)
{
	size_t func = strlen(p->func), name = strlen(p->name), n = func + 1 + name;

	dt_buf_put_int(out, cpu, false, 3);
	dt_buf_putc(out, ' ');
	dt_buf_put_int(out, p->id, false, 6);
	dt_buf_pad(out, ' ', 1 + (n < 32 ? 32 - n : 0));
	dt_buf_add(out, p->func, func);
	dt_buf_putc(out, ':');
	dt_buf_add(out, p->name, name);
	dt_buf_putc(out, ' ');
}

static void text_record_begin(dt_writer *w, const dt_record_event *r)
{
	w->quiet = dt_opt(w->env->opts, DT_O_QUIET);
	w->flow = dt_opt(w->env->opts, DT_O_FLOWINDENT);
	if (!w->head_done && (w->flow || !w->quiet))
		put_head(w);
	if (w->flow) {
		put_flow(w, r);
	} else if (!w->quiet) {
		put_probe(&w->out, r->cpu, r->probe);
	}
}

static void text_record_end(dt_writer *w)
{
	if (w->flow || !w->quiet)
		dt_buf_putc(&w->out, '\n');
}

static void text_stack(dt_writer *w, const dt_value *v)
{
	dt_text_stack(&w->out, v, (int)dt_opt(w->env->opts, DT_O_STACKINDENT), w->env);
}

static void text_symbol(dt_writer *w, const dt_value *v)
{
	dt_buf b = {0};

	dt_text_symbol(&b, v, w->env);
	dt_buf_printf(&w->out, "  %-50s", b.s); /* also in quiet mode */
	dt_buf_free(&b);
}

/* A struct as large as an integer prints as one, as in DTrace. */
static bool small_struct(const dt_value *v, dt_value *number)
{
	const dt_type *t = v->type ? dt_type_resolve(v->type) : NULL;

	if (v->kind != DT_V_BYTES || !t || (t->kind != DT_K_STRUCT && t->kind != DT_K_UNION) ||
	    (v->size != 1 && v->size != 2 && v->size != 4 && v->size != 8))
		return false;
	*number = (dt_value){.kind = DT_V_INT, .is_signed = true, .data = v->data, .size = v->size};
	number->u = dt_load_int(v->data, v->size, true);
	return true;
}

static void text_trace(dt_writer *w, const dt_value *v)
{
	bool raw = dt_opt(w->env->opts, DT_O_RAWBYTES);
	size_t from = w->out.n;
	dt_value number;

	switch (v->kind) {
	case DT_V_NONE: break;
	case DT_V_INT: dt_text_int(&w->out, v, w->quiet); break;
	case DT_V_FLOAT:
		dt_buf_printf(&w->out, w->quiet ? "%Lg" : " %16Lg", dt_value_long_double(v));
		break;
	case DT_V_STRING:
	case DT_V_BYTES:
		if (!small_struct(v, &number)) {
			dt_text_bytes(&w->out, v, 33, w->quiet, raw);
			dt_text_guard(&w->out, from, w->env);
		} else
			dt_text_int(&w->out, &number, w->quiet);
		break;
	case DT_V_STACK: text_stack(w, v); break;
	case DT_V_SYMBOL: text_symbol(w, v); break;
	}
}

static void text_print(dt_writer *w, const dt_value *v, dt_type *type)
{
	if (v->kind != DT_V_NONE)
		dt_text_print(&w->out, w->env->types, type, v->data, v->size, w->env);
}

static void text_memory(dt_writer *w, const dt_value *v)
{
	dt_text_hexdump(&w->out, v->data, v->size);
}

static void text_printf(dt_writer *w, const char *text, size_t len, const struct dt_format *f,
			const dt_value *args, uint32_t nargs)
{
	(void)f;
	(void)args;
	(void)nargs;
	dt_buf_add(&w->out, text, len);
}

static int text_aggs(dt_writer *w, const dt_aggtable *t, dt_error *err)
{
	return dt_text_aggs(&w->out, t, w->env, err);
}

static void text_exit_begin(dt_writer *w)
{
	dt_buf_putc(&w->out, '\n');
}

static dt_buf *text_output(dt_writer *w)
{
	return &w->out;
}

const struct dt_writer_ops dt_writer_text = {
    .name = "text",
    .flags = DT_WRITER_PLAIN,
    .open = text_open,
    .close = text_close,
    .record_begin = text_record_begin,
    .trace = text_trace,
    .print = text_print,
    .memory = text_memory,
    .stack = text_stack,
    .symbol = text_symbol,
    .printf = text_printf,
    .aggs = text_aggs,
    .exit_begin = text_exit_begin,
    .record_end = text_record_end,
    .output = text_output,
};
