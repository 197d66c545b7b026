# -x oformat (--libxo): machine-readable output is not there yet, and that is said.
. "$SRC/test/lib.bash"
for f in '-x oformat=json' '--libxo json' '--libxo=json'; do
	dt -q $f -n 'BEGIN { exit(0); }'
	expect_match '^dtrace: could not enable tracing: output format "json" ' "$err"
done
