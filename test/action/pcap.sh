# pcap(): its prototype, its constants, NULL and a bad address, the same with DOF.
. "$SRC/test/lib.bash"
tag() { # TAG, statement
	dt -e -x errtags -n "BEGIN { $2; }"
	expect_match "\\[$1\\]" "$err" "$2"
}
tag D_PROTO_LEN 'pcap()'
tag D_PROTO_LEN 'pcap(NULL)'
tag D_PROTO_LEN 'pcap(NULL, 1, 2)'
tag D_PROTO_ARG 'pcap(5, 1)'
tag D_PROTO_ARG 'pcap("x", 1)'
tag D_PROTO_ARG 'pcap(execname, 1)'
tag D_PROTO_ARG 'pcap(NULL, "x")'
tag D_PROTO_ARG 'pcap(NULL, (void *)1)'
dt -qn 'BEGIN { printf("%d %d %d %d %d %d\n", PCAP_NULL, PCAP_ETHER, PCAP_PPP, PCAP_IP, PCAP_WIFI, PCAP_IPOIB); exit(0); }'
expect "0 1 9 12 105 242" "$(grep . "$TMP/out")" "$err"
dt -qn 'BEGIN { pcap(NULL, PCAP_ETHER); pcap(0, 1); printf("nothing\n"); } BEGIN { pcap((void *)8, 1); printf("not reached\n"); } BEGIN { exit(0); }'
expect "nothing" "$(grep . "$TMP/out")" "$err"
expect_match '^dtrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): invalid address \(0x8\) in action #1$' "$err"
for n in 0 65536; do
	dt -e -x pcapsize=$n -n BEGIN
	expect "dtrace: failed to set -x pcapsize=$n: \"$n\" is out of range for option \"pcapsize\"" "$err"
done
# the room of a record: 8 bytes and pcapsize, rounded up
dt -q -x pcapsize=9 -x bufsize=48 -n 'BEGIN { pcap(NULL, 1); exit(0); }'
expect "0 " "$status $err"
# an older version leaves the name free
dt -qn '#pragma D option version=1.12
int pcap; BEGIN { pcap = 3; trace(pcap); exit(0); }'
expect 3 "$(echo $out)" "$err"
