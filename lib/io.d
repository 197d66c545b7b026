/*
 * io.d: disk I/O as DTrace describes it: the transfer (bufinfo_t), the device (devinfo_t), the file
 * (fileinfo_t).
 *
 *    io:::start { @[args[1]->dev_statname, args[2]->fi_pathname] = sum(args[0]->b_bcount); }
 */
#pragma D depends_on library files.d

typedef struct bufinfo {
	int b_flags;		/* B_* */
	int b_cmd;		/* BIO_* */
	size_t b_bcount;	/* bytes */
	caddr_t b_addr;		/* 0: the memory has no kernel address (B_PAGEIO) */
	uint64_t b_blkno;	/* first block of 512 bytes, on the device b_edev */
	uint64_t b_lblkno;	/* the same on the whole disk */
	size_t b_resid;		/* bytes not transferred */
	size_t b_bufsize;	/* as b_bcount */
	caddr_t b_iodone;	/* what the kernel calls at the end */
	int b_error;		/* done: errno */
	dev_t b_edev;		/* getmajor(), getminor() */
} bufinfo_t;

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;	/* number of the disk, within its driver */
	int dev_type;
	string dev_name;	/* driver */
	string dev_statname;	/* as in /proc/diskstats: "sda1" */
	string dev_pathname;	/* "/dev/sda1" */
} devinfo_t;

/* b_flags */
inline int B_BUSY = 0x0001;
inline int B_DONE = 0x0002;	/* io:::done */
inline int B_ERROR = 0x0004;
inline int B_PAGEIO = 0x0010;	/* pages */
inline int B_PHYS = 0x0020;	/* of a process, or of a command it issued itself: not of the page cache */
inline int B_READ = 0x0040;
inline int B_WRITE = 0x0100;
inline int B_ASYNC = 0x0400;	/* no thread waits for it */

/* b_cmd */
inline int BIO_READ = 1;
inline int BIO_WRITE = 2;
inline int BIO_DELETE = 3;	/* discard */
inline int BIO_GETATTR = 4;
inline int BIO_FLUSH = 5;
inline int BIO_CMD0 = 6;	/* anything else */

/*
 * A request may be made of several bios; b_* describe all of them, the file is that of the first.
 * Disks without requests (device mapper, RAID, RAM disks) have one bio at a time.
 */

/* ---- Linux's values as DTrace's numbers ---- */

inline int __op_cmd[int op] = op == 0 ? BIO_READ : op == 1 || op == 9 /* zeroes */ ? BIO_WRITE : op == 2 ? BIO_FLUSH :
    op == 3 || op == 5 /* secure */ ? BIO_DELETE : BIO_CMD0;
/* An operation with an odd number goes to the device, and so does a flush. Threads wait for reads,
 * except read-ahead. */
inline int __op_writes[unsigned int opf] = (opf & 1) || (opf & 0xff) == 2;
inline int __op_async[unsigned int opf] = (opf & 0xff) == 2 ? 0 : (opf & 1) ?
    !(opf & (1 << __REQ_SYNC | 1 << __REQ_FUA | 1 << __REQ_PREFLUSH)) : (opf & 1 << __REQ_RAHEAD) != 0;
inline int __op_flags[unsigned int opf] = (__op_writes[opf] ? B_WRITE : B_READ) | (__op_async[opf] ? B_ASYNC : 0);
/* blk_status_t as errno */
inline int __status_errno[int s] = s == 0 ? 0 : s == 1 ? 95 /* EOPNOTSUPP */ : s == 2 ? 110 /* ETIMEDOUT */ :
    s == 3 ? 28 /* ENOSPC */ : s == 4 ? 67 /* ENOLINK */ : s == 5 ? 121 /* EREMOTEIO */ : s == 6 ? 52 /* EBADE */ :
    s == 7 ? 61 /* ENODATA */ : s == 8 ? 84 /* EILSEQ */ : s == 9 ? 12 /* ENOMEM */ : s == 12 ? 11 /* EAGAIN */ :
    s == 13 ? 16 /* EBUSY */ : 5 /* EIO */;

/* ---- where the file is found ---- */

