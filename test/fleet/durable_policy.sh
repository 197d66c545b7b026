# Who may see durable sessions; scripts that others could change are not run; the budget and the limit of memory.
# needs: root nobody bpf gcc python3
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
. "$SRC/test/fleet/sessions.bash"
for name in web-a web-b secret; do
	echo 'BEGIN { printf("ready\n"); }' | script $name
done
echo 'BEGIN { printf("ready\n"); }' | script loose
chmod 666 "$TMP/s/loose.d"
echo 'BEGIN { printf("ready\n"); }' | script foreign
chown nobody "$TMP/s/foreign.d"
printf '#pragma D option memlimit=1m\nBEGIN { printf("ready\\n"); }\n' | script greedy
printf '#pragma D option oformat=folded\nBEGIN { @[stack()] = count(); }\n' | script folded
printf '#pragma D option stream=nats\nBEGIN { printf("ready\\n"); }\n' | script nowhere
cat >"$TMP/policy" <<'E2'
user=nobody providers=syscall sessions=web-*,no
user=daemon providers=syscall
user=root
E2
keep -p "$TMP/policy"
for name in web-a web-b secret; do beginning $name; done
for name in loose foreign folded nowhere; do wait_state $name waiting; done
chmod 755 "$TMP" "$TMP/t"
chmod 666 "$TMP/t/web.sock"
names() { # USER
	DTRACE_TARGETS=$TMP/t/web.sock setpriv --reuid="$1" --clear-groups "$DTRACE" -E -x targetwait=100s --attach 2>&1 | awk 'NR > 1 { print $2 }' | xargs
}
expect "web-a web-b" "$(names nobody)" "sessions=web-*"
expect "" "$(names daemon)" "providers, and no sessions"
expect "folded foreign greedy loose nowhere secret web-a web-b" "$(names root)"
see() { DTRACE_TARGETS=$TMP/t/web.sock setpriv --reuid=nobody --clear-groups timeout 100 "$DTRACE" -E -x targetwait=100s --attach "$@" 2>&1; }
expect_match 'no machine has a session called secret that you may see' "$(see secret)"
expect_match 'no machine has a session called \.\./o/secret' "$(see ../o/secret)"
trace -E -x targetwait=100s --attach
expect_match 'loose .*other users may change it' "$out"
expect_match 'foreign .*it belongs to another user' "$out"
expect_match 'folded .*a durable session has oformat=text or ndjson' "$out"
expect_match 'nowhere .*stream=nats means the server of dtraced -N, and there is none' "$out"
wait_for 60 grep -q 'greedy: its process has [0-9]* MB of memory, more than memlimit allows (1 MB)' "$TMP/keep.err"
expect_match 'session greedy fails: its process has' "$(kept greedy)"
chmod go-w "$TMP/s/loose.d"
beginning loose
