# needs: python3
# -x oformat=pprof: a compressed profile.proto; every reference in it leads somewhere, keys are labels, aggregations are types.
. "$SRC/test/lib.bash"
read_profile() { python3 "$SRC/test/format/lib/pprof.py" "$TMP/profile"; }

dt -O pprof -o "$TMP/profile" -n 'BEGIN { @["cat", 1] = count(); @["cat", 1] = count(); @["dog", 2] = count(); exit(0); }'
expect "" "$err"
expect 'types: samples/count
- key1=cat key2=1 2
- key1=dog key2=2 1' "$(read_profile)"

dt -O pprof -o "$TMP/profile" -n 'BEGIN { @a[execname] = count(); @b["\377\n", probename] = sum(1 << 40); exit(0); }'
expect 'types: @a/count @b/count
- execname=dtrace 1 0
- key1=??? probename=BEGIN 0 1099511627776' "$(read_profile | sed 's/\xef\xbf\xbd/??/')" "several"

dt -O pprof -o "$TMP/profile" -n 'BEGIN { exit(0); }'
expect 'types:' "$(read_profile | sed '/^$/d; s/ $//')" "nothing"
