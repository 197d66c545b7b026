/*
 * foreign: descriptions in the syntax of bpftrace, and the same in D.
 *
 * A table of its probe types: how the parts after the type are put into a description of ours. It is asked only when
 * nothing matched, so a provider of such a name would win.
 */
#include <stdlib.h>

#include "probe/probe.h"

/*
 * Pieces of the answer, of the parts after the type, which are counted from 1:
 *
 *	%1 %2 %3	a part
 *	%s		the last one, without what it begins with
 *	%f %o		the function and the offset of a last part "f+0x1c" or "f+28"
 *	%b		the base name of the first
 *	%n		the last one with "-" for "__", as D has names of static probes
 */
static const struct foreign {
	const char *type, *brief; /* brief: its short form */
	uint32_t nparts;
	const char *begins; /* what the last part begins with; "": anything; "+": it has an offset */
	const char *answer;
} table[] = {
    {"kprobe", "k", 1, "+", "kinst::%f:%o"},
    {"kprobe", "k", 2, "", "fbt:%1:%2:entry"},
    {"kprobe", "k", 1, "", "fbt::%1:entry"},
    {"kretprobe", "kr", 1, "", "fbt::%1:return"},
    {"kretprobe", "kr", 2, "", "fbt:%1:%2:return"},
    {"kfunc", "f", 1, "", "fbt::%1:entry"},
    {"kfunc", "f", 2, "", "fbt:%1:%2:entry"},
    {"kretfunc", "fr", 1, "", "fbt::%1:return"},
    {"kretfunc", "fr", 2, "", "fbt:%1:%2:return"},
    {"fentry", "f", 1, "", "fbt::%1:entry"},
    {"fentry", "f", 2, "", "fbt:%1:%2:entry"},
    {"fexit", "fr", 1, "", "fbt::%1:return"},
    {"fexit", "fr", 2, "", "fbt:%1:%2:return"},
    {"tracepoint", "t", 2, "sys_enter_", "syscall::%s:entry"},
    {"tracepoint", "t", 2, "sys_exit_", "syscall::%s:return"},
    {"tracepoint", "t", 2, "sys_enter", "syscall:::entry"},
    {"tracepoint", "t", 2, "sys_exit", "syscall:::return"},
    {"tracepoint", "t", 2, "", "sdt:%1::%2"},
    {"rawtracepoint", "rt", 1, "", "sdt:::%1"},
    {"rawtracepoint", "rt", 2, "", "sdt:%1::%2"},
    {"uprobe", "u", 2, "+", "pid*:%1:%f:%o"},
    {"uprobe", "u", 2, "", "pid*:%1:%2:entry"},
    {"uprobe", "u", 3, "", "pid*:%1:%3:entry"}, /* 2: the language */
    {"uretprobe", "ur", 2, "", "pid*:%1:%2:return"},
    {"uretprobe", "ur", 3, "", "pid*:%1:%3:return"},
    {"usdt", "U", 3, "", "%2*:%b::%n"},
    {"usdt", "U", 2, "", "*:%b::%n"},
    {"profile", "p", 2, "", "profile-%2%1"},
    {"interval", "i", 2, "", "tick-%2%1"},
    {"software", "s", 2, "", "cpc:::%1-all-%2"},
    {"hardware", "h", 2, "", "cpc:::%1-all-%2"},
    {"software", "s", 1, "", "cpc:::%1-all-10000"},
    {"hardware", "h", 1, "", "cpc:::%1-all-1000000"},
};

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool fits(const struct foreign *f, const char *last)
{
	return *f->begins == '+' ? strchr(last, '+') != NULL : after(last, f->begins) != NULL;
}

static void put_name(dt_buf *out, const char *name)
{
	for (; *name; name++) {
		bool dash = name[0] == '_' && name[1] == '_';

		dt_buf_putc(out, dash ? '-' : *name);
		name += dash;
	}
}

static void put_piece(const struct foreign *f, char piece, const char *const *part, dt_buf *out)
{
	const char *last = part[f->nparts - 1], *slash = strrchr(part[0], '/');

	switch (piece) {
	case 's': dt_buf_puts(out, after(last, f->begins)); break;
	case 'f': dt_buf_printf(out, "%.*s", (int)strcspn(last, "+"), last); break;
	case 'o': dt_buf_printf(out, "%lx", strtoul(strchr(last, '+') + 1, NULL, 0)); break;
	case 'b': dt_buf_puts(out, slash ? slash + 1 : part[0]); break;
	case 'n': put_name(out, last); break;
	default: dt_buf_puts(out, part[piece - '1']); break;
	}
}

static void compose(const struct foreign *f, const char *const *part, dt_buf *out)
{
	for (const char *p = f->answer; *p; p++) {
		if (*p == '%')
			put_piece(f, *++p, part, out);
		else
			dt_buf_putc(out, *p);
	}
}

bool dt_probe_foreign(const dt_probedesc *d, dt_buf *out)
{
	const char *fields[] = {d->prov, d->mod, d->func, d->name}, *part[4];
	uint32_t n = 0;

	for (int i = 0; i < 4; i++)
		if (n || *fields[i])
			part[n++] = fields[i];
	for (size_t i = 0; n && i < DT_NELEM(table); i++) {
		const struct foreign *f = &table[i];

		if ((strcmp(part[0], f->type) != 0 && strcmp(part[0], f->brief) != 0) || n != f->nparts + 1 ||
		    !*part[1] || !*part[n - 1] || !fits(f, part[n - 1]))
			continue;
		compose(f, part + 1, out);
		return true;
	}
	return false;
}
