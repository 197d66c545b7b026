# timeout: 240
# -x overhead: above the budget, printing clauses are left out, profile probes slow down, aggregating clauses are
# sampled, and then tracing ends with a reason. What is left out is counted: with what was recorded, that is every event.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
spin="$TMP/load -t 1 -n 1000000000" # it is ended with the tracing
probe='syscall::getppid:entry /pid == $target/'
said() { grep -oE "$1" "$TMP/err" | head -n 1; }
left_out() { lost "firings? of $1 clauses left out"; }

# a budget that nothing can keep: all steps, in order. The first clause is never left out.
ktrace -q -x overhead=0.0001% -n "$probe { n++; }
	$probe { printf(\"x\\n\"); }
	$probe { @c = count(); @s = sum(3); @a = avg(7); @q = quantize(1, 2); @l = lquantize(1, 0, 3); @m = max(n); recorded++; }
	END { printf(\"events %d\\nrecorded %d\\n\", n, recorded);
		printa(\"count %@d\\n\", @c); printa(\"sum %@d\\n\", @s); printa(\"avg %@d\\n\", @a); printa(\"q %@d\\n\", @q); printa(\"l %@d\\n\", @l); printa(\"max %@d\\n\", @m); }" -c "$spin"
expect 1 "$status" "it ends: $err"
expect "printing clauses are off
aggregating clauses run at 1 of 1024 firings, which counts as 1024
nothing is left to leave out, so tracing ends" "$(sed -n 's/^dtrace: overhead is [0-9.]*%, above 0.0001%: //p' "$TMP/err" | grep -v 'firings left')"
events=$(value events)
[ "$events" -gt 0 ] || expect "events" "$out"
expect "$events" $(($(lines '^x$') + $(left_out printing) + $(lost "drops? on CPU"))) "printed and left out"
expect "$events" $(($(value recorded) + $(left_out aggregating))) "counted and left out"
[ "$(left_out printing)" -gt 0 ] && [ "$(left_out aggregating)" -gt 0 ] || expect "something left out" "$err"
# each firing that was evaluated counts for 1 or 1024 others, in all functions alike
expect $(($(value count) * 3)) "$(value sum)"
expect 7 "$(value avg)"
expect 0 $((($(value count) - $(value recorded)) % 1023)) "the scale"
quantized() { awk -v name="$1" '$1 == name { on = 1; next } on && $1 == 1 { print $NF; exit }' "$TMP/out"; }
expect "$(($(value count) * 2)) $(value count)" "$(quantized q) $(quantized l)" "the quantizers"
[ "$(value max)" -le "$events" ] || expect "$events at most" "$(value max)" "max() is not scaled"

# clauses that do more than print are not left out, nor those of tick
ktrace -q -x overhead=0.0001% -n "$probe { n++; } $probe { @x = max(1); } $probe { trace(0); clear(@x); k++; } tick-10ms { printf(\"tick\\n\"); t++; }
	END { printf(\"\\nevents %d\\nrun %d\\nticks %d\\n\", n, k, t); }" -c "$spin"
expect "$(value events) 0" "$(value run) $(left_out printing)" "clear()"
[ "$(value events)" -gt 0 ] || expect "events" "$out$err"
[ "$(value ticks)" -gt 0 ] || expect "ticks" "$out"

# profile
ktrace -q -x overhead=0.0001% -n 'profile-4999 { @[stack()] = count(); }' -c "$spin"
expect "profile probes fire at 1/64 of their rates" "$(said 'profile probes fire at 1/64 of their rates')" "$err"
expect_match 'so tracing ends' "$err"

# a budget that is kept: nothing happens
ktrace -q -x overhead=100% -n "$probe { n++; } $probe { printf(\"x\\n\"); @ = count(); } END { printf(\"events %d\\n\", n); printa(\"count %@d\\n\", @); }" -c "$TMP/load -t 1 -n 20000"
expect "0 20000 20000 20000 " "$status $(value events) $(value count) $(($(lines '^x$') + $(lost 'drops? on CPU'))) $(grep -v drop "$TMP/err")"

# ndjson has the numbers
ktrace -O ndjson -x overhead=0.0001% -n "$probe { n++; } $probe { printf(\"x\\n\"); } END { trace(n); }" -c "$spin"
expect_match '"type":"drop".*SHEDPRINTING' "$out"
expect_match '"type":"note".*printing clauses are off' "$out"

# the interpreter has nothing to leave out
dt -q -x overhead=2.25% -n 'BEGIN { exit(0); }'
expect "0 " "$status $err"
