# test/torture, for a few seconds and with a seed that is always the same; its options.
# needs: root bpf gcc python3
# timeout: 120
. "$SRC/test/lib.bash"
torture() { # ARGS: output in $out, status in $status
	out=$("$SRC/test/torture/run" "$@" 2>&1 </dev/null)
	status=$?
}
torture -s 1 -t 10
expect 0 "$status" "$out"
expect "seed 1" "$(head -n 1 <<<"$out")"
expect "programs kills loads allocations everything memory" "$(sed -nE 's/^([a-z]+): [0-9]+ rounds,.* 0 failures$/\1/p' <<<"$out" | xargs)" "parts"
expect_match '^[0-9]+ rounds, 0 failures$' "$(tail -n 1 <<<"$out")"
torture -s 2 -r 7 programs
expect_match '^programs: 1 rounds, 1 programs' "$out"
torture -l
expect "programs kills loads allocations everything memory cpus suspend clocks" "$(cut -d' ' -f1 <<<"$out" | xargs)"
torture nosuch
expect "2 test/torture/run: no part nosuch; the parts are: programs kills loads allocations everything memory cpus suspend clocks" "$status $out"
torture -x
expect 2 "$status" "an unknown option"
# stopped in the middle it leaves nothing that it has started
"$SRC/test/torture/run" -t 600 everything >"$TMP/out" 2>&1 </dev/null &
run=$!
child() { dtrace=$(pgrep -P $run -x dtrace | head -n 1); [ -n "$dtrace" ]; }
wait_for 60 child
kill -TERM $run
wait $run
expect 143 "$?" "stopped: $(cat "$TMP/out")"
[ ! -e "/proc/$dtrace" ] || { echo "dtrace $dtrace still runs"; kill "$dtrace"; count_failure; }