/* The file that the page cache has a page for. The low bits of a mapping are set for memory of processes. */
inline struct folio *__folio[struct page *P] = (struct folio *)((P->compound_head & 1) ? P->compound_head - 1 : (uintptr_t)P);
inline uintptr_t __mapping[struct page *P] = P == NULL ? 0 : (uintptr_t)__folio[P]->mapping;
inline int __cached[struct page *P] = __mapping[P] != 0 && (__mapping[P] & 3) == 0;
/* Cached pages of a disk itself belong to the file system "bdev", not to a file. */
inline struct inode *__host[struct address_space *M] = M->host->i_sb->s_magic == 0x62646576 ? NULL : M->host;
inline struct inode *__page_inode[struct page *P] = __cached[P] ? __host[(struct address_space *)__mapping[P]] : NULL;
inline offset_t __page_offset[struct page *P] = __page_inode[P] == NULL ? 0 :
    (__folio[P]->index + ((uintptr_t)P - (uintptr_t)__folio[P]) / sizeof (struct page)) * 4096;
inline int __memory[struct page *P] = P == NULL ? 0 : __cached[P] ? B_PAGEIO : B_PAGEIO | B_PHYS;
/* O_DIRECT: the argument of the end function is the file system's own data. */
inline int __direct[uintptr_t end] = (end == (uintptr_t)&`iomap_dio_bio_end_io) ?? 0;
inline struct inode *__inode[struct page *P, uintptr_t end, uintptr_t with] =
    (__direct[end] ? ((struct iomap_dio *)with)->iocb->ki_filp->f_inode : __page_inode[P]) ?? __page_inode[P];
inline struct dentry *__dentry[struct inode *I] = I == NULL || I->i_dentry.first == NULL ? NULL :
    (struct dentry *)((uintptr_t)I->i_dentry.first - offsetof(struct dentry, d_u.d_alias));
/* ... and its names */
inline string __inode_name[struct inode *I] = I == NULL ? "<none>" : __dentry[I] == NULL ? "<unknown>" : stringof(__dentry[I]->d_name.name);
inline string __inode_path[struct inode *I] = I == NULL ? "<none>" : __dentry[I] == NULL ? "<unknown>" : __dentry_name[__dentry[I]];
inline string __inode_dir[struct inode *I] = I == NULL ? "<none>" : __dentry[I] == NULL ? "<unknown>" : dirname(__dentry_name[__dentry[I]]);
inline string __inode_fs[struct inode *I] = I == NULL ? "<none>" : stringof(I->i_sb->s_type->name);
inline string __inode_mount[struct inode *I] = I == NULL ? "<none>" : __dentry_path(__mount[I->i_sb]->mnt_root, __mount[I->i_sb]);

/* The page of a bio's first bytes. */
inline struct bio_vec *__bytes[struct bio *B] = &B->bi_io_vec[B->bi_iter.bi_size == 0 ? 0 : B->bi_iter.bi_idx];
inline struct page *__page[struct bio *B] = B == NULL || B->bi_io_vec == NULL ? NULL : __bytes[B]->bv_page + (__bytes[B]->bv_offset >> 12);
inline struct inode *__bio_inode[struct bio *B] =
    B == NULL ? NULL : __inode[__page[B], (uintptr_t)B->bi_end_io, (uintptr_t)B->bi_private];

/* ---- bio: for scripts that have one, as in FreeBSD's io ---- */

translator bufinfo_t < struct bio *B > {
	b_flags = B == NULL ? 0 : __op_flags[B->bi_opf] | __memory[__page[B]];
	b_cmd = B == NULL ? 0 : __op_cmd[B->bi_opf & 0xff];
	b_bcount = B == NULL ? 0 : B->bi_iter.bi_size;
	b_addr = NULL;
	b_blkno = B == NULL ? 0 : B->bi_iter.bi_sector - B->bi_bdev->bd_start_sect;
	b_lblkno = B == NULL ? 0 : B->bi_iter.bi_sector;
	b_resid = 0;
	b_bufsize = B == NULL ? 0 : B->bi_iter.bi_size;
	b_iodone = B == NULL ? NULL : (caddr_t)B->bi_end_io;
	b_error = B == NULL ? 0 : __status_errno[B->bi_status];
	b_edev = B == NULL ? 0 : B->bi_bdev->bd_dev;
};

translator fileinfo_t < struct bio *B > {
	fi_name = __inode_name[__bio_inode[B]];
	fi_dirname = __inode_dir[__bio_inode[B]];
	fi_pathname = __inode_path[__bio_inode[B]];
	fi_offset = __page_inode[__page[B]] == NULL ? 0 : __page_offset[__page[B]] + (__bytes[B]->bv_offset & 4095);
	fi_fs = __inode_fs[__bio_inode[B]];
	fi_mount = __inode_mount[__bio_inode[B]];
	fi_oflags = 0;
};

/* ---- devices ---- */

translator devinfo_t < struct block_device *D > {
	dev_major = D == NULL ? 0 : getmajor(D->bd_dev);
	dev_minor = D == NULL ? 0 : getminor(D->bd_dev);
	dev_instance = D == NULL ? 0 : D->bd_disk->minors > 0 ? D->bd_disk->first_minor / D->bd_disk->minors : D->bd_disk->first_minor;
	dev_type = 0;
	dev_name = D == NULL ? "<none>" : D->bd_disk->part0->bd_device.parent != NULL && D->bd_disk->part0->bd_device.parent->driver != NULL ?
	    stringof(D->bd_disk->part0->bd_device.parent->driver->name) :
	    D->bd_disk->fops->owner != NULL ? stringof(D->bd_disk->fops->owner->name) :
	    strtok(stringof(D->bd_disk->disk_name), "0123456789");
	dev_statname = D == NULL ? "<none>" : stringof(D->bd_device.kobj.name);
	dev_pathname = D == NULL ? "<none>" : strjoin("/dev/", stringof(D->bd_device.kobj.name));
};

/* ---- requests ---- */

translator bufinfo_t < struct request *R > {
	b_flags = R == NULL ? 0 : __op_flags[R->cmd_flags] | __memory[__page[R->bio]];
	b_cmd = R == NULL ? 0 : __op_cmd[R->cmd_flags & 0xff];
	b_bcount = R == NULL ? 0 : R->__data_len;
	b_addr = NULL;
	b_blkno = R == NULL || R->__data_len == 0 ? 0 : R->part == NULL ? R->__sector : R->__sector - R->part->bd_start_sect;
	b_lblkno = R == NULL || R->__data_len == 0 ? 0 : R->__sector;
	b_resid = 0;
	b_bufsize = R == NULL ? 0 : R->__data_len;
	b_iodone = R == NULL ? NULL : R->end_io != NULL ? (caddr_t)R->end_io : R->bio != NULL ? (caddr_t)R->bio->bi_end_io : NULL;
	b_error = 0;
	b_edev = R == NULL ? 0 : R->part == NULL ? R->q->disk->part0->bd_dev : R->part->bd_dev;
};

/*
 * The arguments of the probes: arg0 is the bio (wait-done: 0, it no longer exists), arg1 the
 * device, arg2 the request (0: the disk has none), arg3 the status that it ended with, plus 1 (0:
 * it begins), arg4 the bytes, arg5 the operation, arg6 the sector, arg7 the page, arg8 and arg9
 * what is called at the end, and with what. Above the 32 bits of arg5 is where in the page the
 * bytes begin.
 */
typedef struct __iobuf {
	uint64_t request;
} __iobuf_t;
typedef struct __iofile {
	uint64_t page;
} __iofile_t;

inline unsigned int __io_opf = (unsigned int)arg5;
inline uint64_t __io_sector = arg4 == 0 ? 0 : arg6;
inline struct inode *__io_inode = arg1 == 0 ? NULL : __inode[(struct page *)arg7, arg8, arg9];

translator bufinfo_t < struct __iobuf *I > {
	b_flags = arg1 == 0 ? 0 : __op_flags[__io_opf] | __memory[(struct page *)arg7] | (arg3 != 0 ? B_DONE : B_BUSY) | (arg3 > 1 ? B_ERROR : 0);
	b_cmd = arg1 == 0 ? 0 : __op_cmd[__io_opf & 0xff];
	b_bcount = arg4;
	b_addr = NULL;
	b_blkno = arg4 == 0 ? 0 : __io_sector - ((struct block_device *)arg1)->bd_start_sect;
	b_lblkno = __io_sector;
	b_resid = arg3 > 1 ? arg4 : 0;
	b_bufsize = arg4;
	b_iodone = (caddr_t)arg8;
	b_error = arg3 == 0 ? 0 : __status_errno[(int)arg3 - 1];
	b_edev = arg1 == 0 ? 0 : ((struct block_device *)arg1)->bd_dev;
};

translator fileinfo_t < struct __iofile *I > {
	fi_name = __inode_name[__io_inode];
	fi_dirname = __inode_dir[__io_inode];
	fi_pathname = __inode_path[__io_inode];
	fi_offset = arg1 == 0 || __page_inode[(struct page *)arg7] == NULL ? 0 : __page_offset[(struct page *)arg7] + (offset_t)(arg5 >> 32);
	fi_fs = __inode_fs[__io_inode];
	fi_mount = __inode_mount[__io_inode];
	fi_oflags = 0;
};
