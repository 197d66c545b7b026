# A durable session with option serve: its page, and metrics for Prometheus, with a token that stays the same after a restart.
# needs: root bpf gcc python3 microhttpd
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
script web <<E2
#pragma D option quiet
#pragma D option aggrate=50ms
#pragma D option switchrate=50ms
#pragma D option serve=127.0.0.1:0
BEGIN { printf("ready\n"); }
syscall::close:entry /$mine/ { @closed[vmname] = count(); printf("number %d\n", arg0); }
E2
keep
beginning web
$(load 40)
address() { sed -n 's/^dtraced: serving \(http:.*\)$/\1/p' "$TMP/keep.err" | tail -n 1; }
fetch() { /usr/bin/python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$(address)$1" 2>&1; }
expect_match '^http://127.0.0.1:[0-9]+/[0-9a-f]{32}/$' "$(address)"
counted() { fetch metrics | grep -qx "dtrace_closed_total{key1=\"web\"} $1"; }
wait_for 60 counted 40 || fetch metrics
expect_match '<html|<!doctype' "$(fetch '' | tr A-Z a-z)"
# The output goes to the files as well.
wait_for 60 eval '[ "$(shown web | grep -c ^number)" = 40 ]'
expect 40 "$(kept web | grep -c '"type":"record".*number')"
before=$(address)
kill $keeper
wait $keeper
keep
beginning web 2
expect "${before#*:*:*/}" "$(address | cut -d / -f 4-)" "the token after a restart"
expect 2 "$(grep -c serving "$TMP/keep.err")"

# An address that is taken: the reason is said, and the others go on.
port=$(address | cut -d / -f 3 | cut -d : -f 2)
script taken <<E2
#pragma D option serve=127.0.0.1:$port
BEGIN { printf("ready\n"); }
E2
wait_state taken waiting
expect_match 'session taken: --serve: cannot listen on 127.0.0.1:.*: Address already in use' "$(cat "$TMP/keep.err")"
expect running "$(said_of web state)"
