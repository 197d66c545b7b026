# timeout: 200
# ip, tcp, udp, udplite, sctp: every probe, with known traffic in a network namespace of our own, against the kernel's own counters.
# needs: root bpf btf netns python3 ip
. "$SRC/test/lib.bash"
watch ip tcp udp udplite sctp
python=/usr/bin/python3
ip=$(command -v ip || echo "busybox ip")
hold_ports # others may use the same ones in namespaces of their own, but not another of these tests
n=$(scale 200)
[ "$n" -ge 5 ] || n=5

# nettrace KIND ARGS: trace while net.py makes that traffic; what the counters of the namespace moved is in $TMP/snmp
nettrace() {
	local kind=$1
	shift
	unshare -n bash -c '
		counters() { cat /proc/net/snmp | awk "/^(Tcp|Udp|Ip):/ { if (!(\$1 in h)) { h[\$1] = \$0 } else { split(h[\$1], a); for (i = 2; i <= NF; i++) print \$1 a[i], \$i } }"; cat /proc/net/snmp6; }
		'"$ip"' link set lo up || exit 1
		counters >"$0.0"
		timeout 500 "$@" >"$0.out" 2>"$0.err" </dev/null
		status=$?
		counters >"$0.1"
		exit $status' "$TMP/net" "$DTRACE" -q -x switchrate=50ms -c "$python $SRC/test/providers/net.py $kind $n $port" "$@"
	status=$?
	cp "$TMP/net.out" "$TMP/out"
	out=$(grep . "$TMP/out") err=$(cat "$TMP/net.err")
	expect 0 "$status" "$kind: $err"
	expect "" "$err" "$kind"
}
# moved COUNTER: by how much
moved() { echo $(($(awk -v c="$1" '$1 == c { print $2 }' "$TMP/net.1") - $(awk -v c="$1" '$1 == c { print $2 }' "$TMP/net.0"))); }

# by the ports of net.py: other traffic of this machine does not count
cat >"$TMP/tcp.d" <<'D'
inline int ours[int S, int D] = S == $1 || D == $1 || S == $1 + 1 || D == $1 + 1;
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport]/ {
	@n["send"] = sum(1); @n["sent bytes"] = sum(args[2]->ip_plength - args[4]->tcp_offset);
	@n[strjoin("send to ", args[2]->ip_daddr)] = sum(1);
	@ver[args[2]->ip_ver, args[0]->pkt_addr != 0, args[1]->cs_addr != 0, (args[4]->tcp_flags & ~(TH_SYN | TH_ACK | TH_FIN | TH_PUSH | TH_RST)) == 0] = count();
}
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport] && (args[4]->tcp_flags & TH_SYN)/ { @n["syn"] = sum(1); }
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport] && (args[4]->tcp_flags & TH_FIN)/ { @n["fin"] = sum(1); }
tcp:::receive /ours[args[4]->tcp_sport, args[4]->tcp_dport]/ { @n["receive"] = sum(1); @n[strjoin("receive from ", args[2]->ip_saddr)] = sum(1); }
tcp:::connect-request /args[4]->tcp_dport == $1 || args[4]->tcp_dport == $1 + 1/ { @n[probename] = sum(1); self->cid = args[1]->cs_cid;
	@n[strjoin("request to ", args[2]->ip_daddr)] = sum(1); }
tcp:::connect-established /args[3]->tcps_rport == $1/ { @n[probename] = sum(1); @n["same connection"] = sum(args[1]->cs_cid == self->cid);
	@n[strjoin("to ", args[3]->tcps_raddr)] = sum(1); @n[strjoin("answer of ", args[2]->ip_saddr)] = sum(1); }
tcp:::accept-established /args[3]->tcps_lport == $1/ { @n[probename] = sum(1); @n[strjoin("from ", args[3]->tcps_raddr)] = sum(1); }
tcp:::connect-refused /args[4]->tcp_sport == $1 + 1/ { @n[probename] = sum(1); }
tcp:::accept-refused /args[4]->tcp_sport == $1 + 1/ { @n[probename] = sum(1); }
tcp:::state-change /args[3]->tcps_lport == $1 || args[3]->tcps_rport == $1/ {
	@n[strjoin(strjoin(tcp_state_string[args[5]->tcps_state], " > "), tcp_state_string[args[3]->tcps_state])] = sum(1); }
