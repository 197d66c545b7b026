/*
 * dtraced(8): what its two files share. dtraced.c listens and starts a process for each front; policy.c says who may do
 * what.
 */
#ifndef DTRACED_H
#define DTRACED_H

#include <stdbool.h>
#include <sys/types.h>

#define NATS_USER ((uid_t)-3) /* whoever the NATS server lets in */
#define HOST_USER ((uid_t)-2) /* whoever is at the other end of a serial port: the host of this guest */

struct rule {
	bool anyone; /* user=* */
	uid_t user;
	char *providers; /* patterns with commas between; NULL: all */
	bool destructive;
};

struct policy {
	struct rule *rules;
	int nrules;
};

/* A mistake in the file ends the process. path NULL: there is no file; then root, the user of this process and the host may use
 * all providers, and no destructive actions. */
void policy_read(struct policy *p, const char *path);
const struct rule *policy_of(const struct policy *p, uid_t user); /* the first that fits; NULL: refused */

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
