# The openssl provider: handshakes, and what programs read and write through libssl: Python and the openssl command, which
# start later; and a library in another mount namespace.
# timeout: 300
# needs: root bpf btf openssl python3 mountns
. "$SRC/test/lib.bash"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMP/key" -out "$TMP/cert" -days 30 -subj /CN=localhost 2>/dev/null || exit 1
library=$(ldconfig -p | awk '$1 ~ /^libssl\.so\.[0-9]/ && /x86-64/ { print $NF; exit }')
/usr/bin/python3 -c 'import ssl' 2>/dev/null && [ -e "$library" ] || skip "no libssl"
watch openssl
tls="/usr/bin/python3 $SRC/test/providers/tls.py $TMP/cert $TMP/key"

expect "handshake-done
handshake-start
read
write" "$("$DTRACE" -lP openssl | awk 'NR > 1 { print $NF }' | sort -u)" names

# counts and bytes of both ends, whose sizes are known
ktrace -q -c "$tls" -n '
	openssl:::read, openssl:::write /pid == $target/ {
		@n[probename, args[0]->ssl_server] = count(); @b[probename, args[0]->ssl_server] = sum(args[1]);
		@p[args[0]->ssl_server, args[0]->ssl_lport, args[0]->ssl_rport, args[0]->ssl_raddr] = count();
		@bad["no time"] = sum(args[3] == 0 || args[3] > 100000000000);
		@bad["other text"] = sum(*(userland char *)args[2] != (args[0]->ssl_server == (probename == "write") ? 0x79 : 0x78)); }
	openssl:::handshake-start /pid == $target/ { @n[probename, args[0]->ssl_server] = count(); }
	openssl:::handshake-done /pid == $target/ { @n[probename, args[0]->ssl_server] = count();
		@bad["handshake"] = sum(args[3] == 0 || args[3] > 100000000000); }
	END { printa("n %s %d %@d\n", @n); printa("b %s %d %@d\n", @b); printa("p %d %d %d %s %@d\n", @p); printa("bad %s %@d\n", @bad); }'
expect 0 "$status" "$err"
expect "" "$err" messages
expect "b read 0 6600
b read 1 3300
b write 0 3300
b write 1 6600
n handshake-done 0 1
n handshake-done 1 1
n handshake-start 0 1
n handshake-start 1 1
n read 0 3
n read 1 3
n write 0 3
n write 1 3" "$(grep '^[nb] ' "$TMP/out" | sort)" "counts and bytes"
read -r _ server client <<<"$(grep ^ports "$TMP/out")"
expect "p 0 $client $server 127.0.0.1 6
p 1 $server $client 127.0.0.1 6" "$(grep '^p ' "$TMP/out" | sort)" "both ends"
expect "bad handshake 0
bad no time 0
bad other text 0" "$(grep ^bad "$TMP/out" | sort)" "values"

fields 'openssl:::write /pid == $target && args[0]->ssl_server/' -c "$tls" <<'EOT'
= sslinfo_t args[0]
ssl_addr % != 0
ssl_server % == 1
ssl_version % == 0x304
ssl_protocol % == "TLSv1.3"
ssl_fd % > 2
ssl_laddr % == "127.0.0.1"
ssl_raddr % == "127.0.0.1"
ssl_lport % > 0
ssl_rport % > 1023
EOT

# the openssl command: its handshake is part of the first read or write
cat >"$TMP/command" <<EOT
: >"$TMP/got"
(sleep 600 & echo \$! >"$TMP/sleeper"; wait) | openssl s_server -accept 127.0.0.1:0 -cert $TMP/cert -key $TMP/key -naccept 1 >"$TMP/got" 2>&1 &
while ! grep -q '^ACCEPT .*:' "$TMP/got"; do sleep 0.1; done
port=\$(sed -n 's/^ACCEPT .*://p' "$TMP/got")
(echo hello; while ! grep -q hello "$TMP/got"; do sleep 0.1; done; echo good morning; while ! grep -q morning "$TMP/got"; do sleep 0.1; done) |
	openssl s_client -connect 127.0.0.1:\$port -quiet -no_ign_eof >/dev/null 2>&1
kill \$(cat "$TMP/sleeper")
wait
EOT
ktrace -q -c "bash $TMP/command" -n '
	openssl::: /execname == "openssl" && progenyof($target)/ { @[probename, args[0]->ssl_server, args[0]->ssl_server ? args[0]->ssl_lport : args[0]->ssl_rport] = count(); }
	openssl:::read, openssl:::write /execname == "openssl" && progenyof($target)/ { @b[probename, args[0]->ssl_server] = sum(args[1]); }
	END { printa("%s %d %d %@d\n", @); printa("bytes %s %d %@d\n", @b); }'
expect "" "$err" messages
port=$(sed -n 's/^ACCEPT .*://p' "$TMP/got")
expect "bytes read 1 19
bytes write 0 19
handshake-done 0 $port 1
handshake-done 1 $port 1
handshake-start 0 $port 1
handshake-start 1 $port 1
read 1 $port 2
write 0 $port 2" "$(grep . "$TMP/out" | sort)" "s_server and s_client"

# another file under the same name: a process that starts in a mount namespace of its own
cp "$library" "$TMP/copy"
cat >"$TMP/inside" <<EOT
mount --bind $TMP/copy $(realpath "$library") || exit 3
exec $tls again
EOT
: >"$TMP/out" # discard earlier output
timeout 250 "$DTRACE" -qx switchrate=50hz -n 'BEGIN { printf("ready\n"); }
	openssl:::write /args[0]->ssl_server && progenyof('$$')/ { printf("%s %d\n", execname, args[1]); exit(0); }' >"$TMP/out" 2>"$TMP/err" &
tracer=$!
wait_for 60 grep -q ready "$TMP/out"
unshare -m sh "$TMP/inside" &
loop=$!
wait $tracer
kill $loop
expect_match '^ready python3[^ ]* (200|400|6000) $' "$(xargs <"$TMP/out") $(cat "$TMP/err")"

fired
