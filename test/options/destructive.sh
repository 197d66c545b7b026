# -x destructive is -w.
. "$SRC/test/lib.bash"
for act in 'system("echo hi")' 'raise(0)' 'freopen("/dev/null")' 'chill(1)' 'stop()' 'copyout("a", 0, 1)' 'copyoutstr("a", 0, 1)' 'panic()' 'breakpoint()'; do
	dt -q -n "BEGIN { $act; exit(0); }"
	expect "dtrace: could not enable tracing: Destructive actions not allowed" "$err" "$act"
done
for f in -w '-x destructive'; do
	dt -q $f -n 'BEGIN { system("echo hi"); exit(0); }'
	expect hi "$(echo $out)" "$f"
done
dt -n '#pragma D option destructive
BEGIN { system("echo hi"); exit(0); }'
expect_match ' hi$' "$out"
expect_match '^dtrace: allowing destructive actions$' "$err"
