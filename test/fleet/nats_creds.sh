# A NATS server whose accounts are JWTs: a file of credentials (NATS_CREDS) says who one is, and each account is a world of its own.
# needs: root bpf gcc nats-server libnats openssl python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
cd "$TMP" || exit 1
python3 "$SRC/test/fleet/nats_creds.py" "$TMP" || exit 1
nats-server -c nats.conf --ports_file_dir "$TMP" >nats.log 2>&1 &
nats=$!
at_end "kill $nats 2>/dev/null"
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
port=$(grep -o '127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | grep -o '[0-9]*$' | head -1)
url=nats://127.0.0.1:$port
echo 'user=nats' >policy
for name in red blue; do
	NATS_CREDS=$TMP/$name.creds "$BUILD/dtraced" -n "far-$name" -N "$url" -p "$TMP/policy" 2>"$TMP/far-$name.err" &
	at_end "kill $! 2>/dev/null"
done
machines() { NATS_CREDS=$1 "$DTRACE" -x targets="$url" -x targetwait=100s -M 2>"$TMP/m.err" | awk 'NR > 1 { print $1 }' | sort | xargs; }
sees() { [ "$(machines "$1")" = "$2" ]; }
for name in red blue; do
	wait_for 60 sees "$TMP/$name.creds" "far-$name host"
done
NATS_CREDS=$TMP/red.creds DTRACE_TARGETS=$url joined 2 "far-*:syscall::close:entry /$mine/ { @[vmname] = count(); }" "$(load 100)"
expect "far-red 100" "$(sorted)" "with credentials"
expect "" "$err"

refused() { # FILE PATTERN
	expect host "$(machines "$TMP/$1")" "$1"
	expect_match "$2" "$(cat "$TMP/m.err")"
	expect "" "$(grep -oE 'SU[A-Z0-9]{50}|eyJ[A-Za-z0-9_-]+' "$TMP/m.err")" "a seed or a token is shown: $1"
}
refused forged.creds 'cannot connect to nats://127.0.0.1:[0-9]*: .*(Auth|auth)'
refused old.creds 'cannot connect to nats://127.0.0.1:[0-9]*: .*(Auth|auth|xpired)'
refused limited.creds 'ermissions .iolation.*dtrace.hello'
sed '/SEED-/,$d' red.creds >seedless.creds
refused seedless.creds 'NATS_CREDS: cannot (read|use) .*seedless.creds|cannot connect to nats://127.0.0.1'
head -c 3000 /dev/urandom >noise.creds
refused noise.creds 'NATS_CREDS|cannot connect to nats://127.0.0.1'
expect host "$(NATS_CREDS='' "$DTRACE" -x targets="$url" -M 2>"$TMP/m.err" | awk 'NR > 1 { print $1 }')"
expect_match 'cannot connect to nats://127.0.0.1:[0-9]*: .*(Auth|auth)' "$(cat "$TMP/m.err")"
