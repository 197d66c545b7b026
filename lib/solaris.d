/*
 * solaris.d: types that scripts from Solaris and illumos name, most of them in casts. Other such names are built in
 * (caddr_t, hrtime_t, uint_t) or belong to a subject (offset_t: files.d, pri_t: procfs.d).
 *
 *    syscall::unlink*:return { printf("%s %s\n", execname, (boolean_t)(errno == 0) == B_TRUE ? "gone" : "still there"); }
 */
#pragma D depends_on library time.d

typedef enum boolean {
	B_FALSE = 0,
	B_TRUE = 1
} boolean_t;

typedef struct timespec timespec_t;

typedef int64_t off64_t;
typedef uint64_t u_offset_t;
typedef uint64_t ino64_t;
typedef uint64_t blkcnt64_t;
typedef uint64_t rlim_t;
typedef uint64_t rlim64_t;
typedef uint64_t diskaddr_t;	/* a block of a disk */
typedef uint64_t pfn_t;		/* number of a page of memory */
typedef uint64_t pgcnt_t;
typedef int64_t spgcnt_t;
typedef int16_t index_t;
typedef uint32_t socklen_t;
