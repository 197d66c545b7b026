# timeout: 200
# ip, tcp, udp: every probe, with known traffic in a network namespace of our own, against the kernel's own counters.
. ./lib.bash
[ -r /sys/kernel/btf/vmlinux ] || { echo "needs BTF"; exit 77; }
python=/usr/bin/python3
[ -x $python ] || { echo "needs python3"; exit 77; }
ip=$(command -v ip || echo "busybox ip")
unshare -n true 2>/dev/null && unshare -n $ip link set lo up 2>/dev/null || { echo "cannot make a network namespace"; exit 77; }
n=$(scale 200)
[ "$n" -ge 5 ] || n=5

# nettrace KIND ARGS: trace while net.py makes that traffic; what the counters of the namespace moved is in $TMP/snmp
nettrace() {
	local kind=$1
	shift
	unshare -n bash -c '
		counters() { cat /proc/net/snmp | awk "/^(Tcp|Udp|Ip):/ { if (!(\$1 in h)) { h[\$1] = \$0 } else { split(h[\$1], a); for (i = 2; i <= NF; i++) print \$1 a[i], \$i } }"; cat /proc/net/snmp6; }
		'"$ip"' link set lo up || exit 1
		sleep 0.2
		counters >"$0.0"
		timeout 100 "$@" >"$0.out" 2>"$0.err" </dev/null
		status=$?
		counters >"$0.1"
		exit $status' "$TMP/net" "$DTRACE" -q -x switchrate=50ms -c "$python $SRC/test/kernel/net.py $kind $n" "$@"
	status=$?
	cp "$TMP/net.out" "$TMP/out"
	out=$(grep . "$TMP/out") err=$(cat "$TMP/net.err")
	expect 0 "$status" "$kind: $err"
	expect "" "$err" "$kind"
}
# moved COUNTER: by how much
moved() { echo $(($(awk -v c="$1" '$1 == c { print $2 }' "$TMP/net.1") - $(awk -v c="$1" '$1 == c { print $2 }' "$TMP/net.0"))); }

# the ports of net.py; other traffic of this machine is not ours
cat >"$TMP/tcp.d" <<'D'
inline int ours[int S, int D] = S == 7777 || D == 7777 || S == 7778 || D == 7778;
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport]/ {
	@n["send"] = sum(1); @n["sent bytes"] = sum(args[2]->ip_plength - args[4]->tcp_offset);
	@n[strjoin("send to ", args[2]->ip_daddr)] = sum(1);
	@ver[args[2]->ip_ver, args[0]->pkt_addr != 0, args[1]->cs_addr != 0, (args[4]->tcp_flags & ~(TH_SYN | TH_ACK | TH_FIN | TH_PUSH | TH_RST)) == 0] = count();
}
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport] && (args[4]->tcp_flags & TH_SYN)/ { @n["syn"] = sum(1); }
tcp:::send /ours[args[4]->tcp_sport, args[4]->tcp_dport] && (args[4]->tcp_flags & TH_FIN)/ { @n["fin"] = sum(1); }
tcp:::receive /ours[args[4]->tcp_sport, args[4]->tcp_dport]/ { @n["receive"] = sum(1); @n[strjoin("receive from ", args[2]->ip_saddr)] = sum(1); }
tcp:::connect-request /args[4]->tcp_dport == 7777 || args[4]->tcp_dport == 7778/ { @n[probename] = sum(1); self->cid = args[1]->cs_cid;
	@n[strjoin("request to ", args[2]->ip_daddr)] = sum(1); }
tcp:::connect-established /args[3]->tcps_rport == 7777/ { @n[probename] = sum(1); @n["same connection"] = sum(args[1]->cs_cid == self->cid);
	@n[strjoin("to ", args[3]->tcps_raddr)] = sum(1); @n[strjoin("answer of ", args[2]->ip_saddr)] = sum(1); }
