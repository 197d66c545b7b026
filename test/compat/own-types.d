// run: -q
/* A script's own definitions of names in libraries take precedence. */
typedef enum { B_FALSE, B_TRUE } boolean_t;
typedef struct timespec { int32_t tv_sec; int32_t tv_nsec; } timespec_t;
inline int S_IFMT = 1;
int PROT_READ;

BEGIN
{
	PROT_READ = 7;
	printf("%d %d %d %d\n", (boolean_t)B_TRUE, sizeof (timespec_t), S_IFMT, PROT_READ);
	R_OK = 3;
	printf("%d\n", R_OK);
	exit(0);
}
