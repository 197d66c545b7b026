/*
 * vfs: file system operations, with the names of FreeBSD's provider: vfs:vop:vop_mkdir:entry and
 * return for each operation, vfs:namei:lookup: for every path, vfs:namecache:lookup: for its parts.
 *
 * Operations are Linux's vfs_* functions, so tracing of kernel functions is needed. An operation's
 * vnode is an inode here: that of the file, or of the directory that is changed; the dentry is the
 * name concerned. What a function returns is made a positive errno, 0 for success; bytes read and
 * written are not shown.
 *
 * At a return the arguments are gone, so the dentry is saved at the entry. A stacked file system
 * (overlay) calls the same function for the one below it before it returns; then the outer return
 * has no inode and dentry.
 */
#include "probe/providers/stable.h"

#define INODE  "struct inode *"
#define DENTRY "struct dentry *"

#define ERROR "(int)arg1 < 0 && (int)arg1 > -4096 ? -(int)arg1 : 0"

/* From a dentry to the inode: of the file itself, or of its directory. */
#define FILE_OF(dentry)	     "(uint64_t)" dentry "->d_inode"
#define DIRECTORY_OF(dentry) "(uint64_t)" dentry "->d_parent->d_inode"
#define KEPT		     "((struct dentry *)self->dt_vfs_done)"

#define OPERATION(op, function, vnode, dentry)                                                     \
	{"entry", .mod = "vop", .func = op, .args = {{0, INODE}, {1, DENTRY}},                     \
	 .sites = SITES(                                                                               \
	     AT(FUNC_ENTRY, function, .arg = {vnode("(" dentry ")"), "(uint64_t)(" dentry ")"}))}, \
	{                                                                                          \
		"return", .mod = "vop", .func = op, .args = {{0, INODE}, {1, DENTRY}, {2, "int"}}, \
			  .sites = SITES(                                                              \
				  AT(FUNC_ENTRY, function,                                         \
				     .when = "(self->dt_vfs_" op " = (uint64_t)(" dentry "), 0)"), \
				  AT(FUNC_RETURN, function,                                        \
				     .when = "(self->dt_vfs_done = self->dt_vfs_" op               \
					     ", self->dt_vfs_" op " = 0, 1)",                      \
				     .arg = {vnode(KEPT), "self->dt_vfs_done", ERROR})             \
			 )                                                                        \
	}

/* A struct filename can be an error instead of a path. */
#define A_PATH "(uint64_t)args[1] < 0xfffffffffffff000"
#define PATH   "(uint64_t)args[1]->name"

#define PATH_RETURN(function)                                                                      \
	AT(FUNC_ENTRY, function, .when = "(self->dt_vfs_path = " A_PATH ", 0)"),                   \
	    AT(FUNC_RETURN, function,                                                              \
	       .when = "self->dt_vfs_path ? (self->dt_vfs_path = 0, 1) : 0", .arg = {ERROR, "0"})

#define NAME_ARGS                                                                                  \
	{                                                                                          \
		{0, INODE}, {1, "char *", "string"},                                               \
		{                                                                                  \
			2, INODE                                                                   \
		}                                                                                  \
	}
#define FOUND                                                                                      \
	{                                                                                          \
		"(uint64_t)args[1]->d_parent->d_inode", "(uint64_t)args[1]->d_name.name",          \
		    "(uint64_t)args[1]->d_inode"                                                   \
	}

