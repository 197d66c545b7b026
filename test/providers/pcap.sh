# pcap(): packets of the loopback in a network namespace of our own, to a file, through tshark, as a dump.
# timeout: 120
# needs: root bpf btf netns python3 ip
# uses: tshark
. "$SRC/test/lib.bash"
ip=$(command -v ip || echo "busybox ip")
python=/usr/bin/python3
file=$TMP/packets
net() { # KIND, arguments of dtrace
	run_dtrace timeout 500 unshare -n bash -c "$ip"' link set lo up && exec "$@"' net "$DTRACE" -w -c "$python $SRC/test/providers/pcap.py send $1" "${@:2}"
}
contents() { $python "$SRC/test/providers/pcap.py" read "$file"; }
# Only what is sent in that namespace: a process that is interrupted also sends for others.
ours='args[0]->dev->nd_net.net->ns.inum == netns'
queue="sdt:net::net_dev_queue /progenyof(\$target) && $ours/"

# a file; text goes where it always does
before=$(date +%s)
net udp -n "BEGIN { freopen(\"$file\"); printf(\"hello\\n\"); } $queue { printf(\"a packet of %d\", args[0]->len); pcap(args[0], PCAP_ETHER); }"
after=$(date +%s)
expect "a1b2c3d4 2.4 snap 65536 link 1
udp True 1 True
udp True 100 True
udp True 1400 True" "$(contents | grep -v order)" "udp: $err"
expect "3 1 0" "$(lines 'net_dev_queue *a packet of') $(lines 'BEGIN *hello$') $status" "$out"
read -r order _ from _ to <<<"$(contents | sed -n 's/^in //p')"
[ "$order" = order ] && [ "$from" -ge $((before - 1)) ] && [ "$to" -le $((after + 1)) ] || { echo "times: $(contents), $before to $after"; count_failure; }
# more of the same go to its end; of another link type not
net udp -qn "BEGIN { freopen(\"$file\"); } $queue { pcap(args[0], PCAP_ETHER); pcap(args[0], PCAP_PPP); }"
expect "6" "$(contents | grep -c ^udp)" "appended: $err"
expect "dtrace: pcap(): \"$file\": it has packets of another link type
dtrace: pcap(): 3 packets were not written" "$err"
echo text >"$TMP/text"
net udp -qn "BEGIN { freopen(\"$TMP/text\"); } $queue { pcap(args[0], PCAP_ETHER); }"
expect "dtrace: pcap(): \"$TMP/text\": it is not a file of packets
dtrace: pcap(): 3 packets were not written" "$err"
expect "text" "$(cat "$TMP/text" | grep .)"
# pcapsize, rounded up to 8; the length is that of the packet
rm "$file"
net udp -x pcapsize=61 -qn "BEGIN { freopen(\"$file\"); } $queue { pcap(args[0], PCAP_ETHER); }"
expect "udp True 1 True
udp False 22 True
udp False 22 True" "$(contents | grep ^udp)" "pcapsize"

# what is not in the first piece: all of a TCP stream
rm "$file"
net tcp -x pcapsize=65535 -b 16m -qn "BEGIN { freopen(\"$file\"); } $queue { pcap(args[0], PCAP_ETHER); }"
expect "tcp True" "$(contents | grep ^tcp)" "tcp: $err"

# the IP header is where the kernel says
rm "$file"
net udp -qn "BEGIN { freopen(\"$file\"); } BEGIN { ns = netns; } ip:::receive /args[4]->ipv4_protocol == IPPROTO_UDP && ((struct sk_buff *)args[0]->pkt_addr)->dev->nd_net.net->ns.inum == ns/ { pcap((struct sk_buff *)args[0]->pkt_addr, PCAP_IP); }"
expect "a1b2c3d4 2.4 snap 65536 link 12
udp True 1 True" "$(contents | head -n 2)" "PCAP_IP: $err"

# NULL is nothing, another address a fault
net udp -n "$queue { pcap(NULL, PCAP_ETHER); pcap(0, 1); } $queue { pcap((void *)16, PCAP_ETHER); }"
expect "3 3" "$(lines 'net_dev_queue *$') $(grep -c 'invalid address (0x10) in action #1' <<<"$err")" "$out$err"

# without tshark: as tracemem() shows it
mkdir "$TMP/empty"
cat >"$TMP/empty/tshark" <<'S'
#!/bin/sh
exit 1
S
chmod 755 "$TMP/empty/tshark" "$TMP"
PATH=$TMP/empty:$PATH net udp -qn "sdt:net::net_dev_queue /progenyof(\$target) && $ours && n++ == 0/ { pcap(args[0], PCAP_ETHER); tracemem(args[0]->data, 43); }"
grep ': ' "$TMP/out" >"$TMP/dumps"
expect 6 "$(wc -l <"$TMP/dumps")" "two dumps: $out"
expect "$(head -n 3 "$TMP/dumps")" "$(tail -n 3 "$TMP/dumps")" "dump: $err"
expect_match '^ *0: .* 08 00 45 00 ' "$(head -n 1 "$TMP/dumps")"

# tshark: a line for each packet. It runs as a user of its own.
cat >"$TMP/empty/tshark" <<S
#!$python -u
import os, struct, sys
f = sys.stdin.buffer
link = struct.unpack("<IHHIIII", f.read(24))[6]
n = 0
while head := f.read(16):
	size = struct.unpack("<IIII", head)[2]
	f.read(size)
	n += 1
	print("number %d of %d bytes, link type %d, user %x" % (n, size, link, os.getuid() - os.getpid()))
S
PATH=$TMP/empty:$PATH net udp -qn "$queue { pcap(args[0], PCAP_ETHER); printf(\"after it\\n\"); }"
expect "pcap number 1 of 43 bytes, link type 1, user 80000000
after it
pcap number 2 of 142 bytes, link type 1, user 80000000
after it
pcap number 3 of 1442 bytes, link type 1, user 80000000
after it" "$(grep . "$TMP/out")" "tshark: $err"
if type -P tshark >/dev/null; then
	net udp -qn "$queue { pcap(args[0], PCAP_ETHER); }"
	expect 3 "$(lines '^pcap .*127\.0\.0\.1.*UDP')" "real tshark: $out$err"
fi
