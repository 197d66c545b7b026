/* faults N: between two getpgid(), touch N new pages and sleep N times; print how many faults and
 * context switches getrusage() counted meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100, page = sysconf(_SC_PAGESIZE);
	struct timespec nap = {0, 1000};
	struct rusage a, b;
	char *p = mmap(NULL, (size_t)(n * page), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	madvise(p, (size_t)(n * page), MADV_NOHUGEPAGE);
	nanosleep(&nap, NULL);
	getrusage(RUSAGE_SELF, &b);
	syscall(SYS_getpgid, 0);
	getrusage(RUSAGE_SELF, &a);
	for (long i = 0; i < n; i++)
		p[i * page] = 1;
	for (long i = 0; i < n; i++)
		nanosleep(&nap, NULL);
	getrusage(RUSAGE_SELF, &b);
	syscall(SYS_getpgid, 0);
	printf("faults %ld switches %ld\n", b.ru_minflt + b.ru_majflt - a.ru_minflt - a.ru_majflt,
	       b.ru_nvcsw + b.ru_nivcsw - a.ru_nvcsw - a.ru_nivcsw);
	return 0;
}
