# -x grabanon is -a: there is no anonymous tracing here; a message says so.
. "$SRC/test/lib.bash"
for f in -a '-x grabanon'; do
	dt -q $f -n 'BEGIN { exit(0); }'
	expect "dtrace: could not enable tracing: No anonymous tracing state" "$err" "$f"
	expect 1 "$status"
done
