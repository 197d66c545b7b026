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

# One whose kernel has another order of members in a struct of the same size: its data are not shown by our types.
for what in honest layout; do
	python3 "$SRC/test/fleet/liar.py" "$TMP/t/liar.sock" "$TMP/real/liar.sock" $what &
	liar=$!
	at_end "kill $liar 2>/dev/null"
	wait_for 10 test -S "$TMP/t/liar.sock"
	fleet -Zqn "struct pair { int a; int b; }; this struct pair p; liar:$close/ { this->p.a = arg0; this->p.b = 7; print(this->p); } web-1:$close/ { @ = count(); }" -c "$(load 3)"
	expect "0 1" "$status $(grep -c '^ *3$' "$TMP/out")" "beside a machine with other types: $what"
	case $what in
	honest) expect "3 3" "$(lines 'int a = 0x3e[89a]$') $(lines 'int b = 0x7$')" "a struct of another machine" ;;
	layout)
		cat "$TMP/err" "$TMP/out"; 		expect 0 "$(lines 'int a')" "a struct that is laid out differently there"
		expect_match '^dtrace: liar: its connection was closed: a clause of the program records other data there: its kernel has other types' "$err"
		;;
	esac
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
