# Scripts of test/compat/scripts/ against a known load: what they print is what the load did.
# timeout: 200
# needs: root bpf btf gcc
# uses: python3 netns ip
. "$SRC/test/lib.bash"
n=40
name=dtload$$ # processes of other tests have other names
build "$name" compat/load.c
mkdir "$TMP/dir"

# script NAME ARGS: trace the load with this script
script() {
	local s=$1
	shift
	rm -rf "${TMP:?}/dir"/*
	"$DTRACE" -x switchrate=50ms -s "$SRC/test/compat/scripts/$s.d" -c "$TMP/$name $TMP/dir $n" "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	out=$(cat "$TMP/out")
	expect "0 " "$status $(cat "$TMP/err")" "$s"
}
row() { tr -s ' ' <"$TMP/out" | sed 's/^ //; s/ $//' | grep -c -- "$1"; } # how many lines are like this, blanks squeezed

script opens "$name"
expect "1" "$(row "^$name missing $n\$")" "opens: $out"
expect "$n" "$(row "^0 [0-9]* $name -1 2 $TMP/dir/nosuch\$")" "opens: lines of nosuch"
expect "1" "$(row "$name [0-9]* 0 $TMP/dir/data (create)\$")" "opens: data"

# 40 * 1000 + 20 * 24 bytes; in pieces of 512: 79 whole ones, a rest, and the read that finds the end
bytes=$((n * 1000 + n / 2 * 24))
script rwbytes "$name"
expect 1 "$(row "^data $TMP/dir $(((bytes + 511) / 512 + 1)) $bytes $((n + n / 2)) $bytes\$")" "rwbytes: $out"

script calltimes "$name" 40
expect $((n + n / 2)) "$(awk '/^ELAPSED/ { exit } $1 == "write" { print $2 }' "$TMP/out")" "calltimes: write: $out"
expect 4 "$(row "^munmap [0-9]*\$")" "calltimes: a row in each table"
# vtimestamp of a sleeping thread stands still: the sleeps took their time, but not on a CPU
sleeps=$(grep -E '^ +(clock_)?nanosleep ' "$TMP/out" | awk '{ print $2 }' | xargs)
read -r count elapsed oncpu longest <<<"$sleeps"
expect $((n / 10)) "$count" "calltimes: sleeps"
[ "$elapsed" -ge $((n / 10 * 2000)) ] && [ "$oncpu" -lt "$elapsed" ] && [ "$longest" -ge 2000 ] || expect "elapsed, on CPU, longest of sleeps" "$sleeps"

script errors "$name"
expect 1 "$(row "^$name openat ENOENT 2 $n\$")" "errors: $out"

script execs 0 1
expect 2 "$(row " -> true true of load\$")" "execs: $out"
expect 2 "$(row "$name -> true")" "execs: by the load"

script mappings "$name"
[ "$(awk '$1 == "anonymous" && $2 == "rw" && $3 >= 40 && $4 >= 40 * 65536' "$TMP/out" | wc -l)" = 1 ] || expect "$n mappings" "$out"
[ "$(sed -n 's/^unmapped: //p' "$TMP/out")" -ge $((n * 65536)) ] || expect "unmapped" "$out"

script sleeps "$name"
expect 1 "$(row "^$name $((n / 10)) $((n / 10 * 2)) 0\$")" "sleeps: $out"

script modes "$name"
expect "mode rw-r----- 0640 changed
mode rwxr-xr-x 4755 changed (set-id!)" "$(tr -s ' ' <<<"$out" | grep .)" modes

script seeks "$name"
for where in "the start" here "the end"; do expect 1 "$(row "^mode from $where 3\$")" "seeks: $out"; done
expect 1 "$(row "^data from the start 1\$")" "seeks: $out"
expect 1 "$(row "^readable? [1-9]")" "seeks: access" # the dynamic linker asks as well
# data is rewound by all of it; in an empty file: 100 up, 10 up, 110 down, three times
expect 1 "$(row "^bytes passed over: $((bytes + 3 * 220))\$")" "seeks: $out"

script failedopens "$name"
expect 1 "$(row "^committed $n\$")" "failedopens: $out"
expect "$n" "$(row "^failed: 2\$")" "failedopens: lines"
expect "$n" "$(row "opens a file with flags to read\$")" "failedopens: lines that were speculated"

script signals "$name"
expect 1 "$(row "^$name $name USR1 $((n / 2))\$")" "signals: $out"
expect 1 "$(row "^USR1 handled by a handler: $((n / 2))\$")" "signals: $out"

script oncpu "$name"
expect 1 "$(row "^$name [0-9]* [0-9]*\$")" "oncpu: $out"
expect 1 "$(row "^$name sleeps (us)")" "oncpu: reasons"

# the load's pid is only known inside: $target as an argument
"$DTRACE" -x switchrate=50ms -n "$(sed 's/inline int WHOSE = \$1/inline int WHOSE = $target/; 1d' scripts/lifetimes.d)" \
	-c "$TMP/$name $TMP/dir $n" >"$TMP/out" 2>"$TMP/err"
expect 1 "$(row "^created $((n / 4 + 2))\$")" "lifetimes: $(cat "$TMP/out" "$TMP/err")"
expect 1 "$(row "^started $((n / 4 + 2))\$")" "lifetimes"
expect 1 "$(row "^exited $((n / 4 + 2))\$")" "lifetimes"

# ---- the network: a server and ten clients in a namespace of their own; ports of our own, since probes see all namespaces ----
port=$((20000 + $$ % 10000 * 2))
command -v python3 >/dev/null && command -v ip >/dev/null && unshare -n true 2>/dev/null || exit 0
cat >"$TMP/net.py" <<PY
import socket
server = socket.create_server(("127.0.0.1", $port))
for i in range(10):
    client = socket.create_connection(("127.0.0.1", $port))
    there, _ = server.accept()
    client.sendall(b"x" * 100)
    got = 0
    while got < 100:
        got += len(there.recv(1000))
    client.close()
    there.close()
for i in range(3):
    try:
        socket.create_connection(("127.0.0.1", $((port + 1))))
    except ConnectionRefusedError:
        pass
PY
net() { # SCRIPT ARGS
	unshare -n bash -c 'ip link set lo up; exec "$@"' - "$DTRACE" -x switchrate=50ms -s "$SRC/test/compat/scripts/$1.d" \
		-c "python3 $TMP/net.py" "${@:2}" >"$TMP/out" 2>"$TMP/err"
	expect "0 " "$? $(cat "$TMP/err")" "$1"
	out=$(cat "$TMP/out")
}
net tcpconnect $port
for what in requested connected accepted; do expect 1 "$(row "^$what 127.0.0.1 $port 10\$")" "tcpconnect: $out"; done
expect 1 "$(row "^loopback, we asked: 10\$")" "tcpconnect: $out"
net tcpconnect $((port + 1))
expect 1 "$(row "^refused 127.0.0.1 $((port + 1)) 3\$")" "tcpconnect: $out"
net tcpstates $port
expect 1 "$(row "^state-syn-sent -> state-established 10\$")" "tcpstates: $out"
expect 1 "$(row "^state-closed -> state-listen 1\$")" "tcpstates: $out"
net tcpbytes $port
expect 1 "$(row "^sent 127.0.0.1 [0-9]* 1000\$")" "tcpbytes: $out"
expect 1 "$(row "^received 127.0.0.1 [0-9]* 1000\$")" "tcpbytes: $out"
expect 1 "$(row "^sent data: 10\$")" "tcpbytes: $out"
