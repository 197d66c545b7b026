/* mount: file systems of the kernel that are not mounted where they usually are. */
#ifndef DT_KERNEL_MOUNT_H
#define DT_KERNEL_MOUNT_H

/* A mount of a kernel file system ("tracefs") that is attached nowhere and ends with the descriptor
 * (Linux 5.2); -1 with errno. */
int dt_private_mount(const char *fs);

#endif
