/*
 * dtraced(8): what its files share. dtraced.c listens and starts a process for each front; policy.c says who may do
 * what; sessions.c keeps durable sessions.
 */
#ifndef DTRACED_H
#define DTRACED_H

#include <stdbool.h>
#include <sys/types.h>

#define NATS_USER ((uid_t)-3) /* whoever the NATS server lets in */
#define HOST_USER ((uid_t)-2) /* whoever is at the other end of a serial port, or comes over vsock from a reserved port there: root of the host of this guest */
#define VSOCK_USER ((uid_t)-4) /* whoever else comes over vsock */

struct rule {
	bool anyone; /* user=* */
	uid_t user;
	char *providers; /* patterns with commas between; NULL: all */
	bool destructive;
	char *overhead; /* "2%"; NULL: no limit */
	unsigned long long memory; /* bytes; 0: no limit */
	char *sessions; /* patterns of durable sessions that may be seen; NULL: all, if it may use all providers, else none */
};

struct policy {
	struct rule *rules;
	int nrules;
};

/* A mistake in the file ends the process. path NULL: there is no file; then root, the user of this process and the host may use
 * all providers, and no destructive actions. */
void policy_read(struct policy *p, const char *path);
const struct rule *policy_of(const struct policy *p, uid_t user); /* the first that fits; NULL: refused */
#define USER_TEXT 24
const char *policy_user_text(uid_t user, char text[USER_TEXT]); /* as the policy has it: a number, or nats, vsock, host */

/* ---- sessions.c ---- */
/* The scripts of a folder; what they write goes below `into`. url: the NATS server of dtraced, or NULL. A mistake ends the process. */
void sessions_open(const char *folder, const char *into, const char *name, const char *url);
void sessions_work(void); /* look at the folder, start what shall run */
bool sessions_reap(pid_t pid, int status); /* a process has ended: was it one of theirs? */
void sessions_end(void); /* end them all, and wait for that */
void sessions_forget(void);

/* ---- dtraced.c ---- */
pid_t spawn(void); /* a process of its own, which ends with us; 0: in the child */
char *path_of(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* to be freed */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