tcp:::state-change /args[3]->tcps_state == TCP_STATE_CLOSED && args[3]->tcps_rport == $1/ { @n["closed with its port"] = sum(args[3]->tcps_lport > 0); }
END { printa("%s: %@d\n", @n); printa("version %d %d %d %d: %@d\n", @ver); }
D
for kind in tcp tcp6; do
	case $kind in tcp) host=127.0.0.1 ver=4 ;; tcp6) host=::1 ver=6; [ -e /proc/net/if_inet6 ] || continue ;; esac
	nettrace $kind -s "$TMP/tcp.d" "$port"
	expect "$(moved Tcp:OutSegs)" "$(labelled send)" "$kind OutSegs"
	expect "$(moved Tcp:InSegs)" "$(labelled receive)" "$kind InSegs"
	expect $((30 * n)) "$(labelled "sent bytes")" $kind
	for what in connect-request connect-established accept-established "same connection" "to $host" "from $host" "request to $host" \
		"answer of $host" "state-closed > state-syn-sent" "state-syn-sent > state-established" "state-syn-received > state-established" \
		"state-established > state-fin-wait-1" "state-established > state-close-wait" \
		"state-close-wait > state-last-ack" "closed with its port"; do
		expect "$n" "$(labelled "$what")" "$kind $what"
	done
	expect $((2 * n)) "$(labelled syn)" "$kind syn" # and syn-ack
	expect $((2 * n)) "$(labelled fin)" "$kind fin"
	expect "$(labelled send)" "$(labelled "send to $host")" $kind
	expect "$(labelled receive)" "$(labelled "receive from $host")" $kind
	expect "1" "$(grep -c "^version $ver 1 1 1: $(labelled send)\$" "$TMP/out")" "$kind: $out"
done
for kind in refused refused6; do
	[ $kind = refused ] || [ -e /proc/net/if_inet6 ] || continue
	nettrace $kind -s "$TMP/tcp.d" "$port"
	for what in connect-request connect-refused accept-refused; do expect "$n" "$(labelled $what)" "$kind: $what"; done
	expect "" "$(labelled connect-established)$(labelled accept-established)"
done

# a state that is set again is not a change: close() after shutdown()
cat >"$TMP/half.py" <<'P'
import socket
s = socket.create_server(("127.0.0.1", 0))
for i in range(20):
    c = socket.create_connection(s.getsockname())
    p = s.accept()[0]
    p.shutdown(socket.SHUT_WR)
    p.close()
    c.close()
P
ktrace -q -c "$python $TMP/half.py" -n 'tcp:::state-change /progenyof($target)/ { @[args[3]->tcps_state == args[5]->tcps_state] = count(); } END { printa("same %d\n", @); }'
expect "same 0" "$(grep same "$TMP/out")" "$err"

