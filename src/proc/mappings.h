/*
 * mappings: what a process has mapped, and the files it came from.
 *
 * /proc/PID/maps is one snapshot of a living process. Paths in it are those of the process's own
 * mount namespace and root; dt_mapping_open() finds the file from there: through
 * /proc/PID/map_files (works for deleted files), else below /proc/PID/root, and makes sure it is
 * the file that was mapped (inode).
 */
#ifndef DT_PROC_MAPPINGS_H
#define DT_PROC_MAPPINGS_H

#include "base/base.h"

enum dt_map_kind {
	DT_MAP_FILE,
	DT_MAP_ANON,	 /* no name, or a name given by the program: [anon:...] */
	DT_MAP_VDSO,	 /* [vdso] */
	DT_MAP_VSYSCALL, /* [vsyscall] */
	DT_MAP_HEAP,
	DT_MAP_STACK,
	DT_MAP_OTHER, /* other names in brackets, and what no file can be found for (SysV memory) */
};

typedef struct dt_mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, of start */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	enum dt_map_kind kind;
	bool read, write, exec, shared;
	bool deleted;	  /* the file has been deleted */
	const char *path; /* without " (deleted)"; "" for anonymous ones */
	const char *base; /* the last part of path */
} dt_mapping;

typedef struct dt_maps {
	dt_mapping *v; /* by address */
	uint32_t n;
	char *text; /* what the paths are in */
} dt_maps;

/* NULL with *err: no such process, no permission (EDT_* or errno). A process without mappings
 * (kernel thread, zombie) gives none. */
dt_maps *dt_maps_read(long pid, dt_error *err);
/* The same with at least the executable mappings of files: much faster where the kernel can tell these alone. */
dt_maps *dt_maps_code(long pid, dt_error *err);
dt_maps *dt_maps_parse(const char *text,
		       size_t n); /* the same from text; invalid lines are skipped */
void dt_maps_free(dt_maps *m);
const dt_mapping *dt_maps_find(const dt_maps *m, uint64_t addr); /* NULL: none */
/* The mapping of the executable itself: the first one of /proc/PID/exe; NULL: none. */
const dt_mapping *dt_maps_exe(const dt_maps *m, long pid);

/* Does this name, or pattern, match the object with this file? As probe descriptions name modules:
 * its name, or the path if there is a / in it; "a.out" for the executable; "libc" or "libc.so" for
 * libc.so.6. */
bool dt_object_is_called(const char *pattern, const char *base, const char *path, bool exe);
/* Is this the name of a symbolic link to the executable at the path: in the same directory, or where commands are searched
 * for? (redis-server is one to redis-check-rdb.) pid: whose root the path begins at. */
bool dt_exe_has_link(long pid, const char *name, const char *path);
/* The file that a command of this name is, without symbolic links, to be freed; NULL: there is none. */
char *dt_command_path(const char *name);

/* Open the file of a mapping of a living process. -1 with errno. */
int dt_mapping_open(long pid, const dt_mapping *m);
/* "/proc/PID/root", or "" if the process has our root and mount namespace. */
void dt_proc_root(long pid, char *to, size_t n);
/* The path by which we can open a path of the process: root + path. To be freed. */
char *dt_proc_path(long pid, const char *path);
/* The pid that the process has in its own pid namespace (the last of NSpid); pid itself if unknown.
 */
long dt_proc_inner_pid(long pid);

#endif
