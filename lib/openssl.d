/*
 * openssl.d: a connection of OpenSSL.
 *
 *    openssl:::write { @[execname, args[0]->ssl_raddr] = sum(args[1]); }
 */
#pragma D depends_on library ip.d

typedef struct sslinfo {
	uintptr_t ssl_addr;	/* SSL, in the process */
	int ssl_server;		/* 1: this end is the server, 0: the client */
	int ssl_version;	/* 0x0304: TLS 1.3; before it is agreed on: the highest one */
	string ssl_protocol;	/* "TLSv1.3" */
	int ssl_fd;		/* descriptor; -1: the connection does not read from a socket */
	string ssl_laddr;	/* both ends; "" and 0 if it does not read from a socket */
	string ssl_raddr;
	uint16_t ssl_lport;
	uint16_t ssl_rport;
} sslinfo_t;

translator sslinfo_t < struct sock *S > {
	ssl_addr = arg4;
	ssl_server = (int)arg6;
	ssl_version = (int)arg7;
	ssl_protocol = arg7 == 0x304 ? "TLSv1.3" : arg7 == 0x303 ? "TLSv1.2" : arg7 == 0x302 ? "TLSv1.1" : arg7 == 0x301 ? "TLSv1" :
	    arg7 == 0x300 ? "SSLv3" : arg7 == 0xfefd ? "DTLSv1.2" : arg7 == 0xfeff ? "DTLSv1" : "unknown";
	ssl_fd = (int)arg5;
	ssl_laddr = S == NULL ? "" : __laddr[S];
	ssl_raddr = S == NULL ? "" : __raddr[S];
	ssl_lport = S == NULL ? 0 : S->__sk_common.skc_num;
	ssl_rport = S == NULL ? 0 : ntohs(S->__sk_common.skc_dport);
};