cat >"$TMP/udp.d" <<'D'
udp:::send /args[4]->udp_dport == $1/ {
	@n["send"] = sum(1); @n["bytes"] = sum(args[4]->udp_length - 8); @n[args[2]->ip_daddr] = sum(1);
	@n["socket"] = sum(args[3]->udps_lport == args[4]->udp_sport && args[1]->cs_addr != 0);
	@n[execname] = sum(1);
}
udp:::receive /args[4]->udp_dport == $1/ {
	@n["receive"] = sum(1); @n["own end"] = sum(args[3]->udps_lport == $1 && args[3]->udps_rport == args[4]->udp_sport);
	@n[strjoin("local ", args[3]->udps_laddr)] = sum(1);
}
ip:::send /args[4]->ipv4_protocol == IPPROTO_UDP || args[5]->ipv6_nexthdr == IPPROTO_UDP/ {
	@i[probename, args[3]->if_name, args[3]->if_local, args[2]->ip_ver, args[4]->ipv4_ver, args[5]->ipv6_ver, args[2]->ip_plength,
	    args[2]->ip_ver == 4 ? args[4]->ipv4_protostr : args[5]->ipv6_nextstr] = count();
	@a[args[4]->ipv4_daddr, args[5]->ipv6_daddr, args[4]->ipv4_ihl, args[4]->ipv4_length, args[5]->ipv6_plen, args[4]->ipv4_offset] = count();
}
ip:::receive /args[4]->ipv4_protocol == IPPROTO_UDP || args[5]->ipv6_nexthdr == IPPROTO_UDP/ {
	@i[probename, args[3]->if_name, args[3]->if_local, args[2]->ip_ver, args[4]->ipv4_ver, args[5]->ipv6_ver, args[2]->ip_plength,
	    args[2]->ip_ver == 4 ? args[4]->ipv4_protostr : args[5]->ipv6_nextstr] = count();
}
END { printa("%s: %@d\n", @n); printa("ip %s %s %d %d %d %d %d %s: %@d\n", @i); printa("addr %s/%s %d %d %d %d: %@d\n", @a); }
D
for kind in udp udp6; do
	case $kind in udp) host=127.0.0.1 ver="4 4 0" c=Udp: addr="127.0.0.1/ 20 128 0 0" ;; udp6) host=::1 ver="6 0 6" c=Udp6 addr="/::1 0 0 108 0"; [ -e /proc/net/if_inet6 ] || continue ;; esac
	nettrace $kind -s "$TMP/udp.d" "$port"
	expect "$n" "$(moved ${c}OutDatagrams)" $kind
	expect "$(labelled receive)" "$(moved ${c}InDatagrams)" $kind
	for what in send socket receive "own end" "$host" "local $host" python3 "ip send lo 1 $ver 108 UDP" "ip receive lo 1 $ver 108 UDP" "addr $addr"; do
		expect "$n" "$(labelled "$what")" "$kind $what"
	done
	expect $((100 * n)) "$(labelled bytes)" $kind
done

# ---- ip: all packets of the namespace, as the kernel counts them ----
cat >"$TMP/ip.d" <<'D'
BEGIN { ns = curthread->nsproxy->net_ns->ns.inum; }
ip:::send, ip:::receive /args[3]->if_ipstack == ns/ { @n[probename, args[2]->ip_ver] = sum(1); }
END { printa("%s %d: %@d\n", @n); }
D
for kind in tcp udp tcp6 udp6; do
	case $kind in *6) v=6 c=Ip6; [ -e /proc/net/if_inet6 ] || continue ;; *) v=4 c=Ip: ;; esac
	nettrace $kind -s "$TMP/ip.d"
	expect "$(moved ${c}OutRequests)" "$(labelled "send $v")" "$kind: ${c}OutRequests"
	expect "$(moved ${c}InReceives)" "$(labelled "receive $v")" "$kind: ${c}InReceives"
done

