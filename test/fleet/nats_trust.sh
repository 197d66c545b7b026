# A NATS server with TLS, accounts and permissions: who gets in sees the machines of that account; every refusal has a reason.
# needs: root bpf gcc nats-server libnats openssl
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
cd "$TMP" || exit 1
ca() { # NAME
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" 2>/dev/null
}
signed() { # NAME: by the authority "ca", for 127.0.0.1
	openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
	printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >ext
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out "$1.pem" 2>/dev/null
}
ca ca
ca other
signed server
signed client
cat >nats.conf <<EOT
listen: 127.0.0.1:-1
tls { cert_file: "$TMP/server.pem", key_file: "$TMP/server.key", ca_file: "$TMP/ca.pem", verify: true }
accounts {
	RED { users: [
		{user: red, password: secret},
		{user: mute, password: secret, permissions: {publish: {deny: ">"}}},
		{user: deaf, password: secret, permissions: {subscribe: {deny: "dtrace.>"}}},
		{user: half, password: secret, permissions: {publish: ["dtrace.hello"]}} ] }
	BLUE { users: [ {user: blue, password: secret} ] }
}
EOT
nats-server -c nats.conf --ports_file_dir "$TMP" >nats.log 2>&1 &
nats=$!
at_end "kill $nats 2>/dev/null"
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
port=$(grep -o '127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | grep -o '[0-9]*$' | head -1)
url() { echo "tls://$1:${2-secret}@127.0.0.1:$port"; } # USER [PASSWORD]
export NATS_CA=$TMP/ca.pem NATS_CERT=$TMP/client.pem NATS_KEY=$TMP/client.key
echo 'user=nats' >policy

start_agent() { # NAME URL
	: >"$TMP/$1.err"
	"$BUILD/dtraced" -n "$1" -N "$2" -p "$TMP/policy" 2>"$TMP/$1.err" &
	at_end "kill $! 2>/dev/null"
}
start_agent far-red "$(url red)"
start_agent far-blue "$(url blue)"
machines() { "$DTRACE" -x targets="$1" -x targetwait=100s -M 2>"$TMP/m.err" | awk 'NR > 1 { print $1 }' | sort | xargs; }
sees() { [ "$(machines "$1")" = "$2" ]; }

# Accounts are worlds of their own.
wait_for 60 sees "$(url red)" "far-red host"
wait_for 60 sees "$(url blue)" "far-blue host"
DTRACE_TARGETS=$(url red) joined 2 "far-*:syscall::close:entry /$mine/ { @[vmname] = count(); }" "$(load 100)"
expect "far-red 100" "$(sorted)" "over TLS"
expect "" "$err"

# The name and the password may come from the environment: the command line is for all to see.
expect "far-blue host" "$(NATS_USER=blue NATS_PASSWORD=secret machines "tls://127.0.0.1:$port")"

refused() { # PATTERN URL: dtrace says so, and shows no password
	expect host "$(machines "$2")" "$1"
	expect_match "$1" "$(cat "$TMP/m.err")"
	expect "" "$(grep -o 'secret\|wrong' "$TMP/m.err")" "a password is shown"
}
refused 'cannot connect to tls://red@127.0.0.1:[0-9]*: .*(Auth|auth)' "$(url red wrong)"
refused 'cannot connect to tls://nobody@.*(Auth|auth)' "$(url nobody)"
NATS_CA=$TMP/other.pem refused 'cannot connect to tls://red@.*(certificate verify failed|local issuer certificate)' "$(url red)"
NATS_CA='' refused 'cannot connect to tls://red@.*certificate' "$(url red)"
NATS_CERT='' NATS_KEY='' refused 'cannot connect to tls://red@' "$(url red)"
NATS_CA=$TMP/none.pem refused "NATS_CA: cannot read the certificates in $TMP/none.pem" "$(url red)"
NATS_KEY='' refused 'NATS_CERT and NATS_KEY must be given together' "$(url red)"
NATS_KEY=$TMP/other.key refused 'cannot use the certificate in .*client.pem with the key in .*other.key' "$(url red)"
NATS_CREDS=$TMP/none.creds refused "NATS_CREDS: cannot read $TMP/none.creds" "$(url red)"

# What the account may not do.
refused 'tls://mute@127.0.0.1:[0-9]*: .*ermissions .iolation.*dtrace.hello' "$(url mute)"
refused 'tls://deaf@127.0.0.1:[0-9]*: .*ermissions .iolation.*dtrace.answer' "$(url deaf)"
expect_refusal() { # NAME PATTERN: of an agent
	wait_for 60 grep -Eq "$2" "$TMP/$1.err"
	expect "" "$(grep -o 'secret\|wrong' "$TMP/$1.err")" "a password is shown"
}
start_agent far-deaf "$(url deaf)"
expect_refusal far-deaf 'dtraced: tls://deaf@.*ermissions .iolation.*dtrace\.'
start_agent far-wrong "$(url red wrong)"
expect_refusal far-wrong 'dtraced: cannot connect to tls://red@'
# This one is asked by red, and may not answer.
start_agent far-mute "$(url mute)"
asked() { machines "$(url red)" >/dev/null; grep -q 'ermissions .iolation' "$TMP/far-mute.err"; }
wait_for 60 asked
# A front that may ask who is there, but not speak with them.
"$DTRACE" -x targets="$(url half)" -x targetwait=4s -M >"$TMP/m.out" 2>"$TMP/m.err"
expect_match 'tls://half@.*ermissions .iolation.*dtrace\.(open|stream)' "$(cat "$TMP/m.err")"
# They have tried all the time, and said once what is wrong.
for name in far-deaf far-wrong; do
	expect "" "$(sort "$TMP/$name.err" | uniq -d)" "messages of $name"
done
