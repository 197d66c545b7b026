/* tracefs: opens it. If it is not mounted, a private mount is made, which no other process sees and
 * which ends with the descriptor. */
#ifndef DT_KERNEL_TRACEFS_H
#define DT_KERNEL_TRACEFS_H

/* A directory descriptor of the top of tracefs, or -1 with errno. */
int dt_tracefs_open(void);

#endif
