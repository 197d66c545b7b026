# Two fronts at once have the same agents, each with its own program and exact; one is killed, and the other does not notice. A
# machine that comes and goes all the time costs the others nothing.
# needs: root bpf gcc python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
agent web-2
up='web-*:dtrace:::BEGIN { printf("%s up\n", vmname); }'
front() { # NAME PROGRAM: its pid is in $front
	: >"$TMP/$1.out" >"$TMP/$1.err"
	"$DTRACE" -E -x targetwait=100s -qn "$2 $up" >"$TMP/$1.out" 2>"$TMP/$1.err" &
	front=$!
	at_end "kill $front 2>/dev/null"
	wait_for 60 grep -q 'web-1 up' "$TMP/$1.out"
	wait_for 60 grep -q 'web-2 up' "$TMP/$1.out"
}
ends() { # PID
	kill -TERM "$1"
	wait "$1"
}
rows() { awk '/^ / && $1 ~ /^web/ { print $1, $2 }' "$TMP/$1.out" | sort | xargs; }
counts="web-*:syscall::close:entry /$mine/ { @[vmname] = count(); }"
front a "$counts"
a=$front
front b "$counts"
b=$front
front c "web-*:syscall::close:entry /$mine/ { n++; } END { printf(\"all %d\n\", n); }"
c=$front
$(load 100)
kill -9 "$a"
wait "$a" 2>/dev/null
two_left() { [ "$(serving web-1 | wc -l) $(serving web-2 | wc -l)" = "2 2" ]; }
wait_for 20 two_left
$(load 50)
ends "$b"
ends "$c"
expect "web-1 150 web-2 150" "$(rows b)" "beside another front, and one that was killed"
expect "all 300" "$(grep ^all "$TMP/c.out")" "a variable of its own"
expect "" "$(cat "$TMP/b.err" "$TMP/c.err")"

# It answers, breaks the protocol, and is there again a second later.
python3 "$SRC/test/fleet/peer.py" "$TMP/t/peer.sock" type &
at_end "kill $! 2>/dev/null"
wait_for 10 test -S "$TMP/t/peer.sock"
front d "$counts"
d=$front
often() { [ "$(grep -c 'liar: a frame has an unknown type' "$TMP/d.err")" -ge 4 ]; }
wait_for 60 often
$(load 60)
agent web-3 # and others may still come
wait_for 60 grep -q 'web-3 up' "$TMP/d.out"
$(load 40)
ends "$d"
expect "web-1 100 web-2 100 web-3 40" "$(rows d)" "beside a machine that comes and goes"
