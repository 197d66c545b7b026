// run: -q
/* The same if a library is loaded for another of its names. */
typedef enum { B_FALSE = 3, B_TRUE } boolean_t;
typedef int8_t off64_t;
typedef int8_t pri_t;
enum { SEEK_SET = 7, SEEK_CUR };
inline int O_RDONLY = 5;
int EPERM;

BEGIN
{
	EPERM = 77;
	printf("%d %d %d %d\n", B_TRUE, sizeof (boolean_t), sizeof (off64_t), sizeof (diskaddr_t)); /* solaris.d */
	printf("%d %d %d\n", SEEK_CUR, SEEK_SET, SEEK_END); /* fcntl.d */
	printf("%d %d\n", O_RDONLY, O_WRONLY); /* unistd.d */
	printf("%d %d\n", EPERM, ENOENT); /* errno.d */
	printf("%d %d\n", sizeof (pri_t), sizeof (curpsinfo->pr_pid)); /* procfs.d */
	exit(0);
}
