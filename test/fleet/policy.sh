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

echo 'user=nobody' >"$TMP/policy"
agent web-4 -p "$TMP/policy"
trace -x targetwait=100s -M
expect_match 'web-4.sock: the connection has ended' "$err"
expect_match 'user 0 is not in the policy' "$(cat "$TMP/web-4.err")"
wrong() { # PATTERN LINE
	echo "$2" >"$TMP/wrong"
	expect_match "$1" "$("$BUILD/dtraced" -l "$TMP/w.sock" -p "$TMP/wrong" 2>&1)"
}
wrong 'line 1: there is no user no_such_user' 'user=no_such_user'
wrong 'line 1: unknown word "x=1"' 'x=1'
wrong 'line 1: a rule needs user=' 'providers=a'
expect_match 'cannot be called "host"' "$("$BUILD/dtraced" -n host -l "$TMP/w.sock" 2>&1)"
