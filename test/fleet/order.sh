# Records of four machines that see the same events: in order of time, complete, with names resolved where they come from.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
agent db
# Each call is seen by all machines before the next one is made, so the numbers never fall.
fleet -qn "*:syscall::close:entry /$mine/ { printf(\"%d %s\n\", arg0, vmname); }" -c "$(load 500)"
expect 2000 "$(lines .)"
expect 0 "$(awk 'NF && $1 < last { n++ } { last = $1 } END { print n + 0 }' "$TMP/out")" "records out of order"
expect 500 "$(awk '$2 == "web-2"' "$TMP/out" | sort -u | wc -l)" "records of web-2"
expect "" "$err"

# Other kinds of data, and the parts of a clause with if.
fleet -qn "web-1:syscall::close:entry /$mine && arg0 < 1002/ {
	trace(arg0); trace(execname); printf(\" %s %x \", probefunc, arg0);
	if (arg0 == 1001) { printf(\"odd\n\"); } else { printf(\"even\n\"); } }" -c "$(load 3)"
expect "1000$load close 3e8 even
1001$load close 3e9 odd" "$(sorted)"

# A stack is named by the machine that has it; equal stacks of two machines are one key.
fleet -qn "web-*:syscall::close:entry /$mine/ { @[stack(2)] = count(); }" -c "$(load 5)"
expect "10" "$(last_fields | awk '{ print $NF }')"
expect 2 "$(lines 'vmlinux`')"
fleet -qn "web-*:syscall::close:entry /$mine/ { @[ustack(1)] = count(); }" -c "$(load 5)"
expect_match '^ *libc[^ ]*close' "$out"
expect 10 "$(last_fields | awk '{ print $NF }')"
fleet -qn "web-*:syscall::close:entry /$mine/ { @[mod(arg0), func(arg0)] = count(); }" -c "$(load 2)"
expect "0x3e8 0x3e8 2
0x3e9 0x3e9 2" "$(sorted)" "addresses without a name"

# The same events in another format.
fleet -x oformat=ndjson -n "*:syscall::close:entry /$mine/ { trace(arg0); @[vmname] = count(); }" -c "$(load 20)"
expect 80 "$(lines '"type":"record"')"

# BEGIN of the front comes first, its END last.
fleet -qn 'web-*:dtrace:::BEGIN { printf("%s\n", vmname); } web-*:dtrace:::END { printf("end\n"); } BEGIN { printf("first\n"); } END { printf("last\n"); } tick-1s { exit(0); }'
expect "first end end last" "$(grep -v -e '^$' -e web "$TMP/out" | xargs)"
expect "web-1 web-2" "$(sed -n 2,3p "$TMP/out" | sort | xargs)"

# The stack as text of each machine's kernel: what the seed of -E prints.
fleet -qn "web-*:syscall::close:entry /$mine/ { @[vmname, immstack(2)] = count(); }" -c "$(load 5)"
expect "web-1 5 web-2 5" "$(awk '$1 ~ /^web/ { m = $1 } NF == 1 && $1 ~ /^[0-9]+$/ { print m, $1 }' "$TMP/out" | sort | xargs)" "immstack()"
expect 0 "$(lines '0xf1')"

# A machine for which there is no clause does not hold the others up.
agent idle
"$DTRACE" -E -x targetwait=100s -x switchrate=50ms -qn "web-1:syscall::close:entry /$mine/ { printf(\"%d\n\", arg0); }" >"$TMP/live" 2>&1 &
front=$!
seen() { $(load 1); grep -q 1000 "$TMP/live"; }
wait_for 20 seen
kill -TERM $front
wait $front
