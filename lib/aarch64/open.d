/*
 * open.d: flags of open(2) that differ by CPU; the others are in unistd.d.
 */

inline int O_DIRECT = 0200000;
inline int O_LARGEFILE = 0400000; /* the kernel's value; in libc it is 0 */
inline int O_DIRECTORY = 040000;
inline int O_NOFOLLOW = 0100000;
inline int O_TMPFILE = 020040000;
