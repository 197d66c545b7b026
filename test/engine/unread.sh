# An aggregation that the kernel does not return is not lost silently: each bpf() call fails in turn, alone or
# with all after it.
# needs: root bpf gcc
# timeout: 200
. "$SRC/test/lib.bash"
build load engine/load.c -lpthread
build fail.so torture/fail.c -shared -fPIC
export FAIL_LOG=$TMP/log FAIL_WHAT=bpf
asan=$(ldd "$DTRACE" | awk '/libasan/ { print $3 }') # which must be the first library, if it is one

for aggregation in '@ = count()' '@[execname] = count()' '@[execname] = count(); @b = sum(1)'; do
	program="syscall::getppid:entry /pid == \$target/ { $aggregation; }"
	want=$(sed 's/[^@]//g' <<<"$aggregation" | wc -m)
	for ((at = 1; at < 200; at++)); do
		: >"$FAIL_LOG"
		for on in '' FAIL_ON=1; do
			run_dtrace env LD_PRELOAD="$asan $TMP/fail.so" FAIL_AT=$at $on "$DTRACE" -x aggrate=10ms -qc "$TMP/load -t 1 -n 50" -n "$program"
			case $status in
			0) [ -n "$err" ] || expect "$want rows of 50" "$(($(lines ' 50$') + 1)) rows of 50" "$aggregation, call $at $on: $out" ;;
			1) expect_match '^dtrace: ' "$err" ;;
			*) expect 0 "$status" "$aggregation, call $at $on: $err" ;;
			esac
		done
		grep -q failed "$FAIL_LOG" || break
	done
	[ $at -gt 15 ] && [ $at -lt 200 ] || { echo "$aggregation: $at calls"; count_failure; }
done
