# exit(n): the low 8 bits; faults and drops change nothing.
. "$SRC/test/lib.bash"
for n in 0 1 5 255 256 261 -1; do
	dt -qn "BEGIN { exit($n); }"
	expect $((n & 255)) "$status" "exit($n)"
done
dt -qn 'BEGIN { trace(*(int *)0); } BEGIN { exit(0); }'
expect 0 "$status"
