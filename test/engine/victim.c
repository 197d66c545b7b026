/*
 * victim: a target for destructive actions. Each of these system calls is a place for one:
 *
 *	write of "unchanged" to a pipe: it prints what the buffer and the pipe hold afterwards
 *	getuid: it prints how many SIGUSR1 it got;  getppid: nothing;  then it prints "end"
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	signals += sig == SIGUSR1;
}

int main(void)
{
	char text[32] = "unchanged", back[32] = "";
	int fds[2];

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGUSR1, on_signal);
	if (pipe(fds) < 0 || write(fds[1], text, sizeof(text)) < 0 || read(fds[0], back, sizeof(back)) < 0)
		return 1;
	printf("buffer %s, pipe %s\n", text, back);
	syscall(SYS_getuid);
	printf("signals %d\n", (int)signals);
	syscall(SYS_getppid);
	puts("end");
	return 0;
}
