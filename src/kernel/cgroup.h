/* cgroup: control groups (version 2) by path, and those of containers and services by name. */
#ifndef DT_KERNEL_CGROUP_H
#define DT_KERNEL_CGROUP_H

#include "base/base.h"

struct dt_cgroup {
	uint64_t id;	/* its id for BPF programs: the inode of its directory */
	uint32_t level; /* distance from the root of all groups */
};

/* A group by its path, below the mount ("system.slice/ssh.service") or in full. 0, or -1 with *err. */
int dt_cgroup_by_path(const char *path, struct dt_cgroup *out, dt_error *err);
/*
 * The group of a container, service or scope: `name` is the beginning of a container's id (at least four characters),
 * or the name of a systemd unit, an lxc container or an nspawn machine. 0, or -1 with *err: none, or more than one.
 */
int dt_cgroup_by_name(const char *name, struct dt_cgroup *out, dt_error *err);

#endif