static const dt_stable_probe rows[] = {
    {"entry", .mod = "namei", .func = "lookup",
     .args = {{0, INODE}, {1, "char *", "string"}, {2, "unsigned int"}},
     .sites = SITES(AT(FUNC_ENTRY, "filename_lookup", .when = A_PATH, .arg = {"0", PATH, "args[2]"}),
		    AT(FUNC_ENTRY, "do_filp_open", .when = A_PATH,
		       .arg = {"0", PATH, "args[2]->lookup_flags"}),
		    AT(FUNC_ENTRY, "__filename_parentat", .when = A_PATH, .arg = {"0", PATH, "args[2]"}),
		    ELSE(FUNC_ENTRY, "filename_parentat", .when = A_PATH,
			 .arg = {"0", PATH, "args[2]"}))},
    {"return", .mod = "namei", .func = "lookup", .args = {{0, "int"}, {1, INODE}},
     .sites = SITES(PATH_RETURN("filename_lookup"), PATH_RETURN("do_filp_open"),
		    PATH_RETURN("__filename_parentat"))},
    {"hit", .mod = "namecache", .func = "lookup", .args = NAME_ARGS,
     .sites = SITES(AT(FUNC_RETURN, "__d_lookup_rcu",
		       .when = "args[1] != NULL && args[1]->d_inode != NULL", .arg = FOUND))},
    {"hit-negative", .mod = "namecache", .func = "lookup", .args = NAME_ARGS,
     .sites = SITES(AT(FUNC_RETURN, "__d_lookup_rcu",
		       .when = "args[1] != NULL && args[1]->d_inode == NULL", .arg = FOUND))},
    {"miss", /* the name is the rest of the path */
     .mod = "namecache", .func = "lookup", .args = {{0, INODE}, {1, "char *", "string"}},
     .sites = SITES(AT(FUNC_ENTRY, "__d_lookup_rcu",
		       .when = "(self->dt_vfs_dir = (uint64_t)args[0], self->dt_vfs_name = "
			       "(uint64_t)args[1], 0)"),
		    AT(FUNC_RETURN, "__d_lookup_rcu",
		       .when = "args[1] == NULL && self->dt_vfs_name != 0",
		       .arg = {"(uint64_t)((struct dentry *)self->dt_vfs_dir)->d_inode",
			       "(uint64_t)((struct qstr *)self->dt_vfs_name)->name"}))},
    /* by descriptor */
    OPERATION("vop_open", "vfs_open", FILE_OF, "args[0]->dentry"),
    OPERATION("vop_close", "__fput", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_read", "vfs_read", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_write", "vfs_write", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_fsync", "vfs_fsync_range", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_readdir", "iterate_dir", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_allocate", "vfs_fallocate", FILE_OF, "args[0]->f_path.dentry"),
    OPERATION("vop_copy_file_range", "vfs_copy_file_range", FILE_OF, "args[0]->f_path.dentry"),
    /* of a name */
    OPERATION("vop_lookup", "__lookup_slow", FILE_OF, "args[1]"),
    OPERATION("vop_create", "security_inode_create", DIRECTORY_OF, "args[1]"),
    OPERATION("vop_mknod", "vfs_mknod", DIRECTORY_OF, "args[2]"),
    OPERATION("vop_mkdir", "vfs_mkdir", DIRECTORY_OF, "args[2]"),
    OPERATION("vop_rmdir", "vfs_rmdir", DIRECTORY_OF, "args[2]"),
    OPERATION("vop_remove", "vfs_unlink", DIRECTORY_OF, "args[2]"),
    OPERATION("vop_link", "vfs_link", DIRECTORY_OF, "args[3]"),
    OPERATION("vop_symlink", "vfs_symlink", DIRECTORY_OF, "args[2]"),
    OPERATION("vop_rename", "vfs_rename", DIRECTORY_OF, "args[0]->old_dentry"),
    OPERATION("vop_readlink", "vfs_readlink", FILE_OF, "args[0]"),
    /* attributes */
    OPERATION("vop_getattr", "vfs_getattr_nosec", FILE_OF, "args[0]->dentry"),
    OPERATION("vop_setattr", "notify_change", FILE_OF, "args[1]"),
    OPERATION("vop_getextattr", "vfs_getxattr", FILE_OF, "args[1]"),
    OPERATION("vop_setextattr", "vfs_setxattr", FILE_OF, "args[1]"),
    OPERATION("vop_listextattr", "vfs_listxattr", FILE_OF, "args[0]"),
    OPERATION("vop_deleteextattr", "vfs_removexattr", FILE_OF, "args[1]"),
};

/* FreeBSD's stability of its static providers */
DT_STABLE_PROVIDER(vfs, "vfs", rows,
		   {DT_ATTR(EVOLVING, EVOLVING, COMMON), DT_ATTR(PRIVATE, PRIVATE, UNKNOWN),
		    DT_ATTR(PRIVATE, PRIVATE, ISA), DT_ATTR(EVOLVING, EVOLVING, COMMON),
		    DT_ATTR(PRIVATE, PRIVATE, ISA)});
