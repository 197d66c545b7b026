# exit() on any machine ends the session with its status; what cannot be done over machines is refused with a reason.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
fleet -qn "web-1:syscall::close:entry /$mine && arg0 == 1007/ { printf(\"now\n\"); exit(9); } web-2:syscall::close:entry /$mine/ { @ = count(); }" -c "$(load 20)"
expect "9 now" "$status $(head -1 "$TMP/out")"

fleet -qn 'BEGIN { exit(4); } web-1:dtrace:::BEGIN { trace(1); }'
expect 4 $status

refused() { # PATTERN PROGRAM
	fleet -n "$2"
	expect 1 $status "$2"
	expect_match "$1" "$err"
}
refused 'format %a, which would name an address of another machine' 'web-*:syscall::read:entry { printf("%a", arg0); }'
refused 'does not match any probes on any machine' 'nobody:syscall::read:entry'
refused 'does not match any probes on any machine' 'web-*:syscall::no_such_call:entry'
refused 'Overspecified probe description' 'a:b:c:d:e:f'
trace -n 'web-1:syscall::read:entry'
expect_match 'Overspecified probe description .five parts, the first one machines: use -E' "$err"

# A global of the front, in its own clauses, is as ever.
fleet -qn 'BEGIN { n = 5; } host:dtrace:::END { trace(n); } tick-1ms { n++; exit(0); } web-1:dtrace:::BEGIN {}'
expect "6" "$(last_fields)"

# vmname and hostid without -E, and names of other machines in -l and -M.
trace -qn 'BEGIN { printf("%s %d", vmname, hostid != 0); exit(0); }'
expect "host 1" "$(sorted)"
trace -x targetwait=100s -M
expect "MACHINE host web-1 web-2" "$(awk '{ print $1 }' "$TMP/out" | xargs)"
fleet -ln 'web-2:dtrace:::BEGIN'
expect "web-2 1 dtrace BEGIN" "$(sorted | tail -1)"
fleet -ln 'dtrace:::BEGIN'
expect "host 1 dtrace BEGIN" "$(sorted | grep host)"
fleet -ln 'nobody:dtrace:::BEGIN'
expect 1 $status
