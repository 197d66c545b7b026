/*
 * stat.d: file modes, as chmod(2), mkdir(2), mknod(2) and i_mode of an inode have them.
 *
 *    syscall::fchmodat:entry /arg2 & (S_ISUID | S_ISGID)/ { printf("%s %o\n", execname, arg2); }
 *    fbt::vfs_write:entry { @[(args[0]->f_inode->i_mode & S_IFMT) == S_IFREG ? "file" : "other"] = count(); }
 */

/* kinds of files */
inline int S_IFMT = 0170000;	/* the bits that say it */
inline int S_IFIFO = 0010000;
inline int S_IFCHR = 0020000;
inline int S_IFDIR = 0040000;
inline int S_IFBLK = 0060000;
inline int S_IFREG = 0100000;
inline int S_IFLNK = 0120000;
inline int S_IFSOCK = 0140000;

/* permissions */
inline int S_ISUID = 04000;
inline int S_ISGID = 02000;
inline int S_ISVTX = 01000;
inline int S_IRWXU = 0700;
inline int S_IRUSR = 0400;
inline int S_IWUSR = 0200;
inline int S_IXUSR = 0100;
inline int S_IRWXG = 0070;
inline int S_IRGRP = 0040;
inline int S_IWGRP = 0020;
inline int S_IXGRP = 0010;
inline int S_IRWXO = 0007;
inline int S_IROTH = 0004;
inline int S_IWOTH = 0002;
inline int S_IXOTH = 0001;
