# A NATS server that gives each machine its own subjects: none can answer for another, hear what fronts say to it, or speak in its
# stream. Whoever uses other subjects than those of its name is refused.
# needs: root bpf gcc nats-server libnats python3
# timeout: 120
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
machine() { # NAME: its user, as doc/fleet.md has it
	echo "{user: $1, password: secret, permissions: {
		publish: [\"dtrace.answer.*\", \"dtrace.stream.$1.*.down\"],
		subscribe: [\"dtrace.hello\", \"dtrace.open.$1.*\", \"dtrace.stream.$1.*.up\"]}}"
}
cat >"$TMP/nats.conf" <<EOT
listen: 127.0.0.1:-1
authorization { users: [
	{user: front, password: secret, permissions: {
		publish: ["dtrace.hello", "dtrace.open.*.*", "dtrace.stream.*.*.up"],
		subscribe: ["dtrace.answer.*", "dtrace.stream.*.*.down"]}},
	$(machine web-1), $(machine web-2_example), $(machine evil),
	{user: loose, password: secret} ] }
EOT
nats-server -c "$TMP/nats.conf" --ports_file_dir "$TMP" >"$TMP/nats.log" 2>&1 &
nats=$!
at_end "kill $nats 2>/dev/null"
wait_for 20 test -s "$TMP/nats-server_$nats.ports"
address=$(grep -o '127.0.0.1:[0-9]*' "$TMP/nats-server_$nats.ports" | head -1)
echo 'user=nats' >"$TMP/policy"
over() { # USER NAME: its pid is in $agent
	NATS_USER=$1 NATS_PASSWORD=secret "$BUILD/dtraced" -n "$2" -N "nats://$address" -p "$TMP/policy" 2>"$TMP/$1.err" &
	agent=$!
	at_end "kill $agent 2>/dev/null"
}
raw() { # USER WHAT ARGS: what it sees is in $TMP/raw
	: >"$TMP/raw"
	python3 "$SRC/test/fleet/nats_raw.py" "$address" "$1:secret" "${@:2}" >"$TMP/raw" 2>&1 &
	raw=$!
	at_end "kill $raw 2>/dev/null"
	wait_for 20 grep -q PONG "$TMP/raw"
}
gone() { kill "$1"; wait "$1" 2>/dev/null; }
export DTRACE_TARGETS=nats://$address NATS_USER=front NATS_PASSWORD=secret
machines() { "$DTRACE" -x targetwait="${wait:-100s}" -M 2>"$TMP/m.err" | awk 'NR > 1 { print $1 }' | sort | xargs; }
sees() { [ "$(machines)" = "$*" ]; }
exact() { # WHAT
	joined 3 "web*:syscall::close:entry /$mine/ { @[vmname] = count(); }" "$(load 100)"
	expect "web-1 100 web-2.example 100" "$(sorted | xargs)" "$1"
}

# A name with other characters than a subject may have.
over web-1 web-1
over web-2_example web-2.example
wait_for 60 sees host web-1 web-2.example
expect "" "$(cat "$TMP/m.err")" "messages of a front that may not use JetStream"
exact "machines with subjects of their own"
expect "" "$err"

# The account of another machine: it cannot be found by that name.
over evil web-1
wait_for 60 grep -Eq 'ermissions .iolation.*dtrace\.(open|stream)\.web-1' "$TMP/evil.err"
exact "one that wants to be found by another's name"
gone $agent

# An answer for another: the front asks there, where it cannot listen.
raw evil claim web-1
wait=3s sees host web-1 web-2.example
expect_match 'web-1\.[0-9a-f]*: it does not answer' "$(cat "$TMP/m.err")"
gone $raw

# What others say and hear.
raw evil overhear web-1
exact "beside one that wants to hear"
wait_for 20 eval '[ "$(grep -ci "permissions violation" "$TMP/raw")" -ge 6 ]'
expect "" "$(grep overheard "$TMP/raw")" "overheard"
gone $raw

# It may use subjects of its own, and says that it is another machine.
raw evil pose evil web-1
lies() { machines >/dev/null; grep -q 'it says that it is called web-1, but uses the subjects of another name' "$TMP/m.err"; }
wait_for 60 lies
exact "beside one that poses as another"
gone $raw
raw evil pose evil evil # that is its name; but it says nothing more
known() { wait=3s machines >/dev/null; grep -q '^dtrace: evil: it does not answer' "$TMP/m.err"; }
wait_for 60 known
gone $raw

# A server that lets it use all subjects does not tell them apart: who came first has the name.
raw loose overhear web-1
exact "beside one that may hear everything"
expect_match 'overheard dtrace.stream.web-1' "$(cat "$TMP/raw")"
