# -x zdefs is -Z: descriptions may match nothing.
. "$SRC/test/lib.bash"
dt -e -x errtags -n 'nosuch:::x { trace(1); }'
expect_match 'D_PDESC_ZERO' "$err"
for f in -Z '-x zdefs'; do
	dt -q $f -n 'nosuch:::x { trace(1); }' -n 'BEGIN { printf("ok\n"); exit(0); }'
	expect "ok" "$(echo $out)" "$f"
done
# nothing matches, and tracing continues until it is interrupted
for f in -Z '-x zdefs'; do
	out=$(timeout -s INT 2 "$DTRACE" -x engine=vm $f -n 'nosuch:::x { trace(1); }' 2>&1)
	expect "dtrace: description 'nosuch:::x ' matched 0 probes" "$(echo $out)"
done
