# Tools about the network print what a known load did, in a network of its own.
# timeout: 120
# needs: root bpf btf netns python3 ip gcc
. "$SRC/test/lib.bash"
. "$SRC/test/tools/lib.bash"
port=$((20000 + $$ % 10000 * 2)) # probes see all networks: ports of our own
ip=$(command -v ip || echo "busybox ip")
cat >"$TMP/net" <<N
#!/bin/bash
$ip link set lo up
exec /usr/bin/python3 $SRC/test/tools/net.py "\$@"
N
net=(/usr/bin/unshare -n bash "$TMP/net")

tool tcpconnect $port -- "${net[@]}" tcp $port
want 10 "$(rows "^[0-9]+ python3 127.0.0.1 [0-9]+ 127.0.0.1 $port [0-9]+ connected\$")"
tool tcpconnect $((port + 1)) python3 -- "${net[@]}" tcp $port
want 3 "$(rows "^[0-9]+ python3 127.0.0.1 [0-9]+ 127.0.0.1 $((port + 1)) [0-9]+ refused\$")"
tool tcpaccept $port -- "${net[@]}" tcp $port
want 10 "$(rows "^[0-9]+ python3 $port 127.0.0.1 [0-9]+\$")"
tool tcplife $port -- "${net[@]}" tcp $port
want 10 "$(rows "^[0-9]+ python3 127.0.0.1 [0-9]+ 127.0.0.1 $port 100 50 [0-9]+\$")"
tool tcpstates $port -- "${net[@]}" tcp $port
want 10 "$(rows "127.0.0.1 $port syn-sent established [0-9]+\$")"
want 10 "$(rows "127.0.0.1 $port 127.0.0.1 [0-9]+ syn-received established [0-9]+\$")"
want 1 "$(rows "closed listen [0-9]+\$")"
tool tcpdrop $((port + 1)) -- "${net[@]}" tcp $port
want 3 "$(rows "^[0-9]+ 127.0.0.1 [0-9]+ 127.0.0.1 $((port + 1)) S---- [^ ]+ enum skb_drop_reason SKB_DROP_REASON_NO_SOCKET\$")"
tool tcpretrans $port -- "${net[@]}" again $port "$TMP/again"
want "$(cat "$TMP/again")" "$(rows "^[0-9]+ 127.0.0.1 [0-9]+ 127.0.0.1 $port syn-sent [0-9]+\$")"
if "$DTRACE" -ln sdt:sock::sock_send_length >/dev/null 2>&1; then
	tool tcptop 100 -- "${net[@]}" tcp $port
	want "1000 500" "$(squeezed | awk -v p=$port '$2 == "python3" && $4 == p { t += $6; r += $7 } END { print t, r }')" clients
	want "500 1000" "$(squeezed | awk -v p=$port '$2 == "python3" && $5 == p { t += $6; r += $7 } END { print t, r }')" server
	tool udptop 100 -- "${net[@]}" udp $port
	want "600 0" "$(squeezed | awk -v p=$port '$2 == "python3" && $4 == p { print $6, $7 }')" client
	want "0 600" "$(squeezed | awk -v p=$port '$2 == "python3" && $5 == p { print $6, $7 }')" server
fi
tool soconnect python3 -- "${net[@]}" tcp $port
want 10 "$(rows "^[0-9]+ python3 INET [0-9]+ 0 127.0.0.1 $port\$")"
want 3 "$(rows "^[0-9]+ python3 INET [0-9]+ ECONNREFUSED 127.0.0.1 $((port + 1))\$")"
tool soconnect -- "${net[@]}" unix 0 "$TMP/socket"
want 3 "$(rows "^[0-9]+ python3 UNIX [0-9]+ 0 $TMP/socket 0\$")"
tool solisten -- "${net[@]}" tcp $port
want 1 "$(rows "^[0-9]+ python3 INET 20 0 $port 127.0.0.1\$")"
tool sofamily python3 -- "${net[@]}" tcp $port
want 1 "$(rows "^python3 accept INET 10\$")"
want 1 "$(rows "^python3 connect INET 10\$")"
rm "$TMP/socket"
tool sofamily python3 -- "${net[@]}" unix 0 "$TMP/socket"
want 1 "$(rows "^python3 connect UNIX 3\$")"
want 1 "$(rows "^python3 accept UNIX 3\$")"
tool gethostlatency python3 -- "${net[@]}" names 0
want 5 "$(rows "^[0-9]+ [0-9]+ python3 getaddrinfo [0-9]+ 0 localhost\$")" # Python's gethostbyname() calls it too
