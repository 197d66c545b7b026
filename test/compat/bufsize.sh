# A buffer of less than 8 bytes is an error only where something records. Aggregating raises it to the largest record.
# uses: root bpf
. "$SRC/test/lib.bash"
engines=vm
"$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' 2>/dev/null && engines="vm bpf"
for engine in $engines; do
	for size in 0 1 7; do
		trace -x engine=$engine -b $size -qn 'BEGIN { trace(1); exit(0); }'
		expect "1 dtrace: could not enable tracing: Enabling exceeds size of buffer" "$status $err" "$engine, $size"
	done
	trace -x engine=$engine -b 8 -qn 'BEGIN { trace(1); @ = count(); exit(0); }'
	expect "0 " "$status $err" "$engine, raised"
	expect 1 "$(lines '^1')" "$engine, raised"
done