# ---- every member of the types ----
cat >"$TMP/alone" <<A
$ip link set lo up
exec $python $SRC/test/providers/net.py \$1 1 $port
A
# of KIND CLAUSE: all of it in a namespace of its own; PORT is that of the server. What is received may be handled by a thread
# of the kernel, so only the port says whose it is.
of() { fields "${2//PORT/$port}" -c "unshare -n bash $TMP/alone $1" < <(sed "s/PORT/$port/g"); }
of udp 'udp:::send /progenyof($target) && args[4]->udp_dport == PORT/' <<'T'
= pktinfo_t args[0]
pkt_addr % == arg0 && % != 0
= csinfo_t args[1]
cs_addr % == (uintptr_t)((struct sk_buff *)arg0)->sk && % != 0
cs_cid % == args[1]->cs_addr
cs_pid % == pid
cs_zoneid % == 0
= ipinfo_t args[2]
ip_ver % == 4
ip_plength % == 108
ip_saddr % == "127.0.0.1"
ip_daddr % == "127.0.0.1"
= udpsinfo_t args[3]
udps_addr % == args[1]->cs_addr && % != 0
udps_lport % == args[4]->udp_sport && % != 0
udps_rport % == PORT
udps_laddr % == "127.0.0.1"
udps_raddr % == "127.0.0.1"
= udpinfo_t args[4]
udp_sport % > 1024
udp_dport % == PORT
udp_length % == 108
udp_checksum % != 0
udp_hdr % == arg3
T
of udp 'ip:::send /progenyof($target) && args[4]->ipv4_protocol == IPPROTO_UDP/' <<'T'
= ifinfo_t args[3]
if_name % == "lo"
if_local % == 1
if_ipstack % == curthread->nsproxy->net_ns->ns.inum && % != 0
if_addr % == (uintptr_t)((struct sk_buff *)arg0)->dev
= ipv4info_t args[4]
ipv4_ver % == 4
ipv4_ihl % == 20
ipv4_tos % == 0
ipv4_length % == 128
ipv4_ident % >= 0
ipv4_flags % == IPH_DF
ipv4_offset % == 0
ipv4_ttl % == 64
ipv4_protocol % == IPPROTO_UDP
ipv4_protostr % == "UDP"
ipv4_checksum % != 0
ipv4_src % == htonl(0x7f000001)
ipv4_dst % == htonl(0x7f000001)
ipv4_saddr % == "127.0.0.1"
ipv4_daddr % == "127.0.0.1"
ipv4_hdr % == arg2
T
[ ! -e /proc/net/if_inet6 ] || of udp6 'ip:::send /progenyof($target) && args[5]->ipv6_nexthdr == IPPROTO_UDP/' <<'T'
= ipv6info_t args[5]
ipv6_ver % == 6
ipv6_tclass % == 0
ipv6_flow % != 0
ipv6_plen % == 108
ipv6_nexthdr % == IPPROTO_UDP
ipv6_nextstr % == "UDP"
ipv6_hlim % == 64
ipv6_src % == arg2 + 8
ipv6_dst % == arg2 + 24
ipv6_saddr % == "::1"
ipv6_daddr % == "::1"
ipv6_hdr % == arg2
T
of tcp 'tcp:::send /progenyof($target) && args[4]->tcp_dport == PORT && args[2]->ip_plength > 40/' <<'T'
= tcpinfo_t args[4]
tcp_sport % > 1024
tcp_dport % == PORT
tcp_seq % == args[3]->tcps_iss + 1
tcp_ack % == args[3]->tcps_irs + 1
tcp_offset % == 32
tcp_flags % == (TH_PUSH | TH_ACK)
tcp_window % > 0
tcp_checksum % != 0
tcp_urgent % == 0
tcp_hdr % == arg3
T
# Both ends when the client has got its 20 bytes for 10, and closes; what the kernel says itself is in the output of net.py.
for v in 4 6; do
	[ $v = 4 ] || [ -e /proc/net/if_inet6 ] || continue
	kind=tcpinfo host=127.0.0.1
	[ $v = 4 ] || kind=tcpinfo6 host=::1
	of $kind 'tcp:::state-change /args[3]->tcps_rport == PORT && args[3]->tcps_state == TCP_STATE_FIN_WAIT_1/' <<-T
	= tcplsinfo_t args[5]
	tcps_state % == TCP_STATE_ESTABLISHED
	= tcpsinfo_t args[3]
	tcps_addr % == args[1]->cs_addr
	tcps_local % == 1
	tcps_active % == 1
	tcps_lport % > 1024
	tcps_rport % == PORT
	tcps_laddr % == "$host"
	tcps_raddr % == "$host"
	tcps_state % == TCP_STATE_FIN_WAIT_1
	tcps_iss % == args[3]->tcps_suna - 11
	tcps_irs % == args[3]->tcps_rnxt - 21
	tcps_suna % == args[3]->tcps_snxt
	tcps_smax % == args[3]->tcps_snxt
	tcps_snxt % != 0
	tcps_rack % <= args[3]->tcps_rnxt && % >= args[3]->tcps_rnxt - 20
	tcps_rnxt % != 0
	tcps_swnd % > 1000
	tcps_snd_ws % > 0 && % <= 14
	tcps_swl1 % > args[3]->tcps_irs && % <= args[3]->tcps_rnxt
	tcps_swl2 % == 0
	tcps_rup % == 0
	tcps_radv % == args[3]->tcps_rack + args[3]->tcps_rwnd
	tcps_rwnd % > 1000
	tcps_rcv_ws % > 0 && % <= 14
	tcps_cwnd % >= args[3]->tcps_mss && % / args[3]->tcps_mss * args[3]->tcps_mss == %
	tcps_srecover % >= 0
	tcps_cwnd_ssthresh % == 0x7fffffff || % / args[3]->tcps_mss * args[3]->tcps_mss == %
	tcps_sack_fack % == args[3]->tcps_suna
	tcps_sack_snxt % == args[3]->tcps_snxt
	tcps_rto % >= 200 && % < 10000
	tcps_mss % > 500
	tcps_retransmit % == 0
	tcps_srtt % > 0 && % < 10000000
	tcps_debug % == 1
	tcps_cookie % != 0
	tcps_dupacks % == 0
	tcps_rtttime % > 0 && % < 10000000
	tcps_rtseq % != 0
	tcps_ts_recent % != 0
	T
	said() { awk -v k="said_$1" '$1 == k { print $2 }' "$TMP/out"; }
	is() { awk -v k="tcpsinfo_t.tcps_$1" '$1 == k { print $3 }' "$TMP/fields"; }
	for k in mss snd_ws rcv_ws srtt retransmit cookie; do expect "$(said $k)" "$(is $k)" "tcps_$k, by the kernel's own words"; done
	expect "$(($(said cwnd) * $(said mss)))" "$(is cwnd)" tcps_cwnd
	# the kernel rounds its own up to ticks, of 10 ms at most; ours is computed from the same times
	[ $(($(is rto) * 1000 - $(said rto))) -le 0 ] && [ $(($(said rto) - $(is rto) * 1000)) -le 11000 ] || { echo "rto: $(is rto) ms, $(said rto) us"; count_failure; }
	# the other end has accepted
	of $kind 'tcp:::state-change /args[3]->tcps_lport == PORT && args[3]->tcps_state == TCP_STATE_CLOSE_WAIT &&
		args[3]->tcps_active == 0 && args[3]->tcps_iss == args[3]->tcps_suna - 21 && args[3]->tcps_irs == args[3]->tcps_rnxt - 12/' <<-'T'
	= tcplsinfo_t args[5]
	tcps_state % == TCP_STATE_ESTABLISHED
	T
