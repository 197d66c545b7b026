# What an agent's policy does not allow is refused, with the reason.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
cat >"$TMP/policy" <<'E2'
# who may do what
user=0 providers=syscall,dtrace
E2
agent web-1 -p "$TMP/policy"
agent web-2
fleet -qn "web-*:syscall::close:entry /$mine/ { @[vmname] = count(); }" -c "$(load 30)"
expect "web-1 30
web-2 30" "$(sorted)"
fleet -qn "web-*:sched:::on-cpu { @ = count(); } web-2:syscall::close:entry /$mine/ { @c = count(); }" -c "$(load 30)"
expect_match 'web-1: probes of provider sched are not allowed by its policy' "$err"
expect 30 "$(last_fields | awk '{ print $NF }')"
fleet -wqn 'web-*:syscall::no*:entry { raise(9); }'
expect_match 'web-2: destructive actions are not allowed by its policy' "$err"
expect 1 $status
fleet -ln 'web-1::::'
expect "dtrace syscall" "$(awk '$1 == "web-1" { print $3 }' "$TMP/out" | sort -u | xargs)"

# The budget: what a program may take, whatever it says itself.
cat >"$TMP/budget" <<'E2'
user=0 overhead=0.0001% memory=48m
E2
agent web-3 -p "$TMP/budget"
fleet -b 64m -qn "web-3:syscall::close:entry /$mine/ { trace(1); } web-2:syscall::close:entry /$mine/ { @c = count(); }" -c "$(load 30)"
expect_match 'web-3: bufsize, aggsize, dynvarsize and specsize are [0-9]+ bytes together, and its policy allows 50331648' "$err"
expect 30 "$(last_fields | awk '{ print $NF }')"
for own in 'overhead=100%' 'quiet'; do # it ends there, since even one of 1024 firings takes more than that; the others go on
	: >"$TMP/live" >"$TMP/live.err"
	"$DTRACE" -E -x targetwait=100s -b 1m -x aggsize=1m -qn "#pragma D option $own
		web-3:syscall:::entry { @[execname] = count(); } web-2:syscall::close:entry /$mine/ { printf(\"%d\n\", arg0); }" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
	at_end "kill $front 2>/dev/null"
	busy() { $(load 1000); grep -q 'web-3: it traces no longer, to keep the budget' "$TMP/live.err"; }
	wait_for 60 busy
	expect_match 'web-3: overhead is [0-9.]+%, above 0.0001%: aggregating clauses run at 1 of [0-9]+ firings' "$(cat "$TMP/live.err")"
	: >"$TMP/live"
	goes_on() { $(load 1); grep -q 1000 "$TMP/live"; }
	wait_for 20 goes_on
	expect 1 "$(grep -c 'traces no longer' "$TMP/live.err")" "it is not asked again"
	kill -TERM $front
	wait $front
done

echo 'user=nobody' >"$TMP/policy"
agent web-4 -p "$TMP/policy"
trace -x targetwait=100s -M
expect_match 'web-4.sock: the connection has ended before it has answered: perhaps its policy has no rule for you' "$err"
expect_match 'user 0 is not in the policy' "$(cat "$TMP/web-4.err")"
wrong() { # PATTERN LINE
	echo "$2" >"$TMP/wrong"
	expect_match "$1" "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP/wrong" 2>&1)"
}
wrong 'line 1: there is no user no_such_user' 'user=no_such_user'
wrong 'line 1: unknown word "x=1"' 'x=1'
wrong 'line 1: "root" is not of the form key=value' 'root'
for n in -1 4294967294 4294967295 4294967296 99999999999999999999; do # none of these is root, or whoever comes over NATS
	wrong "line 1: ($n is not the number of a user|there is no user $n)" "user=$n"
done
wrong 'line 1: there is no user 0x0' 'user=0x0'
wrong 'line 1: there is no user $' 'user='
wrong 'line 1: a rule needs user=, once' 'user=0 user=1'
wrong 'line 1: unknown word "destructive=maybe"' 'user=0 destructive=maybe'
long=$(printf 'p%.0s' {1..3000}) # a long line is one rule, not several
printf 'user=0 providers=%s,syscall memory=1x\n' "$long" >"$TMP/wrong"
expect_match 'line 1: memory=1x' "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP/wrong" 2>&1)"
printf 'user=0\0\n' >"$TMP/wrong"
expect_match 'line 1: it is not text' "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP/wrong" 2>&1)"
expect_match 'cannot read .*/no_such_file' "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP/no_such_file" 2>&1)"
expect_match 'cannot read .*: Is a directory' "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP" 2>&1)"
wrong 'line 1: a rule needs user=' 'providers=a'
wrong 'line 1: overhead=2: it is a part of all CPUs, such as 2%' 'user=0 overhead=2'
wrong 'line 1: memory=many: it is a number of bytes, such as 64m' 'user=0 memory=many'
expect_match 'cannot be called "host"' "$("$BUILD/dtraced" -n host -l "$TMP/w.sock" 2>&1)"
