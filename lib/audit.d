/*
 * audit.d: an event of the provider audit: its subject and its outcome. Names are those of
 * FreeBSD's struct audit_record. Native arguments: name, value returned, path, second path.
 */

typedef struct audit_record {
	int ar_errno;			/* 0: it succeeded */
	long ar_retval;			/* what the call returned; -1: it failed */
	pid_t ar_subj_pid;		/* the process that did it */
	uid_t ar_subj_ruid;
	uid_t ar_subj_euid;
	gid_t ar_subj_rgid;
	gid_t ar_subj_egid;
	uid_t ar_subj_auid;		/* user id at login; -1: no login */
	string ar_arg_upath1;		/* the paths, as given; "" if there is none, or it is not in memory */
	string ar_arg_upath2;
} audit_record_t;

translator audit_record_t < long R > {
	ar_errno = R < 0 && R > -4096 ? -R : 0;
	ar_retval = R < 0 && R > -4096 ? -1 : R;
	ar_subj_pid = pid;
	ar_subj_ruid = uid;
	ar_subj_euid = curthread->cred->euid.val;
	ar_subj_rgid = gid;
	ar_subj_egid = curthread->cred->egid.val;
	ar_subj_auid = curthread->loginuid.val ?? -1;
	ar_arg_upath1 = arg2 ? stringof((char *)arg2) : "";
	ar_arg_upath2 = arg3 ? stringof((char *)arg3) : "";
};