done

# ---- retransmission: no answer, since the packets of this network return without a receiver ----
cat >"$TMP/alone" <<A
$ip link set lo up && $ip route add 10.9.9.0/24 dev lo || exit 1
exec $python $SRC/test/providers/net.py again 1 $port
A
# The kernel's timer sends it again, in the middle of whatever runs. Some kernels of virtual machines run no programs in process 1
# (doc/kernel-engine.md): if the timer has interrupted that one, once more.
for attempt in 1 2 3 4 5; do
	ktrace -q -c "unshare -n bash $TMP/alone" -n 'tcp:::send /args[4]->tcp_dport == $1 && args[4]->tcp_flags == TH_SYN && args[3]->tcps_retransmit < 2/ {
		@[args[3]->tcps_retransmit, args[3]->tcps_rto, args[3]->tcps_state == TCP_STATE_SYN_SENT, args[3]->tcps_active, args[3]->tcps_iss == args[4]->tcp_seq] = count(); }
		END { printa("again %d %d %d %d %d %@d\n", @); }' "$port"
	sent=$(grep again "$TMP/out" | sort)
	[ "$sent" = "again 0 1000 1 1 1 1" ] || break
	echo "attempt $attempt: what was sent again was not seen"
done
expect "again 0 1000 1 1 1 1
again 1 1000 1 1 1 1" "$sent" "sent again"

