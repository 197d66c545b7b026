/*
 * cgroup.d: the control group (version 2) of the process, by name. The variables are inlines, so that a
 * program that has its own of these names keeps it.
 */

/* Path below the root of all groups: "/system.slice/ssh.service". */
inline string cgroup = __cgroup;

/*
 * Container, machine or service: the first 12 digits of the id of a container of docker, podman, containerd, CRI-O or
 * kubernetes; the name of one of lxc or systemd-nspawn; else that of the systemd unit ("ssh", "session-3"), or "".
 */
inline string container = __container;

#pragma D attributes Evolving/Evolving/Common cgroup
#pragma D attributes Evolving/Evolving/Common container
