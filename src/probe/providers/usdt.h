/*
 * usdt: shared by the files of the provider of static probes.
 *
 *   usdt.c         descriptions to probes, arguments, attaching
 *   usdt_object.c  the files that have them
 */
#ifndef DT_PROVIDERS_USDT_H
#define DT_PROVIDERS_USDT_H

#include <sys/stat.h>

#include "elf/sdt_notes.h"
#include "probe/providers/providers.h"
#include "proc/mappings.h"

struct usdt_site { /* one note */
	const char *prov, *name, *func; /* as D has them */
	uint64_t offset, ref_ctr;	/* in the file */
	uint32_t call;			/* dt_attach.call */
	dt_sdt_arg *args;
	int nargs; /* -1: not understood */
	/* Sites with the same names, in one function, are one probe. */
	uint32_t next;	/* of those, in order; 0: none */
	bool is_first;
};

/*
 * A file as it was when it was read. Programs are rebuilt while they are traced, often in the same
 * file or with the inode number of the old one: a probe at the old place would do harm.
 */
struct usdt_object {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	off_t size;
	struct timespec changed;
	bool ours;	/* its path is below our own root */
	int fd;		/* if it has providers; else -1 */
	char path[32];	/* to open it again */
	const char *file, *base, *root;
	uint32_t looked; /* when it was found unchanged (usdt_objects.look) */
	DT_VEC(const char *) provs; /* each once */
	DT_VEC(struct usdt_site) sites;
	bool read; /* the sites */
};

struct usdt_waiting { /* a file that is looked into together with others */
	const dt_mapping *m;
	int fd;
	char root[32];
};

typedef struct usdt_objects {
	dt_arena *arena;
	dt_jail *jail; /* NULL: there is none, as in unit tests */
	DT_VEC(struct usdt_object *) v;
	DT_VEC(struct usdt_waiting) waiting;
	struct { /* the last one that was asked for */
		long pid;
		uint32_t look;
		char path[32];
	} root;
	dt_map *without; /* paths below our own root -> objects that have no static probes */
	uint32_t look;	 /* counts searches: in one of them, files do not change */
} usdt_objects;

void dt_usdt_objects_free(usdt_objects *all);
/* Is the file unchanged? If it is not open, the one at the path is checked, if it is the same one. */
bool dt_usdt_is_unchanged(const struct usdt_object *o, const char *path);
/* The object of a mapping, read when it is first seen; NULL: it cannot be opened, the process may have ended. */
struct usdt_object *dt_usdt_object(usdt_objects *all, long pid, const dt_mapping *m);
/* The mappings of many processes are about to be looked at: their files are looked into together, after dt_usdt_settle(). Mappings
 * must live until then. */
void dt_usdt_expect(usdt_objects *all, long pid, const dt_mapping *m);
void dt_usdt_settle(usdt_objects *all);
/* Does it have a provider that this pattern matches? Then its sites are read, which needs its symbols. */
bool dt_usdt_has(const usdt_objects *all, struct usdt_object *o, const char *prov);
/* The object at a path, whether it is mapped or not; NULL with *err. */
struct usdt_object *dt_usdt_file(usdt_objects *all, const char *path, dt_error *err);

#endif
