# Relays: machines behind others, two levels deep, in one program as if they were here. Exact counts, one order of time, names,
# shared variables; a machine that comes, a relay that is killed; what a relay's policy does not allow.
# needs: root bpf gcc
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
under() { # DIRECTORY AGENT-FLAGS: an agent whose socket is there
	mkdir -p "$TMP/$1"
	local dir=$TMP/$1 name=$2
	shift 2
	"$BUILD/dtraced" -n "$name" -l "$dir/$name.sock" "$@" 2>"$TMP/$name.err" &
	agent=$!
	echo $agent >"$TMP/t/$name.pid"
	at_end "kill $agent 2>/dev/null"
	wait_for 10 test -S "$dir/$name.sock"
}
# host -- web-0, top -- web-1, rack -- web-2, web-3
under low web-2
under low web-3
under mid rack -r "$TMP/low" -t 100s
under mid web-1
under t top -r "$TMP/mid" -t 100s
top=$agent
under t web-0

trace -x targetwait=100s -M
expect "MACHINE host rack top web-0 web-1 web-2 web-3" "$(awk '{ print $1 }' "$TMP/out" | sort | xargs)" "-M"

close="syscall::close:entry /$mine"
trace -qn "$close/ { @a = avg(arg0); @s = sum(arg0); @d = stddev(arg0); @q = quantize(arg0); @k[arg0 % 5, execname] = count(); }" -c "$(load 300 7)"
want=$out
fleet -qn "*:$close/ { @a = avg(arg0); @s = sum(arg0); @d = stddev(arg0); @q = quantize(arg0); @k[arg0 % 5, execname] = count(); }" -c "$(load 300)"
expect "$want" "$out" "seven machines with 300 events each, one with 2100"
expect "" "$err"
fleet -qn "web-*:$close/ { @[vmname] = count(); @sum = sum(arg0); } top:$close/ { @[vmname] = count(); }" -c "$(load 500)"
expect "$(printf 'top 500\nweb-0 500\nweb-1 500\nweb-2 500\nweb-3 500')
$((4 * (500 * 1000 + 499 * 250)))" "$(sorted | sort -k1,1 -s | awk 'NF == 2'; sorted | awk 'NF == 1')" "counts"

# Each call is seen by all machines before the next, so the numbers never fall.
fleet -qn "*:$close/ { printf(\"%d %s\n\", arg0, vmname); }" -c "$(load 300)"
expect 2100 "$(lines .)"
expect 0 "$(awk 'NF && $1 < last { n++ } { last = $1 } END { print n + 0 }' "$TMP/out")" "records out of order"
expect 300 "$(awk '$2 == "web-3"' "$TMP/out" | sort -u | wc -l)" "records of web-3"
expect "" "$err"

# Shared variables, self-> of threads of several machines behind one relay, stacks, faults, exit().
fleet -qn "web-*:$close/ { x++; self->n = x; } web-*:$close && self->n/ { @[vmname, self->n > 0] = count(); } END { printf(\"%d\n\", x); }" -c "$(load 100)"
expect "400
web-0 1 100
web-1 1 100
web-2 1 100
web-3 1 100" "$(sorted)" "shared variables"
fleet -qn "web-2:$close/ { self->v = arg0; x[vmname] = arg0; } web-3:syscall::close:return /x[\"web-2\"]/ { @ = count(); } web-*:$close && arg0 == 1000/ { @s[stack(1)] = count(); }" -c "$(load 50)"
expect 0 "$(grep -c '0x00f1\|0xf1' "$TMP/out")" "names of a stack"
expect 4 "$(awk 'NF == 1 && $1 == 4' "$TMP/out" | xargs)" "one stack of four machines"
fleet -qn "web-3:$close && arg0 == 1001/ { trace(*(int *)arg0); } web-3:dtrace:::ERROR { printf(\"%s\n\", vmname); }" -c "$(load 5)"
expect web-3 "$(xargs <"$TMP/out")" "ERROR"
expect_match 'web-3.*close:entry.*invalid address' "$err"
fleet -qn "web-2:$close && arg0 == 1003/ { exit(6); }" -c "$(load 1000)"
expect 6 $status "exit() behind two relays"
fleet -ln 'web-3:dtrace:::BEGIN'
expect "web-3 1 dtrace BEGIN" "$(sorted | tail -1)" "-l"

# A machine that comes behind a relay; then the relay is killed: it is reported, and the others are exact.
begin() {
	: >"$TMP/live" >"$TMP/live.err" # what an earlier one has said
	"$DTRACE" -E -x targetwait=100s -qn "$1" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
}
ready() { grep -q "$1" "$TMP/live"; }
begin "web-*:dtrace:::BEGIN { printf(\"%s up\n\", vmname); } web-*:$close/ { @[vmname] = count(); }"
for i in 0 1 2 3; do wait_for 20 ready "web-$i up"; done
under low web-4
wait_for 20 ready 'web-4 up'
$(load 20)
kill -TERM $front
wait $front
expect "web-0 20 web-1 20 web-2 20 web-3 20 web-4 20" "$(awk 'NF == 2 && $2 != "up" { print $1, $2 }' "$TMP/live" | sort | xargs)" "one more"
begin "web-*:dtrace:::BEGIN { printf(\"%s up\n\", vmname); } web-*:$close/ { @[vmname] = count(); }"
for i in 0 1 2 3 4; do wait_for 20 ready "web-$i up"; done
kill -9 "$(serving top)"
wait_for 20 grep -q 'top: the connection has ended; what it had not sent is missing' "$TMP/live.err"
none_serves() { [ -z "$(serving rack)$(serving web-2)" ]; } # those behind it detach
wait_for 20 none_serves
$(load 20)
kill -TERM $front
wait $front
expect 20 "$(awk '$1 == "web-0" && $2 != "up" { print $2 }' "$TMP/live")" "the machine that is not behind it"

# A relay's policy holds for the machines behind it; a second machine of the same name is refused.
kill $top
wait $top 2>/dev/null
echo 'user=0 providers=syscall,dtrace' >"$TMP/policy"
under t top -r "$TMP/mid" -t 100s -p "$TMP/policy"
fleet -qn "web-3:$close/ { @[vmname] = count(); }" -c "$(load 30)"
expect "web-3 30" "$(sorted)" "allowed"
fleet -qn "web-3:sched:::on-cpu { @ = count(); } web-0:$close/ { @c = count(); }" -c "$(load 30)"
expect_match 'top: .*not allowed by its policy' "$err"
fleet -wqn 'web-3:syscall::no*:entry { raise(9); }'
expect_match 'top: destructive actions are not allowed by its policy' "$err"
fleet -ln 'web-3::::'
expect "dtrace syscall" "$(awk '$1 == "web-3" { print $3 }' "$TMP/out" | sort -u | xargs)"
fleet -ln "web-3:pid$$:bash:main:entry" # to the machine it is the relay that asks, which may do that
expect_match 'the policy of its relay does not allow this provider' "$err"
under t web-2
trace -x targetwait=100s -M
expect_match 'another machine is already called web-2' "$err"