tcp:::accept-established /args[3]->tcps_lport == 7777/ { @n[probename] = sum(1); @n[strjoin("from ", args[3]->tcps_raddr)] = sum(1); }
tcp:::connect-refused /args[4]->tcp_sport == 7778/ { @n[probename] = sum(1); }
tcp:::accept-refused /args[4]->tcp_sport == 7778/ { @n[probename] = sum(1); }
tcp:::state-change /args[3]->tcps_lport == 7777 || args[3]->tcps_rport == 7777/ {
	@n[strjoin(strjoin(tcp_state_string[args[5]->tcps_state], " > "), tcp_state_string[args[3]->tcps_state])] = sum(1); }
END { printa("%s: %@d\n", @n); printa("version %d %d %d %d: %@d\n", @ver); }
D
value() { awk -v k="$1: " 'index($0, k) == 1 { print substr($0, length(k) + 1) }' "$TMP/out"; }
for kind in tcp tcp6; do
	case $kind in tcp) host=127.0.0.1 ver=4 ;; tcp6) host=::1 ver=6; [ -e /proc/net/if_inet6 ] || continue ;; esac
	nettrace $kind -s "$TMP/tcp.d"
	expect "$(moved Tcp:OutSegs)" "$(value send)" "$kind OutSegs"
	expect "$(moved Tcp:InSegs)" "$(value receive)" "$kind InSegs"
	expect $((30 * n)) "$(value "sent bytes")" $kind
	for what in connect-request connect-established accept-established "same connection" "to $host" "from $host" "request to $host" \
		"answer of $host" "state-closed > state-syn-sent" "state-syn-sent > state-established" "state-syn-received > state-established" \
		"state-established > state-fin-wait-1" "state-established > state-close-wait" \
		"state-close-wait > state-last-ack"; do
		expect "$n" "$(value "$what")" "$kind $what"
	done
	expect $((2 * n)) "$(value syn)" "$kind syn" # and syn-ack
	expect $((2 * n)) "$(value fin)" "$kind fin"
	expect "$(value send)" "$(value "send to $host")" $kind
	expect "$(value receive)" "$(value "receive from $host")" $kind
	expect "1" "$(grep -c "^version $ver 1 1 1: $(value send)\$" "$TMP/out")" "$kind: $out"
done
nettrace refused -s "$TMP/tcp.d"
for what in connect-request connect-refused accept-refused; do expect "$n" "$(value $what)" "refused: $what"; done
expect "" "$(value connect-established)$(value accept-established)"

cat >"$TMP/udp.d" <<'D'
udp:::send /args[4]->udp_dport == 7777/ {
	@n["send"] = sum(1); @n["bytes"] = sum(args[4]->udp_length - 8); @n[args[2]->ip_daddr] = sum(1);
	@n["socket"] = sum(args[3]->udps_lport == args[4]->udp_sport && args[1]->cs_addr != 0);
	@n[execname] = sum(1);
}
udp:::receive /args[4]->udp_dport == 7777/ {
	@n["receive"] = sum(1); @n["own end"] = sum(args[3]->udps_lport == 7777 && args[3]->udps_rport == args[4]->udp_sport);
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
	nettrace $kind -s "$TMP/udp.d"
	expect "$n" "$(moved ${c}OutDatagrams)" $kind
	for what in send socket receive "own end" "$host" "local $host" python3 "ip send lo 1 $ver 108 UDP" "ip receive lo 1 $ver 108 UDP" "addr $addr"; do
		expect "$n" "$(value "$what")" "$kind $what"
	done
	expect $((100 * n)) "$(value bytes)" $kind
done

# without traffic of its own kind a probe is silent; sctp is listed and compiles
ktrace -ln 'sctp:::'
expect "receive send" "$(awk '$2 == "sctp" { print $NF }' "$TMP/out" | sort | tr '\n' ' ' | sed 's/ $//')" sctp
ktrace -q -c true -n 'sctp:::send, sctp:::receive { @[args[4]->sctp_dport, args[3]->sctps_laddr, args[2]->ip_saddr] = count(); }'
expect 0 "$status" "$err"
exit $fails
