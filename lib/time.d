/*
 * time.d: times as programs pass them to system calls. The kernel has these structures under other
 * names.
 *
 *    syscall::clock_nanosleep:entry { trace(((userland struct timespec *)arg2)->tv_sec); }
 */
struct timespec {
	long tv_sec;
	long tv_nsec;
};

struct timeval {
	long tv_sec;
	long tv_usec;
};

struct itimerspec {
	struct timespec it_interval;
	struct timespec it_value;
};

struct itimerval {
	struct timeval it_interval;
	struct timeval it_value;
};
