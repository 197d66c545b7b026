/*
 * conninfo.d: both ends of a connection, of any socket of version 4 or 6.
 *
 *    fbt::tcp_sendmsg:entry { @[xlate < conninfo_t * > (args[0])->ci_remote] = sum(args[2]); }
 */
#pragma D depends_on library ip.d

typedef struct conninfo {
	string ci_local;
	string ci_remote;
	string ci_protocol;	/* "ipv4" or "ipv6" */
} conninfo_t;

translator conninfo_t < struct sock *S > {
	ci_local = S == NULL ? "" : __laddr[S];
	ci_remote = S == NULL ? "" : __raddr[S];
	ci_protocol = S == NULL ? "" : S->__sk_common.skc_family == AF_INET ? "ipv4" : "ipv6";
};
