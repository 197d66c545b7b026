/* lockdown: how much the kernel trusts root ("integrity": not to change it, "confidentiality": not to
 * look into it, either). */
#ifndef DT_KERNEL_LOCKDOWN_H
#define DT_KERNEL_LOCKDOWN_H

enum dt_lockdown { DT_LOCKDOWN_NONE, DT_LOCKDOWN_INTEGRITY, DT_LOCKDOWN_CONFIDENTIALITY };

enum dt_lockdown dt_lockdown(void);

#endif
