# skbcopy(): bytes of packets over the loopback, with their fragments, as memory and as header structures.
# timeout: 120
# needs: root bpf btf netns python3 ip
. "$SRC/test/lib.bash"
ip=$(command -v ip || echo "busybox ip")
python=/usr/bin/python3
net() { # KIND, arguments of dtrace
	run_dtrace timeout 500 unshare -n bash -c "$ip"' link set lo up && exec "$@"' net "$DTRACE" -c "$python $SRC/test/providers/pcap.py send $1" "${@:2}"
}
# Only what is sent in that namespace: a process that is interrupted also sends for others.
ours='progenyof($target) && args[0]->dev->nd_net.net->ns.inum == netns'
queue="sdt:net::net_dev_queue /$ours/"

# headers; after the end of a packet there are zeros
net udp -qn "$queue"' { this->p = (char *)skbcopy(args[0], 64); this->ip = (struct iphdr *)(this->p + 14); this->udp = (struct udphdr *)(this->p + 34);
	printf("%d %d %s %d %d\n", this->ip->protocol, ntohs(this->ip->tot_len), inet_ntoa((ipaddr_t *)&this->ip->daddr), ntohs(this->udp->len), this->udp->source == this->udp->dest);
	printf("%s %s\n", hexstr(this->p + 42, 4), hexstr(this->p + 60, 4)); }'
expect "17 29 127.0.0.1 9 1
00000000 00000000
17 128 127.0.0.1 108 1
00010203 12131415
17 1428 127.0.0.1 1408 1
00010203 12131415" "$(grep . <<<"$out")" "$err"
net udp -qn "sdt:net::net_dev_queue /$ours"' && args[0]->len > 1000/ { tracemem(skbcopy(args[0], 1500), 64); }'
expect_match ' 20: .* 00 01 02 03 04 05 ' "$out"

# what is in pages: the numbers of a TCP stream, one after the other, past the first piece
net tcp -qn "sdt:net::net_dev_queue /$ours"' && args[0]->len > 3000/ { this->p = (unsigned char *)skbcopy(args[0], 3000);
	printf("%d %d %d %d\n", args[0]->data_len > 0, this->p[2000] - this->p[1999] & 255, this->p[2999] - this->p[2000] & 255, this->p[1256] == this->p[1000]); }'
expect "1 1 231 1" "$(grep . <<<"$out" | sort -u)" "$err"

# an address that is not of a packet is a fault; the size is a constant
net udp -qn "$queue"' { trace(*(int *)skbcopy((struct sk_buff *)16, 8)); }'
expect 3 "$(grep -c 'invalid address (0x10) in action #1' <<<"$err")" "$err"
dt -x errtags -n 'BEGIN { trace((int64_t)skbcopy((void *)8, pid)); }'
expect_match '\[D_PROTO_ARG\] .*skbcopy\( \) argument #2 is incompatible with prototype: needed "const size_t"' "$err"
dt -qn 'BEGIN { trace((int64_t)skbcopy((void *)8, 8)); } BEGIN { exit(0); }'
expect_match 'invalid address \(0x8\)' "$err"
