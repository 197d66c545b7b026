# The table of doc/types.md: each available member compiles, those that are 0 are 0, the others are refused;
# the table is complete.
# timeout: 120
# needs: root bpf btf
# uses: python3
. "$SRC/test/lib.bash"
table=$SRC/doc/types.md

# An expression of each type, to take the members of.
declare -A of=(
	[psinfo_t]='curpsinfo->' [lwpsinfo_t]='curlwpsinfo->' [cpuinfo_t]='curcpu->' [fileinfo_t]='fds[0].'
	[bufinfo_t]='struct bio' [devinfo_t]='struct block_device' [conninfo_t]='struct sock' [pktinfo_t]='struct sk_buff'
	[csinfo_t]='struct sock' [ipinfo_t]='struct sock' [ifinfo_t]='struct net_device' [ipv4info_t]='struct iphdr'
	[ipv6info_t]='struct iphdr' [tcpinfo_t]='struct tcphdr' [tcpsinfo_t]='struct sock' [tcplsinfo_t]='int' [udpinfo_t]='struct udphdr'
	[udpsinfo_t]='struct sock')
expression() { # TYPE MEMBER
	local from=${of[$1]}
	case $from in
	*'>' | *.) echo "$from$2" ;;
	int) echo "xlate < $1 * > (0)->$2" ;;
	*) echo "xlate < $1 * > (($from *)NULL)->$2" ;;
	esac
}
rows() { sed -n 's/^| \([a-z0-9]*_t\) | \([a-z0-9_]*\) | [^|]* | \([a-z0-9]*\) | .*/\1 \2 \3/p' "$table"; }

# ---- yes and 0: one program for each type ----
for type in "${!of[@]}"; do
	actions= zeros= n=0
	while read -r _ member here; do
		case $member in
		pr_start) member=pr_start.tv_sec ;;
		cpu_info) member=cpu_info.pi_state ;;
		esac
		actions+="trace($(expression "$type" "$member"));"$'\n'
		n=$((n + 1))
		[ "$here" = yes ] || zeros+="@ = sum((long)$(expression "$type" "$member") != 0);"$'\n'
	done < <(rows | grep "^$type .* [y0]")
	[ $n -gt 0 ] || expect "rows of $type" none
	ktrace -e -n "BEGIN { $actions }"
	expect "0 " "$status $err" "$type"
	[ -n "$zeros" ] || continue
	ktrace -qn "BEGIN { $zeros exit(0); } END { printa(\"%@d\", @); }"
	expect "0 0" "$status $(grep . <<<"$out")" "$type: members that are 0: $err"
done

# ---- no ----
while read -r type member _; do
	ktrace -e -x errtags -n "BEGIN { trace($(expression "$type" "$member")); }"
	expect 1 "$status" "$type $member is refused"
	expect_match "\[D_XLATE_NOCONV\].*$member" "$err"
done < <(rows | grep ' no$')
for type in $(sed -n '/^## Types that do not/,/^## Other/s/^| \([a-z0-9]*_t.*\) | .*/\1/p' "$table" | tr -d ,); do
	ktrace -e -n "BEGIN { trace(sizeof ($type)); }"
	expect 1 "$status" "$type does not exist"
	expect_match "$type: Unknown" "$err"
done

# ---- the table has every member of the libraries ----
for type in "${!of[@]}"; do
	want=$(sed -n "/^typedef struct ${type%_t} {/,/^}/s/^\t[^;]*[ *]\([a-z0-9_]*\)\(\[[0-9]*\]\)\?;.*/\1/p" "$SRC"/lib/*.d | sort)
	expect "$want" "$(rows | awk -v t="$type" '$1 == t && $3 != "no" { print $2 }' | sort)" "members of $type in lib and in doc/types.md"
done

# ---- names of Solaris ----
sed -n '/^## Other names/,$s/^| \([^|]*_t[^|]*\) | .*/\1/p' "$table" | tr -d '(),' | tr ' ' '\n' | grep '_t$' | while read -r type; do
	ktrace -e -n "BEGIN { trace(sizeof ($type)); }"
	expect "0 " "$status $err" "$type"
done
for name in $(sed -n '/^## Other names/,$s/^| \([^|]*\) | .*/\1/p' "$table" | grep -o '\<[A-Z][A-Z0-9_]*\>'); do
	ktrace -e -n "BEGIN { trace($name); }"
	expect "0 " "$status $err" "$name"
done

# ---- pr_name, against /proc; the other end of a connection, against the socket itself ----
ktrace -qn 'BEGIN { printf("%s %d", curlwpsinfo->pr_name, curlwpsinfo->pr_name[0] == curthread->comm[0]); exit(0); }'
expect "dtrace 1" "$(grep . <<<"$out")" pr_name
printf '#!/bin/bash\necho worker-7 >/proc/self/comm\nkill -0 $$\n' >"$TMP/worker"
chmod +x "$TMP/worker"
ktrace -q -c "$TMP/worker" -n 'syscall::kill:entry /pid == $target/ { printf("%s", curlwpsinfo->pr_name); }'
expect "worker-7" "$(grep . <<<"$out")" "pr_name of a thread that has named itself"

command -v python3 >/dev/null || exit 0
cat >"$TMP/connect.py" <<'PY'
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print("%s %s %d" % (client.getsockname()[0], client.getpeername()[0], client.getsockname()[1]), flush=True)
PY
"$DTRACE" -q -o "$TMP/conn" -c "python3 $TMP/connect.py" -n '
	tcp:::connect-established {
		this->sock = (struct sock *)args[1]->cs_addr;
		printf("%s %s %d %s\n", xlate < conninfo_t * > (this->sock)->ci_local, xlate < conninfo_t * > (this->sock)->ci_remote,
		    args[3]->tcps_lport, xlate < conninfo_t * > (this->sock)->ci_protocol);
	}' >"$TMP/own" 2>"$TMP/err"
expect "" "$(cat "$TMP/err")"
expect 1 "$(grep -cxF "$(grep . "$TMP/own") ipv4" "$TMP/conn")" "conninfo_t of $(cat "$TMP/own"): $(cat "$TMP/conn")"
