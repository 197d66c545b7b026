# --info: what this machine allows, row by row, true for root and for others.
# uses: nobody
. "$SRC/test/lib.bash"
row() { sed -nE "s/^$1 +(yes|no|partly)( .*)?\$/\1/p" "$TMP/out"; }

trace --info
expect 0 "$status" "status"
expect "" "$err"
# a row is a name, a word, what was found; below a "no" or "partly" what to do
expect "" "$(grep -vE '^([a-zA-Z_ ]{1,24} +(yes|no|partly) .*| +-> .+)$' <<<"$out")" "rows"
expect_match "^kernel +yes +Linux $(uname -r | sed 's/[.+]/\\&/g') " "$out"
expect "$([ -r /sys/kernel/btf/vmlinux ] && echo yes || echo no)" "$(row 'types of the kernel')" "types"
works=$("$DTRACE" -x engine=bpf -qn 'BEGIN { exit(0); }' >/dev/null 2>&1 && echo yes || echo no)
expect "$works" "$(row BPF)" "BPF"
traces=$("$DTRACE" -ln fbt::vfs_read:entry >/dev/null 2>&1 && echo yes || echo no)
expect "$traces" "$(row 'functions of the kernel' | sed 's/partly/yes/')" "functions"
for p in dtrace profile syscall proc fbt; do
	probes=$("$DTRACE" -lP $p 2>/dev/null | tail -n +2 | wc -l)
	expect "$([ "$probes" = 0 ] && echo no || echo "yes, $probes")" \
		"$(sed -nE "s/^provider $p +yes +([0-9]+) probes\$/yes, \1/p; s/^provider $p +no .*/no/p" "$TMP/out")" "provider $p"
done

# the preprocessor that -C would run
expect "$("$DTRACE" -Ce -n BEGIN >/dev/null 2>&1 && echo yes || echo no)" "$(row 'C preprocessor')" "cpp"
trace -x cpppath=/nonexistent --info
expect "0 no" "$status $(row 'C preprocessor')" "cpppath"
expect_match '^ +-> .*cpppath' "$(grep -A 1 '^C preprocessor' "$TMP/out")"

# a user who may not trace is told what would help
if setpriv --reuid=nobody --regid=nogroup --clear-groups "$DTRACE" --info >"$TMP/out" 2>&1; then
	expect no "$(row privilege)" "privilege of nobody"
	expect_match '^ +-> .*CAP_BPF and CAP_PERFMON' "$(grep -A 1 '^privilege' "$TMP/out")"
fi
