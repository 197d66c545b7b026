# A machine that dies is reported, and the others are exact; when the front dies, the agents detach; a machine that comes joins.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
count="web-*:syscall::close:entry /$mine/ { @[vmname] = count(); }"
ready() { grep -q "$1" "$TMP/live" 2>/dev/null; }
begin() { # PROGRAM: in the background; its pid is in $front
	: >"$TMP/live" >"$TMP/live.err" # what an earlier one has said
	"$DTRACE" -E -x targetwait=100s -x switchrate=50ms -qn "$1" >"$TMP/live" 2>"$TMP/live.err" &
	front=$!
}
none_serves() { [ -z "$(serving "$1")" ]; }

# The process that serves is killed.
begin "$count web-*:dtrace:::BEGIN { printf(\"%s up\n\", vmname); }"
wait_for 20 ready 'web-1 up'
wait_for 20 ready 'web-2 up'
$(load 100)
kill -9 $(serving web-2)
wait_for 20 grep -q 'web-2: the connection has ended; what it had not sent is missing' "$TMP/live.err"
$(load 50)
kill -TERM $front
wait $front
expect "web-1 150" "$(awk '$1 == "web-1" && NF == 2 && $2 != "up" { print $1, $2 }' "$TMP/live")"

# The front is killed: nothing of it is left. (That takes less than a second; a busy machine is given more.)
begin "$count web-*:dtrace:::BEGIN { printf(\"%s up\n\", vmname); }"
wait_for 20 ready 'web-1 up'
wait_for 20 ready 'web-2 up'
kill -9 $front
wait $front 2>/dev/null
wait_for 5 none_serves web-1
wait_for 5 none_serves web-2

# A machine that comes while others are traced.
begin "$count *:dtrace:::BEGIN { printf(\"%s up\n\", vmname); }"
wait_for 20 ready 'web-2 up'
agent web-3
wait_for 20 ready 'web-3 up'
$(load 70)
kill -TERM $front
wait $front
expect "web-1 70
web-2 70
web-3 70" "$(awk '/^ / && $1 ~ /^web/ { print $1, $2 }' "$TMP/live" | sort)"

# An agent that stops listening ends its sessions, and tells only the front.
begin "$count web-3:dtrace:::BEGIN { printf(\"%s up\n\", vmname); }"
wait_for 20 ready 'web-3 up'
kill "$agent"
wait_for 20 grep -q 'web-3: the connection has ended' "$TMP/live.err"
kill -TERM $front
wait $front
expect 0 $?
