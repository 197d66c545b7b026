# A map refuses new rows of an aggregation where it is locked by the firing that was interrupted, or has no memory for the moment. What it
# refuses is written down beside it, and is there in the end: at a tick, where interrupts are off, there is memory for a hundred rows.
# timeout: 120
# needs: root bpf gcc
. "$SRC/test/lib.bash"
many() { # PROBE
	local i
	echo "$1 {"
	for ((i = 0; i < 200; i++)); do echo "@c[$i, \"k$((i % 7))\"] = count(); @s[$i / 2] = sum(-$i);"; done
	for ((i = 0; i < 200; i += 3)); do echo "@c[$i, \"k$((i % 7))\"] = count();"; done
	echo '}'
}
few() { # PROBE: all functions
	local i
	echo "$1 {"
	for ((i = 0; i < 110; i++)); do
		echo "@a[$i] = avg($i - 7); @i[$i] = min($i - 7); @x[$i] = max($i - 7); @d[$i] = stddev(($i - 70) * 1000000007);"
		echo "@q[$i] = quantize($i - 7, 3); @l[$i] = lquantize($i, 0, 100, 10); @ll[$i] = llquantize($i, 10, 0, 3, 10);"
	done
	echo '}'
}
for what in many few; do
	{ $what BEGIN; echo 'BEGIN { exit(0); }'; } >"$TMP/want.d"
	{ $what tick-10ms; echo 'tick-10ms { exit(0); }'; } >"$TMP/got.d"
	dt -q -s "$TMP/want.d"
	want=$out
	expect "0 " "$status $err" "$what: the interpreter"
	ktrace -q -s "$TMP/got.d"
	expect "0 " "$status $err" "$what: a tick"
	expect "$want" "$out" "$what"
done

# Firings that interrupt each other make new rows all the time: on the clock, at locks (those of the map among them), in system calls.
build threads engine/threads.c -lpthread
ktrace -q -x aggsize=64m -x aggrate=50ms -c "$TMP/threads $(scale 100) 60" -n '
	syscall::getppid:entry /pid == $target/ { @n["calls"] = sum(1); @c[timestamp, tid] = sum(1); }
	profile-4999 { @n["ticks"] = sum(1); @t[timestamp, cpu] = sum(1); }
	sdt:::contention_begin { @n["locks"] = sum(1); @l[timestamp, arg0] = sum(1); }
	END { printa("n %s %@d\n", @n); printa("c %d %d %@d\n", @c); printa("t %d %d %@d\n", @t); printa("l %d %d %@d\n", @l); }'
expect 0 "$status" "$err"
expect "" "$(grep -v 'drops\? on CPU' <<<"$err" | grep .; grep 'aggregation drops' <<<"$err")" messages # the kernel does not run a program inside itself
sum() { awk -v k="$1" '$1 == k { n += $NF } END { print n + 0 }' "$TMP/out"; }
of() { awk -v k="$1" '$1 == "n" && $2 == k { print $3 }' "$TMP/out"; }
expect "$(scale 96000)" "$(of calls)" calls
expect "$(of calls) $(of ticks) $(of locks)" "$(sum c) $(sum t) $(sum l)" "rows of calls, ticks, locks"
