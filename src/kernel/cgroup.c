/*
 * cgroup: see cgroup.h.
 *
 * Container managers name a group after what runs in it: "docker-ID.scope", "cri-containerd-ID.scope", "libpod-ID.scope"
 * or just ID; lxc "lxc.payload.NAME"; systemd "NAME.service", "NAME.scope", and "machine-NAME.scope" for nspawn. So a
 * container is found by looking at the names of all groups, without asking its manager.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/cgroup.h"

#define ROOT_INODE 1  /* of the root of all groups; in a cgroup namespace the mount shows another */
#define DEPTH_MAX  32 /* of directories that are searched */
#define ID_LENGTH  64 /* of a container's id */
#define ID_SHORT   4  /* characters that are enough of it */

/* Where groups of version 2 are mounted: beside those of version 1, that is not /sys/fs/cgroup itself. */
static char *mount_point(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	char *dir = NULL;

	while (f && !dir && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0)
			dir = dt_xstrdup(m->mnt_dir);
	if (f)
		endmntent(f);
	return dir;
}

static char *find_mount(dt_error *err)
{
	char *dir = mount_point();
	struct stat st;

	if (!dir) {
		dt_err(err, ENOENT, "control groups of version 2 are not mounted");
	} else if (stat(dir, &st) < 0 || st.st_ino != ROOT_INODE) {
		dt_err(
		    err, ENOTSUP,
		    "in a cgroup namespace groups cannot be chosen: their place in the tree of all "
		    "groups is not visible");
		free(dir);
		dir = NULL;
	}
	return dir;
}

static uint32_t count_levels(const char *below)
{
	uint32_t n = 0;

	for (const char *p = below; *p; p++)
		n += *p != '/' && (p == below || p[-1] == '/');
	return n;
}

int dt_cgroup_by_path(const char *path, struct dt_cgroup *out, dt_error *err)
{
	char *root = find_mount(err), *full, *real;
	size_t n = root ? strlen(root) : 0;
	struct stat st;
	int rc = 0;

	if (!root)
		return -1;
	full = strncmp(path, root, n) == 0 && (path[n] == '/' || !path[n])
		   ? dt_xstrdup(path)
		   : dt_xasprintf("%s/%s", root, path);
	real = realpath(full, NULL); /* "a/../b" has another level than it seems */
	if (!real || stat(real, &st) < 0)
		rc = dt_err(err, errno, "there is no control group \"%s\": %s", path,
			    dt_strerror(errno));
	else if (strncmp(real, root, n) != 0 || !S_ISDIR(st.st_mode))
		rc = dt_err(err, EINVAL, "\"%s\" is not a control group", path);
	else
		*out = (struct dt_cgroup){st.st_ino, count_levels(real + n)};
	free(real);
	free(full);
	free(root);
	return rc;
}

/* ---- by name ---- */

struct search {
	const char *name;
	char *found; /* path below the mount */
	uint32_t nfound;
};

/* The id in the name of a container's group, or NULL. */
static const char *container_id(const char *group, size_t *n)
{
	size_t len = strlen(group);

	if (len > 6 && strcmp(group + len - 6, ".scope") == 0)
		len -= 6;
	if (len < ID_LENGTH)
		return NULL;
	for (size_t i = len - ID_LENGTH; i < len; i++)
		if (!isxdigit((unsigned char)group[i]))
			return NULL;
	if (len > ID_LENGTH && isalnum((unsigned char)group[len - ID_LENGTH - 1]))
		return NULL;
	*n = ID_LENGTH;
	return group + len - ID_LENGTH;
}

static bool is_named(const char *group, const char *name)
{
	static const struct {
		const char *before, *after;
	} forms[] = {{"", ""},
		     {"", ".service"},
		     {"", ".scope"},
		     {"", ".slice"},
		     {"lxc.payload.", ""},
		     {"lxc/", ""},
		     {"machine-", ".scope"},
		     {"systemd-nspawn@", ".service"}};
	size_t len = strlen(name), idlen = 0;
	const char *id = container_id(group, &idlen);

	if (id && len >= ID_SHORT && len <= idlen && strncmp(id, name, len) == 0)
		return true;
	for (size_t i = 0; i < DT_NELEM(forms); i++) {
		size_t before = strlen(forms[i].before);

		if (strncmp(group, forms[i].before, before) == 0 &&
		    strncmp(group + before, name, len) == 0 &&
		    strcmp(group + before + len, forms[i].after) == 0)
			return true;
	}
	return false;
}

/* Groups below a match belong to it: they are not searched. */
static void search_dir(struct search *s, int dirfd, const char *below, int depth)
{
	DIR *d = fdopendir(dirfd);
	struct dirent *e;

	if (!d) {
		close(dirfd);
		return;
	}
	while ((e = readdir(d))) {
		char *path;
		int fd;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		path = dt_xasprintf("%s/%s", below, e->d_name);
		if (is_named(e->d_name, s->name)) {
			if (s->nfound++ == 0)
				s->found = dt_xstrdup(path);
		} else if (depth < DEPTH_MAX &&
			   (fd = openat(dirfd, e->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
			search_dir(s, fd, path, depth + 1);
		}
		free(path);
	}
	closedir(d);
}

int dt_cgroup_by_name(const char *name, struct dt_cgroup *out, dt_error *err)
{
	struct search s = {.name = name};
	char *root = find_mount(err);
	int fd = root ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, rc;

	if (!root)
		return -1;
	if (fd >= 0)
		search_dir(&s, fd, "", 0);
	if (s.nfound == 1)
		rc = dt_cgroup_by_path(s.found, out, err);
	else if (s.nfound > 1)
		rc =
		    dt_err(err, EINVAL,
			   "%u control groups are called \"%s\"; the first is %s: give more of the "
			   "name, or the path (cgroup)",
			   s.nfound, name, s.found);
	else
		rc = dt_err(err, ENOENT,
			    "no container, service or machine is called \"%s\": give the beginning "
			    "of a container's id, or the name of a systemd unit, an lxc container "
			    "or an nspawn machine",
			    name);
	free(s.found);
	free(root);
	return rc;
}
