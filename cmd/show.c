/*
 * show: information about the command and this machine: the version, the options, --info, and first
 * commands.
 */
#include <errno.h>
#include <string.h>

#include "args.h"

/* Everything is printed; the status of the command. */
static int shown(void)
{
	if (fflush(stdout) == EOF || ferror(stdout)) {
		complain("failed to write output: %s", strerror(errno ? errno : EIO));
		return EXIT_FATAL;
	}
	return 0;
}

int show_version(void)
{
	printf("dtrace: Sun D %s\n", dtrace_version());
	return shown();
}

int show_options(void)
{
	for (int i = 0; dtrace_option_name(i); i++)
		printf("%-16s %s\n", dtrace_option_name(i), dtrace_option_help(i));
	return shown();
}

int show_tools(void)
{
	list_tools(stdout);
	return shown();
}

static int print_row(dtrace_hdl_t *h, const struct dtrace_inforow *r, void *arg)
{
	static const char *const words[] = {
	    [DTRACE_HAS_NO] = "no", [DTRACE_HAS_PARTLY] = "partly", [DTRACE_HAS_YES] = "yes"};

	(void)h;
	(void)arg;
	printf("%-24s %-6s %s\n", r->what, words[r->has], r->detail);
	if (*r->remedy)
		printf("%-24s %-6s -> %s\n", "", "", r->remedy);
	return 0;
}

int show_info(dtrace_hdl_t *h)
{
	if (dtrace_info(h, print_row, NULL) < 0)
		fatal_handle(h, "failed to examine this machine");
	return shown();
}

void show_first_steps(FILE *out)
{
	fputs("dtrace: trace the kernel and programs with D. To begin (as root):\n"
	      "\n"
	      "  dtrace -n 'syscall:::entry { @[execname] = count(); }'    system calls by program; "
	      "Ctrl-C ends\n"
	      "  dtrace -qn 'proc:::exec { printf(\"%s -> %s\\n\", execname, args[0]); }'    programs "
	      "started\n"
	      "  dtrace -n 'profile-997 { @[stack()] = count(); } tick-10s { exit(0); }'    where "
	      "the kernel spends time\n"
	      "  dtrace -n 'pid$target:libc.so.6:malloc:entry { @ = quantize(arg0); }' -c date    "
	      "inside a program\n"
	      "  dtrace -l -n 'syscall::open*:'    which probes there are\n"
	      "  dtrace --info                     what can be traced on this machine\n"
	      "  dtrace --tools                    scripts for many questions: dtrace -s opensnoop\n"
	      "  dtrace --help                     all flags; --options: options of -x; man "
	      "dtrace: everything\n",
	      out);
}
