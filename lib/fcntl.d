/*
 * fcntl.d: arguments of access(2), lseek(2) and fcntl(2). Flags of open(2) are in unistd.d.
 *
 *    syscall::lseek:entry /arg2 == SEEK_END/ { @[execname, fds[arg0].fi_pathname] = count(); }
 */

/* access(2) */
inline int F_OK = 0;
inline int X_OK = 1;
inline int W_OK = 2;
inline int R_OK = 4;

/* lseek(2) */
inline int SEEK_SET = 0;
inline int SEEK_CUR = 1;
inline int SEEK_END = 2;
inline int SEEK_DATA = 3;
inline int SEEK_HOLE = 4;

/* fcntl(2) */
inline int F_DUPFD = 0;
inline int F_GETFD = 1;
inline int F_SETFD = 2;
inline int F_GETFL = 3;
inline int F_SETFL = 4;
inline int F_GETLK = 5;
inline int F_SETLK = 6;
inline int F_SETLKW = 7;
inline int F_DUPFD_CLOEXEC = 1030;
inline int FD_CLOEXEC = 1;
