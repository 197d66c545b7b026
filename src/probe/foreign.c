/*
 * foreign: descriptions in the words of bpftrace, and what D says instead.
 *
 * A table of its probe types: how the parts after the type are put into a description of ours. It is asked only when
 * nothing matched, so a provider of such a name would win.
 */
#include "probe/probe.h"

/* Pieces of the answer: "%1" and "%2" are the first and second part after the type, "%s" the system call in the second. */
static const struct foreign {
	const char *type;
	uint32_t nparts;
	const char *begins; /* what the last part begins with; "": anything */
	const char *answer;
} table[] = {
    {"kprobe", 1, "", "fbt::%1:entry"},
    {"kretprobe", 1, "", "fbt::%1:return"},
    {"kfunc", 1, "", "fbt::%1:entry"},
    {"kretfunc", 1, "", "fbt::%1:return"},
    {"fentry", 1, "", "fbt::%1:entry"},
    {"fexit", 1, "", "fbt::%1:return"},
    {"tracepoint", 2, "sys_enter_", "syscall::%s:entry"},
    {"tracepoint", 2, "sys_exit_", "syscall::%s:return"},
    {"tracepoint", 2, "sys_enter", "syscall:::entry"},
    {"tracepoint", 2, "sys_exit", "syscall:::return"},
    {"tracepoint", 2, "", "sdt:%1::%2"},
    {"rawtracepoint", 1, "", "sdt:::%1"},
    {"uprobe", 2, "", "pid$target:%1:%2:entry"},
    {"uretprobe", 2, "", "pid$target:%1:%2:return"},
    {"profile", 2, "", "profile-%2%1"},
    {"interval", 2, "", "tick-%2%1"},
};

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static void compose(const struct foreign *f, const char *const *part, dt_buf *out)
{
	for (const char *p = f->answer; *p; p++) {
		if (*p != '%')
			dt_buf_putc(out, *p);
		else if (*++p == 's')
			dt_buf_puts(out, after(part[1], f->begins));
		else
			dt_buf_puts(out, part[*p - '1']);
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

		if (strcmp(part[0], f->type) != 0 || n != f->nparts + 1 ||
		    !after(part[n - 1], f->begins))
			continue;
		compose(f, part + 1, out);
		return true;
	}
	return false;
}
