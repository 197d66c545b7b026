/*
 * unistd.d: flags of open(2) and the *at() calls, and the fault codes of dtrace:::ERROR.
 *
 *    syscall::openat:entry /arg2 & O_CREAT/ { printf("%s creates %s\n", execname, copyinstr(arg1)); }
 *    dtrace:::ERROR /arg4 == DTRACEFLT_DIVZERO/ { exit(1); }
 */

/* open(2) */
inline int O_RDONLY = 0;
inline int O_WRONLY = 01;
inline int O_RDWR = 02;
inline int O_ACCMODE = 03;
inline int O_CREAT = 0100;
inline int O_EXCL = 0200;
inline int O_NOCTTY = 0400;
inline int O_TRUNC = 01000;
inline int O_APPEND = 02000;
inline int O_NDELAY = 04000;
inline int O_NONBLOCK = 04000;
inline int O_DSYNC = 010000;
inline int O_ASYNC = 020000;
inline int O_NOATIME = 01000000;
inline int O_CLOEXEC = 02000000;
inline int O_FSYNC = 04010000;
inline int O_RSYNC = 04010000;
inline int O_SYNC = 04010000;
inline int O_PATH = 010000000;
/* those that differ by CPU: open.d in the folder of the CPU */

/* *at() calls */
inline int AT_FDCWD = -100;
inline int AT_SYMLINK_NOFOLLOW = 0x100;
inline int AT_REMOVEDIR = 0x200;
inline int AT_EACCESS = 0x200;
inline int AT_SYMLINK_FOLLOW = 0x400;
inline int AT_NO_AUTOMOUNT = 0x800;
inline int AT_EMPTY_PATH = 0x1000;
inline int AT_RECURSIVE = 0x8000;

/* arg4 of dtrace:::ERROR */
inline int DTRACEFLT_UNKNOWN = 0;
inline int DTRACEFLT_BADADDR = 1;
inline int DTRACEFLT_BADALIGN = 2;
inline int DTRACEFLT_ILLOP = 3;
inline int DTRACEFLT_DIVZERO = 4;
inline int DTRACEFLT_NOSCRATCH = 5;
inline int DTRACEFLT_KPRIV = 6;
inline int DTRACEFLT_UPRIV = 7;
inline int DTRACEFLT_TUPOFLOW = 8;
inline int DTRACEFLT_BADSTACK = 9;
inline int DTRACEFLT_LOOPMAX = 10;
inline int DTRACEFLT_LIBRARY = 1000;
