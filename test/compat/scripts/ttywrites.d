#!/usr/sbin/dtrace -s
// run: -e
// needs: root bpf btf
/*
 * ttywrites.d: what is written to terminals, by process and terminal.
 */
#pragma D option quiet
#pragma D option strsize=128

this caddr_t buf;
this string text;

syscall::write:entry
/arg0 <= 2 && fds[arg0].fi_dirname == "/dev/pts" && arg2 > 0/
{
	this->buf = (caddr_t)copyin(arg1, arg2 < 64 ? arg2 : 64);
	this->text = stringof(this->buf);
	printf("%-16s %-10s %4d %s\n", execname, fds[arg0].fi_name, arg2, this->text);
	@bytes[execname, getminor(curpsinfo->pr_ttydev)] = sum(arg2);
}

syscall::writev:entry
/arg0 <= 2 && fds[arg0].fi_dirname == "/dev/pts"/
{
	@parts[execname] = quantize(arg2);
}

END
{
	printa("%-16s terminal %d: %@d bytes\n", @bytes);
	printa(@parts);
}
