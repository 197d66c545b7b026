# A machine that lies about its part of clauses that are cut (values, sizes, order, counts, promises) costs itself only: the
# program goes on to its end, and what it says of another machine is exact.
# needs: root bpf gcc python3
# timeout: 300
. "$SRC/test/lib.bash"
. "$SRC/test/fleet/fleet.bash"
agent web-1
mkdir "$TMP/real"
"$BUILD/dtraced" -n liar -l "$TMP/real/liar.sock" 2>"$TMP/liar.err" &
at_end "kill $! 2>/dev/null"
wait_for 10 test -S "$TMP/real/liar.sock"
close="syscall::close:entry /$mine"
for what in value empty none short large size names ecb first more part cpu past future twice early late; do
	python3 "$SRC/test/fleet/liar.py" "$TMP/t/liar.sock" "$TMP/real/liar.sock" $what &
	liar=$!
	at_end "kill $liar 2>/dev/null"
	wait_for 10 test -S "$TMP/t/liar.sock"
	fleet -qn "int64_t z; web-1:$close/ { x++; @[vmname] = count(); }
		liar:$close/ { y[arg0, execname] = arg1; s = execname; z += arg0; self->t = z; printf(\"%d %s %d\n\", arg0, s, self->t); @l[s] = sum(arg0); }
		END { printf(\"x %d\n\", x); }" -c "$(load 50)"
	expect "0 1 1" "$status $(grep -c '^x 50$' "$TMP/out") $(grep -cE '^ *web-1 +50$' "$TMP/out")" "beside a machine that lies: $what"
	expect 0 "$(grep -c $'\033' "$TMP/err")" "control characters: $what"
	kill $liar
	wait $liar 2>/dev/null
	rm -f "$TMP/t/liar.sock"
done

# One that says many things, but never what the others wait for, is waited for as long as one that is silent: 5 s.
python3 "$SRC/test/fleet/liar.py" "$TMP/t/liar.sock" "$TMP/real/liar.sock" early &
at_end "kill $! 2>/dev/null"
wait_for 10 test -S "$TMP/t/liar.sock"
: >"$TMP/live" >"$TMP/live.err"
"$DTRACE" -E -x targetwait=100s -qn "liar:$close/ { @ = count(); } web-1:$close/ { printf(\"%d\n\", arg0); }" >"$TMP/live" 2>"$TMP/live.err" &
front=$!
at_end "kill $front 2>/dev/null"
shown() { $(load 1); grep -q 1000 "$TMP/live"; }
wait_for 60 shown
expect_match 'liar: it has been silent for 5 seconds' "$(cat "$TMP/live.err")"
kill -TERM $front
wait $front
