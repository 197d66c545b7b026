/* lockdown: how far the kernel restricts root ("integrity": root cannot change the kernel,
 * "confidentiality": nor read its memory). */
#ifndef DT_KERNEL_LOCKDOWN_H
#define DT_KERNEL_LOCKDOWN_H

enum dt_lockdown { DT_LOCKDOWN_NONE, DT_LOCKDOWN_INTEGRITY, DT_LOCKDOWN_CONFIDENTIALITY };

enum dt_lockdown dt_lockdown(void);

#endif
