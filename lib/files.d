/*
 * files.d: open files as DTrace describes them. fds[] are those of the process that the probe is about, by descriptor.
 *
 *    syscall::write:entry { @[fds[arg0].fi_pathname] = sum(arg2); }
 */

typedef int64_t offset_t;

typedef struct fileinfo {
	string fi_name;		/* last part of fi_pathname; "<none>": no such descriptor */
	string fi_dirname;	/* the rest of it */
	string fi_pathname;	/* as the process itself sees it */
	offset_t fi_offset;
	string fi_fs;		/* type of the file system: "ext4" */
	string fi_mount;	/* where it is mounted */
	int fi_oflags;		/* O_*, as fcntl(F_GETFL) gives them */
} fileinfo_t;

/* Files without a path have names: pipes (s_magic "PIPE"), sockets ("SOCK"), and those that are only a descriptor. */
inline string __numbered[string what, struct dentry *D] = strjoin(what, strjoin(lltostr(D->d_inode->i_ino), "]"));
inline string __path[struct path *P] =
    P->dentry->d_sb->s_magic == 0x50495045 ? __numbered["pipe:[", P->dentry] :
    P->dentry->d_sb->s_magic == 0x534f434b ? __numbered["socket:[", P->dentry] :
    P->dentry->d_sb->s_magic == 0x50494446 /* pidfs */ ? "anon_inode:[pidfd]" :
    P->dentry->d_sb->s_magic == 0x09041934 ? strjoin("anon_inode:", stringof(P->dentry->d_name.name)) : d_path(P);

translator fileinfo_t < struct file *F > {
	fi_name = F == NULL ? "<none>" : F->f_path.dentry->d_parent != F->f_path.dentry &&
	    F->f_path.dentry != F->f_path.mnt->mnt_root &&
	    (curthread->fs == NULL || F->f_path.dentry != curthread->fs->root.dentry) ?
	    stringof(F->f_path.dentry->d_name.name) : basename(__path[&F->f_path]);
	fi_dirname = F == NULL ? "<none>" : dirname(__path[&F->f_path]);
	fi_pathname = F == NULL ? "<none>" : __path[&F->f_path];
	fi_offset = F == NULL ? 0 : F->f_pos;
	fi_fs = F == NULL ? "<none>" : stringof(F->f_path.dentry->d_sb->s_type->name);
	fi_mount = F == NULL ? "<none>" : __dentry_path(F->f_path.mnt->mnt_root, F->f_path.mnt);
	fi_oflags = F == NULL ? 0 : (int)F->f_flags;
};

inline struct vfsmount *__first_mount[struct super_block *S] = (&S->s_mounts->mnt) ??
    (&((struct mount *)((uintptr_t)S->s_mounts.next - offsetof(struct mount, mnt_instance)))->mnt);
/* One of the mount points of a file system; / if it is mounted there. Kernel threads have the
 * initial /. */
inline struct vfsmount *__mount[struct super_block *S] =
    curthread->fs != NULL && curthread->fs->root.mnt->mnt_sb == S ? curthread->fs->root.mnt : __first_mount[S];
inline string __dentry_name[struct dentry *D] = __dentry_path(D, __mount[D->d_sb]);

/* A name without an open file: from the root of all mounts. */
translator fileinfo_t < struct dentry *D > {
	fi_name = D == NULL ? "<none>" : D->d_parent != D ? stringof(D->d_name.name) : basename(__dentry_name[D]);
	fi_dirname = D == NULL ? "<none>" : dirname(__dentry_name[D]);
	fi_pathname = D == NULL ? "<none>" : __dentry_name[D];
	fi_offset = 0;
	fi_fs = D == NULL ? "<none>" : stringof(D->d_sb->s_type->name);
	fi_mount = D == NULL ? "<none>" : __dentry_path(__mount[D->d_sb]->mnt_root, __mount[D->d_sb]);
	fi_oflags = 0;
};

inline fileinfo_t fds[int fd] = xlate < fileinfo_t > (getf(fd));
#pragma D attributes Stable/Stable/Common fds

/* The working directory, and what the process sees as / (from the root of all mounts). */
inline string cwd = d_path(&curthread->fs->pwd);
inline string root = __dentry_path(curthread->fs->root.dentry, curthread->fs->root.mnt);
#pragma D attributes Stable/Stable/Common cwd
#pragma D attributes Stable/Stable/Common root
