# Machines over vsock: found by their number and port, exact; who may come. The machine is its own guest (vsock_loopback).
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
module vsock_loopback || skip "the kernel module vsock_loopback"
port=$((RANDOM + 2000))
echo 'user=vsock' >"$TMP/policy"
"$BUILD/dtraced" -n near -v $port -p "$TMP/policy" 2>"$TMP/near.err" &
at_end "kill $! 2>/dev/null"
export DTRACE_TARGETS=vsock:1:$port,$TMP/t
there() { "$DTRACE" -x targetwait=100s -M 2>/dev/null | grep -q ^near; }
wait_for 20 there
agent web-1
fleet -qn "*:syscall::close:entry /$mine/ { @[vmname] = count(); x++; } END { printf(\"%d\n\", x); }" -c "$(load 500)"
expect "1500
host 500
near 500
web-1 500" "$(sorted)" "counts over vsock"
expect "" "$err"

# Only the host may come, unless a rule says so; a port where nobody listens is a machine that may come.
"$BUILD/dtraced" -n shy -v $((port + 1)) 2>"$TMP/shy.err" &
at_end "kill $! 2>/dev/null"
refused() { DTRACE_TARGETS=vsock:1:$((port + 1)) "$DTRACE" -x targetwait=100s -M 2>&1 | grep -q 'the connection has ended'; }
wait_for 20 refused
expect_match 'user vsock is not in the policy' "$(cat "$TMP/shy.err")"
DTRACE_TARGETS=vsock:1:$((port + 2)) trace -M
expect "0 MACHINE host " "$status $(awk '{ print $1 }' "$TMP/out" | xargs) $err"
DTRACE_TARGETS=vsock:one trace -M
expect_match 'cannot connect to vsock:one: Invalid argument' "$err"
expect_match 'is not a port of vsock' "$("$BUILD/dtraced" -v x 2>&1)"
