/*
 * addresses MODE...: shows addresses to a tracer, each as the first argument of getppid().
 *
 *   own       a global and a static function, two variables, each a few bytes in
 *   libc      a function of libc
 *   lib PATH  the function library_function of a library that is opened and closed again
 *   open PATH the same, but it is not closed
 *   vdso      its first byte
 *   none      the stack, unmapped memory
 *   jit       anonymous memory that is named in /tmp/perf-PID.map, and named later, and not named
 *   fork N    N children that show the global function and end
 *   exec ...  runs that instead
 *   say TEXT  a line on standard output
 *   wait FD   for end of file on a descriptor
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int global_data[16];
static int static_data[16] = {1};

static void show(const void *p, long in)
{
	syscall(SYS_getppid, (const char *)p + in);
}

__attribute__((noinline, noclone)) static int static_function(int n)
{
	return n * 3 + static_data[n & 15];
}

__attribute__((noinline, noclone)) int global_function(int n)
{
	return static_function(n) + static_function(n + 1) + global_data[n & 15];
}

static void own(void)
{
	show((const void *)global_function, 4);
	show((const void *)static_function, 2);
	show(global_data, 8);
	show(static_data, 0);
}

#ifdef STATIC
#define dlopen(path, flags) ((void)(path), NULL)
#define dlerror()	    "a static program"
#endif
static void library(const char *path, int close)
{
	void *h = dlopen(path, RTLD_NOW);

	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	show(dlsym(h, "library_function"), 1);
	if (close)
		dlclose(h);
}

static void jit(void)
{
	char path[64], *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f || code == MAP_FAILED)
		exit(1);
	fprintf(f, "%lx 40 compiled function\n", (long)code);
	fflush(f);
	show(code, 5);
	fprintf(f, "%lx 10 compiled later\n", (long)code + 0x100);
	fclose(f);
	show(code, 0x100);
	show(code, 0x800);
}

static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			show((const void *)global_function, 0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void wait_for(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	char byte;

	for (int i = 1; i < argc; i++) {
		const char *mode = argv[i];

		if (strcmp(mode, "own") == 0)
			own();
		else if (strcmp(mode, "libc") == 0)
			show(dlsym(RTLD_DEFAULT, "l64a"), 3);
		else if (strcmp(mode, "lib") == 0 && i + 1 < argc)
			library(argv[++i], 1);
		else if (strcmp(mode, "open") == 0 && i + 1 < argc)
			library(argv[++i], 0);
		else if (strcmp(mode, "vdso") == 0)
			show((void *)getauxval(AT_SYSINFO_EHDR), 0);
		else if (strcmp(mode, "none") == 0)
			show(&byte, 0), show(NULL, 0x10);
		else if (strcmp(mode, "jit") == 0)
			jit();
		else if (strcmp(mode, "fork") == 0 && i + 1 < argc)
			forks(atoi(argv[++i]));
		else if (strcmp(mode, "exec") == 0 && i + 1 < argc)
			execv(argv[i + 1], argv + i + 1);
		else if (strcmp(mode, "say") == 0 && i + 1 < argc)
			puts(argv[++i]), fflush(stdout);
		else if (strcmp(mode, "wait") == 0 && i + 1 < argc)
			wait_for(atoi(argv[++i]));
		else
			return 2;
	}
	return global_function(argc) == 12345;
}
