/*
 * fsinfo: operations of file systems as illumos counts them, each when it has ended: fsinfo:::read
 * and so on, with the file and a number: the bytes of read and write, otherwise 0. The functions
 * are those of vfs.c.
 */
#include "probe/providers/stable.h"

#define BYTES "(int64_t)arg1 > 0 ? arg1 : 0"

#define COUNTED(op, function, dentry, count)                                                       \
	{                                                                                          \
		op, .args = {{0, "struct dentry *", "fileinfo_t *"}, {1, "int64_t"}}, .sites = SITES( \
			AT(FUNC_ENTRY, function,                                                   \
			   .when = "(self->dt_fsinfo_" op " = (uint64_t)(" dentry "), 0)"),        \
			AT(FUNC_RETURN, function,                                                  \
			   .when = "(self->dt_fsinfo_done = self->dt_fsinfo_" op                   \
				   ", self->dt_fsinfo_" op " = 0, 1)",                             \
			   .arg = {"self->dt_fsinfo_done", count})                                 \
		)                                                                                  \
	}

static const dt_stable_probe rows[] = {
    COUNTED("open", "vfs_open", "args[0]->dentry", "0"),
    COUNTED("close", "__fput", "args[0]->f_path.dentry", "0"),
    COUNTED("read", "vfs_read", "args[0]->f_path.dentry", BYTES),
    COUNTED("write", "vfs_write", "args[0]->f_path.dentry", BYTES),
    COUNTED("fsync", "vfs_fsync_range", "args[0]->f_path.dentry", "0"),
    COUNTED("readdir", "iterate_dir", "args[0]->f_path.dentry", "0"),
    COUNTED("space", "vfs_fallocate", "args[0]->f_path.dentry", "0"),
    COUNTED("lookup", "__lookup_slow", "args[1]", "0"),
    COUNTED("create", "security_inode_create", "args[1]", "0"),
    COUNTED("mkdir", "vfs_mkdir", "args[2]", "0"),
    COUNTED("rmdir", "vfs_rmdir", "args[2]", "0"),
    COUNTED("remove", "vfs_unlink", "args[2]", "0"),
    COUNTED("link", "vfs_link", "args[3]", "0"),
    COUNTED("symlink", "vfs_symlink", "args[2]", "0"),
    COUNTED("rename", "vfs_rename", "args[0]->old_dentry", "0"),
    COUNTED("readlink", "vfs_readlink", "args[0]", "0"),
    COUNTED("getattr", "vfs_getattr_nosec", "args[0]->dentry", "0"),
    COUNTED("setattr", "notify_change", "args[1]", "0"),
};

DT_STABLE_PROVIDER(fsinfo, "fsinfo", rows,
		   {DT_ATTR(EVOLVING, EVOLVING, ISA), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
		    DT_ATTR(PRIVATE, PRIVATE, UNKNOWN), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
		    DT_ATTR(EVOLVING, EVOLVING, ISA)});
