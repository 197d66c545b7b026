# Examples of talks and articles about DTrace, in their Linux form (test/compat/seeds/), run against a suitable load.
# timeout: 200
# needs: root bpf btf
# uses: kprobes python3
. "$SRC/test/lib.bash"
dd='dd if=/dev/zero of=/dev/null bs=64k count=200 status=none'

# seed NAME COMMAND PATTERN [ARGS]: it ends with the command, without a message, and a line of the output is like the pattern
seed() {
	"$DTRACE" -x switchrate=50ms -s "$SRC/test/compat/seeds/$1.d" -c "$2" "${@:4}" >"$TMP/out" 2>"$TMP/err"
	expect 0 $? "$1: $(cat "$TMP/err")"
	expect "" "$(grep -vE 'matched [0-9]+ probe|has exited|drops? on CPU' "$TMP/err")" "$1: messages"
	tr -s ' \t' ' ' <"$TMP/out" | sed 's/^ //; s/ $//' | grep -qE -- "$3" || expect "$3" "$(head -n 30 "$TMP/out")" "$1"
}
printf '#!/bin/sh\nls / >/dev/null\n/bin/echo a word >/dev/null\n' >"$TMP/two"
chmod +x "$TMP/two"
printf '#!/bin/sh\ntimeout 0.5 sh -c "while :; do :; done"\nexit 0\n' >"$TMP/spin"
chmod +x "$TMP/spin"

seed who-starts-what "$TMP/two" '^user = 0, gid = 0: /(usr/)?bin/ls$'
seed watch-execve "$TMP/two" '^2[0-9]{3} [A-Z][a-z]{2} +[0-9]+ [0-9:]{8} 0\.0 echo\[[0-9]+\]: /bin/echo a word$'
seed calls-by-process "$TMP/two" '^ls [0-9]+ [0-9]+$'
seed user-samples "$TMP/spin" '^[0-9]+ sh [0-9]+$'
seed kernel-samples "dd if=/dev/zero of=/dev/null bs=1M count=3000 status=none" '^vmlinux`[a-z_0-9.]+ [0-9]+$'
seed samples-by-comm "$TMP/spin" '^sh [0-9]+$'
seed who-opens "$TMP/two" '^[0-9]+ ls [0-9]+$'
seed which-files "cat /etc/hostname" '^/etc/hostname 1$'
seed telemetry "sh -c 'for i in 1 2 3; do $dd; sleep 0.5; done'" '^dtrace\.dd\.write [0-9]+ [0-9]{10}$'
seed kernel-malloc "$dd" ' dd [0-9]+$'
seed kernel-malloc-stacks "$dd" '^vmlinux`.*\+0x[0-9a-f]+$'
seed probes-of-main /bin/true ' exit:0 ?$'
find_disk
if [ -n "$disk" ]; then
	seed disk-stacks "dd if=/dev/zero of=$disk/seed bs=64k count=4 oflag=direct status=none" '^vmlinux`.*\+0x[0-9a-f]+$'
	seed disk-stacks-text "dd if=/dev/zero of=$disk/seed bs=64k count=4 oflag=direct status=none" '\+0x[0-9a-f]+$'
	leave_disk
fi
if command -v python3 >/dev/null; then
	cat >"$TMP/net.py" <<-'PY'
	import socket
	server = socket.create_server(("127.0.0.1", 0))
	client = socket.create_connection(server.getsockname())
	client.sendall(b"x" * 500)
	server.accept()[0].recv(500)
	PY
	seed tcp-sizes "python3 $TMP/net.py" '^512 \|@* [1-9][0-9]*$'
	expect_match '127\.0\.0\.1' "$(cat "$TMP/out")"
fi

# ---- on the command line: listings and intermediate code ----
"$DTRACE" -e -Sn 'syscall::write:entry /execname == "csh"/ { trace(arg0); }' >"$TMP/out" 2>&1
expect "ldgs sets scmp be mov ba setx ret ldgs ret" "$(sed -n 's/^[0-9][0-9]: [0-9a-f]* *\([a-z]*\).*/\1/p' "$TMP/out" | xargs)" "the listing of the course"
expect_match '^ +1 +dtrace +BEGIN$' "$("$DTRACE" -l | head -n 2)"
"$DTRACE" -O json -o "$TMP/out" -n syscall::write:entry -c '/bin/echo word' >/dev/null 2>"$TMP/err"
expect_match '^\{"timestamp":[0-9]+,"cpu":[0-9]+,.*"function":"write","name":"entry","output":\[\]\}' "$(cat "$TMP/out" "$TMP/err")"
[ -z "$(type -p python3)" ] || python3 -m json.tool "$TMP/out" >/dev/null || expect "a document" "$(cat "$TMP/out")" "-O json"
timeout 150 "$BUILD/dwatch" -N 1 -r "seed word $$" execve >"$TMP/out" 2>"$TMP/err" </dev/null &
watches() { grep -q '^INFO Watching' "$TMP/err" || over $!; }
wait_for 100 watches
/bin/echo seed word $$ >/dev/null
wait $!
expect 0 $? "dwatch execve: $(cat "$TMP/err")"
expect_match "^2[0-9]{3} [A-Z][a-z]{2} +[0-9]+ [0-9:]{8} 0\.0 [a-z]+\[[0-9]+\]: /bin/echo seed word $$\$" "$(cat "$TMP/out")"

# ---- functions of the kernel ----
"$DTRACE" -l -n fbt::vfs_read:entry >/dev/null 2>&1 || exit 0
seed busy-modules "$TMP/two" '^vmlinux [0-9]+$'
seed busy-functions "$TMP/two" '^vfs_open [0-9]+$'
seed why-called "$TMP/two" '^vmlinux`.*\+0x[0-9a-f]+$'
seed mutex-stacks "$TMP/two" '^vmlinux`.*\+0x[0-9a-f]+$'
seed slow-path "$TMP/two" '^0 [0-9]+$'
seed flow "cat /etc/hostname" '^[0-9]+ -> vfs_open ?$' -F
# DTrace traced while it makes a probe: the course of Sun's engineers looks at fasttrap; Linux has uprobes
printf '#!/bin/sh\nexec "%s" -qn "pid\\$target::exit:entry { }" -c /bin/true\n' "$DTRACE" >"$TMP/probe"
chmod +x "$TMP/probe"
seed tracepoint-install "$TMP/probe" '^vmlinux`install_breakpoint.*\+0x[0-9a-f]+$'
"$DTRACE" -lvn lockstat:::adaptive-acquire >"$TMP/out" 2>&1
expect "lockstat vmlinux mutex_lock adaptive-acquire" "$(awk '$2 == "lockstat" { print $2, $3, $4, $5; exit }' "$TMP/out")"
