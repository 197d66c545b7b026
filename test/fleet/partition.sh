# A network that is cut for some seconds, between the NATS server and the agent, or the server and the front: what was traced
# meanwhile comes later, and nothing is missing. The server has a network namespace of its own, and the other of the two.
# needs: root bpf gcc ip netns nats-server libnats
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
unset DTRACE_TARGETS
space=dtfleet$$
nsenter --version >/dev/null 2>&1 && ip netns add $space 2>/dev/null || skip "network namespaces by name"
at_end "ip netns del $space"
ip link add dtf$$ type veth peer name eth0 netns $space 2>/dev/null || skip "virtual network interfaces"
at_end "ip link del dtf$$ 2>/dev/null"
subnet=
until [ -n "$subnet" ] && ! ip -4 addr | grep -qF " $subnet."; do subnet=169.254.$((RANDOM % 200 + 20)); done
ip addr add $subnet.1/30 dev dtf$$
ip link set dtf$$ up
nsenter --net=/run/netns/$space ip addr add $subnet.2/30 dev eth0
nsenter --net=/run/netns/$space ip link set eth0 up
nsenter --net=/run/netns/$space ip link set lo up
inside() { exec nsenter --net=/run/netns/$space "$@"; }
outside() { exec "$@"; }

: >"$TMP/nats.log"
(inside nats-server -a $subnet.2 -p 4222) >"$TMP/nats.log" 2>&1 &
at_end "kill $! 2>/dev/null"
wait_for 20 grep -q 'Server is ready' "$TMP/nats.log"
echo 'user=nats' >"$TMP/policy"
url=nats://$subnet.2:4222

cut_off() { # WHO: agent or front
	local agent=inside front=inside who=$1 before n
	eval "$who=outside"
	($agent "$BUILD/dtraced" -n "far-$who" -N $url -p "$TMP/policy") 2>"$TMP/far.err" &
	at_end "kill $! 2>/dev/null"
	there() { ($front "$DTRACE" -x targets=$url -x targetwait=100s -M) 2>/dev/null | grep -q "^far-$who"; }
	wait_for 60 there
	: >"$TMP/out" >"$TMP/err" # what an earlier one has said
	($front "$DTRACE" -x targets=$url -x targetwait=100s -E -x switchrate=100ms -qn "far-$who:syscall::close:entry /$mine/ { n[arg0]++; printf(\"%d\n\", arg0); @ = count(); }") >"$TMP/out" 2>"$TMP/err" &
	front=$!
	at_end "kill $front 2>/dev/null"
	started() { $(load 1); grep -q 1000 "$TMP/out"; }
	wait_for 60 started
	before=$(grep -c '^1...$' "$TMP/out")
	ip link set dtf$$ down
	$(load 500)
	sleep 3
	ip link set dtf$$ up
	$(load 500)
	all() { [ "$(grep -c '^1...$' "$TMP/out")" -ge $((before + 1000)) ]; }
	wait_for 60 all
	kill -TERM $front
	wait $front
	n=$(grep -c '^1...$' "$TMP/out")
	expect "$n" "$(grep -v '^$' "$TMP/out" | tail -n 1 | xargs)" "records, and the count, when the $who was cut off"
	expect "" "$(grep -v 'silent for' "$TMP/err")"
}
cut_off agent
cut_off front
