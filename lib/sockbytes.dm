/*
 * sockbytes: bytes by process and connection, for tcptop and udptop.
 */
module sockbytes 1.0;

export inline int is_ip(struct sock *s, int protocol)
{
	return s->sk_protocol == protocol &&
	    (s->__sk_common.skc_family == AF_INET || s->__sk_common.skc_family == AF_INET6);
}

export inline void sent(struct sock *s, int bytes)
{
	@tx[pid, execname, xlate <conninfo_t *> (s)->ci_remote, ntohs(s->__sk_common.skc_dport), s->__sk_common.skc_num] = sum(bytes);
}

export inline void received(struct sock *s, int bytes)
{
	@rx[pid, execname, xlate <conninfo_t *> (s)->ci_remote, ntohs(s->__sk_common.skc_dport), s->__sk_common.skc_num] = sum(bytes);
}

export inline void table()
{
	printa("%7d %-16s %-24s %5d %5d %@12d %@12d\n", @tx, @rx);
}

export inline void forget()
{
	trunc(@tx);
	trunc(@rx);
}
