# The interpreter refuses panic() and breakpoint(), even with -w.
. "$SRC/test/lib.bash"
for a in panic breakpoint; do
	dt -qw -n "BEGIN { $a(); exit(0); }"
	expect "dtrace: could not enable tracing: $a() is not available: no Linux kernel lets a tracing program do it" "$err"
done