# ---- sctp and udplite: packets made by hand ----
cat >"$TMP/raw.d" <<'D'
sctp:::send, sctp:::receive { @n[probeprov, probename, args[4]->sctp_sport, args[4]->sctp_dport] = sum(1); }
sctp:::send /args[4]->sctp_verify == 0x12345678 && args[4]->sctp_hdr == arg3/ { @ok["sctp send"] = sum(args[3]->sctps_lport == $1 + 2 && args[3]->sctps_rport == $1 &&
	args[3]->sctps_laddr == "127.0.0.1" && args[3]->sctps_raddr == "127.0.0.1" && args[3]->sctps_addr != 0 && args[3]->sctps_state == 0 && args[2]->ip_plength == 12); }
sctp:::receive /args[4]->sctp_verify == 0x12345678/ { @ok["sctp receive"] = sum(args[3]->sctps_lport == $1 && args[3]->sctps_rport == $1 + 2 && args[3]->sctps_addr == 0); }
udplite:::send, udplite:::receive { @n[probeprov, probename, args[4]->udplite_sport, args[4]->udplite_dport] = sum(1); }
udplite:::send /args[4]->udplite_coverage == 8 && args[4]->udplite_checksum == 99 && args[4]->udplite_hdr == arg3/ { @ok["udplite send"] = sum(args[3]->udplites_lport == $1 + 2 &&
	args[3]->udplites_rport == $1 && args[3]->udplites_addr != 0 && args[3]->udplites_laddr == "127.0.0.1" && args[3]->udplites_raddr == "127.0.0.1"); }
udplite:::receive { @ok["udplite receive"] = sum(args[3]->udplites_lport == $1 && args[3]->udplites_rport == $1 + 2); }
END { printa("%s %s %d %d: %@d\n", @n); printa("%s: %@d\n", @ok); }
D
nettrace raw -s "$TMP/raw.d" "$port"
for p in sctp udplite; do
	for what in "$p send $((port + 2)) $port" "$p receive $((port + 2)) $port" "$p send" "$p receive"; do expect "$n" "$(labelled "$what")" "raw: $what"; done
done

# ---- sctp: associations, where the kernel has it (guests) ----
module sctp
no_sctp=
if $python -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)' 2>/dev/null; then
	cat >"$TMP/sctp.d" <<-'D'
	sctp:::state-change { @n[strjoin(strjoin(sctp_state_string[args[5]->sctps_state], " > "), sctp_state_string[args[3]->sctps_state])] = sum(1); }
	sctp:::state-change /args[3]->sctps_lport == $1 && args[3]->sctps_state == SCTP_STATE_LISTENING/ { @n["listens"] = sum(args[3]->sctps_laddr == "127.0.0.1" && args[3]->sctps_num_laddrs == 1); }
	sctp:::send /args[3]->sctps_state == SCTP_STATE_ESTABLISHED && args[3]->sctps_rport == $1/ { @addrs[args[3]->sctps_num_raddrs, args[3]->sctps_raddrs != 0, args[3]->sctps_laddrs != 0] = sum(1); }
	sctp:::send, sctp:::receive { @n[probename] = sum(1); }
	END { printa("%s: %@d\n", @n); printa("addresses %d %d %d: %@d\n", @addrs); }
	D
	nettrace sctp -s "$TMP/sctp.d" "$port"
	for what in "state-closed > state-listening" listens; do expect 1 "$(labelled "$what")" "sctp: $what"; done
	for what in "state-closed > state-established" "state-established > state-closing"; do expect $((2 * n)) "$(labelled "$what")" "sctp: $what"; done # both ends
	expect "addresses 1 1 1" "$(sed -n 's/^\(addresses .*\):.*/\1/p' "$TMP/out")" "sctp: addresses of the other end"
	expect "$(labelled send)" "$(labelled receive)" "sctp: packets"
	[ "$(labelled send)" -ge $((8 * n)) ] || { echo "sctp: too few packets"; cat "$TMP/out"; count_failure; }
else
	no_sctp="sctp:.*:state-change: the kernel has no SCTP"
fi
expect "receive send state-change" "$("$DTRACE" -lP sctp | awk 'NR > 1 { print $NF }' | sort | xargs)" sctp
fired ${no_sctp:+"$no_sctp"}
exit $fails
